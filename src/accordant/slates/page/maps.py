"""Maps of load: where items are, how much attention they get, and how full they are on their worst day."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from accordant.report.charts.bars import Bar, bar_chart
from accordant.report.charts.svg import Label, figure, line, mark, placed, tag, text
from accordant.report.scale import count, number, percent
from accordant.slates.page.reading import RuleLine
from accordant.slates.result import ItemResult

CROWDED = 8  # items of the table; maps carry their numbers
BARS = 12  # items as bars
LIGHT = 1  # hatch of bars that are not over capacity
WIDTH, LOW, HIGH = 360.0, 170.0, 380.0  # of a map; its height follows from the places, between two limits
EDGE = 24.0
KM_PER_DEGREE = 111.32  # of latitude
FLAT = 0.05  # smallest cosine of a latitude: near the poles no map of this kind is right
MANY = 12  # items from which a centre is looked for
REACH, ZOOM = 2.5, 2.0  # the centre reaches so many median distances; it has its own map if that is so much larger
FOOT = 30.0  # room for the ruler below the map
SMALL, LARGE = 2.6, 13.0  # radius of an item that is never shown, and of the one with most attention
ROUND_KM = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
AVOIDED = 300  # marks up to which labels keep clear of all of them: beyond that no place is free
SHORTEST = 12.0  # ruler in drawing units
# upper limits of load over capacity, with class and words
STEPS = ((0.5, "load-0", "at most half of capacity"), (1.0, "load-1", "at most capacity"),
         (2.0, "load-2", "over capacity"), (math.inf, "load-3", "more than twice capacity"))  # fmt: skip
CLOSED, FREE = "closed", "load-free"


@dataclass(frozen=True)
class LoadCell:
    """How full an item is under one rule, in words: worst day, average day, and share of days over capacity."""

    peak: str
    mean: str
    over: str


def peaks(each: RuleLine) -> dict[str, float]:
    """Return item to load over capacity on the worst day."""
    return dict(zip(each.rule.crowding.items, each.rule.crowding.peak, strict=True))


def most_crowded(lines: Sequence[RuleLine], first: int) -> list[str]:
    """Return the most crowded items over some rules."""
    worst: dict[str, float] = {}
    for rule_line in lines:
        for name, peak in peaks(rule_line).items():
            worst[name] = max(peak, worst.get(name, 0.0))
    return sorted(worst, key=lambda name: -worst[name])[:first]


def load_bars(identifier: str, each: RuleLine, names: Sequence[str], top: float) -> Markup:
    """Return load over capacity on the worst day as bars, solid above 1."""
    load = peaks(each)
    bars = [
        Bar(name, load[name], f"{number(load[name], 2)} ×", LIGHT if load[name] <= 1 else None)
        for name in names
        if name in load
    ]
    title = f"Load over capacity on the worst day: {each.name}"
    return bar_chart(identifier, title, bars, "load over capacity, 1 is full", span=(1.0, top))


def rows(lines: Sequence[RuleLine], names: Sequence[str]) -> list[tuple[str, str, list[LoadCell | None]]]:
    """Return item, capacity, and how full it is under each rule; None where it has no limit there."""
    tables = [rule_line.rule.crowding for rule_line in lines]
    places = [{name: place for place, name in enumerate(table.items)} for table in tables]
    rows = []
    for name in names:
        cells: list[LoadCell | None] = []
        capacity = "–"
        for table, place in zip(tables, places, strict=True):
            k = place.get(name)
            if k is None:
                cells.append(None)
                continue
            capacity = count(table.capacity[k])
            cells.append(LoadCell(number(table.peak[k], 2), number(table.mean[k], 2), percent(table.days_over[k])))
        rows.append((name, capacity, cells))
    return rows


@dataclass(frozen=True)
class Projection:
    """Item to its place on a map of some height, with so many drawing units per kilometre."""

    height: float
    unit: float
    points: dict[str, tuple[float, float]]


def located(items: Sequence[ItemResult]) -> list[ItemResult]:
    """Return items with coordinates."""
    return [item for item in items if item.latitude is not None and item.longitude is not None]


def project(items: Sequence[ItemResult]) -> Projection:
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
        item.name: (left + (x - min(east)) * scale, top + (max(north) - y) * scale)
        for item, x, y in zip(items, east, north, strict=True)
    }
    return Projection(height, scale / KM_PER_DEGREE, points)


def centre(items: Sequence[ItemResult]) -> list[ItemResult]:
    """Return the items around the median place if the others leave them too little room; none otherwise."""
    east, north = _flat(items)
    x, y = median(east), median(north)
    away = [math.hypot(a - x, b - y) for a, b in zip(east, north, strict=True)]
    limit = REACH * median(away)
    inside = [item for item, distance in zip(items, away, strict=True) if distance <= limit]
    if len(items) < MANY or len(inside) in (1, len(items)) or _extent(items) < ZOOM * _extent(inside):
        return []
    return inside


def _flat(items: Sequence[ItemResult]) -> tuple[list[float], list[float]]:
    """Return degrees to the east, made as long as degrees to the north at the mean latitude, and to the north."""
    places = [(item.latitude or 0.0, item.longitude or 0.0) for item in items]  # both are known of all
    middle = sum(latitude for latitude, _ in places) / len(places)
    squeeze = max(FLAT, math.cos(math.radians(middle)))
    return [longitude * squeeze for _, longitude in places], [latitude for latitude, _ in places]


def _extent(items: Sequence[ItemResult]) -> float:
    """Return the longer side of the box around places."""
    east, north = _flat(items)
    return max(max(east) - min(east), max(north) - min(north))


def step_of(peak: float | None) -> str:
    """Return the class of a load over capacity; None is no limit."""
    return FREE if peak is None else next(css for limit, css, _ in STEPS if peak <= limit)


def load_map(
    identifier: str,
    each: RuleLine,
    items: Sequence[ItemResult],
    projection: Projection,
    largest: float,
    numbered: Mapping[str, int],
    framed: Sequence[ItemResult] = (),
) -> Markup:
    """Return items at their places: area is attention, shade and outline are load over capacity.

    `largest` is the share of attention of the largest circle, the same for all maps. Items in `numbered` carry their
    number; a frame stands around those in `framed`, the centre, which has a map of its own.
    """
    curve, load = each.rule.popularity, peaks(each)
    share = dict(zip(curve.items, curve.exposure, strict=True))
    bottom = projection.height
    ground = [tag("rect", {"x": 0.5, "y": 0.5, "width": WIDTH - 1, "height": bottom - 1, "class": "ground"})]
    shrink = min(1.0, math.sqrt(AVOIDED / (5 * len(items))))
    sizes = {one.name: shrink * _radius(share.get(one.name), largest) for one in items}
    upward = sorted(((one.name, one) for one in items), key=lambda pair: -sizes[pair[0]])  # small ones lie on top
    marks = [_item(one, projection.points[name], sizes[name], share.get(name), load.get(name)) for name, one in upward]
    drawn = [*ground, tag("g", {"class": "many" if len(items) > AVOIDED else None}, *marks)]
    if framed:
        drawn.append(_frame([projection.points[one.name] for one in framed]))
    labels = [
        Label(*projection.points[name], str(place), "halo", sizes[name] + 1)
        for name, place in numbered.items()
        if name in projection.points
    ]
    taken = [
        (x - sizes[name], y - sizes[name], x + sizes[name], y + sizes[name])
        for name, (x, y) in projection.points.items()
    ]
    drawn += placed(labels, taken if len(items) <= AVOIDED else [], (4, 4, WIDTH - 4, bottom - 4))
    drawn += _ruler(projection.unit, bottom)
    return figure(identifier, (WIDTH, bottom + FOOT), f"Map of load: {each.name}", _said(items, load), *drawn)


def legend(items: Sequence[ItemResult], lines: Sequence[RuleLine]) -> list[tuple[str, str]]:
    """Return class and words of everything that occurs on the maps."""
    steps = {step_of(peak) for rule_line in lines for peak in peaks(rule_line).values()}
    words = [(css, said) for _, css, said in STEPS if css in steps]
    words += [(FREE, "no limit")] if any(item.capacity is None for item in items) else []
    return [*words, *([(CLOSED, "closed")] if any(item.capacity == 0 for item in items) else [])]


def sample(css: str) -> Markup:
    """Return a swatch of a class of items."""
    circle = tag("circle", {"cx": 7, "cy": 7, "r": 5.4, "class": f"item {css}"})
    inner = mark("cross", 7, 7, 4.2, "closed") if css == CLOSED else circle
    return tag("svg", {"viewBox": "0 0 14 14", "class": "swatch", "aria-hidden": "true", "focusable": "false"}, inner)


def _radius(share: float | None, largest: float) -> float:
    """Return a radius whose square follows the share of attention."""
    return max(SMALL, LARGE * math.sqrt((share or 0.0) / largest)) if largest > 0 else SMALL


def _item(
    item: ItemResult, place: tuple[float, float], radius: float, share: float | None, peak: float | None
) -> Markup:
    x, y = place
    if item.capacity == 0:
        return tag("g", {}, tag("title", {}, f"{item.name}: closed"), mark("cross", x, y, 4.5, "closed"))
    full = "no limit" if peak is None else f"{number(peak, 2)} times its capacity on the worst day"
    about = tag("title", {}, f"{item.name}: {percent(share)} of attention, {full}")
    return tag("circle", {"cx": x, "cy": y, "r": radius, "class": f"item {step_of(peak)}"}, about)


def _frame(points: Sequence[tuple[float, float]]) -> Markup:
    left, right = (end(x for x, _ in points) for end in (min, max))
    top, bottom = (end(y for _, y in points) for end in (min, max))
    room = LARGE + 2
    box = {"x": left - room, "y": top - room, "width": right - left + 2 * room, "height": bottom - top + 2 * room}
    return tag("rect", box | {"class": "frame"})


def _said(items: Sequence[ItemResult], load: Mapping[str, float]) -> str:
    """Put the map into words: who is over capacity."""
    over = {one.name: load[one.name] for one in items if load.get(one.name, 0.0) > 1}
    told = "; ".join(f"{name} {number(over[name], 2)}" for name in sorted(over, key=lambda name: -over[name]))
    return f"{len(items)} items; {len(over)} of them over capacity on their worst day{': ' if over else ''}{told}."


def _ruler(unit: float, bottom: float) -> list[Markup]:
    """Return a round length in kilometres, at most a third of the map."""
    drawn = [text(WIDTH - 4, bottom + 18, "north is up", "tick", "end")]
    length = max((km for km in ROUND_KM if km * unit <= WIDTH / 3), default=0.0)
    if length * unit < SHORTEST:
        return drawn
    y, end = bottom + 10, 6 + length * unit
    drawn += [line(6, y, end, y, "axis"), line(6, y - 3, 6, y + 3, "axis"), line(end, y - 3, end, y + 3, "axis")]
    return [*drawn, text(6, bottom + 25, f"{length:g} km", "tick")]
