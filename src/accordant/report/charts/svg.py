"""SVG elements as escaped text, marks by shape, and labels that fit their column."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

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
    "star": (
        "M0 -1.35L.34 -.47 1.28 -.42 .55 .18 .79 1.09 0 .58 -.79 1.09 -.55 .18 -1.28 -.42 -.34 -.47Z",
        True,
    ),
    "cross": ("M-.9 -.9L.9 .9M-.9 .9L.9 -.9", False),
}


def tag(name: str, attributes: Mapping[str, object], *children: str) -> Markup:
    """Return an element; attribute values and children that are not markup are escaped."""
    written = "".join(f' {key}="{clean(_plain(value))}"' for key, value in attributes.items() if value is not None)
    inside = "".join(child if isinstance(child, Markup) else clean(child) for child in children)
    # every part is escaped above, so the whole may be called markup
    return Markup(f"<{name}{written}>{inside}</{name}>" if children else f"<{name}{written}/>")  # noqa: S704


def figure(identifier: str, size: tuple[float, float], title: str, description: str, *children: str) -> Markup:
    """Return a whole drawing with its name and its description for readers who cannot see it."""
    width, height = size
    names = (f"{identifier}-title", f"{identifier}-description")
    head = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width:g} {height:g}", "role": "img"}
    about = tag("title", {"id": names[0]}, title), tag("desc", {"id": names[1]}, description)
    return tag("svg", {**head, "aria-labelledby": " ".join(names), "class": "chart"}, *about, *children)


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
    found = [""]
    for piece in pieces:
        if found[-1] and _width(found[-1] + piece) > width:
            found.append("")
        found[-1] += piece
    if len(found) > lines:
        found = [*found[: lines - 1], "".join(found[lines - 1 :])]
    return [_cut(each.strip(), width) for each in found]


def clean(words: str) -> Markup:
    """Return text escaped; characters that XML forbids or that turn the direction of writing are replaced."""
    return escape(CONTROL.sub("\N{REPLACEMENT CHARACTER}", words))


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
