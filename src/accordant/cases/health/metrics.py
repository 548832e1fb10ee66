"""What treatment achieves and costs.

Definitions marked *published* follow the official code of Vineis, Perelli and Tolomei (2025) at commit f15b820: the
score of an action is the observed outcome where that action was really taken and the predicted one elsewhere.
``matched_cost_effectiveness`` is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.cases.health.rewards import COSTS
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.metrics import Goal, Range, RatioMetric, SumMetric, Sums, register
from accordant.metrics.expressions import Defaulted, Expression, columns_of, divided, together
from accordant.metrics.policy import MODELLED, OutcomeMetric

EXTRA_COST = COSTS["A"] - COSTS["C"]


@dataclass(frozen=True)
class _Scores(SumMetric):
    """A metric of cognitive scores."""

    goal: ClassVar[Goal] = "max"

    def range(self, evidence: Evidence) -> Range:
        """Return the range of outcomes."""
        return evidence.outcome_range

    def withheld(self, evidence: Evidence) -> str:
        """Return that scores are partly predictions."""
        del evidence
        return MODELLED

    def unavailable(self, evidence: Evidence) -> str | None:
        """Say that the scores of actions are missing."""
        if evidence.outcome_levels is None:
            return "it needs a continuous outcome"
        return super().unavailable(evidence)


def _levels(evidence: Evidence) -> Values:
    if evidence.outcome_levels is None:
        raise InputError("outcome levels are missing")
    return evidence.outcome_levels


def _indicator(evidence: Evidence, action: str) -> Values:
    """Return 1 in the row of an action, shape (action, context)."""
    rows = np.array(evidence.problem.actions) == action
    return np.broadcast_to(rows[:, None].astype(np.float64), (len(rows), evidence.n_contexts))


def _under(evidence: Evidence, action: str) -> int:
    return evidence.problem.actions.index(action)


@register("cost_effectiveness")
@dataclass(frozen=True)
class CostEffectiveness(_Scores):
    """Mean score of the treated minus mean control score of everybody, per unit of extra cost (published).

    It compares the treated with everybody, so treating those with a high baseline raises it; see
    ``matched_cost_effectiveness``. 0 if nobody is treated.
    """

    def range(self, evidence: Evidence) -> Range:
        """Return the widest difference of outcomes either way, per unit of extra cost."""
        low, high = evidence.outcome_range
        return (low - high) / EXTRA_COST, (high - low) / EXTRA_COST

    def theta(self, evidence: Evidence) -> Values:
        """Return score if treated, treated, and control score."""
        levels, treated = _levels(evidence), _indicator(evidence, "A")
        control = np.broadcast_to(levels[_under(evidence, "C")], treated.shape)
        return np.stack([treated * levels[_under(evidence, "A")], treated, control])

    def value(self, sums: Sums) -> Values:
        """Return (mean of the treated − mean control score of all) / extra cost."""
        score, treated, control = (sums.totals[..., column] for column in range(3))
        mean = score / np.where(treated > 0, treated, 1.0)
        return np.where(treated > 0, (mean - control / sums.n) / EXTRA_COST, 0.0)

    def expression(self, evidence: Evidence) -> Expression:
        """Return the ratio of sums less the mean control score, and 0 if nobody is treated."""
        score, treated, control = columns_of(self.checked_theta(evidence), 1 / EXTRA_COST)
        mean = divided(score, treated.scaled(EXTRA_COST))
        return Defaulted(together((mean, control), (1.0, -1 / evidence.n_contexts)), 0.0)


@register("matched_cost_effectiveness")
@dataclass(frozen=True)
class MatchedCostEffectiveness(OutcomeMetric):
    """Mean effect of treatment among the treated themselves, per unit of extra cost; not defined if nobody is.

    Parameters
    ----------
    levels
        ``estimated`` effects, doubly ``robust`` ones, or the ``true`` ones of simulated data.
    """

    goal: ClassVar[Goal] = "max"
    monotone: ClassVar[bool] = False

    def range(self, evidence: Evidence) -> Range:
        """Return the widest difference of outcomes either way, per unit of extra cost."""
        low, high = evidence.outcome_range
        return (low - high) / EXTRA_COST, (high - low) / EXTRA_COST

    def size(self, sums: Sums) -> float:
        """Return how many are treated."""
        return float(sums.totals[1])

    def theta(self, evidence: Evidence) -> Values:
        """Return the effect if treated, and treated."""
        levels, treated = self.outcome_levels(evidence), _indicator(evidence, "A")
        return np.stack([treated * (levels[_under(evidence, "A")] - levels[_under(evidence, "C")]), treated])

    def value(self, sums: Sums) -> Values:
        """Return mean effect / extra cost; not defined if nobody is treated."""
        return sums.ratio(0, 1) / EXTRA_COST

    def expression(self, evidence: Evidence) -> Expression:
        """Return mean effect / extra cost."""
        effect, treated = columns_of(self.checked_theta(evidence))
        return divided(effect.scaled(1 / EXTRA_COST), treated)

    def reason(self, sums: Sums) -> str:
        """Say that nobody is treated."""
        del sums
        return "nobody is treated (n=0)"


@register("mean_score_of")
@dataclass(frozen=True)
class MeanScoreOf(RatioMetric, _Scores):
    """Mean score of those decided to get an action (published); not defined if nobody is.

    Parameters
    ----------
    action
        The action.
    """

    action: str

    def theta(self, evidence: Evidence) -> Values:
        """Return the score of those who get the action, and whether they do."""
        chosen = _indicator(evidence, self.action)
        return np.stack([chosen * _levels(evidence), chosen])

    def reason(self, sums: Sums) -> str:
        """Say that nobody gets the action."""
        del sums
        return f"nobody gets {self.action} (n=0)"


@register("score_difference")
@dataclass(frozen=True)
class ScoreDifference(_Scores):
    """Mean score of those treated minus mean score of those not treated (published); 0 if either is nobody.

    The published code minimises it.
    """

    goal: ClassVar[Goal] = "min"

    def range(self, evidence: Evidence) -> Range:
        """Return the widest difference of outcomes either way."""
        low, high = evidence.outcome_range
        return low - high, high - low

    def theta(self, evidence: Evidence) -> Values:
        """Return score and membership of both groups of decisions."""
        levels, treated, control = _levels(evidence), _indicator(evidence, "A"), _indicator(evidence, "C")
        return np.stack([treated * levels, treated, control * levels, control])

    def value(self, sums: Sums) -> Values:
        """Return the difference of means."""
        treated_score, treated, control_score, control = (sums.totals[..., column] for column in range(4))
        both = (treated > 0) & (control > 0)
        difference = treated_score / np.where(both, treated, 1.0) - control_score / np.where(both, control, 1.0)
        return np.where(both, difference, 0.0)

    def expression(self, evidence: Evidence) -> Expression:
        """Return the difference of means, and 0 if either is of nobody."""
        treated_score, treated, control_score, control = columns_of(self.checked_theta(evidence))
        means = divided(treated_score, treated), divided(control_score, control)
        return Defaulted(together(means, (1.0, -1.0)), 0.0)
