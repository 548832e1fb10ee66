"""SVG elements as escaped text: marks by shape, names that fit their column, labels beside marks, hatched areas."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"  # not allowed in XML
TURNING = "\u202a-\u202e\u2066-\u2069"  # turn the direction of the text that follows, beyond the name they stand in
CONTROL = re.compile(f"[{FORBIDDEN}{TURNING}]")
AVERAGE_WIDTH = 0.57  # of a letter of a sans-serif face, in em; wide scripts take a whole em
ELLIPSIS = "…"

# unit outlines around the origin; True if the shape is filled
SHAPES: Mapping[str, tuple[str, bool]] = {
    "circle": ("M-1 0A1 1 0 1 0 1 0A1 1 0 1 0 -1 0Z", True),
    "open-circle": ("M-1 0A1 1 0 1 0 1 0A1 1 0 1 0 -1 0Z", False),
    "square": ("M-.88 -.88H.88V.88H-.88Z", True),
    "open-square": ("M-.88 -.88H.88V.88H-.88Z", False),
    "diamond": ("M0 -1.25L1.25 0L0 1.25L-1.25 0Z", True),
    "open-diamond": ("M0 -1.25L1.25 0L0 1.25L-1.25 0Z", False),
    "triangle": ("M0 -1.15L1.1 .85H-1.1Z", True),
    "open-triangle": ("M0 1.15L1.1 -.85H-1.1Z", False),
    "hexagon": ("M-1.1 0L-.55 -.95H.55L1.1 0L.55 .95H-.55Z", True),
    "star": ("M0 -1.35L.34 -.47 1.28 -.42 .55 .18 .79 1.09 0 .58 -.79 1.09 -.55 .18 -1.28 -.42 -.34 -.47Z", True),
    "cross": ("M-.9 -.9L.9 .9M-.9 .9L.9 -.9", False),
}


def tag(name: str, attributes: Mapping[str, object], *children: str) -> Markup:
    """Return an element; attribute values and children that are not markup are escaped."""
    written = "".join(f' {key}="{clean(_plain(value))}"' for key, value in attributes.items() if value is not None)
    inside = "".join(child if isinstance(child, Markup) else clean(child) for child in children)
    # every part is escaped above, so the whole may be called markup
    return Markup(f"<{name}{written}>{inside}</{name}>" if children else f"<{name}{written}/>")  # noqa: S704


def figure(
    identifier: str, size: tuple[float, float], title: str, description: str, *children: str, sized: bool = False
) -> Markup:
    """Return a whole drawing with its name and its description for readers who cannot see it.

    It is as wide as what it stands in; `sized` keeps the size of its letters instead.
    """
    width, height = size
    names = (f"{identifier}-title", f"{identifier}-description")
    head = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width:g} {height:g}", "role": "img"}
    about = tag("title", {"id": names[0]}, title), tag("desc", {"id": names[1]}, description)
    shape = {"class": "chart sized", "width": width, "height": height} if sized else {"class": "chart"}
    return tag("svg", {**head, "aria-labelledby": " ".join(names), **shape}, *about, *children)


def mark(shape: str, x: float, y: float, radius: float = 4.5, css: str = "") -> Markup:
    """Return a mark centred on a point."""
    outline, filled = SHAPES[shape]
    css = " ".join(filter(None, ("mark", "filled" if filled else "open", css)))
    place = f"translate({_plain(x)} {_plain(y)}) scale({_plain(radius)})"
    return tag("path", {"d": outline, "class": css, "transform": place, "vector-effect": "non-scaling-stroke"})


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> Markup:
    """Return a straight line."""
    return tag("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": css})


def text(x: float, y: float, words: str, css: str = "", anchor: str | None = None) -> Markup:
    """Return a line of text."""
    return tag("text", {"x": x, "y": y, "class": css or None, "text-anchor": anchor}, words)


def swatch(shape: str, css: str = "") -> Markup:
    """Return a mark alone, for legends and tables; its meaning stands beside it in words."""
    inner = mark(shape, 7, 7, 4.6, css)
    return tag("svg", {"viewBox": "0 0 14 14", "class": "swatch", "aria-hidden": "true", "focusable": "false"}, inner)


def wrapped(name: str, width: float, lines: int = 2) -> list[str]:
    """Return a name on at most `lines` lines of `width` em, broken after ``_``, ``:`` or blanks; then cut."""
    pieces = [piece for piece in re.split(r"(?<=[_:/\s])|(?=\[)", name) if piece]
    rows = [""]
    for piece in pieces:
        if rows[-1] and _width(rows[-1] + piece) > width:
            rows.append("")
        rows[-1] += piece
    if len(rows) > lines:
        rows = [*rows[: lines - 1], "".join(rows[lines - 1 :])]
    return [_cut(row.strip(), width) for row in rows]


def clean(words: str) -> Markup:
    """Return text escaped; characters that XML forbids or that turn the direction of writing are replaced."""
    return escape(printable(words))


def printable(words: str) -> str:
    """Return text in which characters that XML forbids or that turn the direction of writing are replaced."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", words)


def _cut(words: str, width: float) -> str:
    if _width(words) <= width:
        return words
    while words and _width(words + ELLIPSIS) > width:
        words = words[:-1]
    return words + ELLIPSIS


def _width(words: str) -> float:
    return sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else AVERAGE_WIDTH for letter in words)


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


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
    elements = []
    for label in labels:
        prices = [_price(label, place, taken, written, frame) for place in PLACES]
        place = PLACES[prices.index(min(prices))]
        box = _box(label, place)
        written.append(box)
        if _away(place) > FAR:
            elements.append(line(label.x, label.y, *_end(label, box), "leader"))
        dx, dy = _moved(label, place)
        elements.append(text(label.x + dx, label.y + dy, label.words, label.css, place[2]))
    return elements


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


Corner = tuple[float, float]

# (angle in degrees, distance in drawing units) of each set of lines; the order keeps neighbours apart
HATCHES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((45.0, 6.0),),
    ((0.0, 5.0),),
    ((135.0, 6.0),),
    ((90.0, 5.0),),
    ((45.0, 8.0), (135.0, 8.0)),
    ((45.0, 3.2),),
    ((0.0, 7.0), (90.0, 7.0)),
    ((135.0, 3.2),),
    ((0.0, 2.6),),
)


def hatched(corners: Sequence[Corner], position: int, css: str = "area") -> list[Markup]:
    """Return an area with its lines.

    Parameters
    ----------
    corners
        Of a convex outline, in order round it.
    position
        Which hatch; after the last they start again.
    css
        Class of the outline.
    """
    outline = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in corners) + "Z"
    elements = [tag("path", {"d": outline, "class": f"{css} hatch-{position % len(HATCHES)}"})]
    strokes = [
        f"M{a[0]:.2f} {a[1]:.2f}L{b[0]:.2f} {b[1]:.2f}"
        for angle, distance in HATCHES[position % len(HATCHES)]
        for a, b in _lines(corners, math.radians(angle), distance)
    ]
    return [*elements, tag("path", {"d": "".join(strokes), "class": "hatching"})] if strokes else elements


def box(left: float, top: float, right: float, bottom: float) -> tuple[Corner, ...]:
    """Return the corners of a rectangle."""
    return (left, top), (right, top), (right, bottom), (left, bottom)


def _lines(corners: Sequence[Corner], angle: float, distance: float) -> list[tuple[Corner, Corner]]:
    """Return the parts of parallel lines inside a convex outline; lines of all areas with one angle are in step."""
    across = -math.sin(angle), math.cos(angle)
    levels = [x * across[0] + y * across[1] for x, y in corners]
    segments = []
    for step in range(math.floor(min(levels) / distance) + 1, math.ceil(max(levels) / distance)):
        level, cuts = step * distance, []
        for k, here in enumerate(levels):
            there, a, b = levels[k - 1], corners[k], corners[k - 1]
            if (here < level) != (there < level):
                part = (level - here) / (there - here)
                cuts.append((a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])))
        if len(cuts) == 2:
            segments.append((cuts[0], cuts[1]))
    return segments
