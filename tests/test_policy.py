"""`ParticipatoryPolicy`: the scikit-learn contract, what it reads, what it refuses, and that it repeats itself."""

from __future__ import annotations

import copy
import inspect
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from accordant import metrics, strategies
from accordant.compute import compute
from accordant.errors import DataError, InputError, MissingColumnError, NotFittedError, RewardError, UnknownNameError
from accordant.learning.causal import clip_propensities, TLearner
from accordant.policy import ParticipatoryPolicy
from accordant.rewards import FunctionReward, ObservedReward, TableReward

# --- the scikit-learn contract ---------------------------------------------------------------------------------


def test_constructor_only_stores(loans):
    """Every parameter is kept as the very object that was given, and nothing else is set."""
    marks = {name: object() for name in inspect.signature(ParticipatoryPolicy).parameters if name != "problem"}
    policy = ParticipatoryPolicy(loans.problem, **marks)
    assert policy.problem is loans.problem
    assert all(getattr(policy, name) is mark for name, mark in marks.items())
    assert set(vars(policy)) == {"problem", *marks}


def test_get_params_and_set_params(loans):
    policy = loans.policy()
    assert set(policy.get_params(deep=False)) == set(inspect.signature(ParticipatoryPolicy).parameters)
    assert policy.set_params(folds=4).folds == 4
    assert policy.set_params(outcome_model__C=0.5).outcome_model.C == 0.5


@pytest.mark.long
def test_clone_is_unfitted_and_repeats_the_fit(loans, loans_policy):
    copy = clone(loans_policy)
    with pytest.raises(NotFittedError):
        copy.recommend(loans.columns)
    copy.fit(loans.columns, **loans.data, rewards=loans.rewards)
    assert np.array_equal(
        copy.expected_rewards(loans.columns).values, loans_policy.expected_rewards(loans.columns).values
    )


@pytest.mark.long
def test_fit_returns_self_and_leaves_parameters_alone(loans):
    policy = loans.policy()
    before = dict(vars(policy))
    assert policy.fit(loans.columns, **loans.data, rewards=loans.rewards) is policy
    assert all(getattr(policy, name) is value for name, value in before.items())
    assert not hasattr(policy.outcome_model, "classes_")  # the given estimators stay unfitted


def test_repr_shows_what_was_set(loans):
    assert "folds=3" in repr(loans.policy())


@pytest.mark.parametrize(
    "ask",
    [
        lambda policy, world: policy.recommend(world.columns),
        lambda policy, world: policy.expected_rewards(world.columns),
        lambda policy, world: policy.evaluate(world.columns, **world.data),
        lambda policy, world: policy.strategy("maximin"),
        lambda policy, world: policy.evidence_on(world.log),
    ],
)
def test_not_fitted(loans, ask):
    with pytest.raises(NotFittedError, match="fit"):
        ask(loans.policy(), loans)


# --- what it reads ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_every_kind_of_frame_gives_the_same(loans, loans_policy, frame):
    series = {pd.DataFrame: pd.Series, pl.DataFrame: pl.Series}[frame]
    policy = loans.policy().fit(
        frame(loans.columns), actions=series(loans.actions), outcomes=series(loans.outcomes), rewards=loans.rewards
    )
    assert policy.features_ == loans_policy.features_ == ("income", "amount", "region")
    assert policy.selected_ == loans_policy.selected_
    assert policy.leaderboard_.to_json() == loans_policy.leaderboard_.to_json()
    found = policy.recommend(frame(loans.columns))
    wanted = loans_policy.recommend(loans.columns)
    assert np.array_equal(found.decisions.actions, wanted.decisions.actions)
    assert np.array_equal(found.expected.values, wanted.expected.values)


@pytest.mark.long
def test_an_array_has_generated_names_and_a_list_of_numbers_is_refused(loans):
    columns = np.column_stack([loans.columns["income"], loans.columns["amount"]])
    policy = loans.policy(resamples=0).set_params(problem=loans.problem.replace(sensitive_attributes=()))
    rewards = {"Bank": 0.5 * np.ones(len(columns)), "Applicant": loans.rewards["Applicant"]}
    with pytest.raises(InputError, match="two dimensions"):
        policy.fit([1.0, 2.0], **loans.data, rewards=rewards)
    policy.fit(columns, **loans.data, rewards=rewards)
    assert policy.features_ == ("x0", "x1") and policy.n_features_in_ == 2
    assert not hasattr(policy, "feature_names_in_")
    assert np.array_equal(policy.predict(columns.tolist()), policy.predict(pd.DataFrame(columns, columns=["x0", "x1"])))
    with pytest.raises(DataError, match="X has 1 features, but ParticipatoryPolicy is expecting 2 features"):
        policy.predict(columns[:, :1])


@pytest.mark.long
def test_default_features_leave_out_sensitive_and_constant_columns(loans):
    columns = loans.columns | {"always": np.ones(len(loans.actions)), "text": np.full(len(loans.actions), "same")}
    policy = loans.policy().fit(columns, **loans.data, rewards=loans.rewards)
    assert policy.features_ == ("income", "amount", "region")


def test_an_unknown_feature_names_the_nearest(loans):
    with pytest.raises(MissingColumnError, match="did you mean it by 'income'"):
        loans.policy(features=["incom"]).fit(loans.columns, **loans.data, rewards=loans.rewards)


def test_recommending_needs_only_the_columns_that_are_read(loans, loans_policy):
    fewer = {name: loans.columns[name] for name in ("region", "amount", "income")}  # no sex, another order
    found, wanted = loans_policy.recommend(fewer), loans_policy.recommend(loans.columns)
    assert np.array_equal(found.expected.values, wanted.expected.values)
    del fewer["income"]
    with pytest.raises(MissingColumnError, match="income"):
        loans_policy.recommend(fewer)


def test_recommending_for_nobody_is_an_error(loans, loans_policy):
    with pytest.raises(DataError, match="no rows"):
        loans_policy.recommend({name: values[:0] for name, values in loans.columns.items()})


def test_decisions_for_new_rows_are_certified(loans, loans_policy):
    certificate = loans_policy.certify(loans.columns, delta=0.05, coalition=["Bank"], strategy="maximin")
    decided = loans_policy.recommend(loans.columns, strategy="maximin").decisions.codes
    assert np.array_equal(certificate.decided, decided)
    assert certificate.threat.coalition == ("Bank",)
    assert certificate.exact.all()
    reported = certificate.witness(certificate.decided)
    assert np.array_equal(reported.values, loans_policy.expected_rewards(loans.columns).values)
    with pytest.raises(UnknownNameError, match="did you mean 'Bank'"):
        loans_policy.certify(loans.columns, delta=0.05, coalition=["Bnak"])


def test_decisions_for_new_rows_are_explained(loans, loans_policy):
    explained = loans_policy.explain(loans.columns, rows=[3, 0], strategy="maximin")
    decided = loans_policy.recommend(loans.columns, strategy="maximin").decisions.actions
    assert [each.row for each in explained] == [3, 0]
    assert [each.choice.action for each in explained] == decided[[3, 0]].tolist()
    assert explained[0].context.observed == len(loans_policy.evidence_.log)
    some = loans_policy.explain(
        loans.columns, rows=[0], observed={name: each[:7] for name, each in loans.columns.items()}
    )
    assert some[0].context.observed == 7
    with pytest.raises(InputError, match="row 120"):
        loans_policy.explain(loans.columns, rows=[120])


@pytest.mark.parametrize("world", ["loans", "visits"])
def test_one_context_at_a_time_equals_the_batch(world, request):
    """With trees for q and a linear f; f's own matrix product may differ in the last bit between batch sizes."""
    given, policy = request.getfixturevalue(world), request.getfixturevalue(f"{world}_policy")
    batch = policy.recommend(given.columns)
    for row in range(12):
        single = policy.recommend({name: values[row : row + 1] for name, values in given.columns.items()})
        assert single.decisions.actions[0] == batch.decisions.actions[row]
        assert np.abs(single.expected.values[..., 0] - batch.expected.values[..., row]).max() < 1e-14


# --- problems of every shape -----------------------------------------------------------------------------------


def test_action_aware_problem_with_three_actions(loans_policy):
    assert loans_policy.learned_.identification.action_aware
    assert loans_policy.outcome_model_.action_aware
    assert not any("assumed not to depend" in line for line in loans_policy.warnings_)
    weights = loans_policy.evidence_.prediction.weights
    assert not np.allclose(weights[0], weights[2])


def test_one_logged_action_is_said_aloud(granted):
    policy = granted.fitted()
    assert not policy.learned_.identification.action_aware
    assert any("'Grant' was ever taken" in line for line in policy.warnings_)
    weights = policy.evidence_.prediction.weights
    assert np.array_equal(weights[0], weights[1]) and np.array_equal(weights[0], weights[2])
    assert "logged" in policy.strategies_


def test_continuous_problem_with_two_actions(visits, visits_policy):
    levels = visits_policy.evidence_.prediction.levels()
    effect = (levels[0] - levels[1]).mean()
    assert effect == pytest.approx(2.0, abs=0.6)  # the simulated effect
    assert visits_policy.evidence_.outcome_levels is not None
    board = visits_policy.evaluate(visits.columns, **visits.data)
    assert board.n == len(visits.actions)


@pytest.mark.parametrize("integration", ["empirical", "gauss_hermite", "plug_in"])
def test_continuous_problem_with_one_logged_action(make_visits, integration):
    world = make_visits(n=60, only="C")
    policy = world.policy(integration=integration).fit(world.columns, **world.data, rewards=world.rewards)
    levels = policy.evidence_.prediction.levels()
    assert np.array_equal(levels[0], levels[1])
    assert any("assumed not to depend" in line for line in policy.warnings_)


def test_an_own_learner_needs_no_more_than_fit_and_predict_levels(visits):
    """As the parameter's documentation promises."""
    from sklearn.base import BaseEstimator

    class Means(BaseEstimator):
        def fit(self, X, actions, outcomes, n_actions):
            self.means_ = np.array([outcomes[actions == action].mean() for action in range(n_actions)])
            return self

        def predict_levels(self, X):
            return np.repeat(self.means_[:, None], len(X), axis=1)

    policy = visits.fitted(outcome_model=Means())
    levels = policy.outcome_model_.predict(visits.contexts).levels()
    for code, action in enumerate(("A", "C")):
        assert levels[code] == pytest.approx(visits.outcomes[visits.actions == action].mean())


@pytest.mark.long
def test_default_models_learn(make_loans):
    """Without named models: classifiers compared by proper score, histogram boosting for rewards."""
    world = make_loans(n=90)
    policy = world.policy(outcome_model=None, reward_model=None, reward_grid={"max_iter": [5]})
    policy.fit(world.columns, **world.data, rewards=world.rewards)
    assert policy.recommend(world.columns).decisions.n_contexts == 90


# --- rewards ---------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_signals_callables_and_observed_rewards_together(loans):
    table = {a: {o: 0.5 if a == "Lower" else 0.1 for o in loans.problem.outcomes} for a in loans.problem.actions}
    observed = np.linspace(0, 1, len(loans.actions))
    for rewards in (
        {"Bank": FunctionReward(loans.rewards["Bank"]), "Applicant": TableReward(table)},
        {"Bank": loans.rewards["Bank"], "Applicant": observed},
        {"Bank": pd.Series(observed), "Applicant": list(observed)},
    ):
        policy = loans.policy().fit(loans.columns, **loans.data, rewards=rewards)
        assert policy.expected_rewards(loans.columns).values.shape == (2, 3, len(loans.actions))


@pytest.mark.long
def test_observed_rewards_reach_the_right_cells(loans):
    observed = np.random.default_rng(5).random(len(loans.actions))
    policy = loans.policy().fit(
        loans.columns, **loans.data, rewards={"Bank": observed, "Applicant": loans.rewards["Applicant"]}
    )
    evidence = policy.evidence_
    rows = np.arange(len(observed))
    expected = evidence.expected.values[0, evidence.log.actions, rows]
    propensity = clip_propensities(policy.behaviour_.held_out)[evidence.log.actions, rows]
    robust = expected + (observed - expected) / propensity
    assert np.allclose(evidence.rewards[0, evidence.log.actions, rows], robust, atol=1e-12)
    other = (evidence.log.actions + 1) % 3
    assert np.array_equal(evidence.rewards[0, other, rows], evidence.expected.values[0, other, rows])


@pytest.mark.long
def test_evaluating_observed_rewards_needs_those_of_the_new_rows(loans):
    observed = np.full(len(loans.actions), 0.25)
    policy = loans.policy().fit(
        loans.columns, **loans.data, rewards={"Bank": observed, "Applicant": loans.rewards["Applicant"]}
    )
    with pytest.raises(InputError, match="'Bank'.*observed"):
        policy.evaluate(loans.columns, **loans.data)
    assert policy.evaluate(loans.columns, **loans.data, rewards={"Bank": observed}).n == len(observed)


def test_evaluating_with_observed_rewards_of_a_stated_stakeholder_is_refused(loans, loans_policy):
    """Otherwise they would be ignored in silence."""
    with pytest.raises(InputError, match="'Bank'"):
        loans_policy.evaluate(loans.columns, **loans.data, rewards={"Bank": np.full(len(loans.actions), 0.5)})


def test_an_observed_signal_without_values_is_refused(loans):
    with pytest.raises(InputError, match="'Bank'.*observed"):
        loans.policy().fit(loans.columns, **loans.data, rewards=loans.rewards | {"Bank": ObservedReward("bank")})


@pytest.mark.long
def test_stated_rewards_are_used_as_they_are(loans):
    policy = loans.fitted(reward_model="stated")
    weights = policy.outcome_model_.predict(loans.contexts).weights
    wanted = sum(
        weights[2, o] * loans.rewards["Bank"](loans.contexts, "Deny", outcome)
        for o, outcome in enumerate(loans.problem.outcomes)
    )
    assert np.abs(policy.expected_rewards(loans.columns).values[0, 2] - wanted).max() < 1e-12
    assert policy.learned_.reward_errors == ()


@pytest.mark.long
def test_stated_rewards_cannot_be_observed_ones(loans):
    with pytest.raises(InputError, match="only observed"):
        loans.policy(reward_model="stated").fit(
            loans.columns, **loans.data, rewards=loans.rewards | {"Bank": np.zeros(len(loans.actions))}
        )


@pytest.mark.few(2)
@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.5])
@pytest.mark.parametrize("kind", ["function", "observed"])
def test_rewards_outside_the_scale(loans, bad, kind):
    values = np.full(len(loans.actions), 0.5)
    values[7] = bad
    given = values if kind == "observed" else lambda contexts, action, outcome: bad
    with pytest.raises(RewardError, match=r"allowed: \[0, 1\]"):
        loans.policy().fit(loans.columns, **loans.data, rewards=loans.rewards | {"Bank": given})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rewards": {"Bank": 0.5}}, "'Applicant' are missing"),
        ({"rewards": {"Bnak": 0.5, "Bank": 0.5, "Applicant": 0.5}}, "did you mean 'Bank'"),
        ({"rewards": {"Bank": [0.5, 0.5], "Applicant": 0.5}}, "shape"),
        ({"rewards": {"Bank": "high", "Applicant": 0.5}}, "allowed"),
    ],
)
def test_rewards_that_do_not_fit(loans, change, message):
    with pytest.raises(InputError, match=message):
        loans.policy().fit(loans.columns, **loans.data, **change)


# --- what it refuses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "row", "value", "message"),
    [
        ("actions", 4, "Grnat", r"action in row 4: 'Grnat'; did you mean 'Grant'"),
        ("actions", 9, None, "action in row 9"),
        ("outcomes", 2, "Ful", r"outcome in row 2: 'Ful'; did you mean 'Full'"),
    ],
)
def test_unknown_names_say_the_row(loans, field, row, value, message):
    data = {name: values.astype(object) for name, values in loans.data.items()}
    data[field][row] = value
    with pytest.raises(UnknownNameError, match=message):
        loans.policy().fit(loans.columns, **data, rewards=loans.rewards)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, "many"])
def test_continuous_outcomes_that_cannot_be(visits, value):
    outcomes = visits.outcomes.astype(object)
    outcomes[3] = value
    with pytest.raises(DataError, match=r"row 3|numbers"):
        visits.policy().fit(visits.columns, actions=visits.actions, outcomes=outcomes, rewards=visits.rewards)


def test_lengths_that_differ(loans):
    with pytest.raises(DataError, match="numbers of rows differ"):
        loans.policy().fit(
            loans.columns, actions=loans.actions[:-1], outcomes=loans.outcomes, rewards={"Bank": 0.5, "Applicant": 0.5}
        )


def test_a_single_outcome_class(loans):
    with pytest.raises(DataError, match="'Full'.*at least two"):
        loans.policy().fit(
            loans.columns, actions=loans.actions, outcomes=["Full"] * len(loans.actions), rewards=loans.rewards
        )


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": {"accuracy": 0.5}}, "sum to 0.5"),
        ({"metrics": {"accuracy": 1.5, "mean_reward": -0.5}}, "at least 0"),
        ({"metrics": {"acuracy": 1.0}}, "did you mean 'accuracy'"),
        ({"metrics": {"mean_outcome": 1.0}}, "continuous outcome"),
        ({"folds": 2}, "at least 3"),
        ({"folds": 121}, "too few"),
        ({"integration": "gauss-hermite"}, "did you mean 'gauss_hermite'"),
        ({"augmentation": "action"}, "did you mean 'actions'"),
        ({"nodes": 0}, "at least 1"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"reward_model": "state"}, "did you mean 'stated'"),
        ({"outcome_grid": {"c": [1.0]}}, "did you mean 'C'"),
        ({"reward_grid": {"max_deep": [1]}}, "did you mean 'max_depth'"),
        ({"outcome_grid": {"C": 1.0}}, "must be a list"),
        ({"outcome_grid": {"C": [-1.0, -2.0]}}, "outcome model cannot be fitted"),
        ({"reward_grid": {"max_depth": [-1, 2]}}, "reward model of Bank cannot be fitted"),
        ({"features": []}, "no feature columns"),
        ({"strategies": [strategies.maximin, strategies.maximin]}, "listed twice"),
    ],
)
def test_parameters_that_cannot_be_used(loans, change, message):
    with pytest.raises(InputError, match=message):
        loans.policy(**change).fit(loans.columns, **loans.data, rewards=loans.rewards)


@pytest.mark.long
def test_a_classifier_without_probabilities(loans):
    """It is calibrated into probabilities; without calibration, or with a grid, that is impossible and said."""
    from sklearn.svm import LinearSVC

    assert loans.fitted(outcome_model=LinearSVC()).selected_
    for change in ({"calibrated": False}, {"outcome_grid": {"C": [0.1, 1.0]}}):
        with pytest.raises(InputError, match="predict_proba"):
            loans.fitted(outcome_model=LinearSVC(), **change)


# --- choosing --------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_metrics_by_name_by_object_and_with_labels(loans):
    parity = metrics.create("demographic_parity", {"attributes": ["sex"]})
    policy = loans.fitted(metrics={"accuracy": 0.5, parity: 0.3, "Bank's": (metrics.create("mean_reward"), 0.2)})
    assert [column.label for column in policy.leaderboard_.columns] == ["accuracy", "demographic_parity", "Bank's"]
    assert sum(column.weight for column in policy.leaderboard_.columns) == pytest.approx(1)


def regret(name):
    """All weight on what one stakeholder lost."""
    return {metrics.create("stakeholder_regret", {"stakeholder": name}): 1.0}


def test_the_regret_of_a_known_stakeholder_carries_weight_beside_one_that_was_only_observed(granted):
    """Outcomes are taken not to depend on the action, so what the Applicant would have had is known."""
    observed = {"Bank": np.linspace(0, 1, len(granted.outcomes)), "Applicant": granted.rewards["Applicant"]}
    policy = granted.policy(metrics=regret("Applicant")).fit(granted.columns, **granted.data, rewards=observed)
    board = policy.leaderboard_
    assert board["constant:Grant"].score.value == pytest.approx(1)  # the Applicant always wants it most
    assert board["constant:Deny"].score.value < 0.8
    assert board["constant:Deny"].score.low < board["constant:Deny"].score.value < board["constant:Deny"].score.high
    with pytest.raises(InputError, match="cannot carry weight"):
        granted.policy(metrics=regret("Bank")).fit(granted.columns, **granted.data, rewards=observed)


def test_no_regret_carries_weight_where_outcomes_depend_on_the_action(loans):
    with pytest.raises(InputError, match="cannot carry weight"):
        loans.policy(metrics=regret("Applicant")).fit(loans.columns, **loans.data, rewards=loans.rewards)


@pytest.mark.long
def test_constants_are_listed_and_never_selected(loans):
    """Even where a constant is best by far: everybody wants Grant whatever happens."""
    flat = {name: lambda contexts, action, outcome: float(action == "Grant") for name in ("Bank", "Applicant")}
    policy = loans.policy(metrics={"mean_reward": 1.0}).fit(loans.columns, **loans.data, rewards=flat)
    assert {f"constant:{action}" for action in loans.problem.actions} <= set(policy.strategies_)
    assert policy.leaderboard_["constant:Grant"].score.value == 1
    assert not policy.selected_.startswith("constant")


@pytest.mark.long
def test_only_rules_for_new_people_are_selected(loans):
    """Accuracy is 1 for the oracle, and the logged actions may be right too."""
    actions = np.array([loans.problem.outcome_to_action[outcome] for outcome in loans.outcomes])
    policy = loans.policy(metrics={"accuracy": 1.0})
    policy.fit(loans.columns, actions=actions, outcomes=loans.outcomes, rewards=loans.rewards)
    board = policy.leaderboard_
    assert board["oracle"].metrics["accuracy"].estimate.value == 1
    assert board["logged"].metrics["accuracy"].estimate.value == 1
    assert policy.selected_ not in ("oracle", "logged", "random")
    for label in ("oracle", "logged", "random"):
        with pytest.raises(UnknownNameError):
            policy.recommend(loans.columns, strategy=label)


def test_the_selected_strategy_has_the_best_score_of_those_selectable(loans_policy):
    selectable = [row for row in loans_policy.leaderboard_ if loans_policy.strategies_[row.strategy].selectable]
    best = max(row.score.value for row in selectable if row.score.value is not None)
    assert loans_policy.leaderboard_[loans_policy.selected_].score.value == best


@pytest.mark.long
def test_test_data_cannot_change_the_selection(loans, make_loans):
    policy = loans.fitted()
    selected, expected = policy.selected_, policy.expected_rewards(loans.columns).values.copy()
    other = make_loans(n=60, seed=9)
    flipped = np.array(["None"] * 60)
    board = policy.evaluate(other.columns, actions=other.actions, outcomes=flipped)
    assert policy.selected_ == selected
    assert policy.leaderboard_ is not board
    assert np.array_equal(policy.expected_rewards(loans.columns).values, expected)


def test_evaluation_on_training_rows_differs_from_the_held_out_leaderboard(loans, loans_policy):
    """The leaderboard of `fit` comes from models that did not see the rows."""
    held_out = loans_policy.evidence_.expected.values
    fitted = loans_policy.expected_rewards(loans.columns).values
    assert not np.allclose(held_out, fitted)


@pytest.mark.long
def test_held_out_rows_come_from_models_that_did_not_see_them(loans):
    """Changing one row's outcome changes E on other rows, never its own held-out E."""
    row = 11
    outcomes = loans.outcomes.copy()
    outcomes[row] = "None" if outcomes[row] != "None" else "Full"
    first = loans.fitted(stratified=False, augmentation="actions")
    second = loans.policy(stratified=False, augmentation="actions").fit(
        loans.columns, actions=loans.actions, outcomes=outcomes, rewards=loans.rewards
    )
    changed = np.abs(first.evidence_.expected.values - second.evidence_.expected.values).max(axis=(0, 1))
    assert changed[row] == 0
    assert (changed > 0).sum() > len(outcomes) / 3


@pytest.mark.long
def test_global_reference_points_come_from_training_rows(loans):
    rule = strategies.create("kalai_smorodinsky", {"disagreement": "global", "ideal": "global"})
    policy = loans.fitted(strategies=[rule])
    fitted = policy.strategies_[rule.label]
    held_out = policy.evidence_.expected.values
    assert fitted.training_range[0] == tuple(held_out.min(axis=(1, 2)))
    assert fitted.training_range[1] == tuple(held_out.max(axis=(1, 2)))
    single = {name: values[:1] for name, values in loans.columns.items()}
    whole = policy.recommend(loans.columns, strategy=rule.label).decisions.codes
    assert policy.recommend(single, strategy=rule.label).decisions.codes[0] == whole[0]


@pytest.mark.long
def test_an_undefined_metric_selects_nobody(loans):
    """A parity gap with a single group is not defined for anybody."""
    columns = loans.columns | {"sex": np.full(len(loans.actions), "f")}
    policy = loans.policy(metrics={metrics.create("demographic_parity", {"attributes": ["sex"]}): 1.0})
    with pytest.raises(InputError, match="no strategy can be selected"):
        policy.fit(columns, **loans.data, rewards=loans.rewards)


# --- repeating itself ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("world", ["loans", "visits"])
def test_same_seed_same_bytes_and_threads_do_not_matter(world, request):
    given = request.getfixturevalue(world)
    grids = {
        "loans": ({"C": [0.1, 1.0]}, LogisticRegression()),
        "visits": ({"range_share": [0.1, 0.3]}, TLearner("ridge")),
    }
    grid, model = grids[world]
    changes = {"outcome_grid": grid, "outcome_model": model, "reward_grid": {"max_depth": [2, 5]}, "random_state": 3}
    one, again, threads = (given.fitted(**changes, n_jobs=jobs) for jobs in (1, 1, 2))
    for other in (again, threads):
        assert other.leaderboard_.to_json() == one.leaderboard_.to_json()
        assert np.array_equal(other.evidence_.expected.values, one.evidence_.expected.values)
        assert np.array_equal(other.evidence_.prediction.weights, one.evidence_.prediction.weights)
        assert other.selected_ == one.selected_


@pytest.mark.long
def test_another_seed_deals_other_folds(loans, loans_policy):
    other = loans.fitted(random_state=1)
    assert not np.array_equal(other.evidence_.expected.values, loans_policy.evidence_.expected.values)


SCRIPT = """
import sys
import threading
sys.path.insert(0, {folder!r})
from conftest import Loans
world = Loans(n=60)
policy = world.fitted()
found = policy.recommend(world.columns)
print(policy.selected_, list(policy.strategies_), found.decisions.codes.tolist(), found.expected.values.sum().hex())
print([row.strategy for row in policy.leaderboard_])
"""


@pytest.mark.long
def test_hash_seeds_change_nothing():
    """Names are never iterated in the order of a set."""
    script = SCRIPT.format(folder=str(Path(__file__).parent))
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "3")
    }
    assert len(outputs) == 1


@pytest.mark.long
def test_shared_rewards_use_one_regressor(loans):
    policy = loans.fitted(shared_rewards=True, reward_model=LinearRegression())
    assert len(policy.reward_models_) == 1
    assert policy.reward_models_[0].stakeholders == ("Bank", "Applicant")
    assert list(policy.learned_.searches) == ["outcome", "Bank & Applicant"]
    apart = loans.fitted(reward_model=LinearRegression())
    # least squares has no interplay between targets: sharing changes nothing but rounding
    difference = policy.expected_rewards(loans.columns).values - apart.expected_rewards(loans.columns).values
    assert np.abs(difference).max() < 1e-9


def test_a_frame_that_mixes_numbers_and_texts_is_refused_unless_it_is_declared(loans, loans_policy):
    """A damaged cell among numbers would make a category of every number."""
    mixed = {**loans.columns, "income": [*loans.columns["income"][:-1], "abc"]}
    policy = clone(loans_policy)
    with pytest.raises(DataError, match="row 119: column 'income': found 'abc'; allowed: a number"):
        policy.fit(mixed, **loans.data, rewards=loans.rewards)
    with pytest.raises(DataError, match="row 119: column 'income': found 'abc'"):
        loans_policy.recommend(mixed)


def test_unusual_rows_are_handled_as_the_policy_says(loans, loans_policy):
    far = {**loans.columns, "income": np.where(np.arange(120) == 3, 1e9, loans.columns["income"])}
    policy = copy.copy(loans_policy).set_params(unusual={"out_of_range": "refer"})
    found = policy.recommend(far)
    assert found.decisions.actions[3] == "" and found.referred.sum() == found.counts.referred == 1
    assert loans_policy.recommend(far).decisions.actions[3] != ""
    assert [mask.nonzero()[0].tolist() for mask in policy.handling_of(far)[1:]] == [[3], []]
    for action in loans.problem.actions:
        policy.set_params(unusual={"out_of_range": action})
        assert [mask.nonzero()[0].tolist() for mask in policy.handling_of(far)[1:]] == [[], [3]]
    with pytest.raises(InputError, match="unknown far in unusual: 'refuse'"):
        policy.set_params(unusual={"far": "refuse"}).recommend(far)


@pytest.mark.long
@pytest.mark.usefixtures("alone")
def test_a_reward_that_keeps_count_is_asked_in_this_process_alone(loans):
    boards, asked = [], []
    for n_jobs in (1, 2):
        calls = []

        def noisy(contexts, action, outcome, *, generator=np.random.default_rng(0), calls=calls):
            calls.append(action)
            return 0.5 * (outcome == "Full") + 0.5 * generator.random(contexts.n_contexts)

        noisy.__kwdefaults__["generator"] = np.random.default_rng(0)
        policy = loans.policy(reward_model=LinearRegression(), n_jobs=n_jobs)
        policy.fit(loans.columns, **loans.data, rewards={**loans.rewards, "Bank": noisy})
        boards.append(policy.leaderboard_.to_json())
        asked.append(len(calls))
    assert boards[0] == boards[1] and asked[0] == asked[1]


@pytest.mark.long
def test_rewards_that_cannot_be_sent_are_learned_beside_other_threads(loans):
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()
    try:
        with compute("processes:2"):
            policy = loans.policy(reward_model=LinearRegression())
            policy.fit(loans.columns, **loans.data, rewards={**loans.rewards, "Bank": lambda contexts, *_: 0.5})
    finally:
        waiting.set()
        thread.join()
    assert policy.selected_ in policy.strategies_
