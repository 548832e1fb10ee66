"""Sentences on the best candidate under misreports."""

from __future__ import annotations

from accordant.report.scrutiny.misreports import order_sentences
from accordant.runs.record.scrutiny import RankingPart, ThreatPart


def ranked(coalition, ranges, holds):
    threat = ThreatPart(delta=0.05, coalition=coalition, box=(0.0, 1.0), frozen=False)
    return RankingPart(
        coalition=coalition, delta=0.05, best="maximin", strategies=("maximin",), threat=threat, ranges=ranges,
        status="sound", nominal=(0.5,), low=(0.4,), high=(0.6,), order=("maximin",), best_holds=holds, order_holds=holds,
    )  # fmt: skip


def test_who_cannot_change_the_best_candidate_and_for_whom_it_is_open():
    found = order_sentences(
        [ranked(["A"], "frozen", True), ranked(["B"], "frozen", True), ranked(["A", "B"], "frozen", False)]
    )
    assert [each.striptags() for each in found] == [
        "On the scales that honest reports give the metrics maximin stays the best candidate if A alone and B alone may "
        "misreport by 0.05; this is not shown for everybody together."
    ]


def test_nothing_shown_and_everything_shown():
    found = order_sentences([ranked(["A"], "frozen", False), ranked(["A"], "live", True)])
    assert [each.striptags() for each in found] == [
        "On the scales that honest reports give the metrics it is not shown for anybody that maximin stays best under "
        "misreports of 0.05.",
        "With scales that move with the misreports maximin stays the best candidate if A alone may misreport by 0.05.",
    ]


def test_records_without_rankings_say_nothing():
    assert order_sentences(()) == ()
