"""Gains and losses: every measure against the reference, first on requests that took no part in choosing the rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.naming import listed
from accordant.report.reading import Json
from accordant.report.scale import NOT_DEFINED
from accordant.slates.page.reading import RuleLine, SlatedReading
from accordant.slates.page.summary import BETTER, meaning, signed, span

CLASSES = {BETTER[True]: "gain", BETTER[False]: "loss"}


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

    column: Json
    later: Change | None
    every: Change


@dataclass(frozen=True)
class Changes:
    """What one rule changes.

    Attributes
    ----------
    line, reference
        The rule, and what it is compared with.
    rows
        One for each measure.
    later, every
        How many measures are better and worse on the later and on all requests, in words; `later` is empty without a
        trial.
    """

    line: RuleLine
    reference: RuleLine
    rows: tuple[Row, ...]
    later: str
    every: str


def changes(reading: SlatedReading) -> Changes | None:
    """Return what the chosen rule changes, or without a trial the first on the leaderboard.

    None without a reference, or if the rule is the reference itself.
    """
    prices, trial = reading.content["prices"], reading.content["trial"]
    shown = [line for line in reading.marked if {"chosen", "first"} & set(line.roles)]
    looked = next((line for line in shown if line.selected), shown[0] if shown else None)
    if prices is None or looked is None or looked.name not in prices["rules"]:
        return None
    reference = next(line for line in reading.lines if line.name == prices["reference"])
    rows = tuple(
        Row(column, None if trial is None else _change(trial["differences"][label]), _change(found))
        for column in reading.columns
        for label in [column["label"]]
        for found in [prices["rules"][looked.name][label]]
    )
    later = [row.later for row in rows if row.later is not None]
    return Changes(looked, reference, rows, _tally(later) if later else "", _tally([row.every for row in rows]))


def _change(difference: Json) -> Change:
    word = meaning(difference)
    return Change(signed(difference["value"]), span(difference), word, CLASSES.get(word, ""))


def _tally(found: Sequence[Change]) -> str:
    """Return how many measures are better, worse, and neither; the first two are named even if there are none."""
    counts = {word: sum(each.word == word for each in found) for word in (*BETTER.values(), NOT_DEFINED)}
    return listed([f"{n} {word}" for word, n in counts.items() if n or word in CLASSES])
