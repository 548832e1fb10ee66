"""A policy among scikit-learn's tools: its own checks, cross-validation, searches, routing, tables that go out."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn import exceptions
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import accordant as ac
from accordant.errors import InputError, NotFittedError
from accordant.learning.causal import TLearner
from accordant.learning.causal.base_learners import ExponentialMeanRegressor, GaussianProcessGridRegressor
from accordant.learning.causal.propensity import PropensityModel
from accordant.learning.classification import CalibratedProbabilities, SelectedClassifier
from accordant.learning.classification.candidates import HingeFeatures, default_candidates
from accordant.scorers import PolicyScorer

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "from-scikit-learn.md"
NOT_PASSED = {"check_array_api_input": "skipped by scikit-learn unless SCIPY_ARRAY_API=1"}
"""Check to why an estimator does not pass it; the page says the same."""


def plain_policy():
    return ac.ParticipatoryPolicy(outcome_model=LogisticRegression(), folds=3, resamples=0)


CHECKED = [plain_policy(), CalibratedProbabilities(LogisticRegression()), HingeFeatures(), ExponentialMeanRegressor(),
           GaussianProcessGridRegressor()]  # fmt: skip


@pytest.mark.few(10)
@parametrize_with_checks(CHECKED)
def test_scikit_learns_own_checks(estimator, check):
    """Each asserts by itself; those that are not passed say why."""
    name = check.func.__name__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in NOT_PASSED:
            with pytest.raises(SkipTest, match="SCIPY_ARRAY_API"):
                check(estimator)
        else:
            check(estimator)
    assert name.startswith(("check_", "_check_"))


FEW = SelectedClassifier(default_candidates(1, names=("prior", "logistic", "boosting-sigmoid")))  # all: minutes


@pytest.mark.long
@pytest.mark.parametrize("estimator", [*CHECKED, FEW], ids=lambda each: type(each).__name__)
def test_the_page_says_how_many_checks_are_passed(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None, on_skip=None)
    others = [each["check_name"] for each in found if each["status"] != "passed"]
    assert others == list(NOT_PASSED)
    said = re.search(rf"\| `{type(estimator).__name__}` \| (\d+) of (\d+) \|", PAGE.read_text(encoding="utf-8"))
    assert said is not None
    assert tuple(map(int, said.groups())) == (len(found) - len(others), len(found))


# --- without a problem -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flowers():
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.normal(size=120), "b": generator.normal(size=120)})
    return X, np.where(X["a"] + 0.3 * generator.normal(size=120) > 0, "rose", "tulip")


def test_plain_prediction_is_what_the_classifier_says(flowers):
    X, y = flowers
    policy = plain_policy().set_params(calibrated=False).fit(X, y)
    wanted = LogisticRegression().fit(X, y)
    assert policy.classes_.tolist() == ["rose", "tulip"] and policy.problem_.actions == ("rose", "tulip")
    assert np.array_equal(policy.predict(X), wanted.predict(X))
    assert np.allclose(policy.transform(X), wanted.predict_proba(X), atol=1e-9)
    assert policy.score(X, y) == pytest.approx(accuracy_score(y, policy.predict(X)))
    assert is_classifier(policy) and policy.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": None}, "requires y to be passed"),
        ({"y": ["rose"] * 120}, "one class"),
        ({"y": np.arange(120.0) + 0.5}, "Unknown label type: y holds 120 different values"),
        ({"y": [np.nan] * 120}, "NaN"),
        ({"actions": ["rose"] * 120}, "need a problem"),
        ({"rewards": {"me": 1.0}}, "need a problem"),
        ({"outcomes": ["rose"] * 120}, "outcomes and y are the same"),
    ],
)
def test_what_plain_prediction_refuses(flowers, change, words):
    X, y = flowers
    with pytest.raises(InputError, match=words):
        plain_policy().fit(**({"X": X, "y": y} | change))
    with pytest.raises(InputError, match="'daisy', which fit did not see"):
        plain_policy().fit(X, y).score(X.iloc[:2], ["rose", "daisy"])


# --- with one --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left_out", "words"), [("actions", "actions are missing"), ("outcomes", "outcomes are missing")]
)
def test_a_problem_needs_actions_and_outcomes(loans, left_out, words):
    given = {name: values for name, values in loans.data.items() if name != left_out}
    with pytest.raises(InputError, match=words):
        loans.policy().fit(loans.columns, **given, rewards=loans.rewards)


@pytest.mark.long
def test_outcomes_may_come_as_y_and_stated_rewards_as_a_parameter(loans, loans_policy):
    policy = loans.policy().set_params(rewards=loans.rewards)
    policy.fit(pd.DataFrame(loans.columns), loans.outcomes, actions=loans.actions)
    assert policy.leaderboard_.to_json() == loans_policy.leaderboard_.to_json()
    assert not is_classifier(policy)


def test_the_score_is_that_of_the_selected_strategy_on_these_rows(loans, loans_policy, make_loans):
    other = make_loans(n=60, seed=9)
    board = loans_policy.evaluate(other.columns, other.outcomes, actions=other.actions)
    found = loans_policy.score(other.columns, other.outcomes, actions=other.actions)
    assert found == board[loans_policy.selected_].score.value
    with pytest.raises(InputError, match="actions of these rows are missing"):
        loans_policy.score(other.columns, other.outcomes)


@pytest.mark.parametrize("metric", ["min_reward", "false_positive_rate", "demographic_parity"])
def test_a_scorer_is_the_metric_with_the_sign_of_its_goal(loans, loans_policy, make_loans, metric):
    other = make_loans(n=60, seed=9)
    given = {"attributes": ["sex"], "protected": "m"} if metric == "demographic_parity" else {}
    scorer = ac.policy_scorer(metric, given, strategy="stakeholder:Bank")
    evidence = loans_policy.evidence_on(other.log)
    value = ac.metrics.create(metric, given).evaluate(
        loans_policy.decide_on(evidence)["stakeholder:Bank"], evidence
    ).value  # fmt: skip
    wanted = {"min_reward": value, "false_positive_rate": -value, "demographic_parity": -abs(value)}[metric]
    assert scorer(loans_policy, other.columns, other.outcomes, actions=other.actions) == pytest.approx(wanted)
    with pytest.raises(InputError, match="scores policies; found Pipeline"):
        scorer(make_pipeline(StandardScaler()), other.columns)


def test_an_undefined_metric_scores_nan(loans, loans_policy):
    scorer = ac.policy_scorer("demographic_parity", {"attributes": ["sex"]})
    men = {name: values[loans.columns["sex"] == "m"] for name, values in loans.columns.items()}
    rows = loans.columns["sex"] == "m"
    assert np.isnan(scorer(loans_policy, men, loans.outcomes[rows], actions=loans.actions[rows]))
    assert repr(scorer) == "policy_scorer('demographic_parity')"


@pytest.mark.long
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_cross_validation_hands_actions_and_rewards_on(loans, frame):
    X, policy = frame(loans.columns), loans.policy(resamples=0).set_params(rewards=loans.rewards)
    scoring = {"worst": ac.policy_scorer("min_reward"), "own": None}
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(policy, X, loans.outcomes, cv=3, params={"actions": loans.actions},
                               scoring={"worst": scoring["worst"]}, return_estimator=True)  # fmt: skip
        own = cross_val_score(policy, X, cv=3, params={"actions": loans.actions, "outcomes": loans.outcomes})
        observed = frame({name: np.linspace(0, 1, 120) for name in loans.problem.stakeholder_names})
        params = {"actions": loans.actions, "rewards": observed}
        learned = cross_val_score(loans.policy(resamples=0), X, loans.outcomes, cv=3, params=params)
    for fold, (part, worst, score) in enumerate(zip(found["estimator"], found["test_worst"], own, strict=True)):
        rows = np.arange(40 * fold, 40 * fold + 40)
        columns = {name: values[rows] for name, values in loans.columns.items()}
        given = (columns, loans.outcomes[rows])
        assert part.score(*given, actions=loans.actions[rows]) == score
        assert scoring["worst"](part, *given, actions=loans.actions[rows]) == worst
        assert len(part.evidence_.log) == 80
    assert np.isfinite(learned).all()


@pytest.mark.long
def test_a_search_finds_the_best_mean_score(loans):
    policy = loans.policy(resamples=0).set_params(rewards=loans.rewards)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(policy, {"outcome_model__C": [1e-4, 1.0]}, scoring=ac.policy_scorer("accuracy"), cv=3)
        search.fit(pd.DataFrame(loans.columns), loans.outcomes, actions=loans.actions)
    means = search.cv_results_["mean_test_score"]
    assert search.best_index_ == int(np.argmax(means))
    assert search.predict(loans.columns).shape == (120,)


def test_requests_are_made_by_default_and_can_be_taken_back(loans):
    with sklearn.config_context(enable_metadata_routing=True):
        policy, scorer = loans.policy(), ac.policy_scorer("accuracy")
        for router in (policy.get_metadata_routing().fit, policy.get_metadata_routing().score,
                       scorer.get_metadata_routing().score):  # fmt: skip
            assert router.requests == {"actions": True, "outcomes": True, "rewards": True}
        policy.set_fit_request(rewards=False).set_score_request(outcomes=False)
        assert policy.get_metadata_routing().fit.requests["rewards"] is False
        assert clone(policy).get_metadata_routing().score.requests["outcomes"] is False
        assert scorer.set_score_request(rewards=False).get_metadata_routing().score.requests["rewards"] is False
    assert isinstance(scorer, PolicyScorer)


# --- what goes out ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_go_out_as_frames_came(loans, loans_policy, frame):
    given = frame(loans.columns)
    found, expected = loans_policy.recommend(given).to_frame(), loans_policy.expected_rewards(given).to_frame()
    assert type(found) is type(expected) is frame
    assert list(expected.columns) == loans_policy.get_feature_names_out().tolist()
    assert list(found["action"]) == loans_policy.predict(given).tolist()


def test_a_pandas_index_stays_with_its_rows(loans, loans_policy):
    frame = pd.DataFrame(loans.columns).sample(frac=1, random_state=0)
    joined = frame.join(loans_policy.recommend(frame).to_frame())
    assert joined["action"].tolist() == loans_policy.predict(frame).tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "wanted"), [("default", np.ndarray), ("pandas", pd.DataFrame),
                                               ("polars", pl.DataFrame)])  # fmt: skip
def test_transform_is_the_table_of_expected_rewards(loans, kind, wanted):
    policy = loans.fitted(resamples=0).set_output(transform=kind)
    found = policy.transform(pd.DataFrame(loans.columns))
    assert isinstance(found, wanted)
    values = policy.expected_rewards(loans.columns).values
    assert np.array_equal(np.asarray(found), values.reshape(-1, values.shape[2]).T)
    with pytest.raises(InputError, match="input_features is not equal"):
        policy.get_feature_names_out(["other"])


# --- not fitted ------------------------------------------------------------------------------------------------

X, Y = np.zeros((3, 2)), np.array([0, 1, 0])
ASKED = {
    "policy": lambda: plain_policy().predict(X),
    "policy, transform": lambda: plain_policy().transform(X),
    "policy, names": lambda: plain_policy().get_feature_names_out(),
    "policy, score": lambda: plain_policy().score(X, Y),
    "classifier": lambda: SelectedClassifier().predict(X),
    "calibrated": lambda: CalibratedProbabilities(LogisticRegression()).predict_proba(X),
    "levels": lambda: TLearner().predict_levels(X),
    "propensities": lambda: PropensityModel().predict(X),
    "regressor": lambda: ExponentialMeanRegressor().predict(X),
    "hinges": lambda: HingeFeatures().transform(X),
    "rule": lambda: ac.strategies.create("kalai_smorodinsky", {"disagreement": "global"})(
        ac.ExpectedRewards([[0.1, 0.2]], stakeholders=["a"], actions=["b", "c"])
    ),
}


@pytest.mark.parametrize("asked", list(ASKED))
def test_what_is_not_fitted_raises_an_error_that_is_scikit_learns_too(asked):
    with pytest.raises(exceptions.NotFittedError) as caught:
        ASKED[asked]()
    assert isinstance(caught.value, NotFittedError)
