"""Classification metrics on the mapping from outcomes to actions, and plain rates.

A decision is right if it is the action mapped from the observed outcome (`outcome_to_action`).
Precision, recall and F1 are macro averages over all declared actions, an undefined class counting 0
(scikit-learn's ``average="macro", zero_division=0, labels=actions``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.evidence import Evidence
from accordant.metrics import rates as table_of_rates
from accordant.metrics.expressions import Expression, Sum, defaulted, divided, together
from accordant.metrics.group import names
from accordant.metrics.metric import SHARE, CountMetric, Goal, metrics
from accordant.metrics.rates import Actions, Masks, Rate, outcome_codes
from accordant.metrics.statistics import Contingency, divide
from accordant.problem import DecisionProblem
from accordant.statistics import wilson


@dataclass(frozen=True)
class RateMetric(CountMetric):
    """A rate over everybody, with its value in each group if attributes are given.

    Parameters
    ----------
    attributes
        Columns whose combinations make the groups shown next to the overall value; none by default.
    actions, outcomes
        Favourable actions (or a benefit per action) and outcomes; the problem's by default.
    """

    rate: ClassVar[Rate]
    span = SHARE

    attributes: tuple[str, ...] = ()
    actions: Actions = ()
    outcomes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("attributes", "actions", "outcomes"):
            object.__setattr__(self, name, names(getattr(self, name)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The attributes."""
        return self.attributes

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return what the problem lacks for the rate, or None."""
        return self.rate.unsuited(problem, self.actions, self.outcomes)

    def value(self, table: Contingency) -> Values:
        """Return the rate over all groups together, shape (...)."""
        top, bottom = self.rate.sums(table, self._masks(table))
        return divide(np.asarray(top.sum(axis=-1)), np.asarray(bottom.sum(axis=-1)))

    def limits(self, table: Contingency, level: float, independent: float) -> tuple[float, float]:
        """Return the score interval of the rate (Wilson 1927)."""
        low, high = wilson(self.value(table), self.size(table) * independent, level)
        return float(low), float(high)

    def expression(self, evidence: Evidence) -> Expression:
        """Return the rate as a ratio of sums."""
        return self.rate.expression(evidence, Masks.of(evidence.problem, self.actions, self.outcomes))

    def rates(self, table: Contingency) -> dict[str, tuple[Values, Values]]:
        """Return the rate in each group, if there are attributes."""
        return {self.rate.name: self.rate.by_group(table, self._masks(table))} if self.attributes else {}

    def size(self, table: Contingency) -> Values:
        """Return how many contexts count towards the rate."""
        return np.asarray(self.rate.sums(table, self._masks(table))[1].sum(axis=-1))

    def reason(self, table: Contingency) -> str:
        """Return that nobody counts towards the rate."""
        del table
        return f"there are no {self.rate.who} (n=0)"

    def _masks(self, table: Contingency) -> Masks:
        return Masks.of(table.problem, self.actions, self.outcomes)


TABLE: tuple[tuple[str, Goal, Rate, str], ...] = (
    ("accuracy", "max", table_of_rates.ACCURACY,
     "Share of contexts in which the action is the one mapped from the outcome."),
    ("selection_rate", "max", table_of_rates.SELECTION_RATE, "Share of contexts with a favourable action."),
    ("true_positive_rate", "max", table_of_rates.TRUE_POSITIVE_RATE,
     "Share of favourable actions among contexts with a favourable outcome."),
    ("false_positive_rate", "min", table_of_rates.FALSE_POSITIVE_RATE,
     "Share of favourable actions among contexts without a favourable outcome."),
    ("true_negative_rate", "max", table_of_rates.TRUE_NEGATIVE_RATE,
     "Share of other actions among contexts without a favourable outcome."),
    ("false_negative_rate", "min", table_of_rates.FALSE_NEGATIVE_RATE,
     "Share of other actions among contexts with a favourable outcome."),
    ("positive_predictive_value", "max", table_of_rates.POSITIVE_PREDICTIVE_VALUE,
     "Share of favourable outcomes among contexts with a favourable action."),
)  # fmt: skip

for _name, _goal, _rate, _sentence in TABLE:
    _title = _name.title().replace("_", "")
    metrics.define(_name, _title, RateMetric, __name__, goal=_goal, rate=_rate, __doc__=_sentence)


@dataclass(frozen=True)
class MacroAverage(CountMetric):
    """A score per action, averaged over all declared actions.

    The score is hits / decided, hits / needed, or, where both are `counted`, 2 hits / (decided + needed): how often the
    action was right, taken, and mapped.
    """

    goal: ClassVar[Goal] = "max"
    span = SHARE
    counted: ClassVar[tuple[bool, bool]]

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return that the problem maps no outcome to an action, or None."""
        return table_of_rates.ACCURACY.unsuited(problem, (), ())

    def value(self, table: Contingency) -> Values:
        """Return the macro average, shape (...)."""
        mapped = table.problem.action_of_outcome()
        assert mapped is not None
        right = np.eye(len(table.problem.actions))[mapped]  # outcome × mapped action
        confusion = table.counts.sum(axis=-1) @ right  # decided × mapped action
        hits = np.diagonal(confusion, axis1=-2, axis2=-1)
        scores = self._per_action(hits, confusion.sum(axis=-1), confusion.sum(axis=-2))
        return np.asarray(np.nan_to_num(scores, nan=0.0).mean(axis=-1))

    def expression(self, evidence: Evidence) -> Expression:
        """Return the mean over actions of ratios of sums, an undefined one counting 0."""
        mapped = evidence.problem.action_of_outcome()
        assert mapped is not None
        right = mapped[outcome_codes(evidence)] == np.arange(len(evidence.problem.actions))[:, None]
        parts: list[Expression] = []
        for action, needed in enumerate(right.astype(np.float64)):
            taken = np.zeros(right.shape)
            taken[action] = 1.0
            sums = Sum.of(taken * needed), Sum.of(taken), Sum(offset=float(needed.sum()))
            parts.append(defaulted(self._score(*sums), 0.0))
        return together(parts, [1 / len(parts)] * len(parts))

    def _score(self, hits: Sum, decided: Sum, needed: Sum) -> Expression:
        below = [part for part, counted in zip((decided, needed), self.counted, strict=True) if counted]
        return divided(hits if len(below) == 1 else hits.scaled(len(below)), below[0].plus(*below[1:]))

    def _per_action(self, hits: Values, decided: Values, needed: Values) -> Values:
        below = [part for part, counted in zip((decided, needed), self.counted, strict=True) if counted]
        return divide(len(below) * hits, sum(below[1:], below[0]))


MACRO_AVERAGES = (
    ("precision", (True, False), "Macro-averaged share of an action's uses in which it was the mapped one."),
    ("recall", (False, True), "Macro-averaged share of contexts mapped to an action in which it was taken."),
    ("f1", (True, True), "Macro-averaged harmonic mean of precision and recall."),
)
for _name, _counted, _sentence in MACRO_AVERAGES:
    metrics.define(_name, _name.title(), MacroAverage, __name__, counted=_counted, __doc__=_sentence)
