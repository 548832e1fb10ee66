"""Curves over one axis, told apart by dashes, marks and names at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.svg import figure, line, mark, tag, text, wrapped
from accordant.report.scale import Scale, number, percent

WIDTH, HEIGHT = 360.0, 300.0
LEFT, TOP, BOTTOM, NAMES = 52.0, 24.0, 48.0, 126.0  # names stand in a column of that width, right of the curves
SAMPLE = 22.0  # dashes and mark of a curve, before its name
LETTER, LEADING, APART = 12.0, 13.0, 3.0
MOST_CURVES = 8  # more names do not fit beside the drawing
# dashes and mark of each curve; the first is the one that matters most
STYLES = (
    ("", "circle"),
    ("7 3", "open-square"),
    ("2 3", "triangle"),
    ("10 3 2 3", "open-diamond"),
    ("13 4", "cross"),
    ("4 2 1 2 1 2", "hexagon"),
    ("1 4", "open-triangle"),
    ("6 2 6 6", "square"),
)
MARKS = 4  # marks along a curve, about


@dataclass(frozen=True)
class Curve:
    """A named curve; `points` are (place, value) in order of the place, at least one."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Axes:
    """Scales of a drawing with their captions; `shares` says whether values are shares, written in per cent."""

    across: Scale
    up: Scale
    captions: tuple[str, str]
    shares: bool = False

    def value(self, value: float) -> str:
        """Return a value in words."""
        return percent(value) if self.shares else number(value)


def plot_width() -> tuple[float, float]:
    """Return where curves begin and end."""
    return LEFT, WIDTH - NAMES - 10


def plot_height() -> tuple[float, float]:
    """Return where the smallest and the largest value are drawn."""
    return HEIGHT - BOTTOM, TOP


def curve_chart(identifier: str, title: str, curves: Sequence[Curve], axes: Axes) -> Markup:
    """Return a drawing of at most `MOST_CURVES` curves.

    Parameters
    ----------
    identifier
        Unique in the document.
    title
        What is shown.
    curves
        The one that matters most first; it is drawn thicker, above the others.
    axes
        Must hold all points.
    """
    drawn = [_curve(curve, k, axes) for k, curve in enumerate(curves)]
    said = "; ".join(
        f"{curve.name}: from {axes.value(curve.points[0][1])} to {axes.value(curve.points[-1][1])}" for curve in curves
    )
    parts = [*_frame(axes), *reversed(drawn), *_names(curves, axes)]
    return figure(identifier, (WIDTH, HEIGHT), title, said + ".", *parts)


def _frame(axes: Axes) -> list[Markup]:
    (left, right), (base, top) = plot_width(), plot_height()
    elements = []
    for value, label in zip(axes.across.ticks, axes.across.labels(), strict=True):
        x = axes.across(value)
        elements += [line(x, top, x, base, "grid"), text(x, base + 16, label, "tick", "middle")]
    labels = [percent(tick) for tick in axes.up.ticks] if axes.shares else axes.up.labels()
    for value, label in zip(axes.up.ticks, labels, strict=True):
        y = axes.up(value)
        elements += [
            line(left, y, right, y, "zero" if value == 0 else "grid"),
            text(left - 6, y + 4, label, "tick", "end"),
        ]
    elements.append(line(left, base, right, base, "axis"))
    elements.append(text(right, HEIGHT - 10, axes.captions[0], "caption", "end"))
    elements.append(text(2, 12, axes.captions[1], "caption"))
    return elements


def _curve(curve: Curve, position: int, axes: Axes) -> Markup:
    dashes, shape = STYLES[position % len(STYLES)]
    places = [(axes.across(x), axes.up(y)) for x, y in curve.points]
    path = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in places)
    css = "curve first" if position == 0 else "curve"
    every = max(1, len(places) // MARKS)
    # marks of different curves stand at different places, so that curves on top of each other stay visible
    marked = [place for k, place in enumerate(places[:-1]) if k % every == position % every] or places[:1]
    marks = [mark(shape, x, y, 3.6) for x, y in [*marked, places[-1]]]
    return tag(
        "g", {}, tag("title", {}, curve.name),
        tag("path", {"d": path, "class": css, "stroke-dasharray": dashes or None}), *marks,
    )  # fmt: skip


def _sample(position: int, x: float, y: float) -> list[Markup]:
    """Return dashes and mark of a curve, so that a name is right even where curves end in one place."""
    dashes, shape = STYLES[position % len(STYLES)]
    css = "curve first" if position == 0 else "curve"
    path = {"d": f"M{x:.2f} {y:.2f}H{x + SAMPLE:.2f}", "class": css, "stroke-dasharray": dashes or None}
    return [tag("path", path), mark(shape, x + SAMPLE / 2, y, 3.6)]


def _names(curves: Sequence[Curve], axes: Axes) -> list[Markup]:
    """Return names beside the ends of their curves, pushed apart where they would overlap, with a line to the end."""
    start = WIDTH - NAMES + 12
    left, elements = start + SAMPLE + 4, []
    words = [wrapped(curve.name, (WIDTH - left) / LETTER, 3) for curve in curves]
    ends = [(axes.across(curve.points[-1][0]), axes.up(curve.points[-1][1])) for curve in curves]
    heights = [LEADING * len(lines) + APART for lines in words]
    order = sorted(range(len(curves)), key=lambda k: ends[k][1])
    tops, floor = {}, 2.0
    for k in order:
        tops[k] = max(floor, ends[k][1] - heights[k] / 2)
        floor = tops[k] + heights[k]
    ceiling = HEIGHT - 2.0
    for k in reversed(order):
        tops[k] = min(tops[k], ceiling - heights[k])
        ceiling = tops[k]
    for k in order:
        middle = tops[k] + heights[k] / 2
        elements += [line(ends[k][0] + 4, ends[k][1], start - 2, middle, "leader"), *_sample(k, start, middle)]
        css = "selected" if k == 0 else ""
        elements += [text(left, tops[k] + LEADING * (row + 1) - 1, part, css) for row, part in enumerate(words[k])]
    return elements
