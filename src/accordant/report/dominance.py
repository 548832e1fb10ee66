"""Pareto dominance between candidates on all metrics that have weight, by point estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.reading import EQUAL, Json, Line, Reading, oriented


@dataclass(frozen=True)
class Standing:
    """How a candidate compares with the others.

    Attributes
    ----------
    line
        The candidate.
    dominated_by
        Candidates at least as good on every metric and better on one.
    equal_to
        Candidates with the same value on every metric.
    compared
        False if one of its metrics is not defined; such a line neither dominates nor is dominated.
    """

    line: Line
    dominated_by: tuple[str, ...]
    equal_to: tuple[str, ...]
    compared: bool


def standings(reading: Reading, columns: Sequence[Json]) -> tuple[Standing, ...]:
    """Return the standing of every candidate on these metrics."""
    points = {line.name: _point(line, columns) for line in reading.candidates}
    found = []
    for line in reading.candidates:
        own = points[line.name]
        if own is None:
            found.append(Standing(line, (), (), False))
            continue
        others = {name: point for name, point in points.items() if point is not None and name != line.name}
        above = tuple(name for name, point in others.items() if _dominates(point, own))
        same = tuple(name for name, point in others.items() if _equal(point, own))
        found.append(Standing(line, above, same, True))
    return tuple(found)


def _point(line: Line, columns: Sequence[Json]) -> tuple[float, ...] | None:
    values = [(column["goal"], line.value(column["label"])) for column in columns]
    if any(value is None for _, value in values):
        return None
    return tuple(oriented(goal, value) for goal, value in values if value is not None)


def _dominates(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    gaps = [x - y for x, y in zip(a, b, strict=True)]
    return min(gaps) >= -EQUAL and max(gaps) > EQUAL


def _equal(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(abs(x - y) <= EQUAL for x, y in zip(a, b, strict=True))
