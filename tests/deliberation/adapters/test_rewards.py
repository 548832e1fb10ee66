"""E from deliberations, what strategies choose from it, and constrained strategies on patients."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from accordant import strategies
from accordant.agents import create
from accordant.allocations import AdditiveUtility, Claimant, Resource, Scenario
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.assessment import alternatives
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.adapters import COMPARED, choices_by_strategy
from accordant.deliberation.adapters import expected_rewards, names_of, patient_rewards
from accordant.errors import InputError

SMALL = {"patients": 6, "beds": 2}


def held(seed=0, names=("utilitarian", "rawlsian"), **size):
    agents = [create(name) for name in names]
    return debate(random_scenario(seed, **(size or SMALL)), agents, seed=seed)


def test_every_entry_is_the_scaled_utility_of_an_allocation():
    deliberations = [held(seed) for seed in range(3)]
    found = expected_rewards(deliberations)
    assert found.values.shape == (2, 15, 3)
    assert set(found.stakeholders) == {"utilitarian", "rawlsian"}
    ids = deliberations[0].scenario.ids
    for t, each in enumerate(deliberations):
        for i, name in enumerate(found.stakeholders):
            worth = {}
            for pair in itertools.combinations(range(6), 2):
                shares = np.array([[float(k in pair) for k in range(6)]])
                worth[" + ".join(ids[k] for k in pair)] = float(each.utilities[name].of(shares)[0])
            low, high = min(worth.values()), max(worth.values())
            for a, action in enumerate(found.actions):
                assert found.values[i, a, t] == pytest.approx((worth[action] - low) / (high - low), abs=1e-12)


def test_contexts_must_mean_the_same_actions():
    with pytest.raises(InputError, match="at least one deliberation"):
        expected_rewards([])
    with pytest.raises(InputError, match="differ in patients"):
        expected_rewards([held(0), held(1, patients=6, beds=3)])
    with pytest.raises(InputError, match="agents are"):
        expected_rewards([held(0), held(0, ("utilitarian", "care"))])


@pytest.mark.long
def test_too_many_allocations_to_list_need_shared_options():
    large = held(0, patients=20, beds=9)  # 167,960 allocations
    with pytest.raises(InputError, match="too many to list"):
        expected_rewards([large, large])
    sample = alternatives(large, drawn=50).options
    assert sample.position(large.joint) is not None
    given = expected_rewards([large, large], options=sample)
    assert given.values.shape == (2, len(sample), 2)
    assert given.values.min() >= 0
    assert given.values.max() <= 1
    best = strategies.utilitarian(given)
    chosen = choices_by_strategy(large, ["utilitarian"], options=sample)
    assert chosen.allocations["utilitarian"] == sample.allocation(int(best.codes[0]))


def test_names_with_amounts_where_ids_are_not_enough():
    people = [Claimant(each, {"arrival": k}) for k, each in enumerate("ab")]
    halves = debate(Scenario(people, [Resource("oxygen", 1, 0.5)]), [create("procedural")])
    assert names_of(halves.options) == ("a", "a + b", "b")
    quarters = debate(Scenario(people, [Resource("oxygen", 1, 0.25)]), [create("procedural")])
    assert names_of(quarters.options) == ("a 4", "a 3 + b 1", "a 2 + b 2", "a 1 + b 3", "b 4")
    nothing = debate(Scenario(people, [Resource("oxygen", 0, 0.5)]), [create("procedural")])
    assert names_of(nothing.options) == ("nobody",)


def test_strategies_choose_what_they_choose_from_e():
    found = choices_by_strategy(deliberation := held(4))
    assert len(found.allocations) == len(COMPARED)
    given = expected_rewards([deliberation])
    for rule in ("utilitarian", "maximin", "borda"):
        chosen = found.allocations[strategies.create(rule).label]
        assert " + ".join(chosen.claimants) == strategies.create(rule)(given).actions[0]
    for label, each in found.allocations.items():
        assert found.agrees[label] == (each == deliberation.joint)
        same = sum(a == b for a, b in zip(each.shares, deliberation.joint.shares, strict=True)) / 6
        assert found.shared[label] == pytest.approx(same)
    assert found.to_json()["debate"]["agrees"] == found.agrees["debate"]


def test_the_strategy_of_the_name_decides_what_bargaining_decided():
    bargained = 0
    for seed in range(25):
        deliberation = held(seed, ("utilitarian", "libertarian"))
        if deliberation.settled.rule == "bargain" and not deliberation.settled.tied:
            assert choices_by_strategy(deliberation, ["debate"]).agrees["debate"]
            bargained += 1
    assert bargained >= 10


def test_rules_with_one_label_are_refused():
    with pytest.raises(InputError, match="two rules have the label 'maximin'"):
        choices_by_strategy(held(), ["maximin", "maximin"])


def test_a_budget_of_grants_serves_whom_the_sum_of_stated_values_puts_first():
    deliberation = held(5)
    found = patient_rewards(deliberation)
    assert found.values.shape == (2, 2, 6)
    np.testing.assert_allclose(found.values.sum(axis=1), 1.0)
    for i, proposal in enumerate(deliberation.revised.values()):
        for k, value in enumerate(proposal.utility.values):
            expected = 0.5 + 0.5 * value / max(abs(each) for each in proposal.utility.values)
            assert found.values[i, 0, k] == pytest.approx(expected)
    chosen = strategies.create("constrained", {"rule": "utilitarian", "budgets": {"Grant": 2}})(found)
    total = np.zeros(6)
    for proposal in deliberation.revised.values():
        total += proposal.utility.values / np.abs(proposal.utility.values).max()
    assert set(np.flatnonzero(chosen.actions == "Grant")) == set(np.argsort(-total)[:2])


def test_values_that_do_not_add_up_have_no_reward_per_patient():
    deliberation = held(5, ("utilitarian", "egalitarian"))
    additive = [hasattr(each.utility, "values") for each in deliberation.revised.values()]
    if all(additive):
        patient_rewards(deliberation)
    else:
        with pytest.raises(InputError, match="no sum of values"):
            patient_rewards(deliberation)


def test_rewards_per_patient_read_the_last_proposals_or_the_first():
    deliberation = held(5)
    first = {name: each.utility.values for name, each in deliberation.solo.items()}
    turned = {name: replace(each, utility=AdditiveUtility(-first[name])) for name, each in deliberation.solo.items()}
    deliberation = replace(deliberation, revised=turned)
    for found, sign in ((patient_rewards(deliberation, last=False), 1), (patient_rewards(deliberation), -1)):
        assert found.stakeholders == tuple(first) and found.actions == ("Grant", "Not grant")
        for values, (grant, other) in zip(first.values(), found.values, strict=True):
            relative = sign * values / np.abs(values).max()
            np.testing.assert_allclose(grant, 0.5 + 0.5 * relative)
            np.testing.assert_allclose(other, 0.5 - 0.5 * relative)
