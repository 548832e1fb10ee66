"""E by compiled trees equals E by the regressor's own predictions, bit for bit, in batches and row by row."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from accordant.contexts import Log
from accordant.learning.augmentation import augmented_queries, elicit
from accordant.learning.encoding import ContextEncoder
from accordant.learning.expectation import expected_rewards
from accordant.learning.reward_models import LearnedReward, design
from accordant.predictions import OutcomePrediction
from accordant.rewards import FunctionReward

REGRESSORS = {
    "forest": RandomForestRegressor(7, random_state=0),
    "stumps": RandomForestRegressor(7, max_depth=1, random_state=0),
    "extra trees": ExtraTreesRegressor(5, random_state=0),
    "tree": DecisionTreeRegressor(random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=9, max_leaf_nodes=7),
}


def learned(world, regressor, names=None, problem=None):
    """One reward model of some stakeholders of a world, sharing a regressor if there are several."""
    problem = problem or world.problem
    names = names or problem.stakeholder_names[:1]
    log, generator = world.log, np.random.default_rng(0)
    queries = augmented_queries(log, problem, "actions_and_outcomes", generator)
    answers = [elicit(FunctionReward(world.rewards[name]), log.contexts, queries, problem, None) for name in names]
    encoder = ContextEncoder.fit(log.contexts, tuple(name for name in log.contexts if name != "sex"))
    target = answers[0] if len(names) == 1 else np.column_stack(answers)
    fitted = copy.deepcopy(regressor).fit(design(encoder(log.contexts), queries, problem), target)
    return LearnedReward(tuple(names), encoder, fitted, problem)


def by_regressor(model, contexts, nodes):
    """What the regressor says when it is asked."""
    return np.clip(model._by_regressor(model.encoder(contexts), nodes), 0.0, 1.0)


def some_nodes(problem, n, n_nodes=4):
    generator = np.random.default_rng(3)
    return np.round(generator.uniform(0, 12, (len(problem.actions), n_nodes, n)), 1) if problem.continuous else None


@pytest.fixture
def counted(monkeypatch):
    """How often a regressor was asked instead of its trees."""
    calls = []
    original = LearnedReward._by_regressor
    monkeypatch.setattr(LearnedReward, "_by_regressor", lambda *given: calls.append(1) or original(*given))
    return calls


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("world", ["loans", "visits"])
def test_q_bit_for_bit(kind, world, request, counted):
    given = request.getfixturevalue(world)
    model, contexts = learned(given, REGRESSORS[kind]), given.contexts
    n = contexts.n_contexts
    nodes = some_nodes(given.problem, n)
    found = model.predict(contexts, nodes)
    assert not counted
    assert np.array_equal(found, by_regressor(model, contexts, nodes))
    for part in (slice(0, 1), slice(5, 13), slice(n - 3, n)):
        alone = model.predict(contexts.take(part), None if nodes is None else nodes[:, :, part])
        assert np.array_equal(alone, found[..., part])


@pytest.mark.parametrize("world", ["loans", "visits"])
def test_shared_rewards_bit_for_bit(world, request, counted):
    given = request.getfixturevalue(world)
    model = learned(given, REGRESSORS["forest"], given.problem.stakeholder_names)
    nodes = some_nodes(given.problem, given.contexts.n_contexts)
    found = model.predict(given.contexts, nodes)
    assert not counted and len(found) == len(given.problem.stakeholder_names) > 1
    assert np.array_equal(found, by_regressor(model, given.contexts, nodes))


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_one_action(kind, loans, counted):
    problem = loans.problem.replace(
        stakeholders=["Bank"],
        actions=["Grant"],
        favourable_actions=["Grant"],
        outcome_to_action=dict.fromkeys(loans.problem.outcome_names, "Grant"),
    )

    class OneAction:
        rewards = loans.rewards
        log = Log(loans.contexts, np.zeros(len(loans.actions), dtype=np.intp), loans.log.outcomes)

    OneAction.problem = problem
    model = learned(OneAction, REGRESSORS[kind])
    found = model.predict(loans.contexts, None)
    assert not counted and found.shape[1] == 1
    assert np.array_equal(found, by_regressor(model, loans.contexts, None))


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_many_contexts_and_threads(kind, loans, monkeypatch, counted):
    """Ten thousand contexts in blocks of three thousand, on one thread and on two."""
    problem = loans.problem.replace(stakeholders=["Bank"])
    model = learned(loans, REGRESSORS[kind], problem=problem)
    generator = np.random.default_rng(4)
    contexts = loans.contexts.take(generator.integers(0, len(loans.actions), 10_000))
    monkeypatch.setattr("accordant.learning.expectation.BLOCK", 9_000)
    weights = generator.dirichlet(np.ones(3), size=(3, 10_000)).transpose(0, 2, 1)
    prediction = OutcomePrediction(weights, None, True)
    monkeypatch.setattr("accordant.learning.trees.sums.WALKS_PER_THREAD", 1000)
    values = []
    for cores in (1, 2):
        monkeypatch.setattr("accordant.learning.trees.sums.free_cores", lambda cores=cores: cores)
        values.append(expected_rewards(contexts, prediction, [model], problem).values)
    assert not counted
    assert np.array_equal(*values)
    q = by_regressor(model, contexts, None)[0]
    slow = sum(q[:, o] * weights[:, o] for o in range(3))
    assert np.array_equal(values[0][0], slow)


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_missing_values_are_left_to_the_regressor(kind, loans, counted):
    """Encoders put numbers where none are; an encoder that does not gets what the regressor says about NaN."""

    class Gaps(ContextEncoder):
        def __call__(self, contexts):
            matrix = super().__call__(contexts)
            matrix[::2, 1] = np.nan
            return matrix

    model = learned(loans, REGRESSORS[kind])
    gaps = Gaps(model.encoder.medians, model.encoder.indicated, model.encoder.categories)
    with_gaps = LearnedReward(model.stakeholders, gaps, model.regressor, model.problem)
    found = with_gaps.predict(loans.contexts, None)
    assert counted
    assert np.array_equal(found, by_regressor(with_gaps, loans.contexts, None))
    assert not np.array_equal(found, model.predict(loans.contexts, None))


def test_other_regressors_are_asked_once(loans, counted):
    model = learned(loans, LinearRegression())
    model.predict(loans.contexts, None)
    assert counted == [1]


def test_trees_are_made_once_and_not_saved(loans):
    model = learned(loans, REGRESSORS["forest"])
    before = len(pickle.dumps(model))
    found = model.predict(loans.contexts, None)
    assert model._trees is model._trees
    saved = pickle.dumps(model)
    assert len(saved) == before
    again = pickle.loads(saved)
    assert "_trees" not in vars(again)
    assert np.array_equal(again.predict(loans.contexts, None), found)


def test_models_with_the_same_encoder_share_its_matrix(loans, monkeypatch):
    calls = []
    original = ContextEncoder.__call__
    problem = loans.problem
    models = [learned(loans, REGRESSORS["tree"], (name,)) for name in problem.stakeholder_names]
    assert models[0].encoder is not models[1].encoder
    monkeypatch.setattr(ContextEncoder, "__call__", lambda *given: calls.append(1) or original(*given))
    n = loans.contexts.n_contexts
    prediction = OutcomePrediction(np.full((3, 3, n), 1 / 3), None, False)
    expected_rewards(loans.contexts, prediction, models, problem)
    assert calls == [1]
