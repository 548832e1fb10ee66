"""How much lists hang on one stakeholder, on an honest report, and on majorities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from accordant.report.reading import Json
from accordant.report.scale import NOT_DEFINED, interval, number, percent
from accordant.report.slated.reading import RuleLine, SlatedReading
from accordant.report.slated.summary import signed

ALIKE = 5e-4  # a change that rounds to 0.000 is none


@dataclass(frozen=True)
class Told:
    """A cell: what stands first, and further lines below it."""

    value: str
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Robustness:
    """What was measured of watched rules, and of all.

    Attributes
    ----------
    lines
        Watched rules.
    dropped, misreports
        Tables of stakeholders by watched rules; a cell is None where nothing was measured.
    one_report
        Rules under which the same misreport was assumed in all requests.
    tried
        How many misreports were tried, each number once.
    every_order
        Whether these were all orders of items.
    shown, others
        Rules of tables over all rules: the marked and watched ones, and those that are folded.
    """

    lines: tuple[RuleLine, ...]
    dropped: tuple[tuple[str, tuple[Told | None, ...]], ...]
    misreports: tuple[tuple[str, tuple[Told | None, ...]], ...]
    one_report: tuple[str, ...]
    tried: tuple[int, ...]
    every_order: bool
    shown: tuple[RuleLine, ...]
    others: tuple[RuleLine, ...]


def robustness(reading: SlatedReading) -> Robustness:
    """Return both tables for the rules that were watched."""
    lines = reading.watched
    shown = {line.position: line for line in (*reading.marked, *lines)}
    reports = [each for line in lines for each in line.rule["manipulability"]]
    return Robustness(
        lines, _table(reading, "stability", _dropped), _table(reading, "manipulability", _misreported),
        tuple(line.name for line in lines if any(each["one_report"] for each in line.rule["manipulability"])),
        tuple(sorted({each["tried"] for each in reports})),
        bool(reports) and all(each["every_order"] for each in reports), tuple(shown.values()),
        tuple(line for line in reading.lines if line.position not in shown),
    )  # fmt: skip


def _table(
    reading: SlatedReading, key: str, tell: Callable[[Json], Told]
) -> tuple[tuple[str, tuple[Told | None, ...]], ...]:
    """Return a row for every stakeholder that was measured under some rule."""
    found = []
    for name in (each["name"] for each in reading.stakeholders):
        cells = [
            next((tell(each) for each in line.rule[key] if each["stakeholder"] == name), None)
            for line in reading.watched
        ]
        if any(cell is not None for cell in cells):
            found.append((name, tuple(cells)))
    return tuple(found)


def _dropped(each: Json) -> Told:
    """Return overlap, share of lists with the same items, and who loses and gains most."""
    value = NOT_DEFINED if each["overlap"] is None else number(each["overlap"])
    known = {name: change for name, change in each["changes"].items() if change is not None}
    below = [f"{percent(each['unchanged'])} unchanged"]
    if known:
        low, high = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
        below += [f"{low} {signed(known[low])}"] if known[low] < -ALIKE else ["nobody loses"]
        below += [f"{high} {signed(known[high])}"] if known[high] > ALIKE else ["nobody gains"]
    return Told(value, tuple(below))


def _misreported(each: Json) -> Told:
    """Return the gain with its interval, in how many requests there is one, and the largest."""
    gain = each["gain"]
    limits = interval(gain["low"], gain["high"])
    share = "" if each["share"] is None else f"in {percent(each['share'])} of requests"
    below = (limits, share, f"largest {number(each['largest'])}")
    return Told(number(gain["value"]), tuple(filter(None, below)))
