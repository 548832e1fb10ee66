"""What a mixture reads of comparisons and rankings: likelihoods spelled out, and weights that act like repetitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences import Comparisons, Rankings
from accordant.preferences.learners.mixture import Mixture, evidence
from accordant.preferences.learners.number_of_types import choose_types, of_users
from accordant.preferences.learners.plackett_luce import RankingProblem


def rankings(seed=0, n=30, places=4, items=9, users=5):
    generator = np.random.default_rng(seed)
    order = np.array([generator.permutation(items)[:places] for _ in range(n)])
    for r in range(0, n, 3):
        order[r, generator.integers(2, places + 1) :] = -1
    return Rankings(generator.normal(size=(items, 3)), order, generator.integers(0, users, n))


def two_tastes(seed=0, n_users=60, each=4, places=4, share=0.7):
    """Users who want more of the first feature, then users who want less, each with a few rankings."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(200, 2))
    users = np.repeat(np.arange(n_users), each)
    wants = np.where(np.arange(n_users) < share * n_users, 2.0, -2.0)
    order = []
    for user in users:
        items = generator.choice(200, places, replace=False)
        order.append(items[np.argsort(-(wants[user] * features[items, 0] + generator.gumbel(size=places)))])
    return Rankings(features, np.array(order), users), (wants < 0).astype(int)


def choices(row, rewards):
    """Probability of a ranking, choice by choice."""
    items = [i for i in row if i >= 0]
    return np.prod([np.exp(rewards[items[k]]) / sum(np.exp(rewards[j]) for j in items[k:]) for k in range(len(items))])


def test_losses_of_rankings_and_comparisons_by_definition():
    given, coefficients = rankings(), np.random.default_rng(1).normal(size=(2, 3))
    found = evidence(given).losses(coefficients)
    for r, k in itertools.product(range(len(given)), range(2)):
        assert found[r, k] == pytest.approx(-np.log(choices(given.order[r], given.features @ coefficients[k])))
    pairs = given.to_comparisons()
    apart = pairs.differences() @ coefficients.T
    assert evidence(pairs).losses(coefficients) == pytest.approx(np.log(1 + np.exp(-apart)))
    assert evidence(pairs).weights == pytest.approx(pairs.record_weights)


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_rankings_act_like_repetitions(seed):
    given, generator = rankings(seed), np.random.default_rng(seed + 10)
    times, theta, bent = generator.integers(0, 4, len(given)), generator.normal(size=3), generator.normal(size=3)
    rows = np.repeat(np.arange(len(given)), times)
    repeated = RankingProblem(Rankings(given.features, given.order[rows], given.users[rows]), 0.1)
    weighted = RankingProblem(given, 0.1, times.astype(float))
    here = weighted.predictions(theta)
    assert weighted.value(theta, here) == pytest.approx(repeated.value(theta, here))
    assert weighted.gradient(theta, here) == pytest.approx(repeated.gradient(theta, here))
    assert weighted.curvature(here)(bent)[0] == pytest.approx(repeated.curvature(here)(bent)[0])
    assert weighted.curvature_diagonal(here) == pytest.approx(repeated.curvature_diagonal(here))
    assert weighted.curvature_blocks(here) == pytest.approx(repeated.curvature_blocks(here))
    assert weighted.solve().coefficients == pytest.approx(repeated.solve().coefficients, abs=1e-6)


@pytest.mark.parametrize("wrong", [np.ones((30, 1)), np.ones(29), np.zeros(30), -np.ones(30), np.full(30, np.nan)])
def test_wrong_weights_are_refused(wrong):
    with pytest.raises(InputError, match="weights"):
        RankingProblem(rankings(), 0.1, wrong)


def test_few_rankings_of_four_tell_types_apart():
    given, taste = two_tastes()
    model = Mixture(restarts=2).fit(given)
    found = model.memberships.argmax(axis=1)
    assert max((found == taste).mean(), (found != taste).mean()) >= 0.95
    assert sorted(np.sign(model.coefficients[:, 0])) == [-1.0, 1.0]
    assert not model.warnings


def test_rankings_of_two_are_comparisons():
    given, _ = two_tastes(places=2, n_users=20)
    as_rankings, as_comparisons = (
        Mixture(restarts=2).fit(each, generator=np.random.default_rng(1)) for each in (given, given.to_comparisons())
    )
    assert as_rankings.coefficients == pytest.approx(as_comparisons.coefficients, abs=1e-3)
    assert as_rankings.memberships == pytest.approx(as_comparisons.memberships, abs=1e-3)
    assert as_rankings.warnings == as_comparisons.warnings
    assert "20 of 20 users" in as_rankings.warnings[0]


def test_new_users_with_rankings():
    given, _ = two_tastes(n_users=20)
    new, taste = two_tastes(1, n_users=10)
    model = Mixture(restarts=1).fit(given)
    likelihoods = np.ones((10, 2))
    for r, k in itertools.product(range(len(new)), range(2)):
        likelihoods[new.users[r], k] *= choices(new.order[r], new.features @ model.coefficients[k])
    joint = likelihoods * model.shares
    assert model.log_likelihoods(new) == pytest.approx(np.log(joint.sum(axis=1)))
    assert model.adapted(new).memberships == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    second = model.adapted(new).memberships[:, model.coefficients[:, 0].argmin()] > 0.5
    assert (second == taste).mean() >= 0.9


def test_the_number_of_types_is_chosen_from_rankings():
    quick = Mixture(restarts=2, rounds=30, change=1e-4, tolerance=1e-4)
    assert choose_types(two_tastes()[0], most=3, folds=4, learner=quick).chosen == 2
    assert choose_types(two_tastes(share=1.0)[0], most=2, folds=2, learner=quick).chosen == 1


def test_records_of_some_users():
    given = rankings()
    kept = of_users(given, np.array([1, 3]))
    assert set(kept.users) == {1, 3}
    assert len(kept) == np.isin(given.users, [1, 3]).sum()
    assert kept.order.tolist() == given.order[np.isin(given.users, [1, 3])].tolist()
    pairs = given.to_comparisons()
    assert isinstance(of_users(pairs, np.array([1])), Comparisons)


def test_a_model_meets_nobody_and_learns_from_nobody():
    given, _ = two_tastes(n_users=10)
    model = Mixture(restarts=1).fit(given)
    nobody = Rankings(given.features, given.order[:0], given.users[:0], ("a", "b"))
    assert model.adapted(nobody).memberships == pytest.approx(np.tile(model.shares, (2, 1)))
    with pytest.raises(InputError, match="rankings to learn from"):
        Mixture().fit(nobody)
