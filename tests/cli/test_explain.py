"""`accordant explain`: text, JSON and a page for single decisions."""

from __future__ import annotations

import json

import pytest

from accordant.cli.run_tables import HEADINGS


@pytest.fixture(scope="module")
def explained(accordant, finished_run):
    done = accordant("explain", "first", "beds.csv", "--row", "3,0", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_explanations_agree_with_recommendations(accordant, explained):
    decided = json.loads(accordant("recommend", "first", "beds.csv", "--json").stdout)
    assert [each["row"] for each in explained["explanations"]] == [3, 0]
    for each in explained["explanations"]:
        row = decided[each["row"]]
        assert each["choice"]["action"] == row["action"]
        rewards = [list(of.values()) for of in row["expected_rewards"].values()]
        assert [[round(e, 12) for e in of] for of in each["expected"]] == [[round(e, 12) for e in of] for of in rewards]


def test_who_decides_over_the_whole_batch_is_there_too(explained):
    assert explained["influence"]["contexts"] == 240
    assert explained["pivotal"]["contexts"] == 240


def test_text_and_page_for_the_untouched_rows(accordant, case_folder, finished_run):
    done = accordant("explain", "first", "--row", "5", "--out", "explained.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the 48 untouched rows of first")
    for heading in HEADINGS.values():
        assert f"\n{heading}\n" in done.stdout
    page = (case_folder / "explained.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Patient" in page
    assert page.count("<script") == 1  # the one of all pages


def test_a_constant_is_explained_as_one(accordant, finished_run):
    done = accordant("explain", "first", "--strategy", "constant:Wait", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["explanations"][0]["choice"]["action"] == "Wait"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--row", "x"], "--row is 'x'; allowed"),
        (["--row", "48"], "row 48 is to be explained; allowed: 0 to 47"),
        (["--row", "-1"], "row -1 is to be explained"),
        (["--row", "9" * 30], "is to be explained"),
        (["beds.csv", "--out", "beds.csv"], "is an input of this command"),
        (["--strategy", "maximim"], "did you mean 'maximin'"),
        (["nothing.csv"], "nothing.csv"),
        (["--out", "no/such/page.html"], "cannot be written"),
    ],
)
def test_wrong_input_ends_with_code_2(accordant, finished_run, arguments, message):
    done = accordant("explain", "first", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_data_that_are_elsewhere_are_asked_for(accordant, case_folder, finished_run, tmp_path):
    done = accordant("explain", str(finished_run), folder=tmp_path)
    assert done.returncode == 2
    assert "name it with --data" in done.stderr
    assert accordant("explain", "first", "--data", str(case_folder)).returncode == 0
