"""The drawing of patients by allocations, and what the page reads of them, against slow twins."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from accordant.deliberation.page import render
from accordant.deliberation.page.charts import cell, grid_chart, grid_width
from accordant.deliberation.page.charts import Dot, rate_chart
from accordant.deliberation.page.labels import deliberation_names
from accordant.deliberation.page.reading import OneReading, called, letter, said
from accordant.deliberation.page.summary import dots
from accordant.deliberation.result import read_result
from accordant.statistics import Estimate


@pytest.mark.parametrize(("apart", "alike", "titles"), [
    (3, 33, ["Who is granted what"]),
    (36, 1, ["36 patients whom some allocation treats otherwise",
             "1 patient whom all allocations of agents and the joint one treat alike"]),
    (37, 0, ["The first 36 of 37 patients whom some allocation treats otherwise", "1 more of them"]),
    (0, 37, ["37 patients whom all allocations of agents and the joint one treat alike"]),
])  # fmt: skip
def test_the_first_drawing_holds_at_most_thirty_six_patients(apart, alike, titles, monkeypatch):
    monkeypatch.setattr(render, "grid_chart", lambda identifier, title, reading, patients: list(patients))
    names = [f"p{k}" for k in range(apart + alike)]
    reading = SimpleNamespace(ordered=(names[:apart], names[apart:]), patients=dict.fromkeys(names))
    drawn = render._grids(reading)
    assert [title for title, _ in drawn] == titles
    assert sum((patients for _, patients in drawn), []) == names


@pytest.mark.parametrize("kind", ["one", "many"])
def test_facts_of_scenarios_are_put_into_words_where_a_page_tells_them(kind, contents):
    for each in contents.values():
        if each["kind"] == kind:
            names = deliberation_names(read_result(each))
            assert [names.get(fact) for fact in ("p_with", "p_without")] == (
                ["chance with the grant", "chance without it"] if kind == "one" else [None, None]
            )


def readings(contents):
    return {name: OneReading(read_result(each)) for name, each in contents.items() if each["kind"] == "one"}


def test_shares_are_those_of_the_ledger(contents):
    checked = 0
    for reading in readings(contents).values():
        columns = {each.key: each.shares for each in reading.columns}
        for each in reading.content.ledger:
            assert columns[f"solo {each.agent}"][each.patient] == pytest.approx(each.solo)
            assert columns[f"revised {each.agent}"][each.patient] == pytest.approx(each.revised)
            assert columns["joint"][each.patient] == pytest.approx(each.joint)
            checked += 1
    assert checked > 20


def test_access_of_the_watched_group_is_the_mean_of_the_shares_shown(contents):
    for reading in readings(contents).values():
        if not reading.watched:
            continue
        for each in reading.columns:
            if each.key in (reading.content.access or {}):
                mean = sum(each.shares[patient] for patient in reading.watched) / len(reading.watched)
                assert mean == pytest.approx(reading.content.access[each.key])


def test_parts_of_a_demand_are_read_from_portions(contents):
    reading = readings(contents)["portions"]
    joint = reading.joint.shares
    granted = reading.record.settled.allocation
    for patient, each in reading.patients.items():
        met = [granted.get(patient, {}).get(name, 0.0) / units for name, units in each.demand.items() if units]
        assert joint[patient] == pytest.approx(sum(met) / len(met) if met else 1.0)
    assert reading.in_part


def test_moved_names_the_agents_whose_first_wish_was_not_decided(contents):
    reading = readings(contents)["five"]
    for patient, letters in reading.moved.items():
        twin = ""
        for place, agent in enumerate(reading.record.agents):
            wished = bool(reading.record.solo[agent.name].get(patient))
            decided = bool(reading.record.settled.allocation.get(patient))
            twin += "ABCDE"[place] if wished != decided else ""
        assert letters == twin
    assert any(reading.moved.values())


def test_patients_are_parted_into_those_treated_otherwise_by_somebody_and_the_rest(contents):
    for reading in readings(contents).values():
        apart, alike = reading.ordered
        assert sorted([*apart, *alike]) == sorted(reading.patients)
        wishes = [*reading.record.solo.values(), *reading.record.revised.values(),
                  reading.record.settled.allocation]  # fmt: skip
        for patient in reading.patients:
            assert (patient in apart) == (len({str(each.get(patient)) for each in wishes}) > 1)


def test_every_grant_is_a_filled_cell_and_every_change_a_notch(contents):
    for name, reading in readings(contents).items():
        svg = str(grid_chart("g", "title", reading, list(reading.patients)))
        n = len(reading.patients)
        assert svg.count('class="cell') == n * len(reading.columns), name
        filled = sum(share > 0 for each in reading.columns for share in each.shares.values())
        assert svg.count('class="granted') == filled, name
        changed = sum(
            sum(reading.record.solo[agent].get(patient, {}).values()) != sum(allocation.get(patient, {}).values())
            for agent, allocation in reading.record.revised.items()
            for patient in reading.patients
        )
        assert svg.count('class="notch"') == changed, name
        assert svg.count("of the watched group") == len(reading.watched), name
        assert svg.count("watched") == 2 * len(reading.watched), name  # a shape, and a word in its title


def test_more_agents_need_more_room(contents):
    found = readings(contents)
    assert grid_width(found["five"]) > grid_width(found["vote"]) >= grid_width(found["pair"])
    right = max(
        float(x)
        for x in re.findall(
            r'<text x="([\d.]+)"', str(grid_chart("g", "", found["five"], list(found["five"].patients)))
        )
    )
    assert right <= grid_width(found["five"])


def test_a_part_of_a_demand_fills_a_part_of_the_cell():
    assert len(cell(0, 0, 0.0)) == 1
    assert 'height="3"' in cell(0, 0, 0.25)[1] and 'y="9"' in cell(0, 0, 0.25)[1]
    assert 'height="12"' in cell(0, 0, 1.0)[1]


def test_dots_hold_every_line_and_both_nulls_behind_the_joint(many):
    repeated = many["repeated"]
    found = dots(read_result(many).repeated)
    kinds = [each.kind for each in found]
    place = kinds.index("joint")
    assert kinds[place + 1 : place + 1 + 2 * len(repeated["agents"])] == ["null"] * 2 * len(repeated["agents"])
    assert len(found) == len(repeated["lines"]) + 2 * len(repeated["agents"])
    assert len({each.shape for each in found}) == len({*kinds}) + 1  # the two nulls differ, too
    svg = str(rate_chart("r", "title", found))
    assert all(f"{each.name}:" in svg for each in found)


def test_the_interval_of_a_rate_is_drawn_from_end_to_end():
    svg = str(rate_chart("r", "title", [Dot("joint", "joint", "circle", Estimate(0.5, 0.25, 0.75, 0.95, 40))]))
    drawn = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)" class="interval', svg)
    (low, y, high, level), *caps = (tuple(map(float, each)) for each in drawn)
    ticks = [float(each) for each in re.findall(r'<text x="([\d.]+)"[^>]*class="tick"', svg)]
    share = (ticks[-1] - ticks[0]) / 4
    assert (low, high) == pytest.approx((ticks[0] + share, ticks[0] + 3 * share), abs=0.02) and y == level
    assert [(cap[0], cap[2]) for cap in caps] == [(low, low), (high, high)]


def test_a_rate_that_is_not_defined_is_words_and_no_mark(many):
    repeated = many["repeated"]
    before = str(rate_chart("r", "title", dots(read_result(many).repeated))).count("<path")
    repeated["random"]["biased"] |= {"value": None, "low": None, "high": None, "n": 0}
    svg = str(rate_chart("r", "title", dots(read_result(many).repeated)))
    assert svg.count("<path") == before - 1
    assert "null 1: random, level of biased: not defined" in svg


def test_words_for_allocations_letters_and_facts():
    assert [called(key) for key in ("solo a b", "revised solo", "joint", "disagreement", "strategy x")] == [
        "a b alone", "solo revised", "joint", "without agreement", "strategy x",
    ]  # fmt: skip
    assert [letter(place) for place in (0, 25, 26)] == ["A", "Z", "A1"]
    assert [said(each) for each in (None, True, 2, 2.0, 0.25, "x")] == ["not known", "yes", "2", "2", "0.250", "x"]


def test_units_are_those_of_the_allocation(contents):
    reading = readings(contents)["portions"]
    assert reading.record.scenario.resources
    for resource in reading.record.scenario.resources:
        assert reading.units(resource.name) <= resource.capacity
