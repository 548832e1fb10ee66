"""A policy that was fitted in Python as a run folder: read again, it decides alike, and says what it lacks."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pandas as pd
import pytest

import accordant as ac
from accordant import strategies
from accordant.errors import InputError, NotFittedError
from accordant.metrics import metrics
from accordant.report.render import render
from accordant.runs.fitted_run import NO_UNTOUCHED, carried_out, case_of
from accordant.runs.folder import read_run
from accordant.runs.record.parts import board, leaderboard_of

TABLE = {"Grant": {"Full": 1.0, "Part": 0.6, "None": 0.0}, "Lower": {"Full": 0.6, "Part": 0.9, "None": 0.3},
         "Deny": {"Full": 0.1, "Part": 0.3, "None": 0.8}}  # fmt: skip


@pytest.fixture(scope="module")
def split(loans):
    frame = pd.DataFrame(loans.columns)
    return frame.iloc[:90], frame.iloc[90:]


@pytest.fixture(scope="module")
def policy(loans, split):
    """One reward in a table, one by a function that a model learns, one group metric, one rule with parameters."""
    gap = metrics.create("demographic_parity", {"attributes": ["sex"]})
    given = loans.policy(
        metrics={"Accuracy": ("accuracy", 0.5), "Gap": (gap, 0.5)},
        strategies=[strategies.create("utilitarian"), strategies.create("kalai_smorodinsky", {"ideal": "global"})],
        unusual={"far": "refer"},
    )
    rewards = {"Bank": ac.TableReward(TABLE), "Applicant": loans.rewards["Applicant"]}
    return given.fit(split[0], actions=loans.actions[:90], outcomes=loans.outcomes[:90], rewards=rewards)


@pytest.fixture(scope="module")
def untouched(loans, split):
    return {"X": split[1], "actions": loans.actions[90:], "outcomes": loans.outcomes[90:]}


@pytest.fixture(scope="module")
def kept(policy, untouched, tmp_path_factory):
    """The run with untouched rows."""
    return policy.save(tmp_path_factory.mktemp("kept") / "loans", **untouched, title="Loans <b>")


@pytest.fixture(scope="module")
def bare(policy, tmp_path_factory):
    """The run without."""
    return policy.save(str(tmp_path_factory.mktemp("bare") / "bare"))


def test_read_again_it_decides_alike(policy, kept, split):
    run = ac.read_run(kept)
    mine, theirs = policy.recommend(split[1]), run.recommend(split[1])
    assert np.array_equal(mine.decisions.codes, theirs.decisions.codes)
    assert np.array_equal(mine.expected.values, theirs.expected.values)
    assert np.array_equal(mine.margin, theirs.margin, equal_nan=True)
    other = run.recommend(split[1], strategy="utilitarian").decisions
    assert other.strategy == "utilitarian"


def test_figures_are_those_of_untouched_rows(policy, kept, untouched):
    run, board_now = ac.read_run(kept), policy.evaluate(**untouched)
    assert run.record.data.rows == 120 and (run.record.data.train, run.record.data.test) == (90, 30)
    assert (run.record.data.group, run.record.data.time, run.record.data.left_out) == (None, None, 0)
    assert board(board_now).model_dump() == run.record.test.model_dump() | {"remarks": board(board_now).remarks}
    assert board(policy.leaderboard_) == run.record.validation
    assert not any(NO_UNTOUCHED in each for each in run.record.warnings)
    assert run.record.scrutiny is not None and run.record.selected == policy.selected_


def test_the_case_says_what_the_policy_is(policy, kept):
    case = ac.read_run(kept).case
    assert (case.name, case.title, case.problem) == ("loans", "Loans <b>", policy.problem)
    assert case.data.features == {name: policy.types_[name] for name in policy.features_}
    assert case.data.types == {"sex": "category"} and case.data.unusual.far == "refer" and case.data.file is None
    assert case.rewards["Bank"] == {"table": TABLE}
    assert case.rewards["Applicant"] == {"signal": "function", "function": "applicant"}
    assert {label: (each.metric, each.weight) for label, each in case.metrics.items()} == {
        "Accuracy": ("accuracy", 0.5), "Gap": ("demographic_parity", 0.5)
    }  # fmt: skip
    assert [each.name for each in case.strategies] == ["utilitarian", "kalai_smorodinsky"]
    assert case.strategies[1].parameters["ideal"] == "global"


def test_without_untouched_rows_the_run_says_so_first(policy, bare):
    run = ac.read_run(bare)
    assert run.record.warnings[0] == NO_UNTOUCHED
    assert run.record.data.test == 0 and run.record.data.rows == 90
    assert [row.strategy for row in run.leaderboard] == [row.strategy for row in policy.leaderboard_]


def test_the_cost_is_that_of_the_record_alone(policy, untouched):
    began = time.perf_counter(), time.process_time()
    cost = carried_out(policy, untouched | {"rewards": None}, "Loans", "loans").record.cost
    assert 0 < cost.seconds <= time.perf_counter() - began[0]
    assert 0 < cost.cpu_seconds <= time.process_time() - began[1]


def test_the_hash_says_which_rows_they_were(kept, bare):
    first, second = (ac.read_run(each).record.data.sha256 for each in (kept, bare))
    assert len(first) == 64 and first != second


def test_a_leaderboard_comes_back_as_it_was(policy, kept):
    kept_board = leaderboard_of(board(policy.leaderboard_))
    assert board(kept_board).model_dump(exclude={"leaderboard"}) == board(policy.leaderboard_).model_dump(
        exclude={"leaderboard"}
    )
    without = [dataclasses.replace(row, overlap=None) for row in policy.leaderboard_.rows]
    for mine, theirs in zip(without, kept_board.rows, strict=True):
        assert (mine.strategy, mine.among_best, mine.alike) == (theirs.strategy, theirs.among_best, theirs.alike)
        for label, cell in mine.metrics.items():
            again = theirs.metrics[label]
            assert (cell.estimate.value, cell.estimate.low, cell.estimate.high) == (
                again.estimate.value, again.estimate.low, again.estimate.high
            )  # fmt: skip
            assert (cell.n, cell.normalised, cell.reason) == (again.n, again.normalised, again.reason)
            assert [group.label for group in cell.by_group] == [group.label for group in again.by_group]
    assert "Accuracy" in ac.read_run(kept).leaderboard._repr_html_()


def test_a_run_in_a_cell_is_escaped_and_names_its_folder(kept):
    html = ac.read_run(kept)._repr_html_()
    assert "Loans &lt;b&gt;" in html and "Loans <b>" not in html and "loans" in html and "30 untouched" in html


def test_what_was_a_function_is_asked_for_in_vain(kept, loans):
    signal = ac.read_run(kept).case.signals()["Applicant"]
    with pytest.raises(InputError, match="was the Python function 'applicant', which a run folder does not keep"):
        signal(loans.contexts, "Grant", "Full")


@pytest.mark.long
def test_a_page_alone(policy, kept, untouched, tmp_path, monkeypatch):
    monkeypatch.setattr("accordant.runs.fitted_run.render", lambda record: f"<html>{record.case.title}</html>")
    assert policy.report(tmp_path / "page.html", **untouched).read_text() == "<html>A policy fitted in Python</html>"
    assert ac.read_run(kept).report(tmp_path / "run.html") == tmp_path / "run.html"
    for place in (tmp_path / "page.txt", tmp_path / "page"):
        with pytest.raises(InputError, match="allowed: a file that ends with .html"):
            policy.report(place)
    with pytest.raises(InputError, match="html"):
        ac.read_run(kept).report(tmp_path / "page.txt")


@pytest.mark.long
def test_its_page_can_be_rendered(kept, bare):
    pages = [render(read_run(folder).record) for folder in (kept, bare)]
    for told in (
        "No rows were set aside",
        "No untouched rows were given",
        "rows of training, held out from the models",
    ):
        assert told not in pages[0] and told in pages[1]
    assert "neither to learn nor to select" in pages[0] and "neither to learn nor to select" not in pages[1]


def test_places_and_rows_that_are_refused(policy, kept, untouched, tmp_path):
    with pytest.raises(InputError, match="exists"):
        policy.save(kept)
    with pytest.raises(InputError, match="of the untouched rows actions is missing"):
        policy.save(tmp_path / "new", untouched["X"])
    with pytest.raises(InputError, match="of the untouched rows X is missing"):
        policy.save(tmp_path / "new", actions=untouched["actions"])
    assert not (tmp_path / "new").exists()


def test_what_is_not_fitted_or_was_read_from_a_run(loans, kept, tmp_path):
    with pytest.raises(NotFittedError):
        loans.policy().save(tmp_path / "new")
    with pytest.raises(InputError, match="read from a run, which is a folder already"):
        ac.read_run(kept).policy.save(tmp_path / "new")


@pytest.mark.long
def test_a_function_that_is_used_as_stated_cannot_be_kept(loans, tmp_path):
    policy = loans.fitted(reward_model="stated")
    with pytest.raises(InputError, match="the reward of 'Bank' is a Python function that is used as stated"):
        policy.save(tmp_path / "new")


@pytest.mark.long
def test_observed_rewards_become_columns(loans):
    seen = np.linspace(0, 1, len(loans.actions))
    policy = loans.policy().fit(loans.columns, **loans.data, rewards=loans.rewards | {"Bank": seen})
    assert case_of(policy, "t", "n").rewards["Bank"] == {"column": "Bank"}


def test_what_is_not_registered_is_named(policy):
    from accordant.runs.fitted_run import _registered

    with pytest.raises(InputError, match="the strategy Fake cannot be kept in a run folder: register it under a name"):
        _registered("strategy", "maximin", type("Fake", (), {"parameters": {}})(), strategies.create)
    with pytest.raises(InputError, match="the metric Fake cannot be kept in a run folder: unknown metric 'accuracyy'"):
        _registered("metric", "accuracyy", type("Fake", (), {"parameters": {}})(), metrics.create)


@pytest.mark.long
def test_columns_that_are_called_action(loans, split):
    frame = split[0].assign(action=np.linspace(0, 1, 90))
    policy = loans.policy().fit(frame, actions=loans.actions[:90], outcomes=loans.outcomes[:90], rewards=loans.rewards)
    case = case_of(policy, "t", "n")
    assert "action" in case.data.features and case.data.action == "logged action"


@pytest.mark.long
def test_commands_read_it(kept, split, tmp_path, capsys, monkeypatch):
    import sys

    from accordant.cli import app

    split[1].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.setattr(sys, "argv", ["accordant", "recommend", str(kept), str(tmp_path / "new.csv")])
    with pytest.raises(SystemExit) as done:
        app.main()
    lines = capsys.readouterr().out.splitlines()
    assert (done.value.code or 0) == 0 and len(lines) == 31
    actions = [line.split(",")[1] for line in lines[1:]]
    assert actions == ac.read_run(kept).recommend(split[1]).decisions.actions.tolist()
    monkeypatch.setattr(sys, "argv", ["accordant", "explain", str(kept), "--row", "0"])
    with pytest.raises(SystemExit) as refused:
        app.main()
    assert refused.value.code == 2
    assert "which no file holds; name a file of rows" in capsys.readouterr().err
