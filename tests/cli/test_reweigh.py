"""``accordant reweigh``: what it prints, writes, adds and refuses."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from accordant.runs import read_run


@pytest.fixture
def run(case_folder, finished_run):
    """A copy to which sections may be added, in the folder of the case."""
    shutil.rmtree(case_folder / "weighed", ignore_errors=True)
    return shutil.copytree(finished_run, case_folder / "weighed", ignore=shutil.ignore_patterns("sections"))


@pytest.mark.long
def test_the_leaderboard_at_other_weights_is_printed_and_added(accordant, run, case_folder):
    done = accordant("reweigh", "weighed", "--weights", "Worst_Off=0.9, Accuracy=0.1", "--out", "weighed.csv")
    assert done.returncode == 0, done.stderr
    for part in ("At the weights Accuracy 0.1, Worst_Off 0.9: ", "at those of the run: ", "all weight must move",
                 "Leaderboard on 48 untouched rows at other weights", "D* of the run, which stays",
                 "added to the run: sections/0001-reweighed.json"):  # fmt: skip
        assert part in " ".join(done.stdout.split())
    section = read_run(run).links[0].section()
    with (case_folder / "weighed.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["strategy"] for row in rows] == [row.strategy for row in section.rows]
    assert [float(row["score"]) for row in rows] == [row.score for row in section.rows]
    again = accordant("reweigh", "weighed", "--weights", "Worst_Off=9,Accuracy=1", "--no-add", "--json")
    assert json.loads(again.stdout) == section.to_json()
    assert len(read_run(run).links) == 1 and accordant("verify", "weighed").returncode == 0
    assert section.words.startswith("At the weights Accuracy 0.1, Worst_Off 0.9: ")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("Worst_Of=1", "did you mean 'Worst_Off'"),
        ("Worst_Off", "--weights is 'Worst_Off'; allowed: METRIC=WEIGHT"),
        ("Worst_Off=much", "allowed: METRIC=WEIGHT"),
        ("Worst_Off=1,Worst_Off=2", "names 'Worst_Off' twice"),
        ("Worst_Off=-1", "weight of Worst_Off is -1"),
        ("Worst_Off=0", "sum to 0"),
        ("", "--weights is ''"),
    ],
)
def test_wrong_weights_end_with_code_2(accordant, run, weights, message):
    done = accordant("reweigh", "weighed", "--weights", weights)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr
    assert not (run / "sections").exists()
