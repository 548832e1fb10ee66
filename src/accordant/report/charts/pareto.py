"""Two metrics against each other: better is always to the right and up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.svg import Label, figure, line, mark, placed, tag, text
from accordant.report.reading import Line, oriented
from accordant.report.scale import Scale, linear_scale, number
from accordant.report.standings import Standing
from accordant.runs.record import Column

WIDTH, HEIGHT = 360.0, 330.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 16.0, 26.0, 50.0
NEAR = 8.0  # marks closer than this share one label
FRONT, BEHIND = "star", "open-circle"


@dataclass(frozen=True)
class Point:
    """A line with its place in the drawing, and its shape."""

    line: Line
    x: float
    y: float
    shape: str


def pareto_chart(identifier: str, standings: Sequence[Standing], columns: tuple[Column, Column]) -> Markup:
    """Return candidates on two metrics; the mark of one that no other dominates is full, of others hollow.

    Marks carry the position of the strategy in the leaderboard; the key with names stands beside the drawing.

    Parameters
    ----------
    identifier
        Unique in the document.
    standings
        Of the candidates on these two metrics.
    columns
        The metrics, horizontal first.
    """
    across, up = columns
    scales = _axis(standings, across, LEFT, WIDTH - RIGHT), _axis(standings, up, HEIGHT - BOTTOM, TOP)
    points = []
    for standing in standings:
        right, above = (standing.line.value(column.label) for column in columns)
        if right is None or above is None:
            continue
        place = scales[0](_shown(across, right)), scales[1](_shown(up, above))
        points.append(Point(standing.line, *place, BEHIND if standing.dominated_by else FRONT))
    marks = [
        tag("g", {}, tag("title", {}, _said(point.line, columns)), _mark(point))
        for point in sorted(points, key=lambda point: point.shape == FRONT)
    ]
    free = [standing.line.name for standing in standings if standing.compared and not standing.dominated_by]
    title = f"{up.label} against {across.label}"
    said = f"Not dominated on these two metrics: {', '.join(free) or 'none'}. Values: " + "; ".join(
        _said(point.line, columns) for point in points
    )
    parts = [*_frame(scales, columns), *marks, *_labels(points)]
    return figure(identifier, (WIDTH, HEIGHT), title, said, *parts)


def _shown(column: Column, value: float) -> float:
    return abs(value) if column.goal == "zero" else value


def _axis(standings: Sequence[Standing], column: Column, worst: float, best: float) -> Scale:
    """Return the axis of a metric, turned round where less is better."""
    values = [standing.line.value(column.label) for standing in standings]
    shown = [_shown(column, value) for value in values if value is not None]
    forward = oriented(column.goal, 2.0) > oriented(column.goal, 1.0)
    return linear_scale(shown, worst, best) if forward else linear_scale(shown, best, worst)


def _frame(scales: tuple[Scale, Scale], columns: tuple[Column, Column]) -> list[Markup]:
    across, up = scales
    base, elements = HEIGHT - BOTTOM, []
    for value, label in zip(across.ticks, across.labels(), strict=True):
        elements += [
            line(across(value), TOP, across(value), base, "grid"),
            text(across(value), base + 16, label, "tick", "middle"),
        ]
    for value, label in zip(up.ticks, up.labels(), strict=True):
        elements += [
            line(LEFT, up(value), WIDTH - RIGHT, up(value), "grid"),
            text(LEFT - 8, up(value) + 4, label, "tick", "end"),
        ]
    elements.append(text(WIDTH - RIGHT, HEIGHT - 12, f"{_title(columns[0])}, better →", "caption", "end"))
    elements.append(text(2, 12, f"↑ {_title(columns[1])}, better", "caption"))
    return elements


def _title(column: Column) -> str:
    label = column.label if len(column.label) <= 36 else column.label[:35] + "…"
    return f"|{label}|" if column.goal == "zero" else label


def _labels(points: Sequence[Point]) -> list[Markup]:
    """Return the positions of strategies beside their marks, one label for marks that coincide."""
    clusters: list[list[Point]] = []
    for point in points:
        home = next((cluster for cluster in clusters if _near(cluster[0], point)), None)
        if home is None:
            clusters.append([point])
        else:
            home.append(point)
    labels = []
    for cluster in clusters:
        words = ", ".join(str(point.line.position) for point in cluster)
        css = "number selected" if any(point.line.selected for point in cluster) else "number"
        labels.append(Label(cluster[0].x, cluster[0].y, words, css))
    taken = [(p.x - 6, p.y - 6, p.x + 6, p.y + 6) for p in points]
    return placed(labels, taken, (LEFT, TOP - 12, WIDTH, HEIGHT - BOTTOM - 12))


def _near(a: Point, b: Point) -> bool:
    return abs(a.x - b.x) < NEAR and abs(a.y - b.y) < NEAR


def _mark(point: Point) -> Markup:
    return mark(point.shape, point.x, point.y, 5, "front" if point.shape == FRONT else "behind")


def _said(strategy: Line, columns: tuple[Column, Column]) -> str:
    values = ", ".join(f"{column.label} {number(strategy.value(column.label))}" for column in columns)
    return f"{strategy.position} {strategy.name}: {values}"
