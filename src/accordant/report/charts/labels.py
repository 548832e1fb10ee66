"""Labels beside their marks, placed so that they cover neither each other nor a mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.svg import AVERAGE_WIDTH, line, text

Box = tuple[float, float, float, float]
Place = tuple[int, int, str]
LETTER = 12.0
OUTSIDE = 1e3  # price of a drawing unit beyond the frame, in units of covered area
USUAL = 6.0  # radius of a mark that the places below are made for; larger marks keep labels further off
FAR = 18.0  # a label further from its mark has a line to it
AWAY = 0.4  # price of a drawing unit between a label and its mark: of two free places the nearer is taken
STEPS, CROSSED = 12, 20.0  # points of a line that are looked at, and the price of one in a label
# where a label may stand, best first: offset and side
PLACES: tuple[Place, ...] = (
    *((10, 4, "start"), (-10, 4, "end"), (0, -11, "middle"), (0, 20, "middle")),
    *((10, -9, "start"), (-10, -9, "end"), (10, 17, "start"), (-10, 17, "end")),
    *((24, 4, "start"), (-24, 4, "end"), (0, -26, "middle"), (0, 34, "middle")),
    *((24, -20, "start"), (-24, -20, "end"), (24, 28, "start"), (-24, 28, "end")),
    *((40, 4, "start"), (-40, 4, "end"), (0, -42, "middle"), (0, 50, "middle")),
    *((38, -36, "start"), (-38, -36, "end"), (38, 44, "start"), (-38, 44, "end")),
    *((62, 4, "start"), (-62, 4, "end"), (0, -60, "middle"), (0, 68, "middle")),
    *((56, -54, "start"), (-56, -54, "end"), (56, 62, "start"), (-56, 62, "end")),
)


@dataclass(frozen=True)
class Label:
    """Words for a mark at a point; `css` as for `accordant.report.charts.svg.text`, `radius` that of the mark."""

    x: float
    y: float
    words: str
    css: str = ""
    radius: float = USUAL


def placed(labels: Sequence[Label], taken: Sequence[Box], frame: Box) -> list[Markup]:
    """Return labels, each at the place beside its mark that covers least.

    Parameters
    ----------
    labels
        The most important first: it takes the best place.
    taken
        Boxes of marks.
    frame
        Left, top, right and bottom of what may be written on.
    """
    written: list[Box] = []
    found = []
    for each in labels:
        prices = [_price(each, place, taken, written, frame) for place in PLACES]
        place = PLACES[prices.index(min(prices))]
        box = _box(each, place)
        written.append(box)
        if _away(place) > FAR:
            found.append(line(each.x, each.y, *_end(each, box), "leader"))
        dx, dy = _moved(each, place)
        found.append(text(each.x + dx, each.y + dy, each.words, each.css, place[2]))
    return found


def _price(label: Label, place: Place, taken: Sequence[Box], written: Sequence[Box], frame: Box) -> float:
    """Return what is bad about a place: what it covers, how far away it is, and labels that its line would cross."""
    box = _box(label, place)
    covered = sum(_overlap(box, other) for other in (*taken, *written))
    price = covered + _beyond(box, frame) + AWAY * _away(place)
    if _away(place) > FAR:
        x, y = _end(label, box)
        steps = [(label.x + (x - label.x) * k / STEPS, label.y + (y - label.y) * k / STEPS) for k in range(STEPS)]
        price += CROSSED * sum(
            left <= a <= right and top <= b <= bottom for a, b in steps for left, top, right, bottom in written
        )
    return price


def _away(place: Place) -> float:
    """Return how far a place is from the mark; 4 units down is where a line of text has its middle."""
    return math.hypot(place[0], place[1] - 4)


def _end(label: Label, box: Box) -> tuple[float, float]:
    """Return the point of a label that is nearest to its mark."""
    return min(max(label.x, box[0]), box[2]), min(max(label.y, box[1]), box[3])


def _moved(label: Label, place: Place) -> tuple[float, float]:
    """Return the offset of a label: places are moved outward for a mark that is larger than usual."""
    dx, dy, anchor = place
    more = max(0.0, label.radius - USUAL)
    if anchor == "middle":
        return dx, dy + (more if dy > 0 else -more)
    return dx + (more if dx > 0 else -more), dy


def _box(label: Label, place: Place) -> Box:
    dx, dy = _moved(label, place)
    width = len(label.words) * AVERAGE_WIDTH * LETTER
    left = label.x + dx - {"start": 0.0, "middle": width / 2, "end": width}[place[2]]
    return left, label.y + dy - 10, left + width, label.y + dy + 3


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _beyond(box: Box, frame: Box) -> float:
    left, top, right, bottom = frame
    over = max(0.0, left - box[0]) + max(0.0, top - box[1]) + max(0.0, box[2] - right) + max(0.0, box[3] - bottom)
    return OUTSIDE * over
