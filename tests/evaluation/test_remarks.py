"""Sentences about a leaderboard: true of the lines that they name, and each said once."""

from __future__ import annotations

import pytest

from accordant.evaluation.leaderboard import LeaderboardRow
from accordant.evaluation.overlap import Overlap
from accordant.evaluation.remarks import remarks
from accordant.statistics import Estimate


def line(name, value, *, unsupported=0.0, effective=80.0, reason="", among_best=None, alike=None):
    """A candidate without metrics."""
    score = Estimate(value, reason=reason) if reason else Estimate(value, value - 0.1, value + 0.1, 0.95, 100.0)
    overlap = Overlap(unsupported, effective)
    return LeaderboardRow(name, "compromise", True, score, among_best, alike, 0.0, False, {}, overlap)


def said(*rows, resampled=True):
    return remarks(rows, (), None, {row.strategy: "a" for row in rows}, 100, resampled=resampled)


OPEN = "the log does not support {} of its decisions"
WITHHELD = [
    line("first", 0.7, unsupported=0.18, reason=OPEN.format("18%")),
    line("second", 0.6, unsupported=0.33, reason=OPEN.format("33%")),
    line("like second", 0.6, unsupported=0.34, reason=OPEN.format("34%"), alike="second"),
]
SURE = [line("known", 0.5, among_best=True), line("level", 0.5, among_best=True), line("worse", 0.4, among_best=False)]


def test_what_the_log_does_not_hold_is_one_sentence_and_does_not_contradict_itself():
    wide = line("wide", 0.65, unsupported=0.1)
    found = said(WITHHELD[0], wide, *WITHHELD[1:], *SURE)
    about = [each for each in found if "log" in each]
    assert about == [
        "The log hardly holds what these decide: first (18% of its decisions) and second (33% of its decisions). Their "
        "scores have no interval, and they are not compared.",
        "The log hardly holds what these decide: wide (10% of its decisions). Their intervals leave room for whatever "
        "could have followed there, and they are not compared.",
    ]
    assert not any("no interval and are not compared" in each for each in found)


def test_the_best_of_those_compared_is_not_called_the_best():
    compared = "with 95% confidence, all of them compared together"
    assert f"Of those compared the best is among known and level ({compared}); shown to be worse: worse." in said(
        *WITHHELD, *SURE
    )
    assert f"Of those compared known is the best ({compared})." in said(*WITHHELD, SURE[0], SURE[2])
    assert (
        "The best candidate is among known and level (with 95% confidence, all candidates compared together); "
        in (said(*SURE)[0])
    )


def test_other_reasons_are_told():
    scarce = line(
        "rare", 0.7, effective=4.0, reason="the logged cases that match its decisions weigh no more than 4 cases"
    )
    assert any(
        "The scores of rare have no interval and are not compared: the logged cases" in each for each in said(scarce)
    )


@pytest.mark.parametrize("resampled", [True, False])
def test_without_resamples_nothing_is_said_of_intervals(resampled):
    found = " ".join(said(line("wide", 0.65, unsupported=0.1), resampled=resampled))
    assert ("Their intervals" in found) == resampled
