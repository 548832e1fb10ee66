"""`accordant certify`: what a new user sees, and what is refused."""

from __future__ import annotations

import csv
import json

import pytest


@pytest.fixture(scope="module")
def certified(accordant, finished_run):
    done = accordant("certify", "first", "--delta", "0.1", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_the_untouched_rows_are_certified_against_every_coalition(certified):
    assert certified["origin"] == "the 48 untouched rows of first"
    members = [each["members"] for each in certified["survey"]["coalitions"]]
    assert members == [["Patient"], ["Ward"], ["Patient", "Ward"]]
    assert certified["threat"] == {"delta": 0.1, "coalition": None, "box": [0.0, 1.0], "frozen": False}
    everybody = certified["survey"]["coalitions"][2]["certified"]
    at = certified["survey"]["deltas"].index(0.1)
    assert everybody[at] == certified["certified"] / certified["contexts"]
    assert everybody == sorted(everybody, reverse=True)


def test_rows_agree_with_the_summary(certified):
    rows = certified["rows"]
    assert len(rows) == 48
    assert sum(row["certified"] for row in rows) == certified["certified"]
    for row in rows:
        assert row["action"] in row["reachable"].split(" | ")
        assert (row["radius[Patient, Ward]"] == "inf" or row["radius[Patient, Ward]"] >= 0.1) == row["certified"]


def test_a_file_of_rows_and_a_table_of_them(accordant, case_folder, finished_run):
    done = accordant("certify", "first", "beds.csv", "--coalition", "Ward", "--out", "certified.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("240 rows of beds.csv")
    assert "If Ward may misreport each expected reward by up to 0.05" in done.stdout
    with (case_folder / "certified.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    decided = json.loads(accordant("recommend", "first", "beds.csv", "--json").stdout)
    assert [row["action"] for row in rows] == [row["action"] for row in decided]


def test_a_constant_never_changes(accordant, finished_run):
    constant = json.loads(accordant("certify", "first", "--strategy", "constant:Wait", "--json").stdout)
    assert {each["never"] for each in constant["survey"]["coalitions"]} == {1.0}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--delta", "-1"], "--delta"),
        (["--delta", "inf"], "--delta"),
        (["--delta", "nan"], "delta"),
        (["--coalition", ""], "names nobody"),
        (["beds.csv", "--out", "beds.csv"], "is an input of this command"),
        (["--delta", "much"], "--delta"),
        (["--coalition", "Wart"], "did you mean 'Ward'"),
        (["--strategy", "maximim"], "did you mean 'maximin'"),
        (["missing.csv"], "missing.csv"),
        (["beds.csv", "--data", "beds.csv"], "--data names the data of the untouched rows"),
        (["--out", "no/such/folder.csv"], "cannot be written"),
    ],
)
def test_wrong_input_ends_with_code_2(accordant, finished_run, arguments, message):
    done = accordant("certify", "first", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
