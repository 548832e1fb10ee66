"""Propensities read what was known beforehand and no more; columns that decisions followed are named."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import DataError, InputError, MissingColumnError
from accordant.learning.behaviour import LoggedBehaviour, audit_columns, followed_columns
from accordant.learning.causal import TLearner
from accordant.learning.causal.propensity import PROPENSITY_MODELS
from accordant.policy import ParticipatoryPolicy
from accordant.problem import DecisionProblem


def problem():
    return DecisionProblem(
        stakeholders=["Patient", "Payer"],
        actions=["A", "C"],
        outcomes={"name": "score", "low": 0},
        favourable_actions=["A"],
        sensitive_attributes=["sex", "region"],
        outcome_depends_on_action=True,
    )


def columns_of(generator, n):
    return {
        "x": generator.normal(size=n),
        "sex": generator.integers(0, 2, n).astype(float),
        "region": np.array(["north", "south", "west"])[generator.integers(0, 3, n)],
        "severity": generator.normal(size=n),
        "afterwards": generator.normal(size=n),
    }


def acted(columns, generator, *, sex=0.0, severity=0.0, bent=0.0):
    index = (
        0.6 * columns["x"]
        + bent * np.sin(2 * columns["x"])
        + sex * (columns["sex"] - 0.5)
        + severity * columns["severity"]
    )
    return (generator.random(len(index)) < 1 / (1 + np.exp(index))).astype(np.intp)


def named(seed, n=500, copied=False, **strengths):
    """Return the columns that were named in a random world, in which severity may be a noisy copy of x."""
    generator = np.random.default_rng(seed)
    columns = columns_of(generator, n)
    if copied:
        columns["severity"] = columns["x"] + 0.5 * columns["severity"]
    log = Log(Contexts(columns), acted(columns, generator, **strengths), np.zeros(n))
    audit = audit_columns(problem(), log.contexts, ("x",), ("severity",))
    behaviour = LoggedBehaviour.fit(problem(), log, audit, seed)
    return followed_columns(log, ("x",), behaviour, seed)


# --- which columns propensities read ---------------------------------------------------------------------------


def test_features_sensitive_attributes_and_confounders_are_read_and_nothing_else():
    contexts = Contexts(columns_of(np.random.default_rng(0), 50))
    assert audit_columns(problem(), contexts, ("x",)) == ("x", "sex", "region")
    assert audit_columns(problem(), contexts, ("x", "sex"), ("severity",)) == ("x", "sex", "region", "severity")


def test_a_sensitive_attribute_that_no_model_can_read_is_left_out_but_a_confounder_is_refused():
    names = {"x": np.arange(120.0), "sex": np.array([f"person {k}" for k in range(120)]), "region": np.ones(120)}
    assert audit_columns(problem(), Contexts(names), ("x",)) == ("x", "region")
    with pytest.raises(DataError, match="identifiers"):
        audit_columns(problem(), Contexts(names), ("x",), ("sex",))


# --- the columns that decisions followed -----------------------------------------------------------------------


@pytest.fixture
def logistic(monkeypatch):
    """Only one classifier, so that many worlds cost little."""
    for name in [each for each in PROPENSITY_MODELS if each != "logistic, weak penalty"]:
        monkeypatch.delitem(PROPENSITY_MODELS, name)


@pytest.mark.long
@pytest.mark.usefixtures("logistic")
def test_no_column_is_named_where_decisions_followed_the_features():
    """Rate of false alarms at most .05: in 20 worlds at most one."""
    assert sum(bool(named(seed)) for seed in range(20)) <= 1


@pytest.mark.long
@pytest.mark.usefixtures("logistic")
def test_a_column_that_stands_in_for_a_misfit_is_not_named():
    """A noisy copy of a feature helps a linear model of a decision that is not linear in it, and means nothing."""
    assert sum(bool(named(seed, n=1000, bent=1.5, copied=True)) for seed in range(6)) <= 1


@pytest.mark.long
@pytest.mark.usefixtures("logistic")
def test_the_column_that_decisions_followed_is_named_and_no_other():
    assert sum(named(seed, sex=1.2) == ("sex",) for seed in range(5)) >= 4
    assert sum(named(seed, severity=0.8) == ("severity",) for seed in range(5)) >= 4


# --- in a policy -----------------------------------------------------------------------------------------------


def clinic(n=1500, seed=0):
    """Severe cases are treated more and do worse, and severity is no feature."""
    generator = np.random.default_rng(seed)
    columns = columns_of(generator, n)
    actions = acted(columns, generator, sex=1.5)
    level = 5 + columns["x"] + np.where(actions == 0, 1.0, 0.0) + 4.0 * columns["sex"]
    outcomes = np.maximum(0.0, level + generator.normal(size=n))
    rewards = {
        "Patient": lambda contexts, action, outcome: np.clip(np.asarray(outcome) / 16, 0, 1),
        "Payer": lambda contexts, action, outcome: np.clip(np.asarray(outcome) / 16, 0, 1),
    }
    truth = float(np.mean(5 + columns["x"] + 1 + 4 * columns["sex"]) / 16)
    return columns, {"actions": np.array(["A", "C"])[actions], "outcomes": outcomes, "rewards": rewards}, truth


def fitted(columns, data, **changes):
    given = {"outcome_model": TLearner("ridge"), "reward_model": "stated", "features": ["x"], "nodes": 5, "folds": 3}
    return ParticipatoryPolicy(problem(), resamples=100, **(given | changes)).fit(columns, **data)


@pytest.fixture(scope="module")
def treated():
    columns, data, truth = clinic()
    return columns, data, truth, fitted(columns, data)


@pytest.mark.long
def test_welfare_is_right_although_decisions_followed_a_sensitive_attribute(treated):
    *_, truth, policy = treated
    values = policy.evidence_.rewards[0, 0]
    assert abs(values.mean() - truth) < 3 * values.std() / np.sqrt(len(values))
    naive = policy.evidence_.expected.values[0, 0].mean()  # what the models say without the attribute
    assert abs(naive - truth) > 5 * values.std() / np.sqrt(len(values))


def test_the_warning_names_the_column_and_the_assumption_stands_beside_estimated_rewards(treated):
    warnings = treated[-1].warnings_
    assert any("followed sex beyond what the models may read" in each for each in warnings)
    assert not any("followed region" in each for each in warnings)
    assert any("doubly robust" in each and "no unmeasured confounding" in each for each in warnings)


@pytest.mark.long
def test_decisions_and_expected_rewards_stay_as_blind_as_before(treated):
    columns, data, _, policy = treated
    seeing = fitted(columns, data, confounders=["severity"])
    assert "severity" in seeing.behaviour_.encoder.columns
    assert seeing.features_ == policy.features_ == ("x",)
    new = {"x": columns["x"][:20]}
    assert seeing.expected_rewards(new).values.tobytes() == policy.expected_rewards(new).values.tobytes()
    assert seeing.evidence_.expected.values.tobytes() == policy.evidence_.expected.values.tobytes()
    for label in ("utilitarian", "maximin"):
        decided = [each.recommend(new, strategy=label).decisions for each in (seeing, policy)]
        assert isinstance(decided[0], Decisions)
        assert decided[0].codes.tobytes() == decided[1].codes.tobytes()


def test_without_declared_features_a_confounder_is_none(treated):
    columns, data, *_ = treated
    policy = ParticipatoryPolicy(problem(), confounders=["severity"])
    assert "severity" not in policy._features(Contexts(columns))
    assert "x" in policy._features(Contexts(columns))


def test_wrong_confounders_are_refused(treated):
    columns, data, *_ = treated
    with pytest.raises(MissingColumnError, match="severity"):
        fitted(columns, data, confounders=["severty"])
    with pytest.raises(InputError, match="both a feature and a confounder"):
        fitted(columns, data, confounders=["x"])
