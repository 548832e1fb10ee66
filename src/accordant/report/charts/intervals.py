"""Dots with intervals: one panel per metric, one small one per composite score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from accordant.report.charts.panel import NAMES, RIGHT, WIDTH, Panel
from accordant.report.charts.svg import figure, line, mark, tag, text
from accordant.report.reading import Json, Line
from accordant.report.scale import NOT_DEFINED, Scale, interval, linear_scale, number

CAPTIONS = {"max": "more is better →", "min": "← less is better", "zero": "→ nearer to zero is better ←"}
SCORE_WIDTH, SCORE_HEIGHT = 130.0, 20.0
SCORE_REACH = (
    -0.2,
    1.2,
)  # lines that are no candidates may score far outside; drawn whole, they would flatten the rest


def metric_panel(identifier: str, lines: Sequence[Line], column: Json, digits: int) -> Markup:
    """Return dots and intervals of all lines on one metric.

    Parameters
    ----------
    identifier
        Unique in the document.
    lines
        Strategies, top first.
    column
        The metric as the record describes it.
    digits
        Decimals of numbers in words.
    """
    label, goal = column["label"], column["goal"]
    cells = [each.row["metrics"][label] for each in lines]
    panel = Panel(lines)
    anchor = [0.0] if goal == "zero" else []
    scale = linear_scale([*_numbers(cells), *anchor], NAMES + 6, WIDTH - RIGHT)
    drawn: list[Markup] = []
    for each, cell, y in zip(lines, cells, panel.centres, strict=True):
        if cell["value"] is None:
            drawn.append(text(NAMES + 6, y + 4, NOT_DEFINED, "missing"))
            continue
        limits = interval(cell["low"], cell["high"], digits)
        about = f"{each.name}: {number(cell['value'], digits)} {limits}".strip()
        drawn.append(tag("g", {}, tag("title", {}, about), *_dot(scale, cell, y, each, 4.5)))
    said = _description(lines, cells, digits)
    return figure(
        identifier,
        panel.size,
        f"{label} of every strategy",
        said,
        *panel.frame(scale, CAPTIONS[goal]),
        *panel.labels(),
        *drawn,
    )


def score_scale(scores: Iterable[Json]) -> Scale:
    """Return the scale that all small composite score charts share: 0, 1, and little beyond them."""
    near = [min(max(value, SCORE_REACH[0]), SCORE_REACH[1]) for value in _numbers(scores)]
    return linear_scale([0.0, 1.0, *near], 6, SCORE_WIDTH - 6, wanted=3, tight=True)


def score_strip(each: Line, scale: Scale) -> Markup:
    """Return the composite score of one line, to stand in a table beside its number."""
    y = SCORE_HEIGHT / 2
    grid = [line(scale(value), 0, scale(value), SCORE_HEIGHT, "grid") for value in scale.ticks]
    score = each.row["score"]
    dot = [] if score["value"] is None else _dot(scale, score, y, each, 4.5)
    return _strip(SCORE_HEIGHT, *grid, *dot)


def score_axis(scale: Scale) -> Markup:
    """Return the axis of the small composite score charts."""
    found = []
    for value, label in zip(scale.ticks, scale.labels(), strict=True):
        x = min(max(scale(value), 8.0), SCORE_WIDTH - 10.0)
        found.append(text(x, 11, label, "tick", "middle"))
    return _strip(14.0, *found)


def _strip(height: float, *children: Markup) -> Markup:
    head = {"viewBox": f"0 0 {SCORE_WIDTH:g} {height:g}", "width": SCORE_WIDTH, "height": height}
    return tag("svg", {**head, "class": "strip", "aria-hidden": "true", "focusable": "false"}, *children)


def _dot(scale: Scale, cell: Json, y: float, each: Line, radius: float) -> list[Markup]:
    css = f"of-{each.family}" + (" selected" if each.selected else "")
    found = []
    if cell["low"] is not None and cell["high"] is not None:
        low, high = (scale(_on(scale, cell[end])) for end in ("low", "high"))
        found.append(line(low, y, high, y, f"interval {css}"))
        ends = [scale(cell[end]) for end in ("low", "high") if cell[end] == _on(scale, cell[end])]
        found += [line(end, y - 3, end, y + 3, f"interval {css}") for end in ends]  # an end that is cut off has no cap
    return [*found, mark(each.mark, scale(_on(scale, cell["value"])), y, radius, css)]


def _on(scale: Scale, value: float) -> float:
    """Return a value, or the end of the scale that it lies beyond."""
    return min(max(value, scale.low), scale.high)


def _numbers(cells: Iterable[Json]) -> list[float]:
    return [cell[part] for cell in cells for part in ("value", "low", "high") if cell[part] is not None]


def _description(lines: Sequence[Line], cells: Sequence[Json], digits: int) -> str:
    """Put the panel into words: every value, in the order of the rows."""
    parts = [f"{each.name} {number(cell['value'], digits)}" for each, cell in zip(lines, cells, strict=True)]
    return "; ".join(parts) + "."
