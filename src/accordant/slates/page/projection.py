"""Where items lie on a map: equirectangular, as long to the east as to the north; a dense centre has its own map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from accordant.report.reading import Json

WIDTH, LOW, HIGH = 360.0, 170.0, 380.0  # of a map; its height follows from the places, between two limits
EDGE = 24.0
KM_PER_DEGREE = 111.32  # of latitude
FLAT = 0.05  # smallest cosine of a latitude: near the poles no map of this kind is right
MANY = 12  # items from which a centre is looked for
REACH, ZOOM = 2.5, 2.0  # the centre reaches so many median distances; it has its own map if that is so much larger


@dataclass(frozen=True)
class Projection:
    """Where everything is drawn.

    Attributes
    ----------
    height
        Of the map.
    unit
        Drawing units per kilometre.
    points
        Item to place.
    """

    height: float
    unit: float
    points: dict[str, tuple[float, float]]


def mapped(items: Sequence[Json]) -> list[Json]:
    """Return items with coordinates."""
    return [each for each in items if each["latitude"] is not None and each["longitude"] is not None]


def projected(items: Sequence[Json]) -> Projection:
    """Return places of items with coordinates, at least one; they fill a map from edge to edge."""
    east, north = _flat(items)
    wide, tall = max(east) - min(east), max(north) - min(north)
    room = WIDTH - 2 * EDGE
    scale = min(room / wide if wide > 0 else math.inf, (HIGH - 2 * EDGE) / tall if tall > 0 else math.inf)
    if math.isinf(scale):
        scale = room
    height = max(LOW, tall * scale + 2 * EDGE)
    left, top = (WIDTH - wide * scale) / 2, (height - tall * scale) / 2
    points = {
        each["name"]: (left + (x - min(east)) * scale, top + (max(north) - y) * scale)
        for each, x, y in zip(items, east, north, strict=True)
    }
    return Projection(height, scale / KM_PER_DEGREE, points)


def centre(items: Sequence[Json]) -> list[Json]:
    """Return the items around the median place if the others leave them too little room; none otherwise."""
    east, north = _flat(items)
    x, y = median(east), median(north)
    away = [math.hypot(a - x, b - y) for a, b in zip(east, north, strict=True)]
    limit = REACH * median(away)
    inside = [each for each, distance in zip(items, away, strict=True) if distance <= limit]
    if len(items) < MANY or len(inside) in (1, len(items)) or _extent(items) < ZOOM * _extent(inside):
        return []
    return inside


def _flat(items: Sequence[Json]) -> tuple[list[float], list[float]]:
    """Return degrees to the east, made as long as degrees to the north at the mean latitude, and to the north."""
    middle = sum(each["latitude"] for each in items) / len(items)
    squeeze = max(FLAT, math.cos(math.radians(middle)))
    return [each["longitude"] * squeeze for each in items], [each["latitude"] for each in items]


def _extent(items: Sequence[Json]) -> float:
    """Return the longer side of the box around places."""
    east, north = _flat(items)
    return max(max(east) - min(east), max(north) - min(north))
