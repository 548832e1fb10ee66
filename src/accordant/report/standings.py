"""How candidates compare: Pareto dominance on metrics with weight, and places in selection and on untouched rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.report.reading import EQUAL, Line, Listing, Reading, oriented
from accordant.runs.record import Column, Row
from accordant.statistics import dominates


@dataclass(frozen=True)
class Standing:
    """How a candidate compares with the others."""

    line: Line  # the candidate
    dominated_by: tuple[str, ...]  # candidates at least as good on every metric and better on one
    equal_to: tuple[str, ...]  # candidates with the same value on every metric
    compared: bool  # false if one of its metrics is not defined; such a line neither dominates nor is dominated


def standings(reading: Listing, columns: Sequence[Column]) -> tuple[Standing, ...]:
    """Return the standing of every candidate on these metrics."""
    lines = reading.candidates
    points = np.array([_point(line, columns) for line in lines]).reshape(len(lines), len(columns))
    known = ~np.isnan(points).any(axis=1)
    over = dominates(points, EQUAL)
    level = (np.abs(points[:, None] - points[None]) <= EQUAL).all(axis=2) & ~np.eye(len(lines), dtype=bool)
    names = [line.name for line in lines]
    return tuple(
        Standing(
            line,
            tuple(name for name, above in zip(names, over[:, c], strict=True) if above),
            tuple(name for name, same in zip(names, level[c], strict=True) if same),
            bool(known[c]),
        )
        for c, line in enumerate(lines)
    )


def _point(line: Line, columns: Sequence[Column]) -> list[float]:
    """Return the values of a candidate turned so that more is better, NaN where one is not defined."""
    values = [(column.goal, line.value(column.label)) for column in columns]
    return [float("nan") if value is None else oriented(goal, value) for goal, value in values]


@dataclass(frozen=True)
class Places:
    """Place of every ranked candidate, 1 best; equal scores share a place.

    Attributes
    ----------
    validation, test
        Strategy to place.
    order
        Candidates in order of their validation score, unranked ones last.
    """

    validation: dict[str, int]
    test: dict[str, int]
    order: tuple[Line, ...]


def compare(reading: Reading) -> Places:
    """Return both orders of a run."""
    validation = _places(reading.record.validation.leaderboard)
    test = _places(reading.record.test.leaderboard)
    last = len(reading.lines) + 1
    order = sorted(reading.candidates, key=lambda line: validation.get(line.name, last))
    return Places(validation, test, tuple(order))


def _places(rows: Sequence[Row]) -> dict[str, int]:
    scores = {row.strategy: row.score.value for row in rows if row.candidate and row.score.value is not None}
    return {name: 1 + sum(other > score + EQUAL for other in scores.values()) for name, score in scores.items()}
