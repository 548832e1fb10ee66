"""E as claims: what agents settle on is what the bargain rule says of the numbers, whatever the road there."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import strategies
from accordant.agents.frameworks.own_reward import OwnReward
from accordant.allocations import AdditiveUtility
from accordant.deliberation.decision.claims import Claims
from accordant.deliberation.decision.options import DecisionOptions
from accordant.deliberation.decision.section import hold
from accordant.deliberation.participants import cast_of
from accordant.errors import InputError
from accordant.naming import Named
from accordant.utilities import ExpectedRewards

STEPS = 60


def rewards(values, actions="BADC"):
    """Return E with actions that are not declared in the order of their names."""
    values = np.asarray(values, dtype=float)
    who = tuple(f"s{i}" for i in range(len(values)))
    return ExpectedRewards(values, stakeholders=who, actions=tuple(actions[: values.shape[1]]))


def agents_of(expected, concession="linear"):
    named = [Named(who, {"concession": concession}) for who in expected.stakeholders]
    return cast_of(named, corpus="none", stakeholders=expected.stakeholders).agents


def settled(claims, expected, concession="linear", **options):
    return hold(claims, DecisionOptions(**options), agents_of(expected, concession)).settled


def twin(worth, exponent=1.0):
    """Return the option that is accepted by all first, of several that with the largest product; ties by the order.

    `worth`: utility of each option for each stakeholder, options in the order of ties.
    """
    spans = [(min(row), max(row)) for row in worth]
    scaled = [
        [1.0 if high - low <= 1e-12 else (value - low) / (high - low) for value in row]
        for row, (low, high) in zip(worth, spans, strict=True)
    ]
    for step in range(STEPS + 1):
        band = 1 - (step / STEPS) ** exponent
        common = [a for a in range(len(worth[0])) if all(row[a] >= band - 1e-12 for row in scaled)]
        if common:
            products = [prod(row[a] for row in scaled) for a in common]
            return next(a for a, each in zip(common, products, strict=True) if each >= max(products) * (1 - 1e-12))
    raise AssertionError


def in_order_of_ties(totals):
    return sorted(range(len(totals)), key=lambda place: (-round(totals[place], 12), place))


def numbers(low=0):
    grid = st.integers(low, 6).map(lambda k: k / 6)
    return st.one_of(grid, st.floats(low, 1, allow_subnormal=False).map(lambda x: round(x, 6)))


E = st.tuples(st.integers(2, 4), st.integers(2, 4)).flatmap(
    lambda size: st.lists(st.lists(numbers(), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0])
)


@pytest.mark.long
@settings(max_examples=60)
@given(E)
def test_one_decision_is_that_of_the_debate_strategy_and_of_a_twin(values):
    expected = rewards(np.array(values)[:, :, None])
    found = settled(Claims.of_actions(expected, expected.stakeholders), expected)
    action = list(found.allocation.claimants)
    decided = strategies.create("debate")(expected)
    assert action == [str(decided.actions[0])] and found.rule == "bargain"
    order = in_order_of_ties(np.sum(values, axis=0))
    assert action == [expected.actions[order[twin([[row[a] for a in order] for row in values])]]]


def test_ties_are_told_and_go_to_the_higher_sum_then_to_the_declared_order():
    level = rewards([[[0.5], [0.5]], [[0.2], [0.2]]])
    found = settled(Claims.of_actions(level, level.stakeholders), level)
    assert found.tied and found.allocation.claimants == ("B",)  # as declared, not by name
    everything_zero = rewards(np.zeros((2, 3, 1)))
    assert settled(Claims.of_actions(everything_zero, ("s0", "s1")), everything_zero).allocation.claimants == ("B",)
    mirrored = rewards([[[0.0], [0.5]], [[0.9], [0.0]]])
    found = settled(Claims.of_actions(mirrored, mirrored.stakeholders), mirrored)
    assert found.tied and found.allocation.claimants == ("B",)  # .9 beside .5
    found = settled(Claims.of_actions(mirrored, ("s0",)), mirrored)
    assert found.allocation.claimants == ("A",)  # who has no say does not count in the sum


def test_without_agreement_the_highest_sum_is_taken_as_the_debate_strategy_does():
    expected = rewards([[[1.0], [0.0], [0.6]], [[0.0], [0.8], [0.7]]])
    found = settled(Claims.of_actions(expected, expected.stakeholders), expected, "hardheaded")
    assert not found.agreed and found.allocation.claimants == ("D",)
    decided = strategies.create("debate", {"concession": "hardheaded"})(expected)
    assert decided.flags["no_agreement"][0] and list(decided.actions) == ["D"]


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["offers", "vote"])
@settings(max_examples=20)
@given(values=E)
def test_every_protocol_takes_exactly_one_action(protocol, values):
    expected = rewards(np.array(values)[:, :, None])
    found = settled(Claims.of_actions(expected, expected.stakeholders), expected, protocol=protocol)
    assert len(found.allocation.claimants) == 1


def test_a_tied_vote_goes_to_the_higher_sum():
    for better, values in (("A", [[0.6, 0.0], [0.2, 0.9]]), ("B", [[0.6, 0.0], [0.7, 0.9]])):
        expected = rewards(np.array(values)[:, :, None])
        found = settled(Claims.of_actions(expected, expected.stakeholders), expected, protocol="vote")
        assert found.tied and found.allocation.claimants == (better,)


GAINS = st.lists(st.lists(numbers(-6), min_size=5, max_size=5), min_size=2, max_size=3)


@pytest.mark.long
@settings(max_examples=40)
@given(GAINS, st.integers(1, 4))
def test_a_batch_under_a_budget_is_that_of_enumeration(gains, capacity):
    """E of the other action is ½, so that gains in [−½, ½] are those that were drawn."""
    drawn = np.array(gains) / 2
    expected = rewards(np.stack([np.clip(0.5 + drawn, 0, 1), np.full_like(drawn, 0.5)], axis=1))
    rows = [10, 3, 7, 200, 4]
    claims = Claims.of_rows(expected, rows, "B", "A", capacity, expected.stakeholders)
    found = settled(claims, expected)
    worth = expected.values[:, 0, :] - expected.values[:, 1, :]
    options = list(combinations(range(5), capacity))  # those who stand first come first
    sums = [[float(row[list(each)].sum()) for each in options] for row in worth]
    order = in_order_of_ties(np.sum(worth, axis=0) @ np.array([[t in each for each in options] for t in range(5)]))
    best = options[order[twin([[row[k] for k in order] for row in sums])]]
    assert set(found.allocation.claimants) == {f"row {rows[t]}" for t in best}


def test_options_stand_in_the_order_of_ties():
    expected = rewards([[[0.1], [0.4], [0.4]], [[0.2], [0.3], [0.3]]])
    claims = Claims.of_actions(expected, expected.stakeholders)
    names = [claims.options().allocation(k).claimants for k in range(3)]
    assert names == [("A",), ("D",), ("B",)] and claims.without_agreement().claimants == ("A",)
    many = rewards(np.random.default_rng(0).random((2, 2, 40)))
    crowd = Claims.of_rows(many, range(40), "B", "A", 20, many.stakeholders)
    assert crowd.options() is None and len(crowd.without_agreement().claimants) == 20


def test_own_reward_reads_one_fact_and_says_so():
    expected = rewards([[[0.3], [0.9]], [[0.8], [0.1]]])
    scenario = Claims.of_actions(expected, expected.stakeholders).scenario
    framework = OwnReward("s1")
    assert framework.sees == ("s1",) and "s1" in framework.title and "s1" in framework.claim
    utility = framework.utility(scenario.seen(framework.sees), 0)
    assert isinstance(utility, AdditiveUtility) and utility.values.tolist() == [0.1, 0.8]  # by name: A, B
    with pytest.raises(InputError, match="fact is ''; allowed: a text"):
        OwnReward("")
