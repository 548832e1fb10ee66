"""Deliberations of a case from Python: overrides, what is measured, what can travel to other processes."""

from __future__ import annotations

import pytest

from accordant.agents.frameworks import frameworks
from accordant.agents.people import HumanAgent
from accordant.cases.files import VARIABLE
from accordant.compute import compute
from accordant.errors import InputError
from accordant.naming import Named
from accordant.deliberation.options import DeliberationOptions
from accordant.agents.language.options import ModelOptions
from accordant.deliberation.section import cast_for, deliberate, deliberate_often, open_deliberation
from accordant.deliberation.participants import Cast

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
    joint = found.deliberation.joint
    names = [each.name for each in joint.scenario.resources]
    assert dict(zip(names, joint.granted.sum(axis=0).tolist(), strict=True)) == {"ventilator": 2, "nurse": 3}
    content = found.section.to_json()
    assert content["source"]["simulated"] is False and content["verdict"] is None


@pytest.mark.parametrize("place", ["beside the case", "$ACCORDANT_DATA", "cache", "--data"])
def test_a_deliberation_says_where_its_patients_were_found(ward, monkeypatch, place):
    data = ward.parent / "data"
    if place != "beside the case":
        data.mkdir()
        (ward.parent / "patients.csv").rename(data / "patients.csv")
    monkeypatch.setenv(VARIABLE, str(data if place == "$ACCORDANT_DATA" else ""))
    monkeypatch.setattr("accordant.cases.files.platformdirs.user_cache_dir", lambda _: str(data.parent))
    opened = open_deliberation(ward, DeliberationOptions(data=str(data) if place == "--data" else None))
    assert opened.found_in == place


def test_without_criteria_there_is_nothing_to_repeat(ward):
    opened = open_deliberation(ward, DeliberationOptions(repeat=3))
    with pytest.raises(InputError, match="no criteria"):
        deliberate_often(opened, cast_for(opened))


def test_debates_are_the_same_wherever_they_are_held():
    opened = open_deliberation("triage", DeliberationOptions(repeat=3, patients=6, capacity={"bed": 2}))
    alone = deliberate_often(opened, cast_for(opened)).repeated
    for where in ("here", "threads:2"):
        with compute(where):
            assert deliberate_often(opened, cast_for(opened)).repeated == alone


def test_a_model_is_asked_by_one_process_alone():
    model = ModelOptions("http://127.0.0.1:9/v1", "m")
    opened = open_deliberation("triage", DeliberationOptions(repeat=3, model=model))
    with compute("here"), pytest.raises(InputError, match="a language model and --on do not go together"):
        deliberate_often(opened, cast_for(opened))


@pytest.mark.long
def test_two_processes_find_what_one_finds():
    one, two = (
        open_deliberation("triage", DeliberationOptions(repeat=3, patients=6, capacity={"bed": 2}, jobs=jobs))
        for jobs in (1, 2)
    )
    assert deliberate_often(one, cast_for(one)).repeated == deliberate_often(two, cast_for(two)).repeated


def test_the_biased_fixture_never_favours_the_watched_group():
    for name in ("triage", "triage-random"):
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


def speaking(*agents, case="triage-random", **model):
    options = DeliberationOptions(agents=agents, model=ModelOptions("http://127.0.0.1:9/v1", "m", **model))
    return cast_for(open_deliberation(case, options)).agents


def test_a_model_speaks_for_the_framework_with_its_parameters():
    rights, care = speaking(Named("rights", {"threshold": 0.9}), Named("care"))
    assert rights.kind == care.kind == "language model"
    assert rights.framework == frameworks.create("rights", {"threshold": 0.9})
    assert rights.framework != frameworks.create("rights")


def test_a_key_is_not_sent_in_the_clear_and_the_message_names_what_exists(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")

    def cast(**model):
        options = DeliberationOptions(model=ModelOptions("http://models.example.org/v1", "m", **model))
        return cast_for(open_deliberation("triage-random", options))

    with pytest.raises(InputError, match="--key-variable none"):
        cast()
    assert cast(key_variable="none").agents[0].key_variable is None


def test_nothing_is_recorded_of_what_is_refused(tmp_path):
    with pytest.raises(InputError, match="'egalitarian' reads: 'sex'"):
        speaking(
            Named("care"),
            Named("egalitarian", {"form": "group_gap", "group": "sex"}),
            record=str(tmp_path / "talk.jsonl"),
        )
    assert not (tmp_path / "talk.jsonl").exists()


def test_a_case_cannot_bring_a_model(ward):
    agent = "{name: language_model, parameters: {base_url: 'http://127.0.0.1:9/v1', model: m}}"
    ward.write_text(CASE.replace("[utilitarian, rawlsian]", f"[utilitarian, {agent}]"))
    opened = open_deliberation(ward, DeliberationOptions())
    with pytest.raises(InputError, match="neither a case nor --agents names a model, an endpoint or a key"):
        cast_for(opened)


def test_no_framework_takes_an_endpoint_or_a_key_from_a_case(ward):
    for parameter in ("base_url", "model", "key_variable"):
        agent = f"{{name: rawlsian, parameters: {{{parameter}: x}}}}"
        ward.write_text(CASE.replace("[utilitarian, rawlsian]", f"[utilitarian, {agent}]"))
        opened = open_deliberation(ward, DeliberationOptions())
        with pytest.raises(InputError, match=parameter):
            cast_for(opened)


def test_the_settlement_rule_of_a_case_has_its_parameters(ward):
    ward.write_text(CASE + "  settle: {name: bargain, parameters: {steps: 5}}\n")
    opened = open_deliberation(ward, DeliberationOptions())
    found = deliberate(opened, cast_for(opened))
    assert found.deliberation.procedure["settle"] == {"rule": "bargain", "parameters": {"steps": 5}}
    ward.write_text(CASE + "  settle: {name: bargain, parameters: {step: 5}}\n")
    opened = open_deliberation(ward, DeliberationOptions())
    with pytest.raises(InputError, match="did you mean 'steps'"):
        cast_for(opened)


def test_parameters_of_a_settlement_rule_reach_many_deliberations():
    def repeated(settle):
        options = DeliberationOptions(settle=settle, repeat=3, patients=6, capacity={"bed": 2})
        opened = open_deliberation("triage-random", options)
        return deliberate_often(opened, cast_for(opened)).repeated

    assert repeated("bargain[steps=1]").hashes != repeated("bargain").hashes


def test_a_person_is_asked_once(ward):
    asked = []

    def answers(question):
        asked.append(question)
        assert len(asked) < 40, "the person is asked again and again"
        return "a b" if question.startswith("grant") else "maintain" if "maintain" in question else ""

    opened = open_deliberation(ward, DeliberationOptions())
    person = HumanAgent(ask=answers, tell=lambda text: None)
    found = deliberate(opened, Cast((person, *cast_for(opened).agents)))
    assert found.flips is None and found.order is None
    assert sum(question.startswith("grant") for question in asked) == 3
    often = open_deliberation("triage-random", DeliberationOptions(repeat=2))
    with pytest.raises(InputError, match="'human' is a person"):
        deliberate_often(often, Cast((person, *cast_for(often).agents)))


def test_more_agents_or_people_than_can_be_worked_out_are_refused(ward):
    text = ward.read_text()
    ward.write_text(text.replace("[utilitarian, rawlsian]", str(["utilitarian"] * 21)))
    with pytest.raises(InputError, match="21 agents in one deliberation; allowed: at most 20"):
        cast_for(open_deliberation(ward, DeliberationOptions()))
    ward.write_text(text)
    rows = "".join(f"p{n},0.5,0.5,0.2,f,1\n" for n in range(501))
    (ward.parent / "patients.csv").write_text(PATIENTS.splitlines(True)[0] + rows)
    with pytest.raises(InputError, match="501 people in one deliberation; allowed: at most 500"):
        cast_for(open_deliberation(ward, DeliberationOptions()))
    with pytest.raises(InputError, match="triage-random: 1,000,000 people"):
        open_deliberation("triage-random", DeliberationOptions(patients=1_000_000))
