"""``deliberate RUN --adopt``: what is settled on decides rows with the same features, and says so everywhere."""

from __future__ import annotations

import csv
import json
import shutil

import pandas as pd
import pytest

from accordant.runs import read_run
from accordant.runs.sections.adoption import adoptions, context_hashes

SIGNED = ("--adopt", "--by", "Ward council", "--why", "the family asked for it")


@pytest.fixture
def run(case_folder, finished_run):
    """A copy to which sections may be added, in the folder of the case."""
    shutil.rmtree(case_folder / "signed", ignore_errors=True)
    return shutil.copytree(finished_run, case_folder / "signed", ignore=shutil.ignore_patterns("sections"))


def recommended(accordant):
    return json.loads(accordant("recommend", "signed", "beds.csv", "--json").stdout)


@pytest.mark.long
def test_what_is_adopted_decides_rows_with_the_same_features(accordant, run, case_folder):
    before = recommended(accordant)
    table = pd.read_csv(case_folder / "beds.csv")
    row = next(each["row"] for each in before if each["action"] == "Wait")
    done = accordant("deliberate", "signed", "beds.csv", "--row", str(row), "--settle", "bargain", *SIGNED)
    assert done.returncode == 0, done.stderr
    debate, adoption = (link.section() for link in read_run(run).links)
    assert "adopted by Ward council: the family asked for it." in done.stdout
    assert "added to the run: sections/0002-adoption.json" in done.stdout
    assert adoption.action == debate.rows[0].settled and adoption.recommended == "Wait"
    assert adoption.debate == "sections/0001-decision_debate.json"
    assert adoption.debate_sha256 == read_run(run).links[0].sha256
    done = accordant("recommend", "signed", "beds.csv", "--json")
    alike = (table[["age", "pulse"]] == table.loc[row, ["age", "pulse"]]).all(axis=1).tolist()
    for old, new, same in zip(before, json.loads(done.stdout), alike, strict=True):
        if same:
            assert new["action"] == adoption.action and new["adopted"] == "decided by debate, section 0002"
            assert (new["runner_up"], new["margin"], new["tied"]) == (None, None, False)
        else:
            assert {**old, "adopted": ""} == new
        assert new["expected_rewards"] == old["expected_rewards"]
    assert f"{sum(alike)} of 240 rows are decided by debates that people adopted" in done.stderr
    other = json.loads(accordant("recommend", "signed", "beds.csv", "--strategy", "constant:Wait", "--json").stdout)
    assert {each["action"] for each in other} == {"Wait"} and "adopted" not in other[0]
    told = accordant("recommend", "signed", "beds.csv")
    assert list(csv.DictReader(told.stdout.splitlines()))[row]["adopted"] == "decided by debate, section 0002"
    explained = json.loads(
        accordant("explain", "signed", "beds.csv", "--row", f"{row},{(row + 1) % 240}", "--json").stdout
    )
    first, second = (each["sentences"]["decides"][0] for each in explained["explanations"])
    assert f"decided by a debate: {adoption.action} (section 0002), adopted by Ward council" in first
    assert "decided by a debate" not in second
    told = accordant("explain", "signed", "beds.csv", "--row", str(row), "--for-person", "--json", "--no-add")
    (letter,) = json.loads(told.stdout)
    assert letter["decision"] == adoption.action
    assert "People talked it over and chose it." in letter["decided"]
    assert letter["reason"] == ""


@pytest.mark.long
def test_of_two_adoptions_the_last_one_holds_and_all_kinds_of_sections_make_one_chain(accordant, run, case_folder):
    commands = [
        ("deliberate", "signed", "--row", "3", *SIGNED),
        ("certify", "signed"),
        ("explain", "signed", "--row", "3"),
        ("reweigh", "signed", "--weights", "Accuracy=1"),
        ("compare", "signed", "first", "--add"),
        ("slate", "signed", "--requests", "3", "--resamples", "100"),
        ("deliberate", "signed", "--row", "3", "--protocol", "vote", *SIGNED),
    ]
    for command in commands:
        done = accordant(*command)
        assert done.returncode == 0, done.stderr
        assert accordant("verify", "signed").returncode == 0
    finished = read_run(run)
    assert [link.envelope.section for link in finished.links] == [
        "decision_debate", "adoption", "certificates", "explanations", "reweighed", "comparison", "slates",
        "decision_debate", "adoption",
    ]  # fmt: skip
    assert [number for number, _ in adoptions(finished).values()] == ["0009"]
    assert all(link.words and link.section() is not None for link in finished.links)
    assert accordant("report", "signed", "--out", "signed.html").returncode == 0
    page = (case_folder / "signed.html").read_text(encoding="utf-8")
    assert "adopted by Ward council" in page and "cannot change if everybody together may misreport" in page
    (run / "sections" / "0004-explanations.json").unlink()
    assert accordant("verify", "signed").returncode == 2


REFUSED = {
    "nobody": (["--adopt", "--why", "x"], "--adopt needs --by"),
    "no reason": (["--adopt", "--by", "A", "--why", " "], "--adopt needs --why"),
    "idle": (["--by", "A"], "--by has no effect without --adopt"),
    "not added": ([*SIGNED, "--no-add"], "--adopt adds two sections to the run, and --no-add none"),
    "several": (["--rows", "1,2", "--grant", "Admit", "--capacity", "1", *SIGNED], "--adopt with 2 rows"),
    "several rows": (["--row", "1,2", *SIGNED], "--adopt with 2 rows"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_adopted_is_refused_before_the_debate(accordant, run, kind):
    options, message = REFUSED[kind]
    done = accordant("deliberate", "signed", *options)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr
    assert not (run / "sections").exists()


def test_an_adoption_has_no_effect_on_a_case(accordant):
    done = accordant("deliberate", "triage", *SIGNED)
    assert done.returncode == 2 and "--adopt, --by, --why has no effect on triage" in done.stderr


def test_the_same_features_have_the_same_hash(finished_run):
    run = read_run(finished_run)
    contexts = run.policy.contexts_of({"age": [50.0, 50.0, 51.0, float("nan")], "pulse": [80.0, 80.0, 80.0, 80.0]})
    first, same, other, missing = context_hashes(contexts, run.policy.features_)
    assert first == same and len({first, other, missing}) == 3
