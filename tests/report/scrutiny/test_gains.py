"""Gains by misreporting as the report writes them."""

from __future__ import annotations

from accordant.report.scrutiny.misreports import Gain, gains
from accordant.runs.record.scrutiny import CandidatePart, Ends, ManipulabilityPart


def candidate(*ends):
    """Return what a strategy withstands: for the bank alone the share of contexts and the gain, from low to high."""
    alone = (
        ManipulabilityPart(
            stakeholder="Bank", manipulable=Ends(low=low, high=high), mean_gain=Ends(low=least, high=most), exact=None
        )
        for low, high, least, most in ends
    )
    return CandidatePart(
        strategy="maximin",
        method="by hand",
        exact=True,
        deltas=(),
        everybody=(),
        worst_single=(),
        manipulable=tuple(alone),
    )


def test_one_number_where_both_ends_are_written_alike_and_two_where_they_differ():
    assert gains(candidate((0.25, 0.25, 0.01, 0.0101))) == (Gain("Bank", "25%", "0.010"),)
    assert gains(candidate((0.25, 0.5, 0.01, 0.02))) == (Gain("Bank", "25% to 50%", "0.010 to 0.020"),)


def test_nothing_known_and_nothing_said():
    assert gains(candidate((None, None, None, None))) == (Gain("Bank", "–", "–"),)
    assert gains(candidate()) == ()
