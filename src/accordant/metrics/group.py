"""Group criteria: one class per row of a table, each a comparison of rates between groups.

    criterion             rates compared                                source
    demographic_parity    selection rate                                Dwork et al. 2012; Feldman et al. 2015
    equal_opportunity     true positive rate                            Hardt, Price and Srebro 2016, Def. 2.2
    predictive_equality   false positive rate                           Corbett-Davies et al. 2017
    equalised_odds        true and false positive rate, the worse one   Hardt, Price and Srebro 2016, Def. 2.1
    predictive_parity     positive predictive value                     Chouldechova 2017, Eq. 2.1
    accuracy_parity       accuracy                                      Berk et al. 2021, overall accuracy

Groups are the values of one column or the combinations of several. ``difference`` is the largest minus
the smallest rate and ``ratio`` the smallest divided by the largest, over the groups that occur in the
contexts; with `protected` the difference is signed, P(protected group) − P(everybody else). With `method`
``to_overall`` groups are compared with all contexts: the farthest distance, or the farthest ratio, turned so that it is
at most 1. Several rates count by the worst one, or by their mean (`combined`). fairlearn has the same choices.
A criterion is not defined if some group has nobody to count, or there is nothing to compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, allowed_names
from accordant.evidence import Evidence
from accordant.metrics import rates as table_of_rates
from accordant.metrics.expressions import (
    Expression,
    Farthest,
    Largest,
    LowToHigh,
    Smallest,
    Spread,
    Undefined,
    together,
)
from accordant.metrics.metric import SHARE, CountMetric, Goal, Range, register
from accordant.metrics.rates import Actions, Masks, Rate
from accordant.metrics.statistics import Cells, Contingency, divide
from accordant.problem import DecisionProblem, value_label
from accordant.statistics import newcombe, ratio, spread

Aggregate = Literal["difference", "ratio"]
Method = Literal["between_groups", "to_overall"]
Combined = Literal["worst", "mean"]
AGGREGATES: dict[str, Goal] = {"difference": "zero", "ratio": "max"}


@dataclass(frozen=True)
class GroupCriterion(CountMetric):
    """A comparison of rates between groups.

    Parameters
    ----------
    attributes
        One column, or several whose combinations make the groups (intersections).
    aggregate
        ``difference`` (goal: zero) or ``ratio`` (goal: max).
    protected
        The value of a single attribute whose group is compared with everybody else; None compares all groups.
    actions
        Favourable actions, or a benefit in [0, 1] per action; the problem's favourable actions by default.
    outcomes
        Favourable outcomes; the problem's by default.
    method
        ``between_groups``, or ``to_overall``: each group with all contexts.
    combined
        Of several rates the ``worst`` comparison, or the ``mean``.

    Raises
    ------
    InputError
        If parameters contradict each other.
    """

    criterion: ClassVar[tuple[Rate, ...]]

    attributes: tuple[str, ...]
    aggregate: Aggregate = "difference"
    protected: str | None = None
    actions: Actions = ()
    outcomes: tuple[str, ...] = ()
    method: Method = "between_groups"
    combined: Combined = "worst"

    def __post_init__(self) -> None:
        for name in ("attributes", "actions", "outcomes"):
            object.__setattr__(self, name, names(getattr(self, name)))
        if self.protected is not None:
            object.__setattr__(self, "protected", value_label(self.protected))
        if not self.attributes:
            raise InputError(f"{self.name}: attributes is empty; name at least one column")
        if self.aggregate not in AGGREGATES:
            raise InputError(f"{self.name}: unknown aggregate {self.aggregate!r}; valid: {', '.join(AGGREGATES)}")
        if self.protected is not None and (len(self.attributes) > 1 or self.aggregate == "ratio"):
            raise InputError(f"{self.name}: protected needs one attribute and aggregate 'difference'")
        for name, choice, allowed in (
            ("method", self.method, get_args(Method)), ("combined", self.combined, get_args(Combined)),
        ):  # fmt: skip
            if choice not in allowed:
                raise InputError(f"{self.name}: unknown {name} {choice!r}; {allowed_names(allowed, choice)}")
        if self.protected is not None and (self.method, self.combined) != ("between_groups", "worst"):
            raise InputError(f"{self.name}: protected compares a group with everybody else, by the worst rate")

    @property
    def goal(self) -> Goal:
        """``zero`` for a difference, ``max`` for a ratio."""
        return AGGREGATES[self.aggregate]

    @property
    def columns(self) -> tuple[str, ...]:
        """The attributes."""
        return self.attributes

    def unsuited(self, problem: DecisionProblem) -> str | None:
        """Return what the problem lacks for the rates, or None."""
        return next(
            filter(None, (rate.unsuited(problem, self.actions, self.outcomes) for rate in self.criterion)), None
        )

    def range(self, evidence: Evidence) -> Range:
        """Return [−1, 1] for a signed difference, else [0, 1]."""
        del evidence
        return (-1.0, 1.0) if self.protected is not None else SHARE

    def limits(self, table: Contingency, level: float, independent: float) -> tuple[float, float] | None:
        """Return an interval that knows small counts: Newcombe's for two groups, else from all pairs together.

        With several rates the worst one is at least as far from zero as each of them, so their intervals are joined.
        """
        masks, share = self._masks(table), 1 - (1 - level) / len(self.criterion)
        intervals = [self._rate_limits(*rate.sums(table, masks), table, share, independent) for rate in self.criterion]
        if any(interval is None or np.isnan(interval).any() for interval in intervals):
            return None
        known = [interval for interval in intervals if interval is not None]
        if self.combined == "mean":
            low, high = np.mean(known, axis=0)
            return float(low), float(high)
        return min(low for low, _ in known), max(high for _, high in known)

    def rates(self, table: Contingency) -> dict[str, tuple[Values, Values]]:
        """Return each rate and who counts towards it, shape (..., group)."""
        masks = self._masks(table)
        return {rate.name: rate.by_group(table, masks) for rate in self.criterion}

    def value(self, table: Contingency) -> Values:
        """Return the comparison, shape (...); the worst one if the criterion has several rates."""
        masks = self._masks(table)
        comparisons = np.stack([self._compare(*rate.sums(table, masks), table) for rate in self.criterion])
        if self.combined == "mean":
            return np.asarray(comparisons.mean(axis=0))
        if self.aggregate == "ratio":
            return np.asarray(comparisons.min(axis=0))
        undefined = np.isnan(comparisons).any(axis=0)
        worst = np.abs(np.where(undefined, 0.0, comparisons)).argmax(axis=0)[None]
        return np.where(undefined, np.nan, np.take_along_axis(comparisons, worst, axis=0)[0])

    def expression(self, evidence: Evidence) -> Expression | None:
        """Return the comparison as an expression of rates in groups, which share no context.

        None where groups are compared with all contexts, which are theirs too.
        """
        if self.method == "to_overall":
            return None
        masks, cells = Masks.of(evidence.problem, self.actions, self.outcomes), Cells.of(evidence, self.columns)
        comparisons = tuple(self._comparison(rate, evidence, masks, cells) for rate in self.criterion)
        if len(comparisons) == 1:
            return comparisons[0]
        if self.combined == "mean":
            return together(comparisons, (1 / len(comparisons),) * len(comparisons))
        if self.aggregate == "ratio":
            return Smallest(comparisons)
        return Largest(comparisons) if self.protected is None else Farthest(comparisons)

    def _comparison(self, rate: Rate, evidence: Evidence, masks: Masks, cells: Cells) -> Expression:
        """Return the comparison of one rate."""
        if self.protected is not None:
            code = cells.groups.labels.index(self.protected) if self.protected in cells.groups.labels else -1
            inside = cells.groups.codes == code
            sides = tuple(rate.expression(evidence, masks, np.flatnonzero(side)) for side in (inside, ~inside))
            return together(sides, (1.0, -1.0))
        rates = rate.in_groups(evidence, masks, cells)
        if len(rates) < 2:
            return Undefined()
        return Spread(rates) if self.aggregate == "difference" else LowToHigh(rates)

    def size(self, table: Contingency) -> Values:
        """Return how many contexts count towards the rate (towards all of them, if several)."""
        masks = self._masks(table)
        return np.asarray(sum(rate.sums(table, masks)[1].sum(axis=-1) for rate in self.criterion))

    def reason(self, table: Contingency) -> str:
        """Return which group has nobody to count, or that there is nothing to compare."""
        of, labels = " × ".join(self.attributes), table.cells.groups.labels
        listed = ", ".join(f"{label!r} (n={size})" for label, size in zip(labels, table.cells.sizes, strict=True))
        if self.protected is not None and self.protected not in labels:
            return f"group {self.protected!r} of {of} is empty (n=0); groups: {listed}"
        if np.count_nonzero(table.cells.sizes) < 2:
            return f"nothing to compare: {of} has only the group {listed}"
        masks = self._masks(table)
        for rate in self.criterion:
            for label, n, size in zip(labels, rate.sums(table, masks)[1], table.cells.sizes, strict=True):
                if n == 0 and size > 0:
                    return f"group {label!r} of {of} has no {rate.who} (n=0), so its {rate.name} is not defined"
        return "the rate is 0 in every group, so their ratio is not defined"

    def _masks(self, table: Contingency) -> Masks:
        return Masks.of(table.problem, self.actions, self.outcomes)

    def _rate_limits(
        self, top: Values, bottom: Values, table: Contingency, level: float, independent: float
    ) -> tuple[float, float] | None:
        """Return an interval of the comparison of one rate, given as sums over groups, shape (group,)."""
        if self.protected is not None:
            inside = np.array([label == self.protected for label in table.cells.groups.labels])
            sides = [
                (top[part].sum(), bottom[part].sum() * independent, bottom[part].sum()) for part in (inside, ~inside)
            ]
            (first, n_first, all_first), (second, n_second, all_second) = sides
            if not all_first or not all_second:
                return None
            low, high = newcombe(first / all_first, n_first, second / all_second, n_second, level)
            return float(low), float(high)
        occupied = table.cells.sizes > 0
        if np.count_nonzero(occupied) < 2 or not bottom[occupied].all():
            return None
        shares, n = top[occupied] / bottom[occupied], bottom[occupied] * independent
        low, high = (spread if self.aggregate == "difference" else ratio)(shares, n, level)
        if self.method == "to_overall":
            return self._limits_to_overall(float(low), float(high), bottom[occupied])
        return float(low), float(high)

    def _limits_to_overall(self, low: float, high: float, sizes: Values) -> tuple[float, float]:
        """Return limits of the farthest group from all contexts, from those of what lies between groups.

        The rate of all is the mean of the groups' by their shares w, so the distance of group g is at most 1 − w_g of
        the largest difference, and the farthest of all at least half of it: of two groups it is the larger share
        exactly. The rate of all lies between smallest and largest, so their ratio is the least that is possible; it is
        the product of two ratios to it, the lower of which is at most its root.
        """
        if self.aggregate == "ratio":
            return low, float(np.sqrt(high))
        shares = sizes / sizes.sum()
        least = float(shares.max()) if len(shares) == 2 else 0.5
        return least * low, float(1 - shares.min()) * high

    def _compare(self, top: Values, bottom: Values, table: Contingency) -> Values:
        """Return the difference or ratio of top/bottom between groups, NaN where a group is empty."""
        labels, occupied = table.cells.groups.labels, table.cells.sizes > 0
        undefined = np.full(top.shape[:-1], np.nan)
        if self.protected is not None:
            inside = np.array([label == self.protected for label in labels])
            first, rest = (
                divide(top[..., part].sum(axis=-1), bottom[..., part].sum(axis=-1)) for part in (inside, ~inside)
            )
            return first - rest
        if np.count_nonzero(occupied) < 2:
            return undefined
        rate = divide(top, bottom)[..., occupied]
        low, high = np.asarray(rate.min(axis=-1)), np.asarray(rate.max(axis=-1))
        if self.method == "to_overall":
            whole = divide(np.asarray(top.sum(axis=-1)), np.asarray(bottom.sum(axis=-1)))
            if self.aggregate == "difference":
                return np.asarray(np.maximum(high - whole, whole - low))
            return np.asarray(np.minimum(divide(low, whole), divide(whole, high)))
        return high - low if self.aggregate == "difference" else divide(low, high)


def names(value: Actions | str) -> Actions:
    """Return a bare name or a list of names as a tuple; a mapping stays as it is."""
    if isinstance(value, str):
        return (value,)
    return value if isinstance(value, dict) else tuple(value)


@register("demographic_parity", aliases=("statistical_parity",))
class DemographicParity(GroupCriterion):
    """Gap between groups in the share of favourable actions."""

    criterion = (table_of_rates.SELECTION_RATE,)


@register("equal_opportunity")
class EqualOpportunity(GroupCriterion):
    """Gap between groups in the share of favourable actions among favourable outcomes."""

    criterion = (table_of_rates.TRUE_POSITIVE_RATE,)


@register("predictive_equality")
class PredictiveEquality(GroupCriterion):
    """Gap between groups in the share of favourable actions among the other outcomes."""

    criterion = (table_of_rates.FALSE_POSITIVE_RATE,)


@register("equalised_odds", aliases=("equalized_odds",))
class EqualisedOdds(GroupCriterion):
    """The larger of the gaps between groups in true and false positive rate."""

    criterion = (table_of_rates.TRUE_POSITIVE_RATE, table_of_rates.FALSE_POSITIVE_RATE)


@register("predictive_parity", aliases=("conditional_outcome_parity",))
class PredictiveParity(GroupCriterion):
    """Gap between groups in the share of favourable outcomes among favourable actions."""

    criterion = (table_of_rates.POSITIVE_PREDICTIVE_VALUE,)


@register("accuracy_parity")
class AccuracyParity(GroupCriterion):
    """Gap between groups in the share of actions that match the outcome."""

    criterion = (table_of_rates.ACCURACY,)
