"""Who gets what: a cell for every rule and stakeholder, shaded by what is attained, with floors marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.slated.reading import BEST, FOLD, RuleLine, SlatedReading
from accordant.report.tables import Cell

SHADES = 5  # of cells, from white to dark; equal parts of [0, 1]


@dataclass(frozen=True)
class Attained:
    """One cell: the number in words, its shade (None if not defined), and whether the mean is below the floor."""

    cell: Cell
    shade: int | None
    below: bool


@dataclass(frozen=True)
class Heat:
    """A table of rules by stakeholders.

    Attributes
    ----------
    stakeholders
        Name and floor of each.
    shown, rest
        Rules that stand unfolded, and the others; each with its cells.
    """

    stakeholders: tuple[tuple[str, float | None], ...]
    shown: tuple[tuple[RuleLine, tuple[Attained, ...]], ...]
    rest: tuple[tuple[RuleLine, tuple[Attained, ...]], ...]


def heat(reading: SlatedReading) -> Heat:
    """Return what every stakeholder attains under every rule: the first rules and all baselines unfolded."""
    stakeholders = tuple((each["name"], each["floor"]) for each in reading.stakeholders)
    lines = reading.lines
    names = {line.position for line in lines if line.roles or line.family == "baseline"}
    others = [line.position for line in lines if line.position not in names]
    names |= set(others if len(lines) <= FOLD else others[:BEST])
    shown = [line for line in lines if line.position in names]
    rest = [line for line in lines if line.position not in names]
    return Heat(stakeholders, _rows(reading, shown, stakeholders), _rows(reading, rest, stakeholders))


def _rows(
    reading: SlatedReading, lines: Sequence[RuleLine], stakeholders: Sequence[tuple[str, float | None]]
) -> tuple[tuple[RuleLine, tuple[Attained, ...]], ...]:
    return tuple((line, tuple(_cell(reading, line, name, floor) for name, floor in stakeholders)) for line in lines)


def _cell(reading: SlatedReading, line: RuleLine, stakeholder: str, floor: float | None) -> Attained:
    value, cell = reading.attained(line, stakeholder)
    if value is None:
        return Attained(cell, None, False)
    return Attained(cell, min(SHADES - 1, max(0, int(value * SHADES))), floor is not None and value < floor)
