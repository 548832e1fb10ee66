"""How full items are: load over capacity of the most crowded ones, as numbers and as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.charts.bars import Bar, bar_chart
from accordant.report.scale import count, number, percent
from accordant.slates.page.reading import RuleLine

CROWDED = 8  # items of the table; maps carry their numbers
BARS = 12  # items as bars
LIGHT = 1  # hatch of bars that are not over capacity


@dataclass(frozen=True)
class Full:
    """How full an item is under one rule, in words: worst day, average day, and share of days over capacity."""

    peak: str
    mean: str
    over: str


def peaks(each: RuleLine) -> dict[str, float]:
    """Return item to load over capacity on the worst day."""
    return dict(zip(each.rule["crowding"]["items"], each.rule["crowding"]["peak"], strict=True))


def crowded(lines: Sequence[RuleLine], first: int) -> list[str]:
    """Return the most crowded items over some rules."""
    worst: dict[str, float] = {}
    for each in lines:
        for name, peak in peaks(each).items():
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


def rows(lines: Sequence[RuleLine], names: Sequence[str]) -> list[tuple[str, str, list[Full | None]]]:
    """Return item, capacity, and how full it is under each rule; None where it has no limit there."""
    tables = [each.rule["crowding"] for each in lines]
    places = [{name: place for place, name in enumerate(table["items"])} for table in tables]
    found = []
    for name in names:
        cells: list[Full | None] = []
        capacity = "–"
        for table, place in zip(tables, places, strict=True):
            k = place.get(name)
            if k is None:
                cells.append(None)
                continue
            capacity = count(table["capacity"][k])
            cells.append(Full(number(table["peak"][k], 2), number(table["mean"][k], 2), percent(table["days_over"][k])))
        found.append((name, capacity, cells))
    return found
