"""What lending costs and earns.

``total_profit``, ``unexploited_profit``, ``total_loss`` and ``table_payoff`` follow the definitions of the official
code of Vineis, Perelli and Tolomei (2025) as published at commit f15b820, holes included: a lower loan that is fully
repaid earns nothing there, one that is not repaid loses nothing. ``full_profit`` and ``full_loss`` are ours and give
every combination of action and outcome a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from accordant.arrays import Values
from accordant.cases.lending.rewards import ACTIONS, OUTCOMES, Structure, table_of
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics import SHARE, Goal, Range, RatioMetric, SumMetric, cell_values, register


class _ShareOfAll(RatioMetric):
    """An amount of money gathered by the decisions, as a share of what all loans together carry."""

    span = SHARE

    def unavailable(self, evidence: Evidence) -> str | None:
        """Say which column of the loan files is missing."""
        needed = ("Loan_Amount", "Interest_Rate", "Recoveries")
        missing = [name for name in needed if name not in evidence.log.contexts]
        return f"the column {missing[0]!r} is missing" if missing else super().unavailable(evidence)


def _share(gathered: Values, possible: Values) -> Values:
    return np.stack([gathered, np.broadcast_to(possible, gathered.shape)])


def _interest(evidence: Evidence) -> Values:
    contexts = evidence.log.contexts
    return contexts.numeric("Loan_Amount") * contexts.numeric("Interest_Rate")


@register("total_profit")
@dataclass(frozen=True)
class TotalProfit(_ShareOfAll):
    """Interest on full loans fully repaid and lower loans partially repaid, as a share of all interest."""

    goal: ClassVar[Goal] = "max"

    def theta(self, evidence: Evidence) -> Values:
        """Return interest earned, and all interest."""
        interest = _interest(evidence)
        earned = {("Grant", "Fully_Repaid"): interest, ("Grant_lower", "Partially_Repaid"): interest}
        return _share(cell_values(evidence, earned), interest)


@register("unexploited_profit")
@dataclass(frozen=True)
class UnexploitedProfit(_ShareOfAll):
    """Interest on loans refused that would have been fully repaid, as a share of all interest."""

    goal: ClassVar[Goal] = "min"

    def theta(self, evidence: Evidence) -> Values:
        """Return interest forgone, and all interest."""
        interest = _interest(evidence)
        return _share(cell_values(evidence, {("Not_Grant", "Fully_Repaid"): interest}), interest)


@register("total_loss")
@dataclass(frozen=True)
class TotalLoss(_ShareOfAll):
    """Full loans not repaid and what lower loans partially repaid left open, as a share of all amounts."""

    goal: ClassVar[Goal] = "min"

    def theta(self, evidence: Evidence) -> Values:
        """Return amounts lost, and all amounts."""
        amount = evidence.log.contexts.numeric("Loan_Amount")
        open_part = amount - evidence.log.contexts.numeric("Recoveries")
        lost = {("Grant_lower", "Partially_Repaid"): open_part, ("Grant", "Not_Repaid"): amount}
        return _share(cell_values(evidence, lost), amount)


@dataclass(frozen=True)
class _Full(_ShareOfAll):
    """A share in which every action and outcome counts.

    Parameters
    ----------
    lower_share
        Share of the amount asked for that ``Grant_lower`` pays out, in (0, 1).
    """

    lower_share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.lower_share < 1:
            raise InputError(f"lower_share is {self.lower_share}; allowed: between 0 and 1")

    def _paid_out(self) -> dict[str, float]:
        return {"Grant": 1.0, "Grant_lower": self.lower_share, "Not_Grant": 0.0}


@register("full_profit")
@dataclass(frozen=True)
class FullProfit(_Full):
    """Interest on whatever part of a loan was paid out and fully repaid, as a share of all interest."""

    goal: ClassVar[Goal] = "max"

    def theta(self, evidence: Evidence) -> Values:
        """Return s_a L ρ where the loan was fully repaid, and all interest."""
        interest = _interest(evidence)
        earned = {(action, "Fully_Repaid"): share * interest for action, share in self._paid_out().items()}
        return _share(cell_values(evidence, earned), interest)


@register("full_loss")
@dataclass(frozen=True)
class FullLoss(_Full):
    """Whatever part of a loan was paid out and not recovered, as a share of all amounts."""

    goal: ClassVar[Goal] = "min"

    def theta(self, evidence: Evidence) -> Values:
        """Return s_a max(0, L − κ L), with κ L the recoveries of partial repayment and 0 without repayment."""
        amount = evidence.log.contexts.numeric("Loan_Amount")
        missing = {
            "Partially_Repaid": np.maximum(0.0, amount - evidence.log.contexts.numeric("Recoveries")),
            "Not_Repaid": amount,
        }
        lost = {
            (action, outcome): share * value
            for action, share in self._paid_out().items()
            for outcome, value in missing.items()
        }
        return _share(cell_values(evidence, lost), amount)


@register("table_payoff")
@dataclass(frozen=True)
class TablePayoff(SumMetric):
    """A stakeholder's base-table value of what was decided and what followed, summed, without adjustment or noise.

    Parameters
    ----------
    stakeholder
        Bank, Applicant or Regulatory.
    structure
        Which tables.
    """

    stakeholder: str
    structure: Structure = "base"

    goal: ClassVar[Goal] = "max"

    gamma: ClassVar[Literal[0, 1]] = 0

    def range(self, evidence: Evidence) -> Range:
        """Return from 0 to the number of contexts."""
        return 0.0, float(evidence.n_contexts)

    def theta(self, evidence: Evidence) -> Values:
        """Return the table value of every action under the observed outcome."""
        table, contexts = table_of(self.stakeholder, self.structure), evidence.log.contexts
        values = {
            (action, outcome): table.reward(contexts, action, outcome) for action in ACTIONS for outcome in OUTCOMES
        }
        return cell_values(evidence, values)[None]
