"""``accordant run --preferences``: from an interview to a run, with nothing written by hand."""

from __future__ import annotations

import json
import shutil

import pytest

SMALL = ("--rows", "200", "--folds", "3", "--resamples", "100")
SET = "stated by the reward set 'lending'"


@pytest.fixture
def folder(case_folder, tmp_path):
    """A folder with a case, its data, and an interview of one of its two stakeholders."""
    shutil.copytree(case_folder, tmp_path / "case", ignore=shutil.ignore_patterns("first", "*.html"))
    return tmp_path / "case"


def interviewed(accordant, folder, case, stakeholder):
    """Write the answers of somebody who prefers whatever is shown first, and return how many comparisons these are."""
    talk = ("elicit", case, "--stakeholder", stakeholder, "--level", "1", "--out", "answers.csv")
    done = accordant(*talk, stdin="1\n" * 30, folder=folder)
    assert done.returncode == 0, done.stderr
    return len((folder / "answers.csv").read_text().splitlines()) - 1


@pytest.mark.long
def test_answers_of_an_interview_replace_a_table_of_the_case(accordant, folder):
    n = interviewed(accordant, folder, "beds.yaml", "Ward")
    done = accordant("run", "beds.yaml", "--preferences", "Ward=answers.csv", "--out", "out", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "reward of Patient: stated in the case's table" in done.stdout
    assert f"reward of Ward: learned from {n} comparisons in answers.csv (sha256 " in done.stdout.replace("\n", " ")
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert page.index("Who was asked, and what they want") < page.index("Leaderboard on the untouched rows")
    assert "accordant run beds --preferences Ward=answers.csv --seed 42" in page
    assert "its scope card were written for other rewards of Ward" in page
    (folder / "answers.csv").unlink()
    explained = json.loads(accordant("explain", "out", "beds.csv", "--json", folder=folder).stdout)
    assert "learned from" in explained["rests_on"][1] and explained["rests_on"][1].endswith("the case's table.")
    told = accordant("explain", "out", "beds.csv", "--out", "explained.html", folder=folder)
    assert "- What Patient is expected to get rests on a reward stated in the case's table." in told.stdout
    assert "What Ward is expected to get rests on" in (folder / "explained.html").read_text(encoding="utf-8")
    assert accordant("recommend", "out", "beds.csv", "--json", folder=folder).returncode == 0


@pytest.mark.long
def test_a_built_in_case_runs_on_answers_by_flag_as_by_a_file(accordant, tmp_path):
    n = interviewed(accordant, tmp_path, "lending", "Applicant")
    done = accordant(
        "run", "lending", "--preferences", "Applicant=answers.csv", *SMALL, "--out", "flag", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    sources = json.loads((tmp_path / "flag" / "run.json").read_text())["reward_sources"]
    assert sources["Bank"] == sources["Regulatory"] == {"kind": "set", "words": SET, "replaces": "", "given": False}
    assert sources["Applicant"]["records"] == n and sources["Applicant"]["replaces"] == "the reward set 'lending'"


@pytest.mark.parametrize(("arguments", "message"), [
    (["Ward=answers.csv", "Ward=other.csv"], "--preferences names 'Ward' twice"),
    (["Ward"], "--preferences is 'Ward'; allowed: STAKEHOLDER=FILE"),
    (["Wards=beds.csv"], "--preferences Wards=beds.csv: unknown stakeholder 'Wards'; did you mean 'Ward'?"),
    (["Ward=beds.cvs"], "--preferences Ward=beds.cvs: there is no file 'beds.cvs'; did you mean 'beds.csv'?"),
    (["Ward=beds.csv"], "--preferences Ward=beds.csv: beds.csv: column 'chosen_action' is missing"),
])  # fmt: skip
def test_wrong_flags_end_with_exit_code_2(accordant, case_folder, arguments, message):
    flags = [part for each in arguments for part in ("--preferences", each)]
    done = accordant("run", "beds.yaml", *flags, "--out", "none")
    assert done.returncode == 2 and message in done.stderr
    assert not (case_folder / "none").exists()
