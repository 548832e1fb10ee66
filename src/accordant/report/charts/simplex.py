"""All ways to weigh two or three metrics, divided among the strategies that win there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.svg import Corner, box, figure, hatched, line, mark, text, wrapped
from accordant.report.scale import percent

WIDTH = 360.0
STRIP_HEIGHT, STRIP_TOP, STRIP_BOTTOM, SIDE = 104.0, 34.0, 66.0, 8.0
TRIANGLE_HEIGHT, APEX, BASE = 352.0, 40.0, 300.0
LETTER, LEADING = 12.0, 13.0
CHOSEN = "star"  # shape that stands for the chosen weights


@dataclass(frozen=True)
class Area:
    """A region: its number in the key, the name of its strategy, and its corners as weights by metric."""

    number: int
    name: str
    corners: tuple[tuple[float, ...], ...]


def weight_strip(identifier: str, metrics: Sequence[str], areas: Sequence[Area], chosen: Sequence[float]) -> Markup:
    """Return the weights of two metrics as a strip: all weight on the second metric left, on the first right.

    Parameters
    ----------
    identifier
        Unique in the document.
    metrics
        Labels.
    areas
        Regions with volume.
    chosen
        The chosen weights, sum 1.
    """

    def across(weight: float) -> float:
        """Return where a weight of the first metric is drawn."""
        return SIDE + weight * (WIDTH - 2 * SIDE)

    drawn: list[Markup] = []
    for area in areas:
        left, right = (across(end(corner[0] for corner in area.corners)) for end in (min, max))
        drawn += hatched(box(left, STRIP_TOP, right, STRIP_BOTTOM), area.number - 1)
        drawn.append(text((left + right) / 2, (STRIP_TOP + STRIP_BOTTOM) / 2 + 4, str(area.number), "halo", "middle"))
    x = across(chosen[0])
    drawn += [line(x, 20, x, STRIP_BOTTOM, "chosen"), mark(CHOSEN, x, 14, 5.5, "front")]
    for weight in (0.0, 0.5, 1.0):
        anchor = {0.0: "start", 1.0: "end"}.get(weight, "middle")
        drawn.append(text(across(weight), STRIP_BOTTOM + 16, percent(weight), "tick", anchor))
    for words, anchor, place in ((metrics[1], "start", SIDE), (metrics[0], "end", WIDTH - SIDE)):
        name = wrapped(words, (WIDTH / 2 - 2 * SIDE) / LETTER, 1)[0]
        drawn.append(
            text(place, STRIP_BOTTOM + 32, f"← {name}" if anchor == "start" else f"{name} →", "caption", anchor)
        )
    title = f"Who wins at which weight of {metrics[0]}, against {metrics[1]}"
    return figure(identifier, (WIDTH, STRIP_HEIGHT), title, _said(metrics, areas, chosen), *drawn)


def weight_triangle(identifier: str, metrics: Sequence[str], areas: Sequence[Area], chosen: Sequence[float]) -> Markup:
    """Return the weights of three metrics as a triangle; all weight lies on a metric in its corner.

    Parameters
    ----------
    identifier, metrics, areas, chosen
        As for `weight_strip`; corners in order round each region.
    """
    side = (BASE - APEX) * 2 / math.sqrt(3)
    tips = ((WIDTH / 2, APEX), ((WIDTH - side) / 2, BASE), ((WIDTH + side) / 2, BASE))

    def place(weights: Sequence[float]) -> Corner:
        """Return where weights are drawn."""
        return (
            sum(weight * x for weight, (x, _) in zip(weights, tips, strict=True)),
            sum(weight * y for weight, (_, y) in zip(weights, tips, strict=True)),
        )

    drawn: list[Markup] = []
    for area in areas:
        drawn += hatched([place(corner) for corner in area.corners], area.number - 1)
    for area in areas:
        points = [place(corner) for corner in area.corners]
        x, y = (sum(point[k] for point in points) / len(points) for k in (0, 1))
        drawn.append(text(x, y + 4, str(area.number), "halo", "middle"))
    drawn.append(mark(CHOSEN, *place(chosen), 6.5, "front ringed"))
    drawn += _tips(metrics, tips)
    title = f"Who wins at which weights of {metrics[0]}, {metrics[1]} and {metrics[2]}"
    return figure(identifier, (WIDTH, TRIANGLE_HEIGHT), title, _said(metrics, areas, chosen), *drawn)


def _tips(metrics: Sequence[str], tips: Sequence[Corner]) -> list[Markup]:
    """Return the names of the metrics at their corners."""
    top = wrapped(metrics[0], WIDTH / LETTER)
    elements = [
        text(tips[0][0], tips[0][1] - 10 - LEADING * (len(top) - 1 - row), part, "", "middle")
        for row, part in enumerate(top)
    ]
    for name, x, anchor in ((metrics[1], 2.0, "start"), (metrics[2], WIDTH - 2.0, "end")):
        words = wrapped(name, (WIDTH / 2 - 8) / LETTER)
        elements += [text(x, BASE + 18 + LEADING * row, part, "", anchor) for row, part in enumerate(words)]
    return elements


def _said(metrics: Sequence[str], areas: Sequence[Area], chosen: Sequence[float]) -> str:
    """Put the drawing into words."""
    weights = ", ".join(f"{name} {percent(weight)}" for name, weight in zip(metrics, chosen, strict=True))
    return f"Regions: {', '.join(f'{area.number} {area.name}' for area in areas)}. Chosen weights: {weights}."
