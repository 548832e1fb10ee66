"""Policy metrics: how often an action is taken, and which continuous outcomes the decisions lead to.

A larger outcome counts as better. ``estimated`` levels are the observed outcome of the logged action and
the predicted mean of the others; ``robust`` ones are doubly robust estimates, meant for means over contexts, and what
was observed for decisions that follow the log; ``true`` levels exist in simulated data only and make the value exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics.expressions import Expression, mean_of
from accordant.metrics.metric import SHARE, CountMetric, Goal, Range, SumMetric, register
from accordant.metrics.statistics import Contingency
from accordant.naming import position
from accordant.problem import DecisionProblem
from accordant.statistics import wilson

Levels = Literal["estimated", "robust", "true"]
GOALS: tuple[Goal, ...] = ("max", "min", "zero")
LARGEST = "the largest of several doubly robust estimates is too large; take levels 'estimated' or 'true'"
MODELLED = "it takes predictions for outcomes that were never observed; how far these are off no resample shows"


@register("share_of_action")
@dataclass(frozen=True)
class ShareOfAction(CountMetric):
    """Share of contexts in which an action is taken.

    Parameters
    ----------
    action
        Name of the action.
    percent
        Whether the value is a percentage.
    goal
        Whether more of it is better; only matters with a weight in a composite score.
    """

    action: str
    percent: bool = False
    goal: Goal = "max"

    def __post_init__(self) -> None:
        if self.goal not in GOALS:
            raise InputError(f"{self.name}: unknown goal {self.goal!r}; valid: {', '.join(GOALS)}")

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return None; an unknown action is an error."""
        position("action", self.action, problem.actions)
        return None

    def range(self, evidence: Evidence) -> Range:
        """Return [0, 1], or [0, 100] if it is a percentage."""
        del evidence
        return (0.0, 100.0) if self.percent else SHARE

    def limits(self, table: Contingency, level: float, independent: float) -> tuple[float, float]:
        """Return the score interval of the share (Wilson 1927)."""
        unit = 100.0 if self.percent else 1.0
        low, high = wilson(self.value(table) / unit, self.size(table) * independent, level)
        return float(unit * low), float(unit * high)

    def value(self, table: Contingency) -> Values:
        """Return the share, shape (...)."""
        per_action = table.counts.sum(axis=(-2, -1))
        taken = per_action[..., position("action", self.action, table.problem.actions)]
        return np.asarray((100.0 if self.percent else 1.0) * taken / per_action.sum(axis=-1))

    def expression(self, evidence: Evidence) -> Expression:
        """Return the share as a mean."""
        theta = np.zeros((len(evidence.problem.actions), evidence.n_contexts))
        theta[position("action", self.action, evidence.problem.actions)] = 100.0 if self.percent else 1.0
        return mean_of(theta, evidence.n_contexts)


@dataclass(frozen=True)
class OutcomeMetric(SumMetric):
    """A metric about the continuous outcome of the chosen actions.

    Parameters
    ----------
    levels
        ``estimated``, ``robust`` or ``true``.
    total
        Sum over contexts (γ = 0) instead of the average (γ = 1).
    """

    levels: Levels = "estimated"
    total: bool = False

    def __post_init__(self) -> None:
        if self.levels not in ("estimated", "robust", "true"):
            raise InputError(f"{self.name}: unknown levels {self.levels!r}; valid: estimated, robust, true")

    @property
    def gamma(self) -> Literal[0, 1]:
        """0 for a total."""
        return 0 if self.total else 1

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return that the outcome is no number, or None."""
        return (
            None if problem.continuous else "it needs a continuous outcome, and the outcomes of this problem are names"
        )

    def unavailable(self, evidence: Evidence) -> str | None:
        """Return what is missing, or None."""
        reason = self.unsuited(evidence.problem)
        if reason is None and self._levels(evidence) is None:
            reason = {
                "estimated": "the evidence has no estimated outcome of every action",
                "robust": "the evidence has no propensities, which doubly robust estimates need",
                "true": "the true outcome of every action is not known; only simulated data have it",
            }[self.levels]
        return reason

    def range(self, evidence: Evidence) -> Range:
        """Return the range of outcomes, for a total times the number of contexts."""
        low, high = evidence.outcome_range
        n = evidence.n_contexts if self.total else 1
        return n * low, n * high

    def withheld(self, evidence: Evidence) -> str:
        """Return that estimated levels are partly predictions, whose errors no resample shows."""
        del evidence
        return MODELLED if self.levels == "estimated" else ""

    def outcome_levels(self, evidence: Evidence) -> Values:
        """Return the outcome of every action, shape (action, context)."""
        levels = self._levels(evidence)
        assert levels is not None
        return levels

    def _levels(self, evidence: Evidence) -> Values | None:
        return {"estimated": evidence.outcome_levels, "robust": evidence.robust_levels, "true": evidence.true_levels}[
            self.levels
        ]


@register("mean_outcome")
class MeanOutcome(OutcomeMetric):
    """Outcome of the chosen actions, by default as estimated."""

    goal: ClassVar[Goal] = "max"

    def theta(self, evidence: Evidence) -> Values:
        """Return the outcome level of each action."""
        return self.outcome_levels(evidence)[None]


@register("policy_value")
@dataclass(frozen=True)
class PolicyValue(MeanOutcome):
    """True mean outcome of the chosen actions."""

    levels: Levels = "true"


@register("outcome_regret")
class OutcomeRegret(OutcomeMetric):
    """Outcome lost against the action with the largest outcome in each context.

    With ``estimated`` levels the best action is the one that the predictions call best. Of ``robust`` levels there is
    no regret: the largest of several noisy numbers is too large.
    """

    goal: ClassVar[Goal] = "min"

    def unavailable(self, evidence: Evidence) -> str | None:
        """Return what is missing, or None."""
        return LARGEST if self.levels == "robust" else super().unavailable(evidence)

    def range(self, evidence: Evidence) -> Range:
        """Return from 0 to the width of the range of outcomes."""
        low, high = super().range(evidence)
        return 0.0, high - low

    def theta(self, evidence: Evidence) -> Values:
        """Return the largest outcome level minus that of each action."""
        levels = self.outcome_levels(evidence)
        return np.asarray(levels.max(axis=0) - levels)[None]


@register("best_action_share")
class BestActionShare(OutcomeMetric):
    """Share of contexts in which no other action has a larger outcome.

    Not of ``robust`` levels, see `OutcomeRegret`.
    """

    goal: ClassVar[Goal] = "max"

    def unavailable(self, evidence: Evidence) -> str | None:
        """Return what is missing, or None."""
        return LARGEST if self.levels == "robust" else super().unavailable(evidence)

    def range(self, evidence: Evidence) -> Range:
        """Return [0, 1], for a total up to the number of contexts."""
        return 0.0, float(evidence.n_contexts if self.total else 1)

    def theta(self, evidence: Evidence) -> Values:
        """Return 1 for each action whose outcome level is the largest."""
        levels = self.outcome_levels(evidence)
        return np.asarray(levels >= levels.max(axis=0), dtype=np.float64)[None]
