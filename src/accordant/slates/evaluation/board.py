"""`Board`: rules × measures with intervals over users, and the values of all resamples for whoever compares rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import UnknownNameError
from accordant.json_values import finite
from accordant.slates.market import Market
from accordant.slates.measures import Goal, Range, SlateMeasure, measures
from accordant.statistics import Estimate, percentile_interval, sparse_mean

SAME = 1e-12  # intervals up to this wide have no width
USER, WORST_OFF = "user attained", "worst off"
"""Labels of the two measures that a front compares by default."""


@dataclass(frozen=True)
class BoardCell:
    """One measure of one rule: value with interval, None where not defined, and the requests that it rests on."""

    estimate: Estimate
    n: int


@dataclass(frozen=True)
class BoardColumn:
    """A measure: what it is called here, whether more or less of it is better, and what it says.

    `resampled` says whether its draws say how sure it is, which those of days do not where there is a single one;
    `units` are the users, or days, that are resampled for it.
    """

    label: str
    goal: Goal
    about: str
    resampled: bool = True
    range: Range | None = None
    units: int = 0

    @property
    def width(self) -> Range | None:
        """Range of a difference of two values."""
        return None if self.range is None else (self.range[0] - self.range[1], self.range[1] - self.range[0])


@dataclass(frozen=True)
class BoardRow:
    """One rule: cells by label of the measure, and shares of requests with a tie, and with fewer items than places."""

    rule: str
    cells: Mapping[str, BoardCell]
    tied: float
    short: float


@dataclass(frozen=True, eq=False)
class Board:
    """Rules in the given order; no score adds measures up, for that would be another value judgement.

    Attributes
    ----------
    n_requests, n_users
        How many requests of how many users every rule served; users are what is resampled.
    resamples, level, seed
        How intervals were computed.
    points
        Values on all requests, shape (rule, measure); NaN where not defined.
    draws
        Values on resamples, the same for all rules, shape (resample, rule, measure).
    shown
        Numbers of lists: equal where two rules show a request the same items in the same order, shape (rule, request).
    """

    rows: tuple[BoardRow, ...]
    columns: tuple[BoardColumn, ...]
    n_requests: int
    n_users: int
    resamples: int
    level: float
    seed: int
    points: Values
    draws: Values
    shown: NDArray[np.intp]

    def __iter__(self) -> Iterator[BoardRow]:
        return iter(self.rows)

    def __getitem__(self, rule: str) -> BoardRow:
        return self.rows[self.place(rule)]

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of rules."""
        return tuple(row.rule for row in self.rows)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of measures."""
        return tuple(column.label for column in self.columns)

    def place(self, rule: str) -> int:
        """Return the number of a rule, or raise `UnknownNameError` if it is not on the board."""
        if rule not in self.rules:
            raise UnknownNameError("slate rule on the board:", rule, self.rules)
        return self.rules.index(rule)

    def measure(self, label: str) -> int:
        """Return the number of a measure, or raise `UnknownNameError` if it is not on the board."""
        if label not in self.labels:
            raise UnknownNameError("measure on the board:", label, self.labels)
        return self.labels.index(label)


def limits(estimate: Estimate) -> dict[str, float | None]:
    """Return an estimate as plain values."""
    names = ("value", "low", "high", "undefined")
    return {name: getattr(estimate, name) for name in names}


def estimates(
    points: Values, draws: Values, level: float, bounds: Sequence[tuple[Range | None, int]] = ()
) -> list[Estimate]:
    """Return values with percentile intervals, none of them of width zero where the range of a value is known.

    Parameters
    ----------
    points
        Shape (n,); NaN where not defined.
    draws
        Shape (resample, n); no resamples give no limits.
    level
        Coverage, in (0, 1).
    bounds
        Range of each value and the units that it rests on: where resamples are all the same, the interval is that of as
        many units that are all alike (`accordant.statistics.sparse_mean`).
    """
    if not len(draws):
        return [Estimate(finite(point)) for point in points]
    intervals = percentile_interval(draws, level)
    for place, (ends, units) in enumerate(bounds):
        if ends is not None and units and intervals.high[place] - intervals.low[place] <= SAME:
            alike = np.full(units, np.clip(points[place], *ends))
            intervals.low[place], intervals.high[place] = sparse_mean(alike, *ends, level)
    return [
        Estimate(None, undefined=float(missing))
        if np.isnan(point)
        else Estimate(float(point), finite(low), finite(high), undefined=float(missing))
        for point, low, high, missing in zip(points, intervals.low, intervals.high, intervals.undefined, strict=True)
    ]


def default_measures(market: Market) -> dict[str, SlateMeasure]:
    """Return the columns of a board for a market: label to measure.

    What nobody can know in this market is left out: relevance without targets, shares without floors, crowds without
    limits, lost places unless full items close while rules see an old state, popularity without any, providers without
    names. None of them adds up what all others say.
    """
    catalogue = market.catalogue
    known_targets = all(batch.targets is not None for batch in market.batches)
    between = "provider" if len(catalogue.providers) > 1 else "category"
    columns: list[tuple[str, bool, str, dict[str, object]]] = [
        (WORST_OFF, True, "worst_off", {}),
        (USER, market.user_stakeholder is not None, "attained", {"stakeholder": market.user_stakeholder}),
        ("nash", True, "nash_attained", {}),
        ("floor violations", bool(market.floors), "floor_violations", {}),
        ("ndcg", known_targets, "ndcg", {}),
        ("overload", bool((catalogue.capacity[catalogue.open] < float("inf")).any()), "overload", {}),
        ("closed places", market.close_when_full and market.staleness > 0, "closed_places", {}),
        ("exposure gini", True, "exposure_gini", {}),
        (
            f"{between} exposure gap",
            max(len(catalogue.providers), len(catalogue.categories)) > 1,
            "provider_exposure_gap",
            {"between": between},
        ),
        ("long tail", bool(catalogue.popularity.any()), "long_tail_share", {}),
        ("diversity", len(catalogue.categories) > 1, "intra_list_diversity", {}),
    ]
    return {label: measures.create(name, parameters) for label, known, name, parameters in columns if known}
