"""Charts of a deliberation's page: patients by allocations, and how often every way to decide meets all criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.deliberation.page.reading import OneReading, apart, rate, share
from accordant.naming import counted
from accordant.report.charts.svg import figure, line, mark, tag, text, wrapped
from accordant.report.scale import NOT_DEFINED, Scale, percent
from accordant.statistics import Estimate

ROW, TOP, BOTTOM = 18.0, 38.0, 6.0
NAMES, LETTER = 92.0, 12.0  # column of ids, and height of its letters
CELL, STEP, APART = 12.0, 23.0, 11.0  # side of a square, from one column to the next, and between blocks
MOVED, AGAINST = 10.0, 46.0  # width of a letter behind the joint allocation, and of the word above them
EDGE = 36.0  # right of the last column, for its heading
LEAST = 360.0  # drawing units: a narrower drawing would be blown up
OF_AGENTS = ("solo", "revised")
HEADS = {"solo": "alone", "revised": "revised", "joint": "joint", "disagreement": "no deal"}
# of the chart of rates
WIDTH, RATE_NAMES, RIGHT = 380.0, 176.0, 18.0
RATE_TOP, AXIS, GAP = 8.0, 42.0, 10.0
RATE_LETTER, LEADING = 12.0, 13.0
ONE_LINE, TWO_LINES = 21.0, 34.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def grid_chart(identifier: str, title: str, reading: OneReading, patients: Sequence[str]) -> Markup:
    """Return a square for each patient and allocation, filled as far as the demand is met.

    A notch marks what an agent changed since its first wish. Behind the joint allocation stand the letters of the
    agents who wanted something else first. Patients of the watched group have a mark beside their id.

    `identifier`: unique in the document; `title`: of the drawing; `reading`: the deliberation; `patients`: ids of those
    who are shown, top first.
    """
    places, width = _places(reading), grid_width(reading)
    bottom = TOP + ROW * len(patients)
    drawn = _heads(reading, places, width)
    joint = places["joint"]
    drawn.insert(0, _shade(joint - 6, TOP - 24, CELL + 12, bottom - TOP + 26))
    for place, patient in enumerate(patients):
        drawn.append(_row(reading, places, patient, TOP + ROW * place, width))
    said = f"{counted(len(patients), 'patient')}. " + "; ".join(
        f"{reading.called(column.key)}: {', '.join(p for p in patients if column.shares[p] > 0) or 'nobody'}"
        for column in reading.columns
    )
    return figure(identifier, (width, bottom + BOTTOM), title, said + ".", *drawn, sized=True)


def grid_width(reading: OneReading) -> float:
    """Return the width of a drawing in pixels where letters are as large as in the text around it."""
    last = reading.columns[-1]
    return max(LEAST, _places(reading)[last.key] + (EDGE if last.form == "disagreement" else AGAINST + STEP))


def cell(x: float, y: float, granted: float, css: str = "") -> list[Markup]:
    """Return a square, filled from below as far as the demand is met."""
    box = {"x": x, "y": y, "width": CELL, "height": CELL}
    drawn = [tag("rect", {**box, "class": f"cell {css}".strip()})]
    if granted > 0:
        height = CELL * min(1.0, granted)
        drawn.append(tag("rect", {**box, "y": y + CELL - height, "height": height, "class": f"granted {css}".strip()}))
    return drawn


def notch(x: float, y: float) -> Markup:
    """Return the mark of a cell that changed: a corner cut out in white with an edge."""
    return tag("path", {"d": f"M{x + 4.5:g} {y - 2:g}H{x + CELL + 2:g}V{y + 7.5:g}Z", "class": "notch"})


def sample(kind: str) -> Markup:
    """Return a small square for the legend: ``granted``, ``part``, ``refused`` or ``changed``."""
    inner = cell(1.5, 1.5, {"granted": 1.0, "part": 0.5}.get(kind, 0.0))
    inner += [notch(1.5, 1.5)] if kind == "changed" else []
    return tag(
        "svg", {"viewBox": "-1 -1 17 17", "class": "swatch", "aria-hidden": "true", "focusable": "false"}, *inner
    )


def _places(reading: OneReading) -> dict[str, float]:
    """Return where each column begins; blocks of one form are set apart, and behind joint there is room for letters."""
    x, places, before = NAMES, {}, reading.columns[0].form
    for column in reading.columns:
        x += APART if column.form != before else 0.0
        before, places[column.key] = column.form, x
        x += STEP
        if column.form == "joint":
            x += max(AGAINST, MOVED * len(reading.takers))
    return places


def _heads(reading: OneReading, places: dict[str, float], width: float) -> list[Markup]:
    """Return what stands above the columns."""
    drawn = []
    for form, words in HEADS.items():
        block = [places[column.key] for column in reading.columns if column.form == form]
        if block:
            middle = (block[0] + block[-1] + CELL) / 2
            drawn.append(text(middle, 11 if form in OF_AGENTS else 28, words, "caption", "middle"))
    drawn += [
        text(places[column.key] + CELL / 2, 28, column.taker.head, "head", "middle")
        for column in reading.columns
        if column.taker is not None
    ]
    drawn.append(text(places["joint"] + STEP, 28, "against", "caption"))
    return [*drawn, line(0, TOP - 5, width, TOP - 5, "axis")]


def _row(reading: OneReading, places: dict[str, float], patient: str, y: float, width: float) -> Markup:
    first = {
        column.taker.name: column.shares[patient]
        for column in reading.columns
        if column.form == "solo" and column.taker
    }
    about, drawn = [], [line(0, y + ROW - 2, width, y + ROW - 2, "grid")]
    watched = patient in reading.watched
    name = wrapped(patient, (NAMES - 26) / LETTER, 1)[0]
    drawn += [mark("open-diamond", 7, y + 8, 4.2, "watched")] if watched else []
    drawn.append(text(17, y + 12, name))
    for column in reading.columns:
        granted, x = column.shares[patient], places[column.key]
        drawn += cell(x, y + 1, granted, "decided" if column.form == "joint" else "")
        if column.form == "revised" and column.taker is not None and apart(granted, first[column.taker.name]):
            drawn.append(notch(x, y + 1))
        about.append(f"{reading.called(column.key)} {share(granted)}")
    drawn.append(text(places["joint"] + STEP, y + 12, reading.moved[patient], "number"))
    words = f"{patient}{', of the watched group' if watched else ''}: {', '.join(about)}"
    return tag("g", {}, tag("title", {}, words), *drawn)


def _shade(x: float, y: float, width: float, height: float) -> Markup:
    return tag("rect", {"x": x, "y": y, "width": width, "height": height, "class": "shade"})


@dataclass(frozen=True)
class Dot:
    """One row.

    `name`: in words; `kind`: key of `accordant.deliberation.page.reading.MARKS`; `shape`: its mark; `estimate`: the
    share with its interval.
    """

    name: str
    kind: str
    shape: str
    estimate: Estimate


def rate_chart(identifier: str, title: str, dots: Sequence[Dot]) -> Markup:
    """Return shares in [0, 1] with intervals, one below the other; a change of kind leaves a gap.

    `identifier`: unique in the document; `title`: of the drawing; `dots`: top first, at least one.
    """
    scale = Scale(0.0, 1.0, RATE_NAMES + 8, WIDTH - RIGHT, TICKS)
    drawn: list[Markup] = []
    y, before = RATE_TOP, dots[0].kind
    for dot in dots:
        words = wrapped(dot.name, (RATE_NAMES - 22) / RATE_LETTER)
        y, before = y + (GAP if dot.kind != before else 0.0), dot.kind
        height = TWO_LINES if len(words) > 1 else ONE_LINE
        drawn.append(_rate_row(dot, words, y + height / 2, scale))
        y += height
    said = "; ".join(f"{dot.name}: {_told(dot)}" for dot in dots) + "."
    return figure(identifier, (WIDTH, y + AXIS), title, said, *_frame(scale, y), *drawn)


def _told(dot: Dot) -> str:
    words = rate(dot.estimate)
    return f"{words.value} {words.interval}".strip()


def _rate_row(dot: Dot, words: Sequence[str], y: float, scale: Scale) -> Markup:
    css = "front" if dot.kind == "joint" else ""
    name = "name selected" if dot.kind == "joint" else "name"
    start = y + 4 - LEADING / 2 * (len(words) - 1)
    drawn = [mark(dot.shape, 8, y, 4.2, css)]
    drawn += [text(19, start + LEADING * row, part, name) for row, part in enumerate(words)]
    value, low, high = dot.estimate.value, dot.estimate.low, dot.estimate.high
    if low is not None and high is not None:
        stroke, ends = "interval selected" if dot.kind == "joint" else "interval", (scale(low), scale(high))
        drawn += [line(ends[0], y, ends[1], y, stroke), *(line(end, y - 3, end, y + 3, stroke) for end in ends)]
    if value is None:
        drawn.append(text(RATE_NAMES + 8, y + 4, NOT_DEFINED, "missing"))
    else:
        drawn.append(mark(dot.shape, scale(value), y, 5.0, css))
    return tag("g", {}, tag("title", {}, f"{dot.name}: {_told(dot)}"), *drawn)


def _frame(scale: Scale, bottom: float) -> list[Markup]:
    drawn = []
    for value in scale.ticks:
        drawn.append(line(scale(value), RATE_TOP, scale(value), bottom, "grid"))
        drawn.append(text(scale(value), bottom + 15, percent(value), "tick", "middle"))
    drawn.append(line(scale(0.0), bottom, scale(1.0), bottom, "axis"))
    drawn.append(text(WIDTH - RIGHT, bottom + 33, "scenarios in which all criteria are met →", "caption", "end"))
    return drawn
