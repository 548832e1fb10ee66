"""A thousand programmes over all policies, and promises of the rules for the whole policy on larger worlds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack

from accordant import strategies
from accordant.runs import RunOptions, carry_out
from accordant.utilities import ExpectedRewards

pytestmark = pytest.mark.long
RULES = ("maximin", "leximin", "utilitarian", "nash_social_welfare", "kalai_smorodinsky", "compromise_programming")


def rewards(values):
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


def highest_smallest_mean(values):
    """Solve the programme over all π(a | t), with a sparse matrix."""
    n, k, t = values.shape
    sums = coo_array((np.ones(k * t), (np.tile(np.arange(t), k), np.arange(k * t))), shape=(t, k * t))
    done = linprog(
        np.append(np.zeros(k * t), -1.0), A_ub=np.column_stack([-values.reshape(n, k * t) / t, np.ones(n)]), b_ub=np.zeros(n),
        A_eq=hstack([sums, coo_array((t, 1))]), b_eq=np.ones(t), bounds=[(0, None)] * (k * t) + [(None, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    return -done.fun


@pytest.mark.parametrize("seed", range(5))
def test_maximin_is_the_linear_programme_over_all_policies(seed):
    generator = np.random.default_rng([seed, 1])
    for case in range(100):
        values = generator.random(generator.integers(1, (8, 7, 60)) if case else (7, 6, 400))
        values = values if case % 3 else np.round(values * 5) / 5
        found = strategies.population_maximin.optimal_policy(rewards(values))
        assert found.value == pytest.approx(highest_smallest_mean(values), abs=1e-9)
        means = np.einsum("at,iat->i", found.decisions.policy, values) / values.shape[2]
        assert means.min() == pytest.approx(found.value, abs=1e-12)
        assert found.gap <= 1e-9
        for name in RULES:
            policy = strategies.create(name)(rewards(values)).probabilities()
            assert (np.einsum("at,iat->i", policy, values) / values.shape[2]).min() <= found.value + 1e-9


@pytest.mark.parametrize("name", ["population_maximin", "population_leximin", "population_nash"])
@pytest.mark.parametrize("n_stakeholders", [3, 6, 12])
def test_many_contexts_end_with_a_small_gap(name, n_stakeholders):
    """No twin is as large: the gap is the proof, and the mixture attains what is claimed."""
    generator = np.random.default_rng(n_stakeholders)
    values = generator.random((n_stakeholders, 4, 100_000)) * generator.uniform(0.5, 1.0, n_stakeholders)[:, None, None]
    found = strategies.create(name).optimal_policy(rewards(values))
    assert found.gap <= (1e-9 if name != "population_leximin" else 1e-6)
    means = np.einsum("at,iat->i", found.decisions.policy, values) / values.shape[2]
    np.testing.assert_allclose(means, found.means, atol=1e-12)
    best = np.tensordot(found.weights, values, axes=1).max(axis=0).mean()
    assert best <= found.weights @ means + (1e-9 if name != "population_leximin" else 1e-6)


@pytest.mark.parametrize("case", ["education-tutoring", "triage"])
def test_on_the_rewards_of_built_in_cases_it_is_the_programme_and_no_rule_for_rows_does_better(case):
    options = RunOptions(seed=7, rows=300, effort="quick")
    carried = carry_out(case, options)
    expected = carried.evidence.expected
    found = strategies.population_maximin.optimal_policy(expected)
    assert found.value == pytest.approx(highest_smallest_mean(expected.values), abs=1e-9)
    for name in RULES:
        policy = strategies.create(name)(expected).probabilities()
        worst = (np.einsum("at,iat->i", policy, expected.values) / expected.values.shape[2]).min()
        assert worst <= found.value + 1e-9
