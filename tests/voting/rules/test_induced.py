"""Voting on expected rewards: what ballots E induces, ties, weights, lotteries, and sizes at the edge."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant import strategies
from accordant.voting import Profile
from accordant.problem import DecisionProblem
from accordant.strategies.block_decisions import decide
from accordant.voting.rules.tally import ranks_by_reward
from accordant.voting.rules.rule import VotingRule
from accordant.utilities import ExpectedRewards

NAMES = [name for name in strategies.names() if issubclass(strategies.strategies.factory(name), VotingRule)]
LOTTERIES = ["maximal_lotteries", "random_dictatorship"]


def rewards(values):
    values = np.asarray(values)
    names = [f"i{i}" for i in range(values.shape[0])], [f"a{a}" for a in range(values.shape[1])]
    return ExpectedRewards(values, stakeholders=names[0], actions=names[1])


def coarse(shape, seed=0):
    """Rewards on a grid, so that ballots, scores and sums tie."""
    return np.random.default_rng(seed).choice([0.0, 0.25, 0.5, 0.75, 1.0], size=shape)


def test_sixteen_rules():
    assert NAMES == [
        "anti_plurality", "approval", "borda", "bucklin", "coombs", "copeland", "instant_runoff", "kemeny",
        "majority_judgment", "maximal_lotteries", "minimax", "plurality", "random_dictatorship", "range", "ranked_pairs",
        "schulze",
    ]  # fmt: skip


@pytest.mark.few(20)
@pytest.mark.parametrize("n_contexts", [3, 200])
@pytest.mark.parametrize("weights", [None, (2.0, 0.5, 0.0, 1.5)])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "majority_judgment"])
def test_induced_ballots_equal_direct_ones(name, weights, n_contexts):
    values = coarse((4, 3, n_contexts))
    profile = Profile((-4 * values).astype(int) + 4, weights, grades=values)
    rule = strategies.create(name, {"weights": weights})
    decided, counted = rule(rewards(values)), rule.count(profile)
    np.testing.assert_allclose(decided.scores, counted.scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_ties_go_to_the_utilitarian_sum_then_to_declared_order(name):
    values = coarse((3, 3, 300))
    decided = strategies.create(name)(rewards(values))
    for t in range(300):
        scores, totals = decided.scores[:, t], values[:, :, t].sum(axis=0)
        best = [a for a in range(3) if scores[a] >= scores.max() - 1e-12]
        assert decided.tied[t] == (len(best) > 1)
        assert decided.codes[t] == min(best, key=lambda a: (-round(totals[a], 9), a))


def test_majority_judgment_cuts_rewards_into_grades():
    """0.5 is in the upper of two grades and the third of four (from 0)."""
    E = rewards(np.array([[0.5, 0.49], [0.5, 1.0], [0.74, 0.0]]))
    found = strategies.create("majority_judgment", {"grades": 2})(E)
    assert found.quantities["median_grade"][:, 0].tolist() == [1, 0]
    assert strategies.create("majority_judgment", {"grades": 4})(E).quantities["median_grade"][:, 0].tolist() == [2, 1]
    top = strategies.create("majority_judgment")(rewards(np.ones((1, 2))))
    assert top.quantities["median_grade"][:, 0].tolist() == [5, 5]


def test_approval_of_what_is_at_least_the_mean():
    E = rewards(np.array([[0.9, 0.6, 0.0], [0.4, 0.4, 0.4], [0.1, 0.2, 0.9]]))
    assert strategies.approval(E).scores[:, 0].tolist() == [2, 2, 2]
    assert strategies.create("approval", {"threshold": 0.6})(E).scores[:, 0].tolist() == [1, 1, 1]


def test_range_is_utilitarian():
    values = coarse((4, 3, 100))
    weights = (1.0, 2.0, 0.0, 0.5)
    for name, plain in (("range", "utilitarian"), ("range", "relative_utilitarian")):
        rule = strategies.create(name, {"weights": weights, "normalised": plain != "utilitarian"})
        other = strategies.create(plain, {"weights": weights})
        np.testing.assert_array_equal(rule(rewards(values)).codes, other(rewards(values)).codes)
    assert strategies.create("range", {"normalised": True}).label == "range[normalised]"


@pytest.mark.parametrize("n_contexts", [1, 40])
def test_ranks_within_the_tolerance_are_transitive(n_contexts):
    """x ≈ y ≈ z, but x is above z: x and y share rank 0, z has rank 1."""
    values = np.repeat(np.array([[[0.5 + 1.5e-12], [0.5 + 0.75e-12], [0.5]]]), n_contexts, axis=2)
    assert ranks_by_reward(values, 1e-12)[0, :, 0].tolist() == [0, 0, 1]
    assert ranks_by_reward(values, 1e-11)[0, :, 0].tolist() == [0, 0, 0]


def test_single_precision_widens_the_tolerance():
    values = np.array([[0.3], [0.3 + 1e-7]])[None]
    assert strategies.plurality(rewards(values)).scores[:, 0].tolist() == [0, 1]
    assert strategies.plurality(rewards(values.astype(np.float32))).scores[:, 0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", NAMES)
def test_edges(name):
    """One action, one stakeholder, all tied, no contexts, views of arrays."""
    rule = strategies.create(name)
    assert rule(rewards(np.full((3, 1, 4), 0.5))).codes.tolist() == [0] * 4
    alone = coarse((1, 4, 50))
    np.testing.assert_array_equal(rule(rewards(alone)).codes, alone[0].argmax(axis=0))
    level = rule(rewards(np.full((3, 4, 40), 0.5)))
    assert level.tied.all()
    assert (level.codes == 0).all()
    assert rule(rewards(np.zeros((2, 3, 0)))).codes.shape == (0,)
    values = coarse((3, 4, 90))
    turned = rule(rewards(np.asfortranarray(values)[::-1, ::-1, ::2]))
    plain = rule(rewards(values[::-1, ::-1, ::2].copy()))
    np.testing.assert_array_equal(turned.scores, plain.scores)


@pytest.mark.parametrize("name", NAMES)
def test_weights(name):
    """Weight 0 leaves somebody out, a whole weight counts as so many stakeholders, and only ratios matter."""
    values = coarse((3, 3, 120), seed=5)
    weighted = strategies.create(name, {"weights": (2.0, 0.0, 1.0)})(rewards(values))
    copied = strategies.create(name)(rewards(values[[0, 0, 2]]))
    np.testing.assert_allclose(weighted.scores, copied.scores, rtol=1e-12, atol=1e-12)
    for factor in (1e-290, 1e-9, 0.1, 3e9, 1e200):
        scaled = strategies.create(name, {"weights": (2 * factor, 0.0, factor)})(rewards(values))
        np.testing.assert_array_equal(scaled.tied, weighted.tied, str(factor))
        np.testing.assert_array_equal(scaled.codes, weighted.codes, str(factor))


def test_weights_come_from_the_problem():
    problem = DecisionProblem(
        stakeholders=[{"name": "x", "weight": 3.0}, {"name": "y", "weight": 1.0}], actions=["a", "b"], outcomes=["o"]
    )
    for name in NAMES:
        rule = strategies.create(name).for_problem(problem)
        assert rule.weights == (3.0, 1.0)
        assert strategies.create(name, json.loads(json.dumps(rule.parameters))) == rule
        given = strategies.create(name, {"weights": (1.0, 1.0)})
        assert given.for_problem(problem) == given


@pytest.mark.parametrize("name", NAMES)
def test_lotteries_decide_by_a_policy_and_draw(name):
    rule = strategies.create(name)
    decided = rule(rewards(coarse((3, 3, 60))))
    assert rule.kind == "voting"
    assert rule.may_be_selected
    assert rule.draws == (name in LOTTERIES)
    if name in LOTTERIES:
        np.testing.assert_array_equal(decided.policy, decided.scores)
        np.testing.assert_allclose(decided.policy.sum(axis=0), 1.0)
    else:
        assert decided.policy is None


def test_condorcet_flags():
    """Three stakeholders in a cycle in the first context, agreed in the second."""
    cycle = np.array([[0.9, 0.5, 0.1], [0.1, 0.9, 0.5], [0.5, 0.1, 0.9]])
    values = np.stack([cycle, np.tile(cycle[0], (3, 1))], axis=2)
    for name in ("borda", "copeland", "minimax", "ranked_pairs", "schulze", "kemeny", "maximal_lotteries"):
        assert strategies.create(name)(rewards(values)).flags["condorcet_winner_exists"].tolist() == [False, True]


def test_blocks_threads_and_company_make_no_difference(monkeypatch):
    """Rules that share blocks, whatever the weights, decide as each does alone; so do many blocks and several threads."""
    monkeypatch.setattr("accordant.strategies.block.BLOCK_SIZE", 1 << 15)
    n_contexts = 5 * (1 << 15) // 9 + 17
    E = rewards(coarse((3, 3, n_contexts)))
    rules = [strategies.create(name, {"weights": weights}) for name in NAMES for weights in (None, (3.0, 1.0, 0.5))]
    together = decide(rules, E, threads=2)
    some = np.r_[0:40, n_contexts - 40 : n_contexts]
    for rule, found in zip(rules, together, strict=True):
        alone = rule(rewards(E.values[:, :, some]))
        np.testing.assert_array_equal(found.codes[some], alone.codes)
        np.testing.assert_array_equal(found.tied[some], alone.tied)
        np.testing.assert_allclose(found.scores[:, some], alone.scores, rtol=1e-12)
        bare = decide([rule], E, details=False, threads=1)[0]
        np.testing.assert_array_equal(bare.codes, found.codes)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_million_stakeholders(name):
    """One context, two actions: 600,000 slightly prefer the first, the others strongly the second. Only grades tell."""
    values = np.empty((1_000_000, 2, 1))
    values[:600_000] = [[0.6], [0.5]]
    values[600_000:] = [[0.1], [0.9]]
    decided = strategies.create(name)(rewards(values))
    assert decided.codes[0] == (1 if name in ("range", "majority_judgment") else 0)


@pytest.mark.long
def test_more_than_eight_actions():
    with pytest.raises(ValueError, match="kemeny cannot rank these actions: 9 alternatives; allowed: at most 8"):
        strategies.kemeny(rewards(coarse((2, 9, 2))))
    E = rewards(coarse((5, 12, 60)))
    for name in NAMES:
        if name != "kemeny":
            decided = strategies.create(name)(E)
            assert decided.scores.shape == (12, 60)
