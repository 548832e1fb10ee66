"""Rows of panels: names end before what is drawn."""

from __future__ import annotations

from types import SimpleNamespace

from accordant.report.charts.panels import LETTER, NAMES, Panel
from accordant.report.charts.svg import _width


def test_names_and_their_marks_end_before_the_panel() -> None:
    names = ["MMM " * 9, "many words that do not end " * 3, "short"]
    for lines in Panel([SimpleNamespace(name=name, candidate=True) for name in names]).names:
        assert all(_width(part) * LETTER <= NAMES - 16 for part in lines)
