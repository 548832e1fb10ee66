"""Sentences on the best candidate under misreports."""

from __future__ import annotations

from accordant.report.scrutiny.misreports import order_sentences


def ranked(coalition, ranges, holds):
    return {"coalition": coalition, "ranges": ranges, "best_holds": holds, "best": "maximin", "delta": 0.05}


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
