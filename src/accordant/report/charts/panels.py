"""The frame that row charts share: one row per strategy with its name, and an axis below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from accordant.report.charts.svg import figure, line, mark, tag, text, wrapped
from accordant.report.reading import Line
from accordant.report.scale import NOT_DEFINED, Scale, interval, linear_scale, number
from accordant.runs.record import Column, Limits

WIDTH, NAMES, RIGHT = 360.0, 164.0, 14.0  # a phone draws it at this size, so letters stay above 11 px
TOP, AXIS, GAP = 8.0, 42.0, 10.0
LETTER = 12.0  # font size of names, as in the style sheet
ONE_LINE, TWO_LINES = 21.0, 33.0


@dataclass(frozen=True)
class Panel:
    """Where every row is drawn."""

    lines: Sequence[Line]  # strategies, top first; those outside the candidate set come last and are set apart
    marked: bool = True  # whether names carry the mark of their kind; not where marks stand for something else

    @cached_property
    def names(self) -> list[list[str]]:
        """Lines of text of each name."""
        return [wrapped(strategy.name, (NAMES - 26) / LETTER) for strategy in self.lines]

    @cached_property
    def centres(self) -> list[float]:
        """Vertical centre of each row."""
        centres, y = [], TOP
        for position, (strategy, words) in enumerate(zip(self.lines, self.names, strict=True)):
            if not strategy.candidate and position and self.lines[position - 1].candidate:
                y += GAP
            height = TWO_LINES if len(words) > 1 else ONE_LINE
            centres.append(y + height / 2)
            y += height
        return centres

    @property
    def bottom(self) -> float:
        """Where the rows end and the axis begins."""
        return self.centres[-1] + (TWO_LINES if len(self.names[-1]) > 1 else ONE_LINE) / 2

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the drawing."""
        return WIDTH, self.bottom + AXIS

    def labels(self) -> list[Markup]:
        """Return names with their marks; the selected one is set in bold and says so to screen readers."""
        elements = []
        for strategy, words, y in zip(self.lines, self.names, self.centres, strict=True):
            css = "name selected" if strategy.selected else "name"
            start = y + 4 - 6.5 * (len(words) - 1)
            spans = [text(19 if self.marked else 1, start + 13 * row, part, css) for row, part in enumerate(words)]
            full = tag("title", {}, strategy.name + (" (selected)" if strategy.selected else ""))
            marks = [mark(strategy.mark, 8, y, 4.2, f"of-{strategy.family}")] if self.marked else []
            elements.append(tag("g", {}, full, *marks, *spans))
        return elements

    def frame(self, scale: Scale, caption: str) -> list[Markup]:
        """Return grid, axis, its caption, and the rule above the lines that are no candidates."""
        elements = []
        for value, label in zip(scale.ticks, scale.labels(), strict=True):
            x = scale(value)
            elements.append(line(x, TOP, x, self.bottom, "zero" if value == 0 else "grid"))
            elements.append(text(x, self.bottom + 15, label, "tick", "middle"))
        elements.append(line(NAMES, self.bottom, WIDTH - RIGHT, self.bottom, "axis"))
        if caption:
            elements.append(text((NAMES + WIDTH - RIGHT) / 2, self.bottom + 33, caption, "caption", "middle"))
        for before, after in zip(range(len(self.lines) - 1), range(1, len(self.lines)), strict=True):
            if self.lines[before].candidate and not self.lines[after].candidate:
                y = self.centres[after] - (TWO_LINES if len(self.names[after]) > 1 else ONE_LINE) / 2 - GAP / 2
                elements.append(line(0, y, WIDTH - RIGHT, y, "apart"))
        return elements


GROUP_SHAPES = ("circle", "open-diamond", "triangle", "open-square", "hexagon", "open-triangle")


def group_panel(
    identifier: str,
    title: str,
    lines: Sequence[Line],
    values: Mapping[str, Mapping[str, float | None]],
    groups: Sequence[str],
    span: Sequence[float],
) -> Markup:
    """Return the values of all groups under every strategy.

    Parameters
    ----------
    identifier
        Unique in the document.
    title
        What is shown.
    lines
        Strategies, top first.
    values
        Strategy to group to value; None if not defined.
    groups
        At most as many as `GROUP_SHAPES`, in the order of the legend.
    span
        Values that must be on the axis, so that panels of the same quantity compare.
    """
    panel = Panel(lines, marked=False)
    step = min(4.5, 9.0 / max(1, len(groups) - 1))  # groups lie a little above each other, so none hides another
    scale = linear_scale(span, NAMES + 6, WIDTH - RIGHT)
    drawn: list[Markup] = []
    for strategy, y in zip(lines, panel.centres, strict=True):
        by_group = values[strategy.name]
        known = [(shape, group, by_group[group]) for shape, group in zip(GROUP_SHAPES, groups, strict=False)]
        places = [scale(value) for _, _, value in known if value is not None]
        if not places:
            drawn.append(text(NAMES + 6, y + 4, NOT_DEFINED, "missing"))
            continue
        about = f"{strategy.name}: " + ", ".join(f"{group} {number(value)}" for _, group, value in known)
        marks = [
            mark(shape, scale(value), y + step * (index - (len(known) - 1) / 2), 3.8, f"group-{index}")
            for index, (shape, _, value) in enumerate(known)
            if value is not None
        ]
        drawn.append(tag("g", {}, tag("title", {}, about), line(min(places), y, max(places), y, "gap"), *marks))
    said = "; ".join(
        f"{strategy.name}: " + ", ".join(f"{group} {number(values[strategy.name][group])}" for group in groups)
        for strategy in lines
    )
    return figure(identifier, panel.size, title, said + ".", *panel.frame(scale, ""), *panel.labels(), *drawn)


CAPTIONS = {"max": "more is better →", "min": "← less is better", "zero": "→ nearer to zero is better ←"}
SCORE_WIDTH, SCORE_HEIGHT = 130.0, 20.0
SCORE_REACH = (
    -0.2,
    1.2,
)  # lines that are no candidates may score far outside; drawn whole, they would flatten the rest


def metric_panel(identifier: str, lines: Sequence[Line], column: Column, digits: int) -> Markup:
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
    label, goal = column.label, column.goal
    cells = [strategy.row.metrics[label] for strategy in lines]
    panel = Panel(lines)
    anchor = [0.0] if goal == "zero" else []
    scale = linear_scale([*_numbers(cells), *anchor], NAMES + 6, WIDTH - RIGHT)
    drawn: list[Markup] = []
    for strategy, cell, y in zip(lines, cells, panel.centres, strict=True):
        if cell.value is None:
            drawn.append(text(NAMES + 6, y + 4, NOT_DEFINED, "missing"))
            continue
        limits = interval(cell.low, cell.high, digits)
        about = f"{strategy.name}: {number(cell.value, digits)} {limits}".strip()
        drawn.append(tag("g", {}, tag("title", {}, about), *_dot(scale, cell, y, strategy, 4.5)))
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


def score_scale(scores: Iterable[Limits]) -> Scale:
    """Return the scale that all small composite score charts share: 0, 1, and little beyond them."""
    near = [min(max(value, SCORE_REACH[0]), SCORE_REACH[1]) for value in _numbers(scores)]
    return linear_scale([0.0, 1.0, *near], 6, SCORE_WIDTH - 6, wanted=3, tight=True)


def score_strip(strategy: Line, scale: Scale) -> Markup:
    """Return the composite score of one line, to stand in a table beside its number."""
    y = SCORE_HEIGHT / 2
    grid = [line(scale(value), 0, scale(value), SCORE_HEIGHT, "grid") for value in scale.ticks]
    score = strategy.row.score
    dot = [] if score.value is None else _dot(scale, score, y, strategy, 4.5)
    return _strip(SCORE_HEIGHT, *grid, *dot)


def score_axis(scale: Scale) -> Markup:
    """Return the axis of the small composite score charts."""
    elements = []
    for value, label in zip(scale.ticks, scale.labels(), strict=True):
        x = min(max(scale(value), 8.0), SCORE_WIDTH - 10.0)
        elements.append(text(x, 11, label, "tick", "middle"))
    return _strip(14.0, *elements)


def _strip(height: float, *children: Markup) -> Markup:
    head = {"viewBox": f"0 0 {SCORE_WIDTH:g} {height:g}", "width": SCORE_WIDTH, "height": height}
    return tag("svg", {**head, "class": "strip", "aria-hidden": "true", "focusable": "false"}, *children)


def _dot(scale: Scale, cell: Limits, y: float, strategy: Line, radius: float) -> list[Markup]:
    assert cell.value is not None
    css = f"of-{strategy.family}" + (" selected" if strategy.selected else "")
    elements = []
    if cell.low is not None and cell.high is not None:
        low, high = (scale(_on(scale, end)) for end in (cell.low, cell.high))
        elements.append(line(low, y, high, y, f"interval {css}"))
        # an end that is cut off has no cap
        ends = [scale(end) for end in (cell.low, cell.high) if end == _on(scale, end)]
        elements += [line(end, y - 3, end, y + 3, f"interval {css}") for end in ends]
    return [*elements, mark(strategy.mark, scale(_on(scale, cell.value)), y, radius, css)]


def _on(scale: Scale, value: float) -> float:
    """Return a value, or the end of the scale that it lies beyond."""
    return min(max(value, scale.low), scale.high)


def _numbers(cells: Iterable[Limits]) -> list[float]:
    return [value for cell in cells for value in (cell.value, cell.low, cell.high) if value is not None]


def _description(lines: Sequence[Line], cells: Sequence[Limits], digits: int) -> str:
    """Put the panel into words: every value, in the order of the rows."""
    parts = [f"{strategy.name} {number(cell.value, digits)}" for strategy, cell in zip(lines, cells, strict=True)]
    return "; ".join(parts) + "."
