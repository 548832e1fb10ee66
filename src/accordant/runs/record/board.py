"""What ``run.json`` holds of leaderboards, typed: a row a strategy, a column a metric, and what groups received."""

from __future__ import annotations

from typing import Any

from accordant.sections import Figure, Part

Json = dict[str, Any]


class Limits(Part):
    """A value with its interval, and the share of resamples that the interval leaves out."""

    value: Figure | None
    low: Figure | None
    high: Figure | None
    undefined: Figure | None


class GroupRate(Limits):
    """A rate in one group, and how many rows count towards it."""

    rate: str
    group: str
    n: Figure | None


class MetricFigures(Limits):
    """One metric of one strategy; see `accordant.evaluation.MetricCell`."""

    n: Figure | None
    reason: str
    normalised: Figure | None
    by_group: tuple[GroupRate, ...]


class Row(Part):
    """One strategy; see `accordant.evaluation.LeaderboardRow`."""

    strategy: str
    kind: str
    candidate: bool
    score: Limits
    among_best: bool | None
    alike: str | None
    tied: Figure | None
    below_best_constant: bool
    overlap: Json | None = None
    metrics: dict[str, MetricFigures]


class Column(Part):
    """How a metric enters the composite score; see `accordant.evaluation.MetricColumn`."""

    label: str
    goal: str
    weight: float
    uninformative: bool
    description: str
    influence: float = 0.0
    range: tuple[float, float] | None = None


class Board(Part):
    """A leaderboard with how it was computed; see `accordant.evaluation.Leaderboard`."""

    n: int
    resamples: int
    level: float
    normalisation: str
    best_constant: str | None
    remarks: tuple[str, ...]
    metrics: tuple[Column, ...]
    leaderboard: tuple[Row, ...]


class GroupRow(Part):
    """What a group received; see `accordant.evaluation.GroupRow`."""

    strategy: str
    group: str
    n: int
    favourable_share: Figure | None
    mean_rewards: dict[str, Figure | None]


class GroupTable(Part):
    """Groups × strategies for one attribute, or a combination of attributes."""

    attributes: tuple[str, ...]
    rows: tuple[GroupRow, ...]


class PeoplePart(Part):
    """What models expect for single untouched rows, and what every strategy decides there; no features of anybody.

    Attributes
    ----------
    rows
        Positions among the untouched rows, as ``accordant explain RUN --row`` counts them; evenly spaced where not all
        are kept.
    n
        How many untouched rows there are.
    expected
        Stakeholder to the expected reward of each action, shape (row, action), to four decimals.
    decisions
        Strategy to the position of the action that it takes in each row; the probability of each action, to four
        decimals, where it draws.
    """

    rows: tuple[int, ...]
    n: int
    expected: dict[str, tuple[tuple[float, ...], ...]]
    decisions: dict[str, tuple[int | tuple[float, ...], ...]]
