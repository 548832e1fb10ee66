"""Rankings: exact derivatives, the definition multiplied out, and Bradley–Terry as its smallest case."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Rankings
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.plackett_luce import PlackettLuce, RankingProblem


def drawn(seed=0, n=40, places=4, items=9, d=3, short=True):
    generator = np.random.default_rng(seed)
    order = np.array([generator.permutation(items)[:places] for _ in range(n)])
    if short:
        for r in range(0, n, 3):
            order[r, generator.integers(2, places + 1) :] = -1
    return Rankings(generator.normal(size=(items, d)), order, generator.integers(0, 5, n)), generator.normal(size=d)


def spelled_out(rankings, theta):
    rewards, total = rankings.features @ theta, 0.0
    for row in rankings.order:
        items = [i for i in row if i >= 0]
        for k in range(len(items) - 1):
            total -= np.log(np.exp(rewards[items[k]]) / sum(np.exp(rewards[j]) for j in items[k:]))
    return total / len(rankings)


@pytest.mark.parametrize("seed", range(4))
def test_value_gradient_and_curvature(seed):
    rankings, theta = drawn(seed)
    problem, step = RankingProblem(rankings, 0.1), 1e-6
    rewards = problem.predictions(theta)
    assert problem.value(theta, rewards) == pytest.approx(spelled_out(rankings, theta) + 0.05 * theta @ theta)
    for k in range(len(theta)):
        there, here = theta + step * np.eye(3)[k], theta - step * np.eye(3)[k]
        ends = [(each, problem.predictions(each)) for each in (there, here)]
        slope = (problem.value(*ends[0]) - problem.value(*ends[1])) / (2 * step)
        assert problem.gradient(theta, rewards)[k] == pytest.approx(slope, abs=1e-7)
        bent = (problem.gradient(*ends[0]) - problem.gradient(*ends[1])) / (2 * step)
        assert problem.curvature(rewards)(np.eye(3)[k])[0] == pytest.approx(bent, abs=1e-6)


def test_rankings_of_two_items_are_comparisons():
    rankings, _ = drawn(1, places=2, short=False)
    assert PlackettLuce(1e-3).fit(rankings).coefficients == pytest.approx(
        learners.create("bradley_terry", {"ridge": 1e-3}).fit(rankings.to_comparisons()).coefficients, abs=1e-6
    )


def test_the_reward_behind_many_rankings_is_found():
    generator = np.random.default_rng(3)
    theta, features = np.array([1.5, -1.0, 0.5]), generator.normal(size=(400, 3))
    order = []
    for _ in range(4000):
        items = generator.permutation(400)[:4]
        noisy = features[items] @ theta + generator.gumbel(size=4)
        order.append(items[np.argsort(-noisy)])
    found = PlackettLuce().fit(Rankings(features, np.array(order), np.zeros(4000, dtype=int)))
    assert found.coefficients == pytest.approx(theta, abs=0.1)


def test_large_rewards_do_not_overflow_and_separable_rankings_have_a_solution():
    features = np.arange(5.0)[:, None] * 300
    rankings = Rankings(features, [[4, 3, 2, 1, 0]], [0])
    problem = RankingProblem(rankings, 1e-4)
    assert np.isfinite(problem.value(np.ones(1), problem.predictions(np.ones(1))))
    assert problem.solve().converged


def test_what_cannot_be_learned_is_refused():
    with pytest.raises(DataError, match="no rankings"):
        PlackettLuce().fit(Rankings(np.eye(2), np.empty((0, 2), dtype=int), np.empty(0, dtype=int)))
    with pytest.raises(InputError, match="ridge is 0"):
        PlackettLuce(0)
