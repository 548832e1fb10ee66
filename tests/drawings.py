"""What every drawing of every page keeps to; `faults` is asked by the tests of each page.

It reads the drawings as a reader's eye does, not as they are made, so a coordinate that goes wrong anywhere shows as
something outside the picture, a line of a grid that is longer than the others, or a line without length.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

SLACK = 1.0  # a stroke may stand over the edge by half its width
NARROW = 2.5  # width of the narrowest letters, so that what is called outside is outside in any face
ABOVE, BELOW = 7.0, 1.0  # height of letters over their base line and depth below it
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
START = {"start": 0.0, "middle": 0.5, "end": 1.0}  # share of a text left of its place


def faults(html: str) -> list[str]:
    """Return what is wrong in the drawings of a page, one line each."""
    told = []
    for place, found in enumerate(re.findall(r"<svg\b.*?</svg>", html, re.DOTALL)):
        drawing = ET.fromstring(re.sub(r' xmlns="[^"]*"', "", found))
        name = drawing.get("aria-labelledby") or f"drawing {place}"
        told += [f"{name}: {said}" for said in (*_outside(drawing), *_uneven(drawing))]
    return told


def _outside(drawing: ET.Element) -> Iterator[str]:
    """Yield what does not lie in the picture."""
    left, top, width, height = map(float, drawing.attrib["viewBox"].split())
    for element in drawing.iter():
        for x, y in _corners(element):
            within = left - SLACK <= x <= left + width + SLACK and top - SLACK <= y <= top + height + SLACK
            if not within:
                words = "".join(element.itertext())
                yield f"({x:g}, {y:g}) of {element.tag} {element.attrib} {words!r} is outside of {width:g} × {height:g}"


def _corners(element: ET.Element) -> Iterator[tuple[float, float]]:
    """Yield points that an element reaches."""
    given = {key: float(value) for key, value in element.attrib.items() if NUMBER.fullmatch(value)}
    match element.tag:
        case "line":
            yield from ((given["x1"], given["y1"]), (given["x2"], given["y2"]))
        case "rect":
            x, y = given.get("x", 0.0), given.get("y", 0.0)
            yield from ((x, y), (x + given["width"], y + given["height"]))
        case "circle":
            yield from ((given["cx"] - given["r"], given["cy"]), (given["cx"] + given["r"], given["cy"]))
        case "text" if "x" in given:
            wide = NARROW * len("".join(element.itertext()))
            start = given["x"] - START[element.get("text-anchor", "start")] * wide
            yield from ((start, given["y"] - ABOVE), (start + wide, given["y"] + BELOW))
        case "polyline" | "polygon":
            yield from _pairs(element.attrib["points"])
        case "path" if "transform" in element.attrib:
            yield from list(_pairs(element.attrib["transform"].partition("scale")[0]))[:1]
        case "path" if not re.search("[a-zHVACQS]", element.attrib["d"]):
            yield from _pairs(element.attrib["d"])


def _pairs(words: str) -> Iterator[tuple[float, float]]:
    numbers = list(map(float, NUMBER.findall(words)))
    yield from zip(numbers[::2], numbers[1::2], strict=False)


def _uneven(drawing: ET.Element) -> Iterator[str]:
    """Yield lines of a grid without length, labels of an axis inside of its grid, and texts on other texts."""
    lines = [
        ([float(each.attrib[key]) for key in ("x1", "y1", "x2", "y2")], (each.get("class") or "").split())
        for each in drawing.iter("line")
    ]
    for (x1, y1, x2, y2), css in lines:
        if {"grid", "axis"} & set(css) and (x1, y1) == (x2, y2):
            yield f"a line of class {' '.join(css)} at ({x1:g}, {y1:g}) has no length"
    boxes = [(each, _core(each)) for each in drawing.iter("text") if "x" in each.attrib]
    for k, (each, (left, top, right, bottom)) in enumerate(boxes):
        for other, (start, high, end, low) in boxes[:k]:
            if left < end and start < right and top < low and high < bottom:
                yield f"{''.join(other.itertext())!r} and {''.join(each.itertext())!r} stand on each other"
    grid = [ends for ends, css in lines if "grid" in css]
    across, up = [ends for ends in grid if ends[1] == ends[3]], [ends for ends in grid if ends[0] == ends[2]]
    if across and up:
        low, high = min(ends[0] for ends in across), max(ends[2] for ends in across)
        top, base = min(ends[1] for ends in up), max(ends[3] for ends in up)
        for each in drawing.iter("text"):
            x, y = float(each.get("x", "nan")), float(each.get("y", "nan")) - ABOVE / 2
            if each.get("class") == "tick" and low < x < high and top < y < base:
                yield f"the label {''.join(each.itertext())!r} of an axis stands in the grid"


def _core(element: ET.Element) -> tuple[float, float, float, float]:
    """Return a box that the letters of a text cover in any face."""
    (left, top), (right, bottom) = _corners(element)
    return left, top + 1.0, right, bottom - BELOW
