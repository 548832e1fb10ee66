"""Areas told apart without colour: convex outlines filled with parallel lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from accordant.report.charts.svg import tag

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
    found = [tag("path", {"d": outline, "class": f"{css} hatch-{position % len(HATCHES)}"})]
    strokes = [
        f"M{a[0]:.2f} {a[1]:.2f}L{b[0]:.2f} {b[1]:.2f}"
        for angle, distance in HATCHES[position % len(HATCHES)]
        for a, b in _lines(corners, math.radians(angle), distance)
    ]
    return [*found, tag("path", {"d": "".join(strokes), "class": "hatching"})] if strokes else found


def box(left: float, top: float, right: float, bottom: float) -> tuple[Corner, ...]:
    """Return the corners of a rectangle."""
    return (left, top), (right, top), (right, bottom), (left, bottom)


def _lines(corners: Sequence[Corner], angle: float, distance: float) -> list[tuple[Corner, Corner]]:
    """Return the parts of parallel lines inside a convex outline; lines of all areas with one angle are in step."""
    across = -math.sin(angle), math.cos(angle)
    levels = [x * across[0] + y * across[1] for x, y in corners]
    found = []
    for step in range(math.floor(min(levels) / distance) + 1, math.ceil(max(levels) / distance)):
        level, cuts = step * distance, []
        for k, here in enumerate(levels):
            there, a, b = levels[k - 1], corners[k], corners[k - 1]
            if (here < level) != (there < level):
                part = (level - here) / (there - here)
                cuts.append((a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])))
        if len(cuts) == 2:
            found.append((cuts[0], cuts[1]))
    return found
