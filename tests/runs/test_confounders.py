"""Declared confounders in a run: evaluation reads them after loading too, recommendations never."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.contexts import Log
from accordant.errors import DataError, SpecError
from accordant.runs import read_run, write_run
from accordant.runs.execution import RunOptions, carry_out


@pytest.fixture(scope="module")
def declared(cases, tmp_path_factory):
    """Return a case file with a confounder and its data beside it."""
    folder = tmp_path_factory.mktemp("confounded")
    frame = pd.read_csv(cases["care"].parent / "care.csv")
    frame["severity"] = np.random.default_rng(3).normal(size=len(frame)).round(2)
    frame["afterwards"] = frame["Outcome"]
    frame.to_csv(folder / "care.csv", index=False)
    case = yaml.safe_load(cases["care"].read_text())
    case["data"]["confounders"] = ["severity"]
    (folder / "care.yaml").write_text(yaml.safe_dump(case))
    return folder / "care.yaml"


@pytest.fixture(scope="module")
def outcome(declared):
    return carry_out(declared, RunOptions(seed=7, effort="quick"))


def test_propensities_read_the_confounder_and_the_sensitive_attribute_and_nothing_later(outcome):
    assert set(outcome.policy.behaviour_.encoder.columns) == {"x", "x23", "severity"}
    assert outcome.policy.features_ == ("x",)


def test_a_saved_run_evaluates_with_confounders_and_recommends_without(outcome, tmp_path):
    loaded = read_run(write_run(outcome, tmp_path / "run")).policy
    log = outcome.policy.evidence_.log
    known = outcome.policy.evidence_on(log)
    again = loaded.evidence_on(log)
    assert again.rewards.tobytes() == known.rewards.tobytes()
    assert again.propensities.tobytes() == known.propensities.tobytes()
    assert loaded.sensitivity(again).rules
    blind = Log(log.contexts.only(["x"]), log.actions, log.outcomes)
    assert loaded.recommend(blind.contexts).decisions.n_contexts == len(log)
    with pytest.raises(DataError, match="severity"):
        loaded.evidence_on(Log(log.contexts.only(["x", "x23"]), log.actions, log.outcomes))


def test_a_record_says_what_hidden_reasons_could_change(outcome):
    found = outcome.record.content["scrutiny"]["sensitivity"]
    assert {each["against"] for each in found["comparisons"]} >= {"logged"}
    assert {each["column"] for each in found["features"]} == {"x", "x23", "severity"}
    assert found["sentences"]


def test_a_misspelt_confounder_is_named_with_the_nearest_column(declared, tmp_path):
    case = yaml.safe_load(declared.read_text())
    case["data"]["confounders"] = ["severty"]
    (tmp_path / "care.yaml").write_text(yaml.safe_dump(case))
    (tmp_path / "care.csv").write_bytes((declared.parent / "care.csv").read_bytes())
    with pytest.raises(SpecError, match="care.yaml, line 2: data.confounders: .* did you mean it by 'severity'"):
        carry_out(tmp_path / "care.yaml", RunOptions(seed=7))
