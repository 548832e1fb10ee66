"""Horizontal bars with their names and numbers, and small ones to stand in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.svg import box, figure, hatched, line, tag, text, wrapped
from accordant.report.scale import NOT_DEFINED, Scale, linear_scale, number, percent

WIDTH, NAMES, WORDS = 360.0, 132.0, 84.0  # columns of names and of numbers, left and right of the bars
TOP, AXIS = 6.0, 40.0
LETTER, LEADING = 12.0, 13.0
ONE_LINE, TWO_LINES, THICK = 22.0, 33.0, 11.0
NEGATIVE = 0  # hatch of bars below zero: none, so that they are hollow
METER_WIDTH, METER_HEIGHT = 64.0, 9.0


@dataclass(frozen=True)
class Bar:
    """One row."""

    name: str  # what the bar stands for
    value: float | None  # its length; None if not defined
    words: str  # what stands beside it
    hatch: int | None = None  # position in `HATCHES`; None for a solid bar
    limits: tuple[float, float] | None = None  # interval of the value, if there is one
    heading: bool = False  # whether the name is set in bold


def bar_chart(
    identifier: str, title: str, bars: Sequence[Bar], caption: str, *, shares: bool = False, span: Sequence[float] = ()
) -> Markup:
    """Return bars below each other on one axis that holds zero.

    Parameters
    ----------
    identifier
        Unique in the document.
    title
        What is shown.
    bars
        Top first.
    caption
        What the axis means.
    shares
        Whether values are shares, written in per cent on the axis.
    span
        Further values that must be on the axis.
    """
    names = [wrapped(bar.name, (NAMES - 8) / LETTER) for bar in bars]
    heights = [TWO_LINES if len(lines) > 1 else ONE_LINE for lines in names]
    bottom = TOP + sum(heights)
    ends = [value for bar in bars for value in (bar.value, *(bar.limits or ())) if value is not None]
    scale = linear_scale([0.0, *ends, *span], NAMES + 4, WIDTH - WORDS, wanted=3)
    drawn, y = _frame(scale, bottom, caption, shares), TOP
    for bar, words, height in zip(bars, names, heights, strict=True):
        drawn.append(_row(bar, words, y + height / 2, scale))
        y += height
    said = "; ".join(f"{bar.name}: {bar.words}" for bar in bars) + "."
    return figure(identifier, (WIDTH, bottom + AXIS), title, said, *drawn)


def meter(share: float | None) -> Markup:
    """Return a small bar in a frame that stands for 100%; empty if there is no share."""
    head = {"viewBox": f"0 0 {METER_WIDTH:g} {METER_HEIGHT:g}", "class": "meter", "aria-hidden": "true",
            "focusable": "false"}  # fmt: skip
    frame = tag("rect", {"x": 0.5, "y": 0.5, "width": METER_WIDTH - 1, "height": METER_HEIGHT - 1, "class": "frame"})
    if share is None:
        return tag("svg", head, frame)
    length = (METER_WIDTH - 1) * min(1.0, max(0.0, share))
    return tag(
        "svg", head, frame,
        tag("rect", {"x": 0.5, "y": 0.5, "width": length, "height": METER_HEIGHT - 1, "class": "level"}),
    )  # fmt: skip


def _frame(scale: Scale, bottom: float, caption: str, shares: bool) -> list[Markup]:
    elements = []
    labels = (
        [percent(tick) if tick >= 0 else f"−{percent(-tick)}" for tick in scale.ticks] if shares else scale.labels()
    )
    for value, label in zip(scale.ticks, labels, strict=True):
        x = scale(value)
        elements.append(line(x, TOP, x, bottom, "axis" if value == 0 else "grid"))
        elements.append(text(x, bottom + 15, label, "tick", "middle"))
    elements.append(text(WIDTH - 2, bottom + 33, caption, "caption", "end"))
    return elements


def _row(bar: Bar, words: Sequence[str], y: float, scale: Scale) -> Markup:
    start = y + 4 - LEADING / 2 * (len(words) - 1)
    css = "selected" if bar.heading else ""
    elements = [text(2, start + LEADING * row, part, css) for row, part in enumerate(words)]
    elements.append(text(WIDTH - 2, y + 4, bar.words, "tick", "end"))
    if bar.value is None:
        elements.append(text(NAMES + 8, y + 4, NOT_DEFINED, "missing"))
    else:
        left, right = sorted((scale(0.0), scale(bar.value)))
        outline = box(left, y - THICK / 2, right, y + THICK / 2)
        hatch = NEGATIVE if bar.value < 0 else bar.hatch
        if right - left > 0.05:
            elements += hatched(outline, hatch or 0, "area" if hatch is not None else "area solid")
        for low, high in [bar.limits] if bar.limits else []:
            elements.append(line(scale(low), y, scale(high), y, "interval"))
            elements += [line(scale(end), y - 4, scale(end), y + 4, "interval") for end in (low, high)]
    return tag("g", {}, tag("title", {}, f"{bar.name}: {bar.words or number(bar.value)}"), *elements)
