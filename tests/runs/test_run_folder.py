"""The run folder: whole or not there, and believed only if nothing in it was touched."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import signal as signals
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from accordant.errors import InputError, RunFolderError, UnknownNameError
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.models.files import _skops
from accordant.runs.models.policy_state import policy_files


def rehash(folder):
    """Make the manifest agree with what is there: what somebody would do who knows the format."""
    names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.name != "manifest.json"]
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"sha256": hashes}))


def no_constants(text):
    raise AssertionError(f"{text} is not JSON")


# --- round trip ------------------------------------------------------------------------------------------------


def test_a_record_can_be_read_by_people_and_holds_nothing_but_json(outcomes, tmp_path, monkeypatch):
    outcome = outcomes["own"]
    content = outcome.record.content
    shown = {"case": content["case"] | {"title": "Prêts à 5 ‰ – 融資"}}
    monkeypatch.setitem(vars(outcome.record), "content", content | shown)
    folder = write_run(outcome, tmp_path / "run")
    assert '"title": "Prêts à 5 ‰ – 融資"' in (folder / "run.json").read_text(encoding="utf-8")
    monkeypatch.setitem(vars(outcome.record), "content", content | {"case": {"share": float("nan")}})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_run(outcome, tmp_path / "never")
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("name", ["own", "care"])
def test_round_trip_gives_identical_recommendations(outcomes, tmp_path, name):
    outcome = outcomes[name]
    policy, contexts = outcome.policy, outcome.policy.evidence_.log.contexts
    reloaded = read_run(write_run(outcome, tmp_path / "run")).policy
    assert reloaded.selected_ == policy.selected_ and reloaded.warnings_ == policy.warnings_
    for label, rule in policy.strategies_.items():
        assert reloaded.strategies_[label] == rule
        if rule.candidate:
            first, second = (each.recommend(contexts, strategy=label) for each in (policy, reloaded))
            assert np.array_equal(first.decisions.codes, second.decisions.codes)
            assert np.array_equal(first.expected.values, second.expected.values)
            assert np.array_equal(first.margin, second.margin, equal_nan=True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["own", "care"])
def test_after_reloading_one_row_alone_is_decided_as_in_the_batch(outcomes, tmp_path, name):
    contexts = outcomes[name].policy.evidence_.log.contexts
    policy = read_run(write_run(outcomes[name], tmp_path / "run")).policy
    batch = policy.recommend(contexts)
    for t in range(20):
        single = policy.recommend(contexts.take(slice(t, t + 1)))
        assert single.decisions.codes[0] == batch.decisions.codes[t]
        assert np.abs(single.expected.values[..., 0] - batch.expected.values[..., t]).max() < 1e-14


def test_fitted_rewards_survive(outcomes, tmp_path):
    """Ranges from training rows, and the equal noiseless reward for the same context, action and score."""
    policy = outcomes["care"].policy
    reloaded = read_run(write_run(outcomes["care"], tmp_path / "run")).policy
    contexts = policy.evidence_.log.contexts
    for name, signal in policy.signals_.items():
        assert reloaded.signals_[name] == signal
        for action in ("A", "C"):
            assert np.array_equal(reloaded.signals_[name](contexts, action, 5.0), signal(contexts, action, 5.0))


def test_a_reloaded_policy_judges_actions_not_taken_as_before(outcomes, tmp_path):
    """Without its propensities it would put expected rewards there, in silence."""
    policy = outcomes["care"].policy
    reloaded = read_run(write_run(outcomes["care"], tmp_path / "run")).policy
    log = policy.evidence_.log
    first, second = (each.evidence_on(log) for each in (policy, reloaded))
    assert second.robust_levels is not None
    assert np.array_equal(first.rewards, second.rewards)
    assert np.array_equal(first.robust_levels, second.robust_levels)


def test_a_reloaded_policy_scores_by_the_metrics_of_its_case(outcomes, tmp_path):
    outcome = outcomes["own"]
    reloaded = read_run(write_run(outcome, tmp_path / "run")).policy
    board = reloaded.leaderboard_on(outcome.policy.evidence_)
    assert [column.label for column in board.columns] == ["Accuracy", "Parity"]
    assert board.to_json() == outcome.policy.leaderboard_on(outcome.policy.evidence_).to_json()


def test_files_of_a_run(run_folder):
    names = {path.relative_to(run_folder).as_posix() for path in run_folder.rglob("*") if path.is_file()}
    assert names == {
        "run.json", "manifest.json", "leaderboard.csv", "report.html", "models/policy.json",
        "models/logged-behaviour.skops", "models/outcome-model.skops", "models/reward-model-0.skops", "models/reward-model-1.skops",
        "models/training-profile.json",
    }  # fmt: skip


def test_run_json_is_json_without_nan(run_folder):
    found = {
        path.name: json.loads(path.read_text(encoding="utf-8"), parse_constant=no_constants)
        for path in run_folder.rglob("*.json")
    }
    assert {"run.json", "manifest.json", "policy.json"} <= set(found)


def test_leaderboard_csv_agrees_with_run_json(run_folder):
    board = json.loads((run_folder / "run.json").read_text())["test"]["leaderboard"]
    with (run_folder / "leaderboard.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["strategy"] for line in lines] == [row["strategy"] for row in board]
    for line, row in zip(lines, board, strict=True):
        for label, cell in (("score", row["score"]), *row["metrics"].items()):
            for part in ("value", "low", "high"):
                text = line[f"{label} {part}"]
                assert (float(text) if text else None) == cell[part]
        assert line["candidate"] == str(row["candidate"]) and float(line["tied"]) == row["tied"]


@pytest.mark.long
def test_same_seed_same_record_up_to_cost(cases, outcomes):
    again = carry_out(cases["own"], RunOptions(seed=7)).record.content
    first = outcomes["own"].record.content
    assert {**again, "cost": 0} == {**first, "cost": 0}
    other = carry_out(cases["own"], RunOptions(seed=8)).record.content
    assert other["test"] != first["test"]


def test_the_record_says_what_was_done(outcomes):
    content = outcomes["own"].record.content
    assert content["seed"] == 7 and content["data"]["rows"] == 90 and content["data"]["train"] == 72
    assert content["learning"]["searches"]["outcome"]["best"] in ({"C": 0.1}, {"C": 1.0})
    assert content["selected"] == outcomes["own"].policy.selected_
    assert len(content["data"]["sha256"]) == 64
    assert set(content["versions"]) >= {"accordant", "numpy", "scikit-learn", "python"}


@pytest.mark.long
def test_the_test_part_takes_no_part(cases, outcomes, tmp_path):
    """The same training rows with every test row spoilt: the same D*, models and validation leaderboard."""
    import pandas as pd
    from sklearn.model_selection import train_test_split

    folder = tmp_path / "spoilt"
    shutil.copytree(cases["care"].parent, folder)
    frame = pd.read_csv(folder / "care.csv")
    _, test = train_test_split(np.arange(len(frame)), test_size=0.2, random_state=7)
    frame.loc[test, "Outcome"] = 999.0
    frame.loc[test, "x"] = -50.0
    frame.loc[test, ["m0", "m1"]] = 0.0
    frame.to_csv(folder / "care.csv", index=False)
    spoilt, plain = carry_out(folder / "care.yaml", RunOptions(seed=7)), outcomes["care"]
    assert spoilt.policy.selected_ == plain.policy.selected_
    assert spoilt.record.content["validation"] == plain.record.content["validation"]
    assert spoilt.policy.signals_ == plain.policy.signals_
    assert spoilt.record.content["test"] != plain.record.content["test"]


# --- whole or not at all ---------------------------------------------------------------------------------------


def test_an_existing_folder_is_refused_and_left_alone(outcomes, run_folder):
    before = (run_folder / "run.json").read_bytes()
    with pytest.raises(InputError, match="exists"):
        write_run(outcomes["own"], run_folder)
    assert (run_folder / "run.json").read_bytes() == before


def test_free_numbers(outcomes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [write_run(outcomes["own"], None).as_posix() for _ in range(2)] == [
        "accordant-runs/own-1", "accordant-runs/own-2"
    ]  # fmt: skip


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_an_error_while_writing_leaves_nothing(outcomes, tmp_path, monkeypatch, error):
    def fail(content):
        raise error("in the middle")

    monkeypatch.setattr("accordant.runs.folder.render", fail)
    with pytest.raises((error, InputError)):
        write_run(outcomes["own"], tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(outcomes, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_run(outcomes["own"], tmp_path / "file" / "run")


KILLED = """
import sys, time
from pathlib import Path
import accordant.runs.folder as folder
from accordant.runs import RunOptions, carry_out, write_run
def wait(content):
    Path({ready!r}).touch()
    time.sleep(60)
folder.render = wait
write_run(carry_out({case!r}, RunOptions(seed=7)), Path({out!r}))
"""


@pytest.mark.long
def test_a_killed_run_leaves_no_folder_that_looks_finished(cases, tmp_path):
    ready, out = tmp_path / "ready", tmp_path / "runs" / "run"
    script = KILLED.format(ready=str(ready), case=str(cases["own"]), out=str(out))
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    try:
        deadline = time.monotonic() + 60
        while not ready.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ready.exists()
    finally:
        process.send_signal(signals.SIGKILL)
        process.wait()
    assert not out.exists()
    (unfinished,) = out.parent.iterdir()
    assert unfinished.name.startswith(".")
    with pytest.raises(RunFolderError, match="not a finished run"):
        read_run(unfinished)


# --- spoilt folders --------------------------------------------------------------------------------------------


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "file", ["run.json", "leaderboard.csv", "report.html", "models/policy.json", "models/outcome-model.skops"]
)
@pytest.mark.parametrize("how", ["changed", "missing"])
def test_any_changed_or_missing_file_is_noticed(run_folder, file, how):
    path = run_folder / file
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(RunFolderError, match=Path(file).name):
        read_run(run_folder)


@pytest.mark.parametrize("file", ["models/extra.skops", "notes.txt"])
def test_an_added_file_is_noticed(run_folder, file):
    (run_folder / file).write_text("hello")
    with pytest.raises(RunFolderError, match="extra.skops|notes.txt"):
        read_run(run_folder)


def test_no_manifest(run_folder):
    (run_folder / "manifest.json").unlink()
    with pytest.raises(RunFolderError, match="manifest.json is missing"):
        read_run(run_folder)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"sha256": []}',
        '{"sha256": ["run.json", "models/policy.json"]}',
        '{"sha256": {}}',
        "\x00",
    ],
)
def test_a_changed_manifest(run_folder, content):
    (run_folder / "manifest.json").write_text(content)
    with pytest.raises(RunFolderError, match="manifest.json was changed"):
        read_run(run_folder)


def test_a_manifest_that_forgets_or_forges_a_file(run_folder):
    manifest = json.loads((run_folder / "manifest.json").read_text())
    for change in ({"models/policy.json": None}, {"report.html": "0" * 64}, {"../outside": "0" * 64}):
        hashes = {k: v for k, v in (manifest["sha256"] | change).items() if v is not None}
        (run_folder / "manifest.json").write_text(json.dumps(manifest | {"sha256": hashes}))
        with pytest.raises(RunFolderError):
            read_run(run_folder)


@pytest.mark.parametrize("content", ['{"format": 99}', "{}", "[]", "not json"])
def test_another_format(run_folder, content):
    (run_folder / "run.json").write_text(content)
    rehash(run_folder)
    with pytest.raises(RunFolderError, match="format|run.json"):
        read_run(run_folder)


def test_no_folder_at_all(tmp_path):
    with pytest.raises(RunFolderError, match="not a folder"):
        read_run(tmp_path / "none")
    with pytest.raises(RunFolderError, match="not a finished run"):
        read_run(tmp_path)


class Hostile:
    """A type that nobody trusts."""

    def __reduce__(self):
        return (os.system, ("touch /tmp/should-not-exist",))


def test_a_hostile_model_is_refused_even_with_matching_hashes(run_folder):
    from sklearn.preprocessing import FunctionTransformer

    skops = _skops()
    for content in (skops.dumps(FunctionTransformer(os.system)), skops.dumps(Hostile())):
        (run_folder / "models" / "outcome-model.skops").write_bytes(content)
        rehash(run_folder)
        run = read_run(run_folder)
        with pytest.raises(RunFolderError, match="trust"):
            run.policy  # noqa: B018


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04junk", b"\x80\x04K\x01."])
def test_a_model_file_that_is_no_model(run_folder, content):
    (run_folder / "models" / "outcome-model.skops").write_bytes(content)
    rehash(run_folder)
    with pytest.raises(RunFolderError, match="outcome-model.skops"):
        read_run(run_folder).policy  # noqa: B018


@pytest.mark.parametrize(
    "spoil",
    [
        lambda state: {},
        lambda state: [],
        lambda state: state | {"strategies": {"maximin": {"name": "maxmin", "parameters": {}}}},
        lambda state: state | {"signals": {}},
        lambda state: state | {"outcome_model": {"kind": "discrete"}},
        lambda state: state | {"selected": "nothing"},
    ],
)
def test_a_state_that_does_not_fit(run_folder, spoil):
    path = run_folder / "models" / "policy.json"
    path.write_text(json.dumps(spoil(json.loads(path.read_text()))))
    rehash(run_folder)
    with pytest.raises(RunFolderError, match="policy.json"):
        read_run(run_folder).policy  # noqa: B018


def test_a_model_that_could_not_be_trusted_later_is_not_saved(outcomes):
    import copy

    class Own:
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    policy = copy.copy(outcomes["own"].policy)
    policy.outcome_model_ = type(policy.outcome_model_)(
        policy.outcome_model_.encoder, skops_safe(Own()), 2, policy.outcome_model_.action_aware
    )
    with pytest.raises(InputError, match="trust list"):
        policy_files(policy)["outcome-model.skops"]()


def skops_safe(_):
    """An estimator with a part that skops can write but nobody trusts."""
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(os.system)


def test_recommending_with_a_reference_is_refused(run_folder):
    with pytest.raises(UnknownNameError):
        read_run(run_folder).policy.recommend({"x": [0.0], "kind": ["1"]}, strategy="oracle")


@pytest.mark.parametrize("value", ["[" * 70 + "]" * 70, "9" * 400])
def test_a_record_beyond_the_limits_is_refused(run_folder, value):
    text = (run_folder / "run.json").read_text()
    (run_folder / "run.json").write_text(text.replace('"notes": [', f'"notes": [{value}, ', 1))
    rehash(run_folder)
    with pytest.raises(RunFolderError, match="run.json cannot be read"):
        read_run(run_folder)
