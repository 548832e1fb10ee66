"""Gains by misreporting as the report writes them."""

from __future__ import annotations

from accordant.report.scrutiny.misreports import Gain, gains


def found(low, high, least, most):
    return {"stakeholder": "Bank", "manipulable": {"low": low, "high": high}, "mean_gain": {"low": least, "high": most}}


def test_one_number_where_both_ends_are_written_alike_and_two_where_they_differ():
    assert gains({"manipulable": [found(0.25, 0.25, 0.01, 0.0101)]}) == (Gain("Bank", "25%", "0.010"),)
    assert gains({"manipulable": [found(0.25, 0.5, 0.01, 0.02)]}) == (Gain("Bank", "25% to 50%", "0.010 to 0.020"),)


def test_nothing_known_and_nothing_said():
    assert gains({"manipulable": [found(None, None, None, None)]}) == (Gain("Bank", "–", "–"),)
    assert gains({}) == ()
