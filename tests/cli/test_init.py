"""`init`: a first case file from a table, with everything asked, guessed or refused."""

from __future__ import annotations

import json

import pytest
import yaml

from accordant.cases.proposal import Told
from accordant.cli import new_case


@pytest.fixture(autouse=True)
def no_case(case_folder):
    """Begin without the file that the command writes."""
    (case_folder / "first.yaml").unlink(missing_ok=True)


def test_it_writes_a_case_that_asks_for_rewards(accordant, case_folder):
    done = accordant("init", "beds.csv", "--out", "first.yaml", "--favourable", "Admit", "--scarce", "Admit=0.3")
    assert done.returncode == 0, done.stderr
    assert "Action  (its name)" in done.stdout and "scarce" not in done.stdout
    case = yaml.safe_load((case_folder / "first.yaml").read_text(encoding="utf-8"))
    assert case["data"]["features"] == {"pulse": "number"}, "age has too many values for a group, and is sensitive"
    assert case["problem"]["favourable_actions"] == ["Admit"]
    refused = accordant("simulate", "first.yaml")
    assert refused.returncode == 2
    assert "first.yaml, line" in refused.stderr and "is not filled in; allowed: a number in [0, 1]" in refused.stderr


def test_it_runs_once_rewards_are_filled_in(accordant, case_folder):
    assert accordant("init", "beds.csv", "--out", "first.yaml", "--stakeholders", "Patient,Ward").returncode == 0
    path = case_folder / "first.yaml"
    text = path.read_text(encoding="utf-8").replace("Well: ,", "Well: 0.9,").replace("Well: }", "Well: 0.9}")
    text = text.replace("Unwell: ,", "Unwell: 0.2,").replace("Unwell: }", "Unwell: 0.2}")
    path.write_text(text, encoding="utf-8")
    assert accordant("elicit", "first.yaml", "--stakeholder", "nobody").returncode == 2, "the case itself is read"
    assert "unknown stakeholder" in accordant("elicit", "first.yaml", "--stakeholder", "nobody").stderr


def test_json_names_what_is_open(accordant):
    done = accordant("init", "beds.csv", "--out", "first.yaml", "--json")
    told = json.loads(done.stdout)
    assert told["open"] == ["rewards", "scope"]
    assert {each["name"]: each["role"] for each in told["columns"]}["Outcome"] == "outcome"
    assert sum(told["actions"].values()) == pytest.approx(1)


@pytest.mark.parametrize(("arguments", "message"), [
    (["beds.csv", "--out", "beds.csv"], "beds.csv exists; choose another place"),
    (["nowhere.csv"], "nowhere.csv cannot be read"),
    (["beds.csv", "--out", "first.yaml", "--action", "Actoin"], "did you mean it by 'Action'"),
    (["beds.csv", "--out", "first.yaml", "--favourable", "Admitt"], "did you mean 'Admit'"),
    (["beds.csv", "--out", "first.yaml", "--scarce", "Admit=3"], "for 'Admit' is '3'; allowed: a number between 0 and 1"),
    (["beds.csv", "--out", "first.yaml", "--scarce", "Bed=0.3"], "unknown action in --scarce: 'Bed'"),
    (["beds.csv", "--out", "first.yaml", "--scarce", "0.3"], "allowed: ACTION=SHARE"),
    (["beds.csv", "--out", "first.yaml", "--stakeholders", " , "], "allowed: names separated by commas"),
])  # fmt: skip
def test_wrong_input_ends_with_2_and_writes_nothing(accordant, case_folder, arguments, message):
    done = accordant("init", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (case_folder / "first.yaml").exists()


def test_whoever_sits_at_a_terminal_is_asked(case_folder, monkeypatch):
    answers = iter(["sex", "Outcome", "f", "f=0.25"])
    monkeypatch.setattr(new_case.typer, "prompt", lambda *_, **__: next(answers))
    written = new_case.new_case(
        case_folder / "beds.csv", Told(), stakeholders=("A",), favourable=(), scarce={},
        out=case_folder / "first.yaml", ask=True,
    )  # fmt: skip
    assert written.proposal.action.name == "sex"
    assert written.statement.favourable == ("f",)
    assert written.statement.scarce == {"f": 0.25}


def test_another_separator_is_seen(accordant, case_folder):
    text = (case_folder / "beds.csv").read_text(encoding="utf-8").replace(",", ";")
    (case_folder / "semicolons.csv").write_text(text, encoding="utf-8")
    assert accordant("init", "semicolons.csv", "--out", "first.yaml").returncode == 0
    assert yaml.safe_load((case_folder / "first.yaml").read_text(encoding="utf-8"))["data"]["separator"] == ";"
