"""The page of decisions in use."""

from __future__ import annotations

import re

import pytest

from accordant.monitoring import monitor
from accordant.monitoring.page import render_monitored
from accordant.monitoring.page.charts import _points, evidence_chart, reward_charts
from accordant.monitoring.families import evidence_words
from tests.drawings import faults


@pytest.fixture(scope="module")
def alarmed(watched, logged):
    return monitor(watched, *logged(500, change=150, shift=1.2))


def test_the_answer_comes_first(alarmed, watched, logged):
    page = render_monitored(alarmed)
    assert (
        page == render_monitored(alarmed)
        and page.count("<script") == 1
        and 'http-equiv="Content-Security-Policy"' in page
    )
    first = page[page.index("<main") : page.index("Evidence over time")]
    assert "Alarm: something changed, since about 2026-01-1" in first and "values are higher" in first
    assert "What to do" in first
    calm = render_monitored(monitor(watched, logged(100)[0]))
    assert "No alarm" in calm and "Nothing is to be done" in calm and "What stakeholders got" not in calm


def test_every_measure_stands_on_the_page(alarmed):
    page = re.sub(r"<wbr>", "", render_monitored(alarmed))
    for each in alarmed.measures:
        assert f'<th scope="row">{each.label}</th>' in page
    for each in alarmed.rewards:
        assert each.stakeholder in page


def test_what_others_wrote_is_escaped(alarmed):
    changed = alarmed.model_copy(update={"title": "<b>x</b>", "remarks": ("<i>y</i>",)})
    page = render_monitored(changed)
    assert "<b>x" not in page and "<i>y" not in page and "&lt;i&gt;y" in page


def test_drawings_hold_what_was_found(alarmed):
    drawn = evidence_chart(alarmed)
    assert "alarm at 20" in drawn and "score" in drawn
    charts = reward_charts(alarmed.rewards)
    assert [reward.stakeholder for reward, _ in charts] == ["Bank", "Applicant", "Auditor"]
    assert all('class="limits"' in chart and "outcomes" in chart for _, chart in charts)
    assert all(_points(each, None)[-1][0] == each.n for each in alarmed.measures)  # of records, to the last
    one_day = alarmed.model_copy(update={"measures": tuple(
        each.model_copy(update={"path": each.path[:1]}) for each in alarmed.measures
    )})  # fmt: skip
    assert evidence_chart(one_day) is None


@pytest.mark.parametrize(
    ("power", "words"), [(None, "1.0"), (-4.0, "below 0.1"), (0.3, "2.0"), (1.3, "20"), (17.2, "10^17")]
)
def test_evidence_in_words(power, words):
    assert evidence_words(power) == words


def test_all_that_is_drawn_lies_in_its_picture_and_can_be_read(alarmed):
    assert faults(render_monitored(alarmed)) == []
