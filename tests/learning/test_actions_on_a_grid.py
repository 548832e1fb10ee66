"""Models of a continuous action: they learn from values as they are, and answer between the points of the grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from accordant.contexts import Contexts, Log
from accordant.errors import InputError
from accordant.learning.augmentation import RewardQueries, augmented_queries, elicit, logged_queries
from accordant.learning.causal import DRLearner, TLearner
from accordant.learning.expectation import expected_rewards
from accordant.learning.effort import EffortLimits
from accordant.learning.outcome_learning import GRID_BASES, ContinuousOutcomeLearner, DiscreteOutcomeLearner
from accordant.learning.reward_learning import RewardLearner
from accordant.learning.reward_models import StatedReward
from accordant.problem import ContinuousOutcome, DecisionProblem
from accordant.rewards import FunctionReward, TableReward

AMOUNTS = {"none": 0, "low": 50, "medium": 100, "high": 200}
PROBLEM = DecisionProblem(stakeholders=["Recipient"], actions=AMOUNTS, outcomes=["no", "yes"])
TABLE = {name: {"no": value / 400, "yes": 1 - (value / 200 - 0.5) ** 2} for name, value in AMOUNTS.items()}
POINTS = list(AMOUNTS.values())


def log_of(n=400, seed=0, problem=PROBLEM):
    generator = np.random.default_rng(seed)
    need, amounts = generator.uniform(size=n), generator.uniform(0, 200, size=n)
    if problem.continuous:
        outcomes = 10 * need * amounts / 200 + 3 * need
    else:
        outcomes = (generator.uniform(size=n) < 0.2 + 0.6 * need * amounts / 200).astype(np.intp)
    codes, values = problem.logged_actions(amounts)
    return Log(Contexts({"need": need}), codes, outcomes, action_values=values)


def kinked(values):
    """The table's reward of yes between its points, by numpy."""
    return np.interp(values, POINTS, [TABLE[name]["yes"] for name in AMOUNTS])


def test_stakeholders_are_asked_between_the_points_and_answer_on_the_straight_line():
    log = log_of(60)
    queries = augmented_queries(log, PROBLEM, "actions_and_outcomes", np.random.default_rng(1))
    assert len(queries) == 60 * 2 * (4 + 1)
    between = ~np.isin(queries.values, POINTS)
    assert between.sum() == 120
    assert np.array_equal(queries.actions, PROBLEM.grid.nearest(queries.values))
    answers = elicit(TableReward(TABLE), log.contexts, queries, PROBLEM, np.random.default_rng(2))
    yes = queries.outcomes == 1
    assert np.allclose(answers[yes], kinked(queries.values[yes]))
    assert logged_queries(log).values is log.action_values


def test_a_reward_that_is_used_as_stated_is_straight_between_points():
    finer = PROBLEM.refined()
    model = StatedReward("Recipient", TableReward(TABLE), PROBLEM).at(finer)
    rewards = model.predict(Contexts({"need": [0.1, 0.9]}), None)[0]
    assert rewards.shape == (7, 2, 2)
    assert np.allclose(rewards[:, 1], kinked(np.array(finer.action_values))[:, None])


def test_a_learned_reward_answers_between_points_by_trees_and_by_its_regressor_alike():
    log = log_of(300)
    queries = augmented_queries(log, PROBLEM, "actions_and_outcomes", np.random.default_rng(1))
    answers = elicit(TableReward(TABLE), log.contexts, queries, PROBLEM, None)[None]
    regressor = HistGradientBoostingRegressor(learning_rate=0.3, max_iter=40, early_stopping=False)
    learner = RewardLearner(("Recipient",), regressor, {}, log, queries, answers, ("need",), PROBLEM)
    model = learner.fit(np.arange(300), {})
    finer, some = PROBLEM.refined(), Contexts({"need": np.linspace(0, 1, 9)})
    found = model.at(finer).predict(some, None)
    assert np.array_equal(found[:, ::2], model.predict(some, None))
    assert np.abs(found[0, :, 1] - kinked(np.array(finer.action_values))[:, None]).max() < 0.03
    features = model.encoder(some)
    assert np.allclose(found, np.clip(model.at(finer)._by_regressor(features, None), 0, 1))


def test_an_outcome_model_interpolates_the_value():
    """A linear model that is right between points cannot be right if it had seen the nearest points only."""
    log = log_of(6000)
    learner = DiscreteOutcomeLearner(LogisticRegression(C=1e6), {}, False, True, log, ("need",), PROBLEM, 0)
    model, some = learner.fit(np.arange(6000), {}), Contexts({"need": np.full(5, 0.9)})
    values = (0.0, 25.0, 75.0, 150.0, 200.0)
    found = model.at(values).predict(some).weights
    assert found.shape == (5, 2, 5)
    assert np.allclose(found[:, 1, 0], [0.2 + 0.54 * value / 200 for value in values], atol=0.06)
    assert np.array_equal(model.at(tuple(map(float, POINTS))).predict(some).weights, model.predict(some).weights)
    assert learner.losses(model, np.arange(6000)).mean() < learner.losses(model_of_points(log), np.arange(6000)).mean()


def model_of_points(log):
    """The same model, from a log that holds the nearest points instead of the values."""
    moved = replace(log, action_values=PROBLEM.grid.points[log.actions])
    learner = DiscreteOutcomeLearner(LogisticRegression(C=1e6), {}, False, True, moved, ("need",), PROBLEM, 0)
    return learner.fit(np.arange(len(log)), {})


NUMBERS = DecisionProblem(stakeholders=["Recipient"], actions=AMOUNTS, outcomes=ContinuousOutcome(low=0))


def test_levels_of_a_continuous_outcome_interpolate_the_value():
    log = log_of(300, problem=NUMBERS)
    learner = ContinuousOutcomeLearner(
        TLearner(LinearRegression()), {}, "empirical", 5, True, log, ("need",), NUMBERS, 0, EffortLimits()
    )
    model = learner.fit(np.arange(300), {})
    values, some = (0.0, 30.0, 200.0), Contexts({"need": [0.2, 0.8]})
    levels = model.at(values).predict(some).levels()
    truth = np.array([[10 * need * value / 200 + 3 * need for need in (0.2, 0.8)] for value in values])
    assert np.allclose(levels, truth, atol=1e-6)
    assert learner.losses(model, np.arange(300)).mean() < 1e-12
    assert model.predict(some).levels().shape == (4, 2)
    assert model.offsets.shape == (4, 5) and model.at(values).offsets.shape == (3, 5)


def test_base_regressors_are_compared_and_learners_of_effects_refused():
    log = log_of(60, problem=NUMBERS)
    learner = ContinuousOutcomeLearner(None, {}, "empirical", 5, True, log, ("need",), NUMBERS, 0, EffortLimits())
    assert [point["base"] for point in learner.points] == [base for base in GRID_BASES if base != "deep boosting"]
    refused = ContinuousOutcomeLearner(
        DRLearner(), {}, "empirical", 5, True, log, ("need",), NUMBERS, 0, EffortLimits()
    )
    with pytest.raises(InputError, match="DRLearner learns one effect per action; on a grid of actions allowed: auto"):
        refused.fit(np.arange(60), {})


@pytest.mark.parametrize("problem", [PROBLEM, NUMBERS], ids=["discrete", "continuous"])
def test_outcomes_that_do_not_depend_on_the_action_are_the_same_at_every_value(problem):
    log, rows = log_of(200, problem=problem), np.arange(200)
    learner = (
        ContinuousOutcomeLearner(
            TLearner(LinearRegression()), {}, "empirical", 5, False, log, ("need",), problem, 0, EffortLimits()
        )
        if problem.continuous
        else DiscreteOutcomeLearner(LogisticRegression(), {}, False, False, log, ("need",), problem, 0)
    )
    model, some = learner.fit(rows, {}), Contexts({"need": [0.2, 0.8]})
    found, finer = model.predict(some), model.at((0.0, 33.0, 120.0, 150.0, 200.0)).predict(some)
    assert finer.weights.shape[0] == 5 and finer.weights.shape[1:] == found.weights.shape[1:]
    first = found.weights if found.nodes is None else found.nodes
    assert np.array_equal((finer.weights if finer.nodes is None else finer.nodes)[4], first[0])


def test_expected_rewards_at_the_points_do_not_depend_on_whether_middles_are_asked_too():
    log, finer = log_of(300), PROBLEM.refined()
    outcome = DiscreteOutcomeLearner(LogisticRegression(), {}, False, True, log, ("need",), PROBLEM, 0)
    f, q = outcome.fit(np.arange(300), {}), StatedReward("Recipient", TableReward(TABLE), PROBLEM)
    some = Contexts({"need": np.linspace(0, 1, 7)})
    coarse = expected_rewards(some, f.predict(some), [q], PROBLEM).values
    fine = expected_rewards(some, f.at(finer.action_values).predict(some), [q.at(finer)], finer).values
    assert np.allclose(fine[:, ::2], coarse, atol=1e-12)


def test_noise_of_answers_between_points_is_that_of_its_neighbours():
    """A function that only knows names is asked about both neighbours."""
    asked = []

    def reward(contexts, action, outcome):
        asked.append(action)
        return np.full(contexts.n_contexts, 0.5)

    queries = RewardQueries(np.array([0]), np.array([1]), np.array([0]), np.array([60.0]))
    found = elicit(FunctionReward(reward), log_of(3).contexts, queries, PROBLEM, None)
    assert asked == ["low", "medium"] and found.tolist() == [0.5]
