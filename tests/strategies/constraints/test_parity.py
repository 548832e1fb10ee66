"""Parity over the batch: against a linear programme written differently, and what a bound must never break."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron

from accordant import metrics, strategies
from accordant.contexts import Contexts, Log
from accordant.errors import InputError, UnknownNameError
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.strategies.constraints import Constrained, price_of
from accordant.utilities import ExpectedRewards

HOPELESS = -1e5  # stands for −inf in the twin; far below any sum of finite scores here


def pairwise_programme(scores, groups, favourable, within, budgets=None, allowed=None):
    """The best expected sum of scores: one row per ordered pair of groups, variables by context, then action."""
    scores, n, n_actions = np.array(scores), len(scores), len(scores[0])
    value = np.where(np.isneginf(scores), HOPELESS, scores).ravel()
    counts = np.isin(np.arange(n_actions), favourable)
    rows, limits = [], []
    for g, h in itertools.permutations(sorted(set(groups)), 2):
        rate = {each: np.outer(groups == each, counts).ravel() / (groups == each).sum() for each in (g, h)}
        rows.append(rate[g] - rate[h])
        limits.append(within)
    for action, places in (budgets or {}).items():
        rows.append(np.tile(np.arange(n_actions) == action, n).astype(float))
        limits.append(places)
    upper = np.ones(n * n_actions) if allowed is None else np.array(allowed, dtype=float).ravel()
    found = linprog(
        -value, A_ub=np.array(rows) if rows else None, b_ub=limits if rows else None,
        A_eq=kron(eye_array(n), np.ones((1, n_actions)), format="csr"), b_eq=np.ones(n),
        bounds=np.column_stack([np.zeros(len(upper)), upper]), method="highs",
    )  # fmt: skip
    return None if found.status == 2 else -found.fun


def gap_of(decisions, groups, favourable):
    """The largest difference of favourable rates, by probability."""
    taken = decisions.probabilities()[favourable].sum(axis=0)
    rates = [taken[groups == g].mean() for g in sorted(set(groups.tolist()))]
    return max(rates) - min(rates)


def total(decisions, scores):
    """The expected sum of scores."""
    values = np.where(np.isneginf(scores), HOPELESS, scores).T
    return float((decisions.probabilities() * values).sum())


def bound(within, favourable=("a0",), **more):
    return {"attribute": "group", "within": within, "favourable": list(favourable), **more}


@pytest.mark.long
@pytest.mark.parametrize("within", [0.0, 0.07, 0.3])
@pytest.mark.parametrize("favourable", [[0], [0, 2]])
@pytest.mark.parametrize("rule", ["maximin", "nash_bargaining", "leximin"])
@pytest.mark.parametrize("constraints", [{}, {"floors": {"i0": 0.4}}, {"vetoes": {"i1": "worst"}}], ids=str)
def test_against_pairwise_programme(rule, constraints, favourable, within, make_world):
    met = 0
    for seed, grid in itertools.product(range(10), (True, False)):
        world = make_world(seed, n=14, groups=3, grid=grid)
        scores = world.scores(rule)
        admissible = np.array(world.decide("maximin", **constraints).scores.T) > -math.inf
        best = pairwise_programme(scores, world.groups, favourable, within, allowed=admissible)
        parity = bound(within, [f"a{a}" for a in favourable])
        if best is None:
            with pytest.raises(InputError, match="cannot be met: floors, vetoes and prohibitions keep"):
                world.decide(rule, parity=parity, **constraints)
            continue
        met += 1
        found = world.decide(rule, parity=parity, **constraints)
        np.testing.assert_allclose(total(found, scores), best, rtol=1e-9, atol=1e-6 if best < -1e4 else 1e-8)
        assert gap_of(found, world.groups, favourable) <= within + 1e-12
        assert not found.probabilities()[~admissible.T].any()
        np.testing.assert_allclose(found.probabilities().sum(axis=0), 1.0)
        drawn = found.flags["randomised"]
        assert all(drawn[world.groups == g].sum() <= 1 for g in range(3))
        np.testing.assert_array_equal(drawn, (found.probabilities() < 1).all(axis=0))
        assert (found.policy is None) == (not drawn.any())
    assert met > 0


@pytest.mark.long
@pytest.mark.parametrize("within", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("rule", ["maximin", "nash_social_welfare", "utilitarian"])
def test_ten_thousand_contexts_three_actions_three_groups(rule, within, make_world):
    """The optimum equals that of HiGHS on the pairwise programme to 1e-7 relative."""
    world = make_world(5, n=10_000, grid=False, stakeholders=3)
    world.groups = np.random.default_rng(1).choice(3, size=10_000, p=[0.7, 0.25, 0.05])
    world.groups[(world.values[0, 0] > 0.6) & (world.groups == 1)] = 2  # rates differ between groups
    world.contexts = Contexts({"group": world.groups})
    scores = world.scores(rule)
    found = world.decide(rule, parity=bound(within, ["a0", "a1"]))
    best = pairwise_programme(scores, world.groups, [0, 1], within)
    assert abs(total(found, scores) - best) <= 1e-7 * abs(best)
    assert gap_of(found, world.groups, [0, 1]) <= within + 1e-12
    assert gap_of(world.decide(rule), world.groups, [0, 1]) > 0.05
    assert found.flags["randomised"].sum() <= 3


@pytest.mark.few(2)
@pytest.mark.parametrize("budgets", [{"a0": 4}, {"a0": 3, "a1": 8}, {"a2": 0.2}], ids=str)
@pytest.mark.parametrize("within", [0.0, 0.1])
@pytest.mark.parametrize("rule", ["maximin", "nash_bargaining"])
def test_with_budgets(rule, within, budgets, make_world):
    for seed, constraints in itertools.product(range(8), ({}, {"floors": {"i0": 0.4}})):
        world = make_world(seed, n=14, groups=3)
        scores = world.scores(rule)
        admissible = np.array(world.decide("maximin", **constraints).scores.T) > -math.inf
        places = {int(name[1:]): k if isinstance(k, int) else math.floor(14 * k) for name, k in budgets.items()}
        best = pairwise_programme(scores, world.groups, [0], within, places, admissible)
        if best is None:
            with pytest.raises(InputError, match="cannot be met"):
                world.decide(rule, parity=bound(within), budgets=budgets, **constraints)
            continue
        found = world.decide(rule, parity=bound(within), budgets=budgets, **constraints)
        np.testing.assert_allclose(total(found, scores), best, rtol=1e-9, atol=1e-6 if best < -1e4 else 1e-7)
        assert gap_of(found, world.groups, [0]) <= within + 1e-8
        used = found.probabilities().sum(axis=1)
        assert all(used[a] <= k + 1e-8 for a, k in places.items())
        assert not found.probabilities()[~admissible.T].any()


def test_no_enumerated_assignment_is_better(make_world, brute):
    """A policy is at least as good as every deterministic assignment that keeps the bound."""
    for seed in range(10):
        world = make_world(seed)
        scores = world.scores()
        groups = world.groups

        def fits(codes, groups=groups):
            taken = np.array(codes) == 0
            rates = [taken[groups == g].mean() for g in set(groups.tolist())]
            return max(rates) - min(rates) <= 0.25 + 1e-12

        best = brute(scores, [range(3)] * 6, fits)
        assert total(world.decide(parity=bound(0.25)), np.array(scores)) >= best[1] - 1e-9


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 5000),
    low=st.integers(0, 20),
    more=st.integers(0, 20),
    groups=st.integers(1, 4),
    grid=st.booleans(),
)
def test_a_wider_bound_never_lowers_the_sum(seed, low, more, groups, grid, make_world):
    world = make_world(seed, n=9, groups=groups, grid=grid)
    scores = np.array(world.scores())
    narrow, wide = (world.decide(parity=bound(min(1.0, each / 20))) for each in (low, low + more))
    assert total(wide, scores) >= total(narrow, scores) - 1e-9
    np.testing.assert_allclose(
        total(narrow, scores), pairwise_programme(scores, world.groups, [0], low / 20), rtol=1e-9, atol=1e-8
    )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 5000))
def test_a_bound_of_one_is_none(seed, make_world):
    world = make_world(seed, n=9, groups=3)
    alone, found = world.decide(), world.decide(parity=bound(1.0))
    np.testing.assert_array_equal(found.codes, alone.codes)
    np.testing.assert_array_equal(found.tied, alone.tied)
    assert found.policy is None
    assert not found.flags["randomised"].any()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 5000), within=st.sampled_from([0.0, 0.1, 0.2]), shift=st.integers(0, 6))
def test_adding_a_constant_to_all_scores_changes_nothing(seed, within, shift, make_world):
    world = make_world(seed, n=9, groups=3)
    names = {"stakeholders": world.E.stakeholders, "actions": world.E.actions}
    rule = Constrained("utilitarian", parity=bound(within))
    plain, shifted = (ExpectedRewards(world.values / 2 + s / 12, **names) for s in (0, shift))
    left, right = rule(plain, contexts=world.contexts), rule(shifted, contexts=world.contexts)
    np.testing.assert_allclose(left.probabilities(), right.probabilities(), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 5000), within=st.floats(0, 0.3))
def test_the_price_of_the_bound_is_its_slope(seed, within, make_world):
    world = make_world(seed, n=9, groups=3, grid=False)
    scores, step = np.array(world.scores()), 1e-7
    price = price_of(Constrained("maximin", parity=bound(within)), world.E, contexts=world.contexts)
    here, there = (total(world.decide(parity=bound(each)), scores) for each in (within, within + step))
    np.testing.assert_allclose(price.per_tolerance, (there - here) / step, atol=1e-4)


def test_a_worked_example():
    """Two groups of two; granting gains 0.8, 0.6 in f and −0.1, −0.7 in m. Alone: f 2 of 2, m 0 of 2.

    With ε = 0 the second grant in f (0.6) and the second in m (−0.7) cost more together than they bring; the first
    grant in m (−0.1) costs less than the second in f brings. So both grant... f: 0.8 + 0.6 − 0.1 − 0.7 = 0.6 with rate
    1, 0.8 − 0.1 = 0.7 with rate 1/2, 0 with rate 0: rate 1/2. With ε = 0.25 the window is [1/2, 3/4]: half of 0.6 more.
    """
    grant, deny = [0.9, 0.7, 0.1, 0.1], [0.1, 0.1, 0.2, 0.8]
    E = ExpectedRewards([[grant, deny]], stakeholders=["i"], actions=["a0", "a1"])
    contexts = Contexts({"group": ["f", "f", "m", "m"]})
    even = Constrained("utilitarian", parity=bound(0.0))(E, contexts=contexts)
    assert even.codes.tolist() == [0, 1, 0, 1]
    assert even.policy is None
    assert even.flags["changed"].tolist() == [False, True, True, False]
    near = Constrained("utilitarian", parity=bound(0.25))(E, contexts=contexts)
    np.testing.assert_allclose(near.policy[0], [1, 0.5, 1, 0])
    assert near.flags["randomised"].tolist() == [False, True, False, False]
    price = price_of(Constrained("utilitarian", parity=bound(0.25)), E, contexts=contexts)
    np.testing.assert_allclose(
        [price.score_lost, price.score_lost_per_context, price.changed, price.per_tolerance], [0.4, 0.1, 0.375, 1.2]
    )
    np.testing.assert_allclose(price.reward_change["i"], -0.1)


def test_groups_of_one_and_a_single_group():
    values = np.array([[[0.9, 0.1, 0.6], [0.2, 0.5, 0.5]]])
    E = ExpectedRewards(values, stakeholders=["i"], actions=["a0", "a1"])
    single = Constrained("maximin", parity=bound(0.0))(E, contexts=Contexts({"group": ["x", "x", "x"]}))
    assert single.codes.tolist() == [0, 1, 0]
    ones = Constrained("maximin", parity=bound(0.0))(E, contexts=Contexts({"group": ["x", "y", "z"]}))
    assert ones.codes.tolist() == [0, 0, 0]
    half = Constrained("maximin", parity=bound(0.5))(E, contexts=Contexts({"group": ["x", "y", "z"]}))
    np.testing.assert_allclose(half.probabilities()[0], [1, 0.5, 1])


def test_all_actions_favourable_and_one_action(make_world):
    world = make_world(2, n=20)
    alone = world.decide()
    np.testing.assert_array_equal(world.decide(parity=bound(0.0, ["a0", "a1", "a2"])).codes, alone.codes)
    one = make_world(2, n=20, actions=1)
    assert one.decide(parity=bound(0.0)).codes.tolist() == [0] * 20


def test_empty_batch():
    E = ExpectedRewards(np.zeros((2, 3, 0)), stakeholders=["i0", "i1"], actions=["a0", "a1", "a2"])
    for more in ({}, {"budgets": {"a0": 0, "a1": 2}}):
        rule = Constrained("maximin", parity=bound(0.1), **more)
        assert rule(E, contexts=Contexts({"group": []})).n_contexts == 0
        assert np.isnan(price_of(rule, E, contexts=Contexts({"group": []})).score_lost_per_context)


def test_equal_gains_change_where_the_utilitarian_sum_loses_least_and_then_the_later_context():
    """i decides and would grant everybody in f; one of the three must be denied. j loses least in the second."""
    values = [[[0.9] * 3 + [0.1] * 3, [0.5] * 6], [[0.9, 0.4, 0.9] + [0.5] * 3, [0.2, 0.3, 0.2] + [0.5] * 3]]
    rule = {"name": "stakeholder", "parameters": {"stakeholder": "i"}}
    contexts = Contexts({"group": ["f"] * 3 + ["m"] * 3})
    for within, granted in ((2 / 3, [0, 2]), (1 / 3, [0])):
        E = ExpectedRewards(values, stakeholders=["i", "j"], actions=["a0", "a1"])
        found = Constrained(rule, parity=bound(within))(E, contexts=contexts)
        assert found.policy is None
        assert np.flatnonzero(found.codes[:3] == 0).tolist() == granted


def test_the_metric_sees_the_same_groups_and_gap(make_world):
    """Missing values are a group of their own, in the metric as here."""
    world = make_world(11, n=60, groups=3)
    column = np.where(world.groups == 2, np.nan, world.groups)
    problem = DecisionProblem(
        stakeholders=["i0", "i1"], actions=["a0", "a1", "a2"], outcomes=["o"], favourable_actions=["a0"]
    )
    contexts = Contexts({"group": column})
    log = Log(contexts, np.zeros(60, dtype=np.intp), np.zeros(60, dtype=np.intp))
    evidence = Evidence(problem, log, world.E, world.values)
    metric = metrics.create("demographic_parity", {"attributes": "group"})
    for within in (0.0, 0.05, 0.2):
        rule = Constrained("maximin", parity={"attribute": "group", "within": within}).for_problem(problem)
        found = rule(world.E, contexts=contexts)
        gap = gap_of(found, world.groups, [0])
        assert gap <= within + 1e-12
        value = metric_value(metric, found, evidence)
        np.testing.assert_allclose(value, gap, atol=1e-9)


def metric_value(metric, decisions, evidence):
    """The value of a metric on a batch, as a leaderboard has it."""
    from accordant.evaluation import evaluate

    board = evaluate(
        {"rule": decisions}, {"rule": "compromise"}, evidence, {"parity": (metric, 1.0)}, candidates=["rule"],
        resamples=100, generator=np.random.default_rng(0),
    )  # fmt: skip
    return board.rows[0].metrics["parity"].estimate.value


@pytest.mark.parametrize(("parity", "message"), [
    ({"attribute": "group", "within": 0.1}, "parity needs favourable actions"),
    ({"attribute": "group", "within": 0.1, "favourable": []}, "parity.favourable is ..; allowed: a name, or a list"),
    ({"attribute": "group", "within": 0.1, "favourable": "b0"}, "unknown favourable action 'b0'"),
    ({"attribute": "group", "within": 1.1}, "parity.within is 1.1; allowed: a number in .0, 1."),
    ({"attribute": "group", "within": True}, "parity.within is True"),
    ({"attribute": "group"}, "parity: key 'within' is missing"),
    ({"attribute": "group", "witin": 0.1}, "parity: unknown key 'witin'; did you mean 'within'"),
    ({"attribute": ["group"], "within": 0.1}, "allowed: the name of a column"),
    ({"attribute": "grop", "within": 0.1, "favourable": "a0"}, "column 'grop' is missing; did you mean it by 'group'"),
    (0.1, "parity is 0.1; allowed: a mapping with the keys attribute, within, favourable"),
])  # fmt: skip
def test_what_is_refused(parity, message, make_world):
    with pytest.raises(InputError, match=message):
        make_world(0).decide(parity=parity)


def test_missing_contexts_are_named(make_world):
    with pytest.raises(InputError, match="parity reads the column 'group'; pass contexts="):
        Constrained("maximin", parity=bound(0.1))(make_world(0).E)
    with pytest.raises(InputError, match="6 contexts, and contexts= has 4 rows"):
        Constrained("maximin", parity=bound(0.1))(make_world(0).E, contexts=make_world(0, n=4).contexts)
    assert issubclass(UnknownNameError, InputError)


def test_an_impossible_bound_names_groups_and_the_smallest_gap():
    """All of f must be granted, and only half of m may be: the rates are 1 and at most 1/2."""
    E = ExpectedRewards(np.full((1, 2, 4), 0.5), stakeholders=["i"], actions=["a0", "a1"])
    contexts = Contexts({"group": ["f", "f", "m", "m"], "row": [0, 1, 2, 3]})
    forbidden = [{"actions": "a1", "where": {"group": "f"}}, {"actions": "a0", "where": {"row": 3}}]
    message = (
        "parity of group within 0.1 cannot be met: floors, vetoes and prohibitions keep the favourable rate of "
        "group 'f' at least 0.5 above that of group 'm'"
    )
    with pytest.raises(InputError, match=message):
        Constrained("maximin", forbidden=forbidden, parity=bound(0.1))(E, contexts=contexts)
    enough = Constrained("maximin", forbidden=forbidden, parity=bound(0.5))(E, contexts=contexts)
    assert enough.codes.tolist() == [0, 0, 0, 1]


def test_budgets_that_keep_groups_apart_are_named():
    """f must be granted; two grants are all there is, so m gets none."""
    E = ExpectedRewards(np.full((1, 2, 6), 0.5), stakeholders=["i"], actions=["a0", "a1"])
    contexts = Contexts({"group": ["f", "f", "m", "m", "m", "m"]})
    forbidden = [{"actions": "a1", "where": {"group": "f"}}]
    rule = Constrained("maximin", forbidden=forbidden, budgets={"a0": 3}, parity=bound(0.2))
    with pytest.raises(InputError, match="budgets and what contexts admit keep .* 'f' at least 0.75 above .* 'm'"):
        rule(E, contexts=contexts)


def test_a_score_of_minus_infinity_is_avoided_whatever_it_costs_others():
    """a1 leaves i0 below disagreement in the only context of the first group; the twelve others would gain by a1."""
    values = np.array([[[0.5] * 13, [0.0] + [0.9] * 12]] * 2)
    expected = ExpectedRewards(values, stakeholders=["i0", "i1"], actions=["a0", "a1"])
    contexts = Contexts({"group": np.array([0.0] + [1.0] * 12)})
    rule = strategies.create("nash_bargaining", {"disagreement": (0.4, 0.4)})
    alone = rule(expected)
    assert np.isneginf(alone.scores[1, 0]) and alone.codes.tolist() == [0] + [1] * 12
    found = Constrained(rule, parity=bound(0.0))(expected, contexts=contexts)
    assert found.probabilities()[0] == pytest.approx(np.ones(13))
