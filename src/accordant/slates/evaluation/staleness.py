"""What it costs that rules see an old state: every measure of every rule with the staleness of a market, less without.

Both servings are measured on one scale, between the best ideal and the worst worst of all of them, and on the same
resamples. Intervals of all rules and measures hold together: those of measures over users by one band, those of
measures of days by another (`accordant.statistics.joint_band`), each with its share of what may go wrong (Bonferroni).
What is the same in all resamples has no interval, unless it is a measure over users with a known range: then as much
stays possible as one more user can change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Mask
from accordant.errors import InputError
from accordant.json_values import finite
from accordant.slates.evaluation.board import SAME, Board, BoardColumn
from accordant.slates.evaluation.front import Difference, better
from accordant.slates.evaluation.scores import scores
from accordant.slates.market import Served, on_one_scale
from accordant.slates.measures import DailyMeasure, SlateMeasure
from accordant.statistics import Estimate, joint_band

MOST_UNDEFINED = 0.05  # share of resamples without a value from which on a difference has no interval


@dataclass(frozen=True)
class StalenessPrice:
    """Differences of all rules, with staleness less without.

    Attributes
    ----------
    staleness, batches
        Of the market, and how many batches it has.
    at_once, rounds
        How many batches are decided side by side, and after how many such rounds all of them are.
    level
        Coverage of all intervals together.
    rules
        Rule to label of a measure to difference.
    """

    staleness: int
    batches: int
    level: float
    rules: Mapping[str, Mapping[str, Difference]]

    @property
    def at_once(self) -> int:
        """How many batches are decided side by side."""
        return min(self.staleness + 1, self.batches)

    @property
    def rounds(self) -> int:
        """How many rounds take the place of as many as there are batches."""
        return -(-self.batches // self.at_once)

    @property
    def words(self) -> str:
        """What it brings, and how many differences are for the worse, for the better and neither."""
        counts = Counter(difference.better for rule in self.rules.values() for difference in rule.values())
        return (
            f"Rules see the state of {self.staleness} batch{'es' * (self.staleness != 1)} ago: {self.at_once} of "
            f"{self.batches} batches are decided at once, all in {self.rounds} round{'s' * (self.rounds != 1)}. Of "
            f"{counts.total()} differences to no staleness ({len(self.rules)} rules, all measures together) "
            f"{counts[False]} are for the worse, {counts[True]} for the better, and {counts[None]} are not shown."
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        names = ("staleness", "batches", "at_once", "rounds", "level", "words")
        rules = {
            rule: {label: difference.to_json() for label, difference in row.items()} for rule, row in self.rules.items()
        }
        return {name: getattr(self, name) for name in names} | {"rules": rules}


def staleness_price(
    stale: Mapping[str, Served],
    fresh: Mapping[str, Served],
    measures: Mapping[str, SlateMeasure],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> StalenessPrice:
    """Compare what rules show in a market with staleness with what they show in the same market without.

    Parameters
    ----------
    stale, fresh
        Rule to what it showed: the same rules, the same requests.
    measures
        Label to measure.
    resamples, seed
        Of users, and of days for measures of days; see `scores`.
    level
        Coverage of all intervals together, in (0, 1).

    Raises
    ------
    InputError
        If the rules differ, the second market is served with staleness, or see `scores`.
    """
    if list(stale) != list(fresh):
        raise InputError("other rules were served with staleness than without; allowed: the same, in the same order")
    markets = [served.market for served in stale.values()]
    if any(served.market.staleness for served in fresh.values()) or len({market.staleness for market in markets}) > 1:
        raise InputError("allowed: one staleness of all rules, and none in what they are compared with")
    pairs = {f"{side} {rule}": served for side, row in enumerate((stale, fresh)) for rule, served in row.items()}
    board = scores(on_one_scale(pairs), measures, resamples=resamples, seed=seed, level=level)
    daily = np.array([isinstance(measure, DailyMeasure) for measure in measures.values()])
    table = _differences(board, daily, level)
    rules = {
        rule: {
            column.label: Difference(estimate, better(estimate, column.goal))
            for column, estimate in zip(board.columns, row, strict=True)
        }
        for rule, row in zip(stale, table, strict=True)
    }
    return StalenessPrice(markets[0].staleness, len(markets[0].batches), level, rules)


def _differences(board: Board, daily: Mask, level: float) -> list[list[Estimate]]:
    """Return differences of the first half of the rules to the second, rule by rule, with joint intervals."""
    n_rules = len(board.rows) // 2
    points = board.points[:n_rules] - board.points[n_rules:]
    draws = board.draws[:, :n_rules] - board.draws[:, n_rules:]
    missing = np.isnan(draws).mean(axis=0) if len(draws) else np.full(points.shape, np.nan)
    sure = np.array([column.resampled for column in board.columns])
    counted = ~np.isnan(points) & (missing <= MOST_UNDEFINED) & sure
    least = np.where(daily, 0.0, [_least(board_column) for board_column in board.columns])
    limits = np.full((2, *points.shape), np.nan)
    for part in (counted & daily, counted & ~daily):
        drawn = draws[:, part]
        drawn = drawn[~np.isnan(drawn).any(axis=1)]
        if part.any() and len(drawn) > 1:
            share, column = part.sum() / counted.sum(), board.columns[int(np.flatnonzero(part.any(axis=0))[0])]
            limits[:, part] = joint_band(
                points[part], drawn, n=column.units, level=float(1.0 - (1.0 - level) * share),
                error=np.broadcast_to(least, points.shape)[part],
            )  # fmt: skip
    limits[:, limits[1] - limits[0] <= SAME] = np.nan
    widths = np.transpose([column.width or (-np.inf, np.inf) for column in board.columns])
    limits = np.clip(limits, *widths)
    return [
        [
            Estimate(finite(point), finite(low), finite(high), undefined=finite(share))
            for point, low, high, share in zip(*row, strict=True)
        ]
        for row in zip(points, *limits, missing, strict=True)
    ]


def _least(column: BoardColumn) -> float:
    """Return the smallest standard error of a difference: what one more user can change; 0 without a range."""
    return 0.0 if column.width is None or not column.units else column.width[1] / column.units
