"""Dots with intervals: how often every way to decide meets all criteria, the null hypotheses among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.deliberation.page.reading import Json, rate
from accordant.report.charts.svg import figure, line, mark, tag, text, wrapped
from accordant.report.scale import NOT_DEFINED, Scale, percent

WIDTH, NAMES, RIGHT = 380.0, 176.0, 18.0
TOP, AXIS, GAP = 8.0, 42.0, 10.0
LETTER, LEADING = 12.0, 13.0
ONE_LINE, TWO_LINES = 21.0, 34.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Dot:
    """One row.

    Attributes
    ----------
    name
        In words.
    kind
        Key of `accordant.deliberation.page.reading.MARKS`.
    shape
        Its mark.
    estimate
        The share with its interval.
    """

    name: str
    kind: str
    shape: str
    estimate: Json


def rate_chart(identifier: str, title: str, dots: Sequence[Dot]) -> Markup:
    """Return shares in [0, 1] with intervals, one below the other; a change of kind leaves a gap.

    Parameters
    ----------
    identifier
        Unique in the document.
    title
        Of the drawing.
    dots
        Top first, at least one.
    """
    scale = Scale(0.0, 1.0, NAMES + 8, WIDTH - RIGHT, TICKS)
    drawn: list[Markup] = []
    y, before = TOP, dots[0].kind
    for each in dots:
        words = wrapped(each.name, (NAMES - 22) / LETTER)
        y, before = y + (GAP if each.kind != before else 0.0), each.kind
        height = TWO_LINES if len(words) > 1 else ONE_LINE
        drawn.append(_row(each, words, y + height / 2, scale))
        y += height
    said = "; ".join(f"{each.name}: {_told(each)}" for each in dots) + "."
    return figure(identifier, (WIDTH, y + AXIS), title, said, *_frame(scale, y), *drawn)


def _told(each: Dot) -> str:
    found = rate(each.estimate)
    return f"{found.value} {found.interval}".strip()


def _row(each: Dot, words: Sequence[str], y: float, scale: Scale) -> Markup:
    css = "front" if each.kind == "joint" else ""
    name = "name selected" if each.kind == "joint" else "name"
    start = y + 4 - LEADING / 2 * (len(words) - 1)
    drawn = [mark(each.shape, 8, y, 4.2, css)]
    drawn += [text(19, start + LEADING * row, part, name) for row, part in enumerate(words)]
    found = each.estimate
    if found["value"] is None:
        drawn.append(text(NAMES + 8, y + 4, NOT_DEFINED, "missing"))
    else:
        stroke = "interval selected" if each.kind == "joint" else "interval"
        low, high = scale(found["low"]), scale(found["high"])
        drawn += [line(low, y, high, y, stroke), *(line(end, y - 3, end, y + 3, stroke) for end in (low, high))]
        drawn.append(mark(each.shape, scale(found["value"]), y, 5.0, css))
    return tag("g", {}, tag("title", {}, f"{each.name}: {_told(each)}"), *drawn)


def _frame(scale: Scale, bottom: float) -> list[Markup]:
    found = []
    for value in scale.ticks:
        found.append(line(scale(value), TOP, scale(value), bottom, "grid"))
        found.append(text(scale(value), bottom + 15, percent(value), "tick", "middle"))
    found.append(line(scale(0.0), bottom, scale(1.0), bottom, "axis"))
    found.append(text(WIDTH - RIGHT, bottom + 33, "scenarios in which all criteria are met →", "caption", "end"))
    return found
