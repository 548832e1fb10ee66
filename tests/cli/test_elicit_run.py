"""``accordant elicit RUN``: what is at stake, and what is added of the answers: counts and a hash, and nothing else."""

from __future__ import annotations

import hashlib
import json
import shutil

import numpy as np
import pytest

from accordant.runs import read_run
from accordant.runs.untouched_rows import untouched_rows


@pytest.fixture
def run(case_folder, finished_run):
    """A copy to which sections may be added, in the folder of the case."""
    (case_folder / "typed.txt").write_text("1\n2\n=\nq\n", encoding="utf-8")
    shutil.rmtree(case_folder / "heard", ignore_errors=True)
    return shutil.copytree(finished_run, case_folder / "heard", ignore=shutil.ignore_patterns("sections"))


ASK = ("elicit", "heard", "--stakeholder", "Ward", "--answers", "typed.txt", "--level", "1")


def test_counts_and_a_hash_of_the_answers_are_added(accordant, run, case_folder):
    (case_folder / "said.csv").unlink(missing_ok=True)
    done = accordant(*ASK, "--out", "said.csv", "--context", "age=70", "--json")
    assert done.returncode == 0, done.stderr
    printed, section = json.loads(done.stdout), read_run(run).links[0].section()
    assert printed["decision"]["basis"] == "outcomes that the run predicts on its 48 untouched rows"
    assert (section.questions, section.equal, section.records) == (3, 1, 4) and section.supposed == 1
    assert section.sha256 == hashlib.sha256((case_folder / "said.csv").read_bytes()).hexdigest()
    assert section.best == printed["decision"]["best"] and section.probability == printed["decision"]["probability"]
    held = (run / "sections" / "0001-answers.json").read_text(encoding="utf-8")
    assert "chosen" not in held and "70" not in json.loads(held)["result"]["basis"]
    assert "added to the run: sections/0001-answers.json" in done.stderr
    assert "Ward answered 3 questions (4 comparisons" in section.words and accordant("verify", "heard").returncode == 0


def test_what_is_at_stake_are_the_outcomes_that_the_run_predicts(run, case_folder):
    from accordant.preferences.interview import InterviewOptions, decision_of_run

    finished = read_run(run)
    at_stake = decision_of_run(finished, InterviewOptions(data=str(case_folder)))
    rows = untouched_rows(finished, str(case_folder)).evidence()
    shares = rows.prediction.weights.mean(axis=2)
    for a in range(2):
        expected = np.zeros(4)
        expected[2 * a : 2 * a + 2] = shares[a]
        np.testing.assert_allclose(at_stake.cells[a], expected, atol=1e-12)


def test_nothing_is_added_where_nobody_wants_it(accordant, run):
    assert accordant(*ASK, "--no-add").returncode == 0 and not (run / "sections").exists()
    done = accordant("elicit", "beds.yaml", "--stakeholder", "Ward", "--answers", "typed.txt", "--no-add")
    assert done.returncode == 2 and "--no-add has no effect on beds.yaml, which is no finished run" in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_before_the_first_question(accordant, run, monkeypatch):
    monkeypatch.setattr("accordant.runs.chain.os.access", lambda place, mode: False)
    done = accordant("elicit", "heard", "--stakeholder", "Ward")
    assert done.returncode == 2 and "no section can be added" in done.stderr and "Which is better" not in done.stderr
