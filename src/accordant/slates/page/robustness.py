"""How much lists hang on one stakeholder, on an honest report, and on majorities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from accordant.naming import listed
from accordant.report.scale import NOT_DEFINED, interval, number, percent
from accordant.report.tables import in_parts
from accordant.runs.record import Column
from accordant.slates.evaluation.stability import Dropped
from accordant.slates.page.reading import MeasureColumn, RuleLine, SlateReading
from accordant.slates.page.summary import BETTER, meaning, signed, span
from accordant.slates.result import Change as Difference
from accordant.slates.result import ManipulabilityResult

ALIKE = 5e-4  # a change that rounds to 0.000 is none
SERVED_AGAIN, AS_FOUND = "all served again", "list by list"
CLASSES = {BETTER[True]: "gain", BETTER[False]: "loss"}


@dataclass(frozen=True)
class Cell:
    """A cell: what stands first, and further lines below it."""

    value: str
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Robustness:
    """What was measured of watched rules, `lines`, and of all.

    `dropped` and `misreports` are tables of stakeholders by watched rules, with None where nothing was measured.
    `one_report` names the rules under which the same misreport was assumed in all requests; `tried` holds how many were
    tried, each number once, and `every_order` whether these were all orders of items. The two sets say whether all
    requests were served again, each answer once. `shown` and `others` are the rules of tables over all rules: marked
    and watched ones, and the folded.
    """

    lines: tuple[RuleLine, ...]
    dropped: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    misreports: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    one_report: tuple[str, ...]
    tried: tuple[int, ...]
    every_order: bool
    dropped_in_market: frozenset[bool]
    misreports_in_market: frozenset[bool]
    shown: tuple[RuleLine, ...]
    others: tuple[RuleLine, ...]


def robustness(reading: SlateReading) -> Robustness:
    """Return both tables for the rules that were watched."""
    lines = reading.watched
    shown = {line.position: line for line in (*reading.marked, *lines)}
    reports = [report for line in lines for report in line.rule.manipulability]
    absences = [absence for line in lines for absence in line.rule.stability]
    again, served_again = (frozenset(effect.in_market for effect in part) for part in (absences, reports))
    return Robustness(
        lines, _table(reading, "stability", _dropped, told_apart=len(again) > 1),
        _table(reading, "manipulability", _misreported, told_apart=len(served_again) > 1),
        tuple(line.name for line in lines if any(report.one_report for report in line.rule.manipulability)),
        tuple(sorted({report.tried for report in reports})),
        bool(reports) and all(report.every_order for report in reports), again, served_again, tuple(shown.values()),
        tuple(line for line in reading.lines if line.position not in shown),
    )  # fmt: skip


def _table(
    reading: SlateReading, key: str, tell: Callable[[Any, bool], Cell], *, told_apart: bool
) -> tuple[tuple[str, tuple[Cell | None, ...]], ...]:
    """Return a row for every stakeholder that was measured under some rule; cells say how where that is told apart."""
    rows = []
    for name in (stakeholder["name"] for stakeholder in reading.stakeholders):
        cells = [
            next((tell(effect, told_apart) for effect in getattr(line.rule, key) if effect.stakeholder == name), None)
            for line in reading.watched
        ]
        if any(cell is not None for cell in cells):
            rows.append((name, tuple(cells)))
    return tuple(rows)


def _how(effect: Dropped | ManipulabilityResult, told_apart: bool) -> list[str]:
    """Return whether all requests were served again, if other cells differ in that."""
    return [SERVED_AGAIN if effect.in_market else AS_FOUND] if told_apart else []


def _dropped(absence: Dropped, told_apart: bool) -> Cell:
    """Return overlap, share of lists with the same items, and who loses and gains most."""
    value = NOT_DEFINED if absence.overlap is None else number(absence.overlap)
    known = {name: change for name, change in absence.changes.items() if change is not None}
    below = [f"{percent(absence.unchanged)} unchanged"]
    if known:
        low, high = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
        below += [f"{low} {signed(known[low])}"] if known[low] < -ALIKE else ["nobody loses"]
        below += [f"{high} {signed(known[high])}"] if known[high] > ALIKE else ["nobody gains"]
    return Cell(value, (*below, *_how(absence, told_apart)))


def _misreported(report: ManipulabilityResult, told_apart: bool) -> Cell:
    """Return the gain with its interval, in how many requests there is one, and the largest."""
    gain = report.gain
    limits = interval(gain.low, gain.high)
    share = "" if report.share is None else f"in {percent(report.share)} of requests"
    below = (limits, share, f"largest {number(report.largest)}")
    return Cell(number(gain.value), (*filter(None, below), *_how(report, told_apart)))


@dataclass(frozen=True)
class Change:
    """A paired difference in words: value, interval, what it means, and the class of its cell."""

    value: str
    limits: str
    word: str
    css: str


@dataclass(frozen=True)
class Row:
    """One measure: its column, and its differences on the later requests, None without a trial, and on all."""

    column: MeasureColumn
    later: Change | None
    every: Change


@dataclass(frozen=True)
class Changes:
    """What one rule changes against the reference, measure by measure.

    `later` and `every` say how many measures are better and worse on the later and on all requests; `later` is empty
    without a trial.
    """

    line: RuleLine
    reference: RuleLine
    rows: tuple[Row, ...]
    later: str
    every: str


def changes(reading: SlateReading) -> Changes | None:
    """Return what the chosen rule changes, or without a trial the first on the leaderboard.

    None without a reference, or if the rule is the reference itself.
    """
    prices, trial = reading.result.prices, reading.result.trial
    shown = [line for line in reading.marked if {"chosen", "first"} & set(line.roles)]
    looked = next((line for line in shown if line.selected), shown[0] if shown else None)
    if prices is None or looked is None or looked.name not in prices.rules:
        return None
    reference = next(line for line in reading.lines if line.name == prices.reference)
    rows = tuple(
        Row(column, None if trial is None else change(trial.differences[label]), change(difference))
        for column in reading.columns
        for label in [column.label]
        for difference in [prices.rules[looked.name][label]]
    )
    later = [row.later for row in rows if row.later is not None]
    return Changes(looked, reference, rows, _tally(later) if later else "", _tally([row.every for row in rows]))


def change(difference: Difference) -> Change:
    """Return a difference in words."""
    word = meaning(difference)
    return Change(signed(difference.value), span(difference.low, difference.high), word, CLASSES.get(word, ""))


@dataclass(frozen=True)
class StalenessTable:
    """Some measures, and what staleness costs each rule in them: rules that stand unfolded, and the rest."""

    columns: tuple[Column, ...]
    shown: tuple[tuple[RuleLine, tuple[Change, ...]], ...]
    rest: tuple[tuple[RuleLine, tuple[Change, ...]], ...]


def staleness_tables(reading: SlateReading, widest: int) -> list[StalenessTable]:
    """Return tables of at most so many measures, those that count first; none where rules see every state as it is."""
    staleness = reading.result.staleness
    if staleness is None:
        return []
    ordered = sorted(reading.columns, key=lambda column: -column.weight)
    return [
        StalenessTable(
            tuple(part),
            *(
                tuple(
                    (line, tuple(change(staleness.rules[line.name][column.label]) for column in part)) for line in lines
                )
                for lines in reading.folded(reading.lines)
            ),
        )
        for part in in_parts(ordered, widest)
    ]


def _tally(changes: Sequence[Change]) -> str:
    """Return how many measures are better, worse, and neither; the first two are named even if there are none."""
    counts = {word: sum(change.word == word for change in changes) for word in (*BETTER.values(), NOT_DEFINED)}
    return listed([f"{n} {word}" for word, n in counts.items() if n or word in CLASSES])
