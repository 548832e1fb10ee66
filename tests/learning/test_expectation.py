"""E[i, a, t]: the worked examples, and that a batch equals one row at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression

from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.learning.augmentation import augmented_queries, elicit
from accordant.learning.encoding import ContextEncoder
from accordant.learning.expectation import BLOCK, expectation, expected_rewards
from accordant.learning.cross_fitting import joined
from accordant.learning.residuals import residual_nodes
from accordant.learning.reward_models import LearnedReward, StatedReward, design
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import FunctionReward, TableReward

REGRESSORS = {
    "forest": RandomForestRegressor(7, random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=6),
    "linear": LinearRegression(),
}
# a matrix product may round differently for one row than for many; trees only compare
ROUNDING = {"forest": 0.0, "boosting": 0.0, "linear": 1e-14}


def q_of(world, regressor, stakeholder="Bank"):
    """A reward model fitted on a log of `world`."""
    log, problem, generator = world.log, world.problem, np.random.default_rng(0)
    queries = augmented_queries(log, problem, "actions_and_outcomes", generator)
    answers = elicit(FunctionReward(world.rewards[stakeholder]), log.contexts, queries, problem, generator)
    encoder = ContextEncoder.fit(log.contexts, tuple(name for name in log.contexts if name != "sex"))
    regressor.fit(design(encoder(log.contexts), queries, problem), answers)
    return LearnedReward((stakeholder,), encoder, regressor, problem)


def some_f(problem, n, generator, n_nodes=4):
    """An arbitrary f: random probabilities, and random nodes if the outcome is continuous."""
    shape = (len(problem.actions), n_nodes if problem.continuous else len(problem.outcome_names), n)
    weights = generator.dirichlet(np.ones(shape[1]), size=(shape[0], n)).transpose(0, 2, 1)
    nodes = generator.uniform(0, 12, shape) if problem.continuous else None
    means = (weights * nodes).sum(axis=1) if problem.continuous else None
    return OutcomePrediction(weights, nodes, True, means)


def slow_expectation(model, contexts, prediction, problem):
    """The definition, one regressor call per context, action and outcome; no shared code but the encoder."""
    n_actions, n_nodes, n = prediction.weights.shape
    found = np.zeros((n_actions, n))
    for t in range(n):
        encoded = model.encoder(contexts.take(slice(t, t + 1)))[0]
        for a in range(n_actions):
            for o in range(n_nodes):
                action = np.zeros(n_actions)
                action[a] = 1
                if problem.continuous:
                    outcome = np.array([prediction.nodes[a, o, t]])
                else:
                    outcome = np.zeros(n_nodes)
                    outcome[o] = 1
                q = model.regressor.predict(np.concatenate([encoded, action, outcome])[None])[0]
                found[a, t] += min(1.0, max(0.0, q)) * prediction.weights[a, o, t]
    return found


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("world", ["loans", "visits"])
def test_one_batch_equals_one_row_at_a_time(kind, world, request):
    given = request.getfixturevalue(world)
    stakeholder = given.problem.stakeholder_names[0]
    problem = given.problem.replace(stakeholders=[stakeholder])
    model = q_of(given, REGRESSORS[kind], stakeholder)
    contexts = given.contexts.take(slice(0, 15))
    prediction = some_f(problem, 15, np.random.default_rng(1))
    batch = expected_rewards(contexts, prediction, [model], problem).values
    rows = np.concatenate(
        [
            expected_rewards(contexts.take(slice(t, t + 1)), prediction.take(slice(t, t + 1)), [model], problem).values
            for t in range(15)
        ],
        axis=2,
    )
    assert np.abs(batch - rows).max() <= ROUNDING[kind]
    slow = slow_expectation(model, contexts, prediction, problem)
    assert np.abs(batch[0] - slow).max() <= 1e-14


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_more_contexts_than_a_block(loans, kind):
    """Blocks join without a seam: the rows around it are those of a small batch, byte by byte."""
    problem = loans.problem.replace(stakeholders=["Bank"])
    model = q_of(loans, REGRESSORS[kind])
    seam = BLOCK // 3  # contexts of a block with three outcomes
    n = seam + 37
    generator = np.random.default_rng(2)
    rows = generator.integers(0, len(loans.actions), n)
    contexts, prediction = loans.contexts.take(rows), some_f(problem, n, generator)
    whole = expected_rewards(contexts, prediction, [model], problem).values
    for part in (slice(seam - 20, seam + 20), slice(n - 5, n), slice(0, 5)):
        piece = expected_rewards(contexts.take(part), prediction.take(part), [model], problem).values
        assert np.array_equal(piece, whole[:, :, part])


def test_action_aware_and_agnostic_f(loans):
    """With f(o | x) the weights of all actions are equal, and E differs between actions through q only."""
    problem = loans.problem.replace(stakeholders=["Bank"])
    model = q_of(loans, REGRESSORS["forest"])
    n = len(loans.actions)
    aware = some_f(problem, n, np.random.default_rng(3))
    agnostic = OutcomePrediction(np.broadcast_to(aware.weights[1], aware.weights.shape), None, False)
    first = expected_rewards(loans.contexts, aware, [model], problem).values
    second = expected_rewards(loans.contexts, agnostic, [model], problem).values
    assert np.array_equal(first[:, 1], second[:, 1])
    assert not np.allclose(first[:, 0], second[:, 0])


def test_worked_example_discrete():
    """Section 1: (1, 0.5, 0) under (0.7, 0.1, 0.2) is 0.75."""
    problem = DecisionProblem(stakeholders=["Bank"], actions=["Grant"], outcomes=["Fully", "Partially", "Not"])
    signal = TableReward({"Grant": {"Fully": 1.0, "Partially": 0.5, "Not": 0.0}})
    prediction = OutcomePrediction(np.array([[[0.7], [0.1], [0.2]]]), None, False)
    found = expected_rewards(Contexts({"x": [0.0]}), prediction, [StatedReward("Bank", signal, problem)], problem)
    assert found.values.item() == pytest.approx(0.75, abs=1e-15)


def ramp(contexts, action, outcome):
    """q(o) = clip((o − 2) / 4, 0, 1)."""
    return np.clip((np.asarray(outcome) - 2) / 4, 0, 1)


def integral_of_the_ramp(offsets, weights):
    problem = DecisionProblem(stakeholders=["P"], actions=["A"], outcomes={"name": "score"})
    nodes = 2 + offsets[:, :, None]
    prediction = OutcomePrediction(np.broadcast_to(weights[:, None], nodes.shape), nodes, True, np.full((1, 1), 2.0))
    q = StatedReward("P", FunctionReward(ramp), problem)
    return expected_rewards(Contexts({"x": [0.0]}), prediction, [q], problem).values.item()


def test_worked_example_continuous():
    """Section 1: o ~ N(2, 1); the integral is φ(0)/4 = 0.09973, the plug-in says 0."""
    exact = norm.pdf(0) / 4 - (norm.pdf(4) - 4 * norm.sf(4)) / 4  # the ramp ends at o = 6
    assert exact == pytest.approx(0.09973, abs=5e-6)
    assert norm.pdf(0) / 4 == pytest.approx(1 / (4 * math.sqrt(2 * math.pi)))
    residuals = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    actions = np.zeros(len(residuals), dtype=np.intp)

    def by(integration, n_nodes):
        return integral_of_the_ramp(*residual_nodes(residuals, actions, 1, integration, n_nodes))

    assert by("plug_in", 20) == 0.0
    assert by("empirical", 2000) == pytest.approx(exact, abs=5e-5)
    assert by("empirical", 20) == pytest.approx(exact, abs=2e-3)  # the default number of nodes
    assert by("gauss_hermite", 20) == pytest.approx(0.1018, abs=1e-4)  # off because of the kink, as the text says
    grid = np.linspace(-8, 8, 4001)  # an independent, fine trapezoid rule
    trapezoid = np.trapezoid(ramp(None, "A", 2 + grid) * norm.pdf(grid), grid)
    assert trapezoid == pytest.approx(exact, abs=1e-6)


def test_expectation_is_a_weighted_sum():
    generator = np.random.default_rng(4)
    q, w = generator.random((3, 2, 5, 11)), generator.dirichlet(np.ones(5), size=(2, 11)).transpose(0, 2, 1)
    assert np.abs(expectation(q, w) - np.einsum("iakt,akt->iat", q, w)).max() < 1e-15
    assert expectation(np.ones((1, 2, 5, 11)), w).max() <= 1 + 1e-9


def test_expectation_changes_neither_argument():
    q, w = np.full((1, 1, 2, 3), 0.5), np.full((1, 2, 3), 0.5)
    expectation(q, w)
    assert (q == 0.5).all() and (w == 0.5).all()


def test_joined_batches_are_the_whole(loans, visits):
    for world in (loans, visits):
        whole = some_f(world.problem, 30, np.random.default_rng(5))
        parts = joined([whole.take(slice(0, 11)), whole.take(slice(11, 12)), whole.take(slice(12, 30))])
        assert np.array_equal(parts.weights, whole.weights)
        assert whole.nodes is None or np.array_equal(parts.nodes, whole.nodes)
        assert whole.means is None or np.array_equal(parts.means, whole.means)


@pytest.mark.parametrize("weights", [[0.5, 0.4], [1.2, -0.2], [np.nan, 1.0]])
def test_f_must_be_a_probability(weights):
    with pytest.raises(InputError, match="sum to 1"):
        OutcomePrediction(np.array(weights)[None, :, None], None, False)
