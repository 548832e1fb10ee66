"""Re-rankers by categories against plain loops, and types with what users want of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import ExpectedRewards
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.slates.rules.diversity import MaximalMarginalRelevance
from accordant.slates.rules.diversity import types_of, wanted_types
from accordant.slates.rules.diversity import ExplicitQueryAspects


def world(seed=0, n_stakeholders=2, n_items=9, n_users=5, **given):
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in range(n_stakeholders)]
    expected = ExpectedRewards(
        rng.random((n_stakeholders, n_items, n_users)), stakeholders=names, actions=[f"c{c}" for c in range(n_items)]
    )
    return Candidates(expected, **({"categories": rng.integers(-1, 3, n_items)} | given))


def pick(scores, totals, left):
    top = max(scores[c] for c in left)
    tied = [c for c in left if scores[c] >= top - 1e-12]
    return max(tied, key=lambda c: (round(totals[c], 12), -c))


def alike(categories, c, s):
    return float(categories[c] == categories[s] and categories[c] >= 0)


def mmr_twin(candidates, k, balance, u):
    worth = np.average(candidates.values[:, :, u], axis=0, weights=candidates.weights)
    left, found = np.flatnonzero(candidates.available[:, u]).tolist(), []
    while left and len(found) < k:
        near = {c: max((alike(candidates.categories, c, s) for s in found), default=0.0) for c in left}
        scores = {c: balance * worth[c] - (1 - balance) * near[c] for c in left}
        found.append(pick(scores, candidates.totals[:, u], left))
        left.remove(found[-1])
    return found


def xquad_twin(candidates, k, balance, u, user=0):
    worth = np.average(candidates.values[:, :, u], axis=0, weights=candidates.weights)
    codes = [code if code >= 0 else 100 + c for c, code in enumerate(candidates.categories.tolist())]
    left, found = np.flatnonzero(candidates.available[:, u]).tolist(), []
    relevance = candidates.values[user, :, u]
    p = {t: sum(relevance[c] for c in left if codes[c] == t) / sum(relevance[left]) for t in codes}
    while left and len(found) < k:
        missing = {t: np.prod([1 - worth[s] for s in found if codes[s] == t]) for t in codes}
        scores = {c: balance * worth[c] + (1 - balance) * p[codes[c]] * worth[c] * missing[codes[c]] for c in left}
        found.append(pick(scores, candidates.totals[:, u], left))
        left.remove(found[-1])
    return found


def lists(slates):
    return [[c for c in items if c >= 0] for items in slates.items.tolist()]


@pytest.mark.parametrize("balance", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_mmr_against_the_twin(balance, k):
    for seed in range(4):
        available = np.random.default_rng(seed).random((9, 5)) < 0.8
        candidates = world(seed, available=available, weights=[1.0, 3.0])
        found = MaximalMarginalRelevance(balance)(candidates, k)
        assert lists(found) == [mmr_twin(candidates, k, balance, u) for u in range(5)]


@pytest.mark.parametrize("balance", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_xquad_against_the_twin(balance, k):
    for seed in range(4):
        available = np.random.default_rng(seed).random((9, 5)) < 0.8
        candidates = world(seed, available=available, weights=[1.0, 3.0])
        found = ExplicitQueryAspects(balance)(candidates, k)
        assert lists(found) == [xquad_twin(candidates, k, balance, u) for u in range(5)]


def test_mmr_by_hand():
    values = np.array([0.9, 0.8, 0.7, 0.1])[None, :, None]
    candidates = Candidates(ExpectedRewards(values, stakeholders=["u"], actions=list("abcd")), categories=[0, 0, 1, 2])
    assert MaximalMarginalRelevance(1.0)(candidates, 3).names(0) == ("a", "b", "c")
    # balance .7: b loses .3 of .56, so c (.49) is next, then b (.26) before d (.07)
    assert MaximalMarginalRelevance(0.7)(candidates, 3).names(0) == ("a", "c", "b")
    assert MaximalMarginalRelevance(0.5)(candidates, 3).names(0) == ("a", "c", "d")


def test_more_categories_with_less_balance():
    candidates = world(3, n_items=40, n_users=30, categories=np.repeat(np.arange(5), 8))
    for rule in (MaximalMarginalRelevance, ExplicitQueryAspects):
        counts = [
            np.mean([len(set((candidates.categories[items]).tolist())) for items in rule(balance)(candidates, 5).items])
            for balance in (1.0, 0.5, 0.0)
        ]
        assert counts[0] < counts[1] <= counts[2]


def test_without_categories_order_is_by_worth():
    candidates = world(2, categories=None)
    plain = MaximalMarginalRelevance(1.0)(candidates, 4)
    np.testing.assert_array_equal(MaximalMarginalRelevance(0.2)(candidates, 4).items, plain.items)
    np.testing.assert_array_equal(plain.items, np.argsort(-candidates.values.mean(axis=0), axis=0)[:4].T)


@pytest.mark.parametrize("rule", [MaximalMarginalRelevance(), ExplicitQueryAspects()], ids=["mmr", "xquad"])
def test_edges(rule):
    assert rule(world(n_stakeholders=1, n_users=1), 2).lengths.tolist() == [2]
    assert rule(world(n_items=2), 5).lengths.tolist() == [2] * 5
    nothing = rule(world(available=np.zeros(9, dtype=bool)), 3)
    assert (nothing.items == -1).all()
    assert not nothing.tied.any()
    same = Candidates(ExpectedRewards(np.full((2, 4, 1), 0.5), stakeholders=["a", "b"], actions=list("wxyz")))
    assert rule(same, 2).names(0) == ("w", "x")
    assert rule(same, 2).tied[0]
    nil = Candidates(
        ExpectedRewards(np.zeros((1, 4, 1)), stakeholders=["a"], actions=list("wxyz")), categories=[0, 0, 1, 1]
    )
    assert len(rule(nil, 3).names(0)) == 3
    heard = world(1, n_users=50, weights=[1.0, 0.0])
    muted = rule(heard, 3)
    alone = Candidates(
        ExpectedRewards(heard.values[:1], stakeholders=["s0"], actions=list(heard.items)), categories=heard.categories
    )
    np.testing.assert_array_equal(muted.items, rule(alone, 3).items)
    assert rules.create(rule.name, rule.parameters) == rule


class TestTypes:
    def test_items_without_a_category_are_alone(self):
        assert types_of(np.array([2, -1, 0, 2, -1])).tolist() == [1, 2, 0, 1, 3]
        assert types_of(np.array([-1, -1])).tolist() == [0, 1]

    def test_by_hand(self):
        relevance = np.array([[0.3, 0.0], [0.1, 0.0], [0.4, 0.0], [0.9, 0.9]])
        available = np.array([[True] * 2] * 3 + [[False] * 2])
        types = np.array([0, 0, 1, 2])
        assert wanted_types(relevance, available, types).T == pytest.approx(np.array([[0.5, 0.5, 0.0]] * 2))
        assert wanted_types(relevance, available & False, types).tolist() == [[0.0, 0.0]] * 3
        smooth = wanted_types(np.array([[0.3], [0.1]]), np.ones((2, 1), dtype=bool), np.array([0, 1]), 0.5, 0.2)
        assert smooth.ravel() == pytest.approx([0.8 * 0.9 + 0.1, 0.8 * 0.1 + 0.1])

    @given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.floats(0.05, 20), st.floats(0, 1))
    @settings(max_examples=60, deadline=None)
    def test_chances_sum_to_one(self, relevance, temperature, smoothing):
        found = wanted_types(
            np.array(relevance)[:, None], np.ones((4, 1), dtype=bool), np.array([0, 1, 1, 2]), temperature, smoothing
        )
        assert found.sum() == pytest.approx(1.0)
        assert (found >= 0).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MaximalMarginalRelevance(1.5), InputError, "balance is 1.5; allowed: from 0 to 1"),
        (lambda: ExplicitQueryAspects(-0.1), InputError, "balance is -0.1"),
        (lambda: ExplicitQueryAspects(temperature=0), InputError, "temperature is 0"),
        (lambda: ExplicitQueryAspects(smoothing=2), InputError, "smoothing is 2"),
        (lambda: ExplicitQueryAspects(user="me")(world(), 2), UnknownNameError, "unknown stakeholder named as user"),
    ],
)
def test_wrong_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
