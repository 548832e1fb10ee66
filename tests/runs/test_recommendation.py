"""Recommendations for a file: in batches, unless a strategy looks at the whole batch."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from accordant import strategies
from accordant.runs import read_run, write_run
from accordant.runs.recommendation import recommend_rows


@pytest.fixture
def rows(tmp_path):
    generator = np.random.default_rng(5)
    frame = pd.DataFrame({"x": generator.normal(size=40), "kind": generator.choice(["1", "2"], 40), "group": 0})
    frame.to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "new.csv"


@pytest.mark.long
@pytest.mark.parametrize(("budget", "batches"), [(None, 4), ({"yes": 3}, 1)])
def test_budgets_hold_over_the_file_and_not_over_each_batch(monkeypatch, run_folder, rows, budget, batches):
    monkeypatch.setattr("accordant.runs.recommendation.ROWS_AT_ONCE", 10)
    run = read_run(run_folder)
    parameters = {"rule": "utilitarian", "floors": {"Bank": 0.0}, "budgets": budget}
    rule = strategies.create("constrained", parameters).for_problem(run.case.problem)
    run.policy.strategies_[rule.label] = rule
    found = list(recommend_rows(run, rows, rule.label))
    assert [start for start, _ in found] == [0, 10, 20, 30][:batches]
    actions = np.concatenate([batch.decisions.actions for _, batch in found])
    assert len(actions) == 40
    assert budget is None or (actions == "yes").sum() <= 3


def test_what_was_fitted_to_training_rows_decides_for_new_ones(outcomes, tmp_path, rows):
    outcome, policy = outcomes["own"], copy.copy(outcomes["own"].policy)
    evidence = policy.evidence_
    for name, parameters in (("population_maximin", {}), ("population_by_group", {"attribute": "group"})):
        rule = strategies.create(name, parameters).for_problem(policy.problem)
        fitted = rule.fit(evidence.expected, evidence.log.contexts)
        policy.strategies_ = {**policy.strategies_, fitted.label: fitted}
    run = read_run(write_run(replace(outcome, policy=policy), tmp_path / "run"))
    contexts = pd.read_csv(rows)
    for label in ("population_maximin", "population_maximin by group"):
        assert run.policy.strategies_[label] == policy.strategies_[label] and policy.strategies_[label].fitted
        ((_, batch),) = recommend_rows(run, rows, label)
        here = policy.recommend(contexts, strategy=label).decisions
        np.testing.assert_array_equal(batch.decisions.codes, here.codes)
