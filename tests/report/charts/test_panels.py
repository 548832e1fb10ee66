"""Rows of panels: names end before what is drawn."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from accordant.report.charts.panels import LETTER, NAMES, Panel, score_scale, score_strip
from accordant.report.charts.svg import _width
from accordant.runs.record import Limits


def test_names_and_their_marks_end_before_the_panel() -> None:
    names = ["MMM " * 9, "many words that do not end " * 3, "short"]
    for lines in Panel([SimpleNamespace(name=name, candidate=True) for name in names]).names:
        assert all(_width(part) * LETTER <= NAMES - 16 for part in lines)


@pytest.mark.parametrize("selected", [True, False])
def test_the_score_of_the_selected_strategy_alone_is_drawn_as_selected(selected: bool) -> None:
    score = Limits(value=0.5, low=0.4, high=0.6, undefined=None)
    each = SimpleNamespace(family="rule", mark="circle", selected=selected, row=SimpleNamespace(score=score))
    drawn = re.findall(r'class="([^"]*of-rule[^"]*)"', str(score_strip(each, score_scale([score]))))
    assert len(drawn) == 4  # the interval, its two ends and the value
    assert all(("selected" in css.split()) == selected for css in drawn)
