"""Who gets what: a cell for every rule and stakeholder, shaded by what is attained, with floors marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.report.tables import Cell
from accordant.slates.page.reading import BEST, FOLD, RuleLine, SlatedReading

EVEN = 5e-4  # a mean that rounds to its floor is not shown as below it
WIDE = 7  # stakeholders side by side
SHADES = 5  # of cells, from white to dark; equal parts of [0, 1]


@dataclass(frozen=True)
class Attained:
    """One cell: the number in words, its shade (None if not defined), and whether it is marked as below the floor.

    It is if the mean is smaller than the floor, unless no list of the rule is below one: floors are held list by list,
    between the ideal and the worst of that moment, and the mean lies on the scale of all rules.
    """

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

    @property
    def parts(self) -> tuple[Heat, ...]:
        """The same in tables with few enough stakeholders for a sheet of paper."""
        return tuple(self._part(slice(k, k + WIDE)) for k in range(0, len(self.stakeholders), WIDE))

    def _part(self, part: slice) -> Heat:
        shown, rest = (tuple((line, cells[part]) for line, cells in rows) for rows in (self.shown, self.rest))
        return Heat(self.stakeholders[part], shown, rest)


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
    below = floor is not None and value < floor - EVEN and line.rule["floor_unmet"] != 0
    return Attained(cell, min(SHADES - 1, max(0, int(value * SHADES))), below)
