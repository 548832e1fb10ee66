"""Rewards of Bank, Applicant and Regulatory in lending.

Tables and adjustments follow the settings of the official code of Vineis, Perelli and Tolomei (2025),
"Beyond Predictions", as published at commit f15b820, except the Applicant's adjustment ``corrected``, which
is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.cases.parts import reward_sets
from accordant.contexts import Contexts
from accordant.errors import InputError, UnknownNameError
from accordant.rewards import ClippedReward, Outcome, RewardSignal, TableReward

STAKEHOLDERS = ("Bank", "Applicant", "Regulatory")
ACTIONS = ("Grant", "Grant_lower", "Not_Grant")
OUTCOMES = ("Fully_Repaid", "Partially_Repaid", "Not_Repaid")

Structure = Literal["base", "mild", "strictest"]
Variant = Literal["corrected", "published"]
Rows = tuple[tuple[float, ...], ...]

# One row per action; columns: fully, partially, not repaid for other applicants, then for vulnerable ones.
_REGULATORY: Rows = ((1.0, 0.2, 0.0, 1.0, 0.5, 0.3), (0.8, 1.0, 0.1, 0.7, 1.0, 0.2), (0.5, 0.7, 1.0, 0.3, 0.5, 0.8))
_TABLES: dict[Structure, dict[str, Rows]] = {
    "base": {
        "Bank": ((1.0, 0.5, 0.0, 1.0, 0.5, 0.0), (0.8, 1.0, 0.0, 0.8, 1.0, 0.0), (0.2, 0.5, 1.0, 0.0, 0.2, 1.0)),
        "Applicant": ((1.0, 0.5, 0.3, 1.0, 0.7, 0.5), (0.7, 0.8, 0.4, 0.5, 0.8, 0.3), (0.2, 0.5, 0.7, 0.0, 0.2, 0.6)),
        "Regulatory": _REGULATORY,
    },
    "mild": {
        "Bank": ((1.0, 0.2, 0.0, 1.0, 0.5, 0.0), (0.4, 0.5, 0.0, 0.5, 0.5, 0.0), (0.2, 0.5, 1.0, 0.0, 0.2, 1.0)),
        "Applicant": ((1.0, 0.7, 0.5, 1.0, 0.8, 0.7), (0.7, 0.8, 0.6, 0.8, 1.0, 0.5), (0.0, 0.0, 0.0, 0.0, 0.0, 0.2)),
        "Regulatory": _REGULATORY,
    },
    "strictest": {
        "Bank": ((1.0, 0.0, 0.0, 1.0, 0.0, 0.0), (0.8, 0.0, 0.0, 0.8, 0.0, 0.0), (0.5, 1.0, 1.0, 0.5, 1.0, 1.0)),
        "Applicant": ((1.0, 0.8, 0.7, 1.0, 0.8, 0.7), (0.7, 0.8, 0.6, 0.8, 1.0, 0.6), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        "Regulatory": _REGULATORY,
    },
}


def table_of(stakeholder: str, structure: Structure) -> TableReward:
    """Return the table of a stakeholder for other (0) and vulnerable (1) applicants."""
    rows = _TABLES[structure][stakeholder]
    groups = {
        str(group): {
            action: dict(zip(OUTCOMES, row[3 * group : 3 * group + 3], strict=True))
            for action, row in zip(ACTIONS, rows, strict=True)
        }
        for group in (0, 1)
    }
    return TableReward(groups, attribute="Applicant_Type")


@dataclass(frozen=True)
class LendingReward(ClippedReward):
    """A table entry b, adjusted by loan amount L (dollars) and interest rate ρ (fraction per year).

    With λ = clip(L / 10000, 0.5, 1.5) and ι = clip(ρ, 0.05, 0.25):

    * Bank b λ (1 + ι);  Regulatory b (1 − ι) λ;
    * Applicant, ``corrected``: b (1 − ι / 2), which keeps the order of the table for every loan;
    * Applicant, ``published``: b (2 − ι) (1 − λ), which is never positive from 10,000 dollars on.

    Parameters
    ----------
    noise
        Half-width of the noise in elicited rewards.
    stakeholder
        Bank, Applicant or Regulatory.
    structure
        Which tables.
    variant
        Which formula for the Applicant.
    """

    stakeholder: str = "Bank"
    structure: Structure = "base"
    variant: Variant = "corrected"

    def desirability(self, contexts: Contexts, action: str, outcome: Outcome) -> NDArray[np.float64]:
        """Return the adjusted entry before clipping."""
        entry = table_of(self.stakeholder, self.structure).reward(contexts, action, outcome)
        size = np.clip(contexts.numeric("Loan_Amount") / 10_000, 0.5, 1.5)
        interest = np.clip(contexts.numeric("Interest_Rate"), 0.05, 0.25)
        if self.stakeholder == "Bank":
            return entry * size * (1 + interest)
        if self.stakeholder == "Regulatory":
            return entry * (1 - interest) * size
        return entry * ((2 - interest) * (1 - size) if self.variant == "published" else 1 - interest / 2)


@reward_sets.register("lending")
def lending_rewards(
    structure: Structure = "base", variant: Variant = "corrected", noise: float = 0.05
) -> dict[str, RewardSignal]:
    """Return the reward signals of all three stakeholders."""
    if structure not in _TABLES:
        raise UnknownNameError("reward structure", structure, _TABLES)
    if variant not in ("corrected", "published"):
        raise UnknownNameError("reward variant", variant, ("corrected", "published"))
    if not 0 <= noise <= 1:
        raise InputError(f"reward noise is {noise}; allowed: [0, 1]")
    return {name: LendingReward(noise, name, structure, variant) for name in STAKEHOLDERS}
