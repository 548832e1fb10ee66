"""Deliberations of a case from Python: overrides, what is measured, what can travel to other processes."""

from __future__ import annotations

import pytest

from accordant.cases.spec import built_in_deliberations
from accordant.errors import InputError
from accordant.naming import Named
from accordant.runs.deliberated import DeliberationOptions
from accordant.runs.deliberating import cast_for, deliberate, deliberate_often, open_deliberation

CASE = """
name: ward
title: Two ventilators
deliberation:
  file: patients.csv
  resources: [{name: ventilator, capacity: 2}, {name: nurse, capacity: 1.5, portion: 0.5}]
  protected: [sex]
  agents: [utilitarian, rawlsian]
"""
PATIENTS = """id,severity,p_with,p_without,sex,demand_nurse
a,0.9,0.5,0.2,f,1
b,0.4,0.9,0.6,m,0.5
c,0.7,0.8,0.2,f,1
d,0.8,0.4,0.3,m,0.5
"""


@pytest.fixture
def ward(tmp_path):
    (tmp_path / "ward.yaml").write_text(CASE)
    (tmp_path / "patients.csv").write_text(PATIENTS)
    return tmp_path / "ward.yaml"


def test_ones_own_patients_with_several_resources_and_no_card(ward):
    opened = open_deliberation(ward, DeliberationOptions())
    found = deliberate(opened, cast_for(opened))
    assert found.verdict is None and found.emergence is None and found.access is None
    given = found.deliberation.joint.granted.sum(axis=0)
    assert given.tolist() == [2, 3]
    content = found.to_json()
    assert content["source"]["simulated"] is False and content["verdict"] is None


def test_without_criteria_there_is_nothing_to_repeat(ward):
    opened = open_deliberation(ward, DeliberationOptions(repeat=3))
    with pytest.raises(InputError, match="no criteria"):
        deliberate_often(opened, cast_for(opened))


def test_two_processes_find_what_one_finds():
    one, two = (
        open_deliberation("triage", DeliberationOptions(repeat=3, patients=6, capacity={"bed": 2}, jobs=jobs))
        for jobs in (1, 2)
    )
    assert deliberate_often(one, cast_for(one)).repeated == deliberate_often(two, cast_for(two)).repeated


def test_the_biased_fixture_never_favours_the_watched_group():
    for name in built_in_deliberations():
        opened = open_deliberation(name, DeliberationOptions(agents=(Named("rawlsian"), Named("biased"))))
        marginal = opened.case.deliberation.marginal
        biased = cast_for(opened).agents[1]
        assert biased.favoured_fact == marginal.fact and biased.favoured_value != marginal.value


def test_a_case_cannot_bring_an_adversary(ward):
    ward.write_text(CASE.replace("[utilitarian, rawlsian]", "[utilitarian, biased]"))
    opened = open_deliberation(ward, DeliberationOptions())
    with pytest.raises(InputError, match="adversarial"):
        cast_for(opened)


def test_scope_card_gaps_and_made_up_patients_are_said():
    opened = open_deliberation("triage-random", DeliberationOptions(patients=4, capacity={"bed": 2}))
    warnings = deliberate(opened, cast_for(opened)).warnings
    assert any("made up" in each for each in warnings)
    assert any(each.startswith("scope card: ") for each in warnings)
