"""Budgets over the batch: against all assignments, against the assignment problem, and their messages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from accordant.errors import InputError
from accordant.strategies.constraints import Constrained, price_of
from accordant.utilities import ExpectedRewards

BUDGETS = [{"a0": 2}, {"a1": 0}, {"a2": 0.34}, {"a0": 1, "a1": 2}, {"a0": 0, "a2": 3}, {"a0": 2, "a1": 2, "a2": 2}]
CONSTRAINTS = [
    {},
    {"floors": {"i0": 0.4}},
    {"vetoes": {"i1": "worst"}},
    {"forbidden": [{"actions": "a1", "where": {"group": "f"}}]},
]


def fits(budgets, n):
    """Whether codes keep within budgets."""
    caps = {int(name[1:]): k if isinstance(k, int) else math.floor(k * n + 1e-9) for name, k in budgets.items()}
    return lambda codes: all(list(codes).count(a) <= k for a, k in caps.items())


@pytest.mark.long
@pytest.mark.parametrize("budgets", BUDGETS, ids=str)
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("rule", ["maximin", "nash_bargaining", "leximin"])
def test_against_all_assignments(rule, constraints, budgets, make_world, brute, worth_of):
    met = 0
    for seed in range(12):
        world = make_world(seed)
        scores = world.scores(rule)
        admissible = world.decide("maximin", **constraints).scores.T.tolist()  # a rule that gives no −inf itself
        allowed = [[a for a in range(3) if row[a] > -math.inf] for row in admissible]
        best = brute(scores, allowed, fits(budgets, 6))
        if best is None:
            with pytest.raises(InputError, match="budgets cannot be met with floors, vetoes and prohibitions"):
                world.decide(rule, budgets=budgets, **constraints)
            continue
        met += 1
        found = world.decide(rule, budgets=budgets, **constraints)
        assert found.policy is None
        assert fits(budgets, 6)(found.codes.tolist())
        assert all(a in row for a, row in zip(found.codes.tolist(), allowed, strict=True))
        np.testing.assert_allclose(worth_of(found, scores), best, atol=1e-9)
    assert met > 0


@pytest.mark.parametrize(
    "budgets", [{"a0": 40}, {"a0": 40, "a1": 30}, {"a0": 50, "a1": 50, "a2": 50}, {"a1": 0.1, "a2": 0.5}]
)
def test_against_the_assignment_problem(budgets, make_world, worth_of):
    """Columns of the score matrix are replicated once per place (Kuhn 1955)."""
    world = make_world(4, n=150, grid=False)
    scores = np.array(world.scores())
    places = [budgets.get(f"a{a}", 150) for a in range(3)]
    places = [k if isinstance(k, int) else round(k * 150) for k in places]
    wide = np.repeat(scores, places, axis=1)
    rows, columns = linear_sum_assignment(wide, maximize=True)
    found = world.decide(budgets=budgets)
    np.testing.assert_allclose(worth_of(found, scores.tolist())[1], wide[rows, columns].sum(), rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000), tight=st.integers(0, 6), more=st.integers(0, 6), second=st.integers(0, 6))
def test_a_wider_budget_never_lowers_the_sum(seed, tight, more, second, make_world, worth_of):
    world = make_world(seed)
    scores = world.scores()
    for others in ({}, {"a1": second}):
        narrow, wide = (world.decide(budgets={"a0": k, **others}) for k in (tight, tight + more))
        assert worth_of(wide, scores)[1] >= worth_of(narrow, scores)[1] - 1e-9


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(0, 6))
def test_the_price_of_a_place_is_what_one_more_adds(seed, k, make_world, worth_of):
    world = make_world(seed, grid=False)
    rule, scores = Constrained("maximin", budgets={"a0": k}), world.scores()
    more = (
        worth_of(world.decide(budgets={"a0": k + 1}), scores)[1] - worth_of(world.decide(budgets={"a0": k}), scores)[1]
    )
    np.testing.assert_allclose(price_of(rule, world.E).per_place["a0"], more, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(0, 6), shift=st.integers(-3, 3))
def test_adding_a_constant_to_all_scores_changes_nothing(seed, k, shift, make_world):
    """The utilitarian mean of E/2 and of E/2 + 1/2·shift/8 differ by a constant."""
    world = make_world(seed)
    shifted = ExpectedRewards(
        world.values / 2 + 0.5 * (shift + 3) / 12, stakeholders=("i0", "i1"), actions=world.E.actions
    )
    plain = ExpectedRewards(world.values / 2, stakeholders=("i0", "i1"), actions=world.E.actions)
    for budgets in ({"a0": k}, {"a0": k, "a1": 3}):
        rule = Constrained("utilitarian", budgets=budgets)
        left, right = rule(plain), rule(shifted)
        mean = plain.values.mean(axis=0)
        rows = np.arange(6)
        np.testing.assert_allclose(mean[left.codes, rows].sum(), mean[right.codes, rows].sum(), atol=1e-9)
        if len(budgets) == 1:
            np.testing.assert_array_equal(left.codes, right.codes)


def test_places_go_to_the_largest_gain():
    E = ExpectedRewards([[[0.9, 0.8, 0.7], [0.1, 0.5, 0.6]]], stakeholders=["i"], actions=["Grant", "Deny"])
    assert Constrained("maximin", budgets={"Grant": 1})(E).actions.tolist() == ["Grant", "Deny", "Deny"]
    assert Constrained("maximin", budgets={"Grant": 2})(E).actions.tolist() == ["Grant", "Grant", "Deny"]


def test_equal_gains_go_to_the_utilitarian_sum_and_then_to_the_earlier_context():
    """i decides and gains 0.4 everywhere; j gains most in the third context, and equally in the others."""
    values = [[[0.7, 0.9, 0.8, 0.9], [0.3, 0.5, 0.4, 0.5]], [[0.9, 0.9, 0.9, 0.9], [0.8, 0.8, 0.1, 0.8]]]
    E = ExpectedRewards(values, stakeholders=["i", "j"], actions=["Grant", "Deny"])
    rule = {"name": "stakeholder", "parameters": {"stakeholder": "i"}}
    for k, places in ((1, [2]), (2, [0, 2]), (3, [0, 1, 2])):
        assert np.flatnonzero(Constrained(rule, budgets={"Grant": k})(E).codes == 0).tolist() == places


def test_shares_and_counts():
    E = ExpectedRewards(np.full((1, 2, 100), [[[0.9], [0.1]]]), stakeholders=["i"], actions=["x", "y"])
    for budget, granted in ((1, 1), (1.0, 100), (0.29, 29), (0.005, 0), (0, 0), (200, 100), (0.0, 0)):
        assert (Constrained("maximin", budgets={"x": budget})(E).codes == 0).sum() == granted


def test_minus_infinity_is_spared_first():
    """One place for x: without it context 1 has −inf, context 0 only loses a lot. Finite sums come second."""
    generator = np.random.default_rng(2)
    for _ in range(20):
        values = generator.integers(0, 3, (2, 3, 8)) / 2
        E = ExpectedRewards(values, stakeholders=["i", "j"], actions=["x", "y", "z"])
        scores = Constrained("nash_bargaining")(E).scores
        rows = np.arange(8)
        for budgets in ({"x": 2}, {"x": 2, "y": 3}):
            found = Constrained("nash_bargaining", budgets=budgets)(E)
            finite = np.where(np.isneginf(scores), -1e6, scores)  # what would do, were it not for rounding
            wide = np.repeat(finite, [budgets.get(a, 8) for a in "xyz"], axis=0).T
            best = wide[linear_sum_assignment(wide, maximize=True)].sum()
            np.testing.assert_allclose(finite[found.codes, rows].sum(), best, rtol=1e-9)


def test_a_budget_that_does_not_bind_leaves_the_rule_alone(make_world):
    world = make_world(0, n=40)
    alone = world.decide()
    for budgets in ({"a0": 40}, {"a0": 1.0, "a1": 1.0, "a2": 1.0}):
        found = world.decide(budgets=budgets)
        np.testing.assert_array_equal(found.codes, alone.codes)
        np.testing.assert_array_equal(found.tied, alone.tied)
        assert not found.flags["changed"].any()


@pytest.mark.long
def test_large_batch_of_several_budgets_meets_its_dual(make_world, worth_of):
    """Prices prove optimality without a solver: Σ max_a (Φ − price) + Σ price × capacity is an upper bound."""
    world = make_world(3, n=8000, grid=False)
    rule = Constrained("maximin", budgets={"a0": 0.2, "a1": 1000})
    found, price = rule(world.E), price_of(rule, world.E)
    scores = np.array(world.scores()).T
    prices = np.array([price.per_place.get(f"a{a}", 0.0) for a in range(3)])
    bound = (scores - prices[:, None]).max(axis=0).sum() + prices @ np.array([1600, 1000, 0])
    np.testing.assert_allclose(worth_of(found, scores.T.tolist())[1], bound, rtol=1e-10)
    assert np.bincount(found.codes, minlength=3)[:2].tolist() == [1600, 1000]


@pytest.mark.parametrize(("budgets", "message"), [
    ({"a0": 1, "a1": 2, "a2": 1}, r"capacities \(a0 1, a1 2, a2 1\) sum to 4, the batch has 6 contexts, 2 too many"),
    ({"a0": 0.5, "a1": 0.1, "a2": 0.1}, r"\(a0 3, a1 0, a2 0\) sum to 3, the batch has 6 contexts, 3 too many"),
    ({"a0": -1}, "budget of 'a0' is -1; allowed: a whole number of contexts, or a share"),
    ({"a0": 1.5}, "budget of 'a0' is 1.5"),
    ({"a0": True}, "budget of 'a0' is True"),
    ({"a0": "many"}, "budget of 'a0' is 'many'"),
    ({"b": 1}, "unknown action in budgets: 'b'"),
    (3, "allowed: a mapping from action to a number"),
])  # fmt: skip
def test_what_is_refused(budgets, message, make_world):
    with pytest.raises(InputError, match=message):
        make_world(0).decide(budgets=budgets)


def test_budgets_against_prohibitions_name_the_actions_and_the_gap():
    E = ExpectedRewards(np.full((1, 3, 5), 0.5), stakeholders=["i"], actions=["x", "y", "z"])
    rule = Constrained("maximin", forbidden=[{"actions": "z"}], budgets={"x": 1, "y": 2})
    with pytest.raises(InputError, match=r"5 contexts admit nothing but x, y \(capacities: x 1, y 2\), 2 too many"):
        rule(E)


@pytest.mark.parametrize("shape", [(2, 3, 0), (1, 1, 4), (1, 2, 1)])
def test_small_shapes(shape):
    E = ExpectedRewards(np.full(shape, 0.5), stakeholders=[f"i{i}" for i in range(shape[0])],
                        actions=[f"a{a}" for a in range(shape[1])])  # fmt: skip
    found = Constrained("maximin", budgets={"a0": 1.0})(E)
    assert found.codes.tolist() == [0] * shape[2]
    assert price_of(Constrained("maximin", budgets={"a0": 1.0}), E).per_place == {"a0": 0.0}
