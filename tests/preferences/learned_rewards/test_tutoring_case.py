"""The example case: rewards from comparisons agree with the truth, and a run needs the files no more once it is done."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from typer.testing import CliRunner

from accordant.cases.files import read_case
from accordant.cli.app import app
from accordant.errors import DataError, DataNotFoundError
from accordant.preferences.learned_rewards import groups, read_answers
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.rewards import FunctionReward
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.sections.certification import certify_rows
from accordant.runs.execution import build_policy


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


EXAMPLE = Path(__file__).parents[3] / "examples" / "from_comparisons"
OPTIONS = RunOptions(seed=42, resamples=100, effort="quick")


@pytest.fixture(scope="module")
def script():
    """The script that makes the example's files."""
    module = importlib.util.spec_from_file_location("make_tutoring", EXAMPLE / "make_data.py")
    found = importlib.util.module_from_spec(module)
    module.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def outcome():
    """The example, carried out."""
    return carry_out(EXAMPLE / "tutoring.yaml", OPTIONS)


@pytest.fixture(scope="module")
def run(outcome, tmp_path_factory):
    """The run folder of the example, read where there are no files of comparisons."""
    return read_run(write_run(outcome, tmp_path_factory.mktemp("runs") / "tutoring"))


def test_the_files_are_what_the_script_makes(script):
    for name, frame in script.make().items():
        assert frame.to_csv(index=False, lineterminator="\n").encode() == (EXAMPLE / name).read_bytes(), name


def test_types_of_parents_are_the_groups_that_their_file_names():
    problem = read_case(EXAMPLE / "parents.yaml")[0].problem
    answers = read_answers(EXAMPLE / "parents.csv", problem)
    for number, group in ((1, "town"), (2, "country")):
        found = groups.people_of_type(answers, problem, (), number, 2)
        assert found.tolist() == groups.people_of_group(answers, group).tolist()


def true_signal(script, stakeholder, contexts):
    """Return the truth on the scale that learned rewards have: from the lowest 1 % to the highest 99 % of a cell."""
    cells = [(action, outcome) for action in script.ACTIONS for outcome in script.OUTCOMES]
    values = np.stack([script.truth(stakeholder, *cell, contexts["minutes"]) for cell in cells])
    lows, highs = np.quantile(values, [0.01, 0.99], axis=1)
    low, high = lows.min(), highs.max()

    def reward(given, action, outcome):
        return np.clip((script.truth(stakeholder, action, outcome, given["minutes"]) - low) / (high - low), 0, 1)

    return FunctionReward(reward)


@pytest.mark.long
def test_learned_rewards_and_decisions_agree_with_the_truth(script, outcome):
    policy, log = outcome.policy, outcome.policy.evidence_.log
    truth = {name: true_signal(script, name, log.contexts) for name in ("Pupils", "Tutors")}
    for name, signal in truth.items():
        learned, true = (
            np.stack([each(log.contexts, a, o) for a in script.ACTIONS for o in script.OUTCOMES])
            for each in (policy.signals_[name], signal)
        )
        assert spearmanr(learned.mean(axis=1), true.mean(axis=1)).statistic > 0.99, name  # all nine cells in order
        assert spearmanr(learned.ravel(), true.ravel()).statistic > 0.98, name
        assert np.abs(learned - true).mean() < 0.05, name
    stated = build_policy(outcome.case, OPTIONS).fit_log(log, policy.signals_ | truth)
    evidence = stated.evidence_on(log)
    by_truth, by_learned = stated.decide_on(evidence), policy.decide_on(policy.evidence_on(log))
    compared = [
        label for label, rule in stated.strategies_.items() if rule.kind == "compromise" and label in by_learned
    ]
    assert len(compared) >= 5
    for label in compared:
        assert np.mean(by_truth[label].codes == by_learned[label].codes) > 0.9, label


def test_the_record_says_where_rewards_come_from(outcome, run):
    sources = run.content["reward_sources"]
    assert set(sources) == {"Pupils", "Tutors", "School"}
    assert sources["School"] == {"kind": "table", "words": "stated in the case's table", "replaces": "", "given": False}
    assert sources["Pupils"]["words"].startswith("learned from 720 comparisons by 12 people in pupils.csv (sha256 ")
    for name, file, records, users in (("Pupils", "pupils.csv", 720, 12), ("Tutors", "tutors.csv", 360, 6)):
        found = sources[name]
        assert (found["file"], found["records"], found["users"]) == (file, records, users)
        assert found["sha256"] == hashlib.sha256((EXAMPLE / file).read_bytes()).hexdigest()
        assert found["agreement"] > 0.9
    assert sources["Tutors"]["aggregation"] == "mean" and sources["Tutors"]["learner"] == "per_user"
    page = rendered(run.content)
    assert "Rewards learned from comparisons" in page and sources["Pupils"]["sha256"][:12] in page
    older = {key: value for key, value in run.content.items() if key != "reward_sources"}
    assert "Rewards learned from comparisons" not in rendered(older)


def test_a_finished_run_needs_no_comparisons(outcome, run, tmp_path):
    shutil.copy(EXAMPLE / "sessions.csv", tmp_path)  # the comparisons stay behind
    policy, contexts = outcome.policy, outcome.policy.evidence_.log.contexts
    again = run.policy
    first, second = (each.recommend(contexts) for each in (policy, again))
    np.testing.assert_array_equal(first.expected.values, second.expected.values)
    assert again.warnings_ == policy.warnings_
    certified = certify_rows(run, None, delta=0.05, data=str(tmp_path / "sessions.csv"))
    assert len(certified.rows()) == 180
    (explained,) = again.explain(contexts, rows=[5])
    assert explained.to_json()
    saved = (run.path / "models" / "policy.json").read_text(encoding="utf-8") + json.dumps(run.content)
    assert str(EXAMPLE) not in saved
    assert "pupil1" not in saved and "tutor1" not in saved  # counts and hashes, never who answered


# --- wrong input, as a user meets it ---------------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the example that a test may spoil."""
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    return shutil.copytree(EXAMPLE, tmp_path / "copy")


@pytest.mark.parametrize(("old", "new", "message"), [
    ("pupil1,Alone", "pupil1,Alon", r"pupils.csv line \d+: unknown (chosen|rejected)_action 'Alon'; did you mean 'Alone'"),
    ("chosen_action", "action", "pupils.csv: column 'chosen_action' is missing"),
    (",minutes", ",minute", "pupils.csv: column 'minutes' is missing; did you mean it by 'minute'"),
    (None, "", "pupils.csv is empty"),
])  # fmt: skip
def test_wrong_files_are_refused(copied, old, new, message):
    path = copied / "pupils.csv"
    path.write_text("" if old is None else path.read_text().replace(old, new, 1))
    with pytest.raises(DataError, match=message):
        carry_out(copied / "tutoring.yaml", OPTIONS)


def test_a_missing_file_names_every_place(copied):
    (copied / "tutors.csv").unlink()
    done = CliRunner().invoke(app, ["run", str(copied / "tutoring.yaml"), "--out", str(copied / "run")])
    assert isinstance(done.exception, DataNotFoundError)
    for words in ("tutors.csv", str(copied), "--data", "$ACCORDANT_DATA", "cache"):
        assert words in str(done.exception)
    assert not (copied / "run").exists()


def test_wrong_keys_are_refused_when_the_case_is_read(copied):
    path = copied / "tutoring.yaml"
    path.write_text(path.read_text().replace("learner: per_user", "learner: per_usr"))
    done = CliRunner().invoke(app, ["run", str(path)])
    assert "unknown preference learner 'per_usr'; did you mean 'per_user'" in str(done.exception)
