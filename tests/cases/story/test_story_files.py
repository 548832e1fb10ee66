"""The case files of the story and of its null twin differ in what residents want, and in nothing that is learned."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from accordant.cases.files import read_case
from accordant.cases.story.homes import ACTIONS, drawn_homes
from accordant.cases.story.residents import ALIKE, KINDS, PEOPLE
from accordant.cases.story.truth import true_expected, true_rewards
from accordant.strategies import create
from accordant.utilities import ExpectedRewards

HOMES = drawn_homes(4_000, np.random.default_rng(11))


def truth(name, kinds):
    """Return the true E of a town, and the weights of its stakeholders."""
    case, _ = read_case(name)
    values = true_expected(HOMES, kinds, case.rewards["Household"]["table"])
    weight = {each.name: each.weight for each in case.problem.stakeholders}
    people = [PEOPLE[kind] for kind in kinds.values()]
    weights = (weight["Household"], *(weight["Resident"] * each / sum(people) for each in people))
    return ExpectedRewards(values, stakeholders=["Household", *kinds], actions=list(ACTIONS)), weights


def means(expected, codes):
    """Return everybody's mean, shape (stakeholder,)."""
    return expected.values[:, codes, np.arange(expected.n_contexts)].mean(axis=1)


def test_the_twins_differ_in_answers_and_words_alone():
    story, null = (read_case(name)[0].model_dump(mode="json") for name in ("story", "story-null"))
    assert story["rewards"]["Resident"] | {"file": ""} == null["rewards"]["Resident"] | {"file": ""}
    words = {"name", "title", "description", "scope", "rewards", "labels"}
    assert {key: value for key, value in story.items() if key not in words} == {
        key: value for key, value in null.items() if key not in words
    }
    assert story["rewards"]["Household"] == null["rewards"]["Household"]


@pytest.mark.long
def test_in_truth_the_sum_leaves_one_kind_behind_and_a_compromise_helps_it_at_a_price():
    expected, weights = truth("story", {"Resident (type 1)": KINDS[0], "Resident (type 2)": KINDS[1]})
    summed = means(expected, create("utilitarian", {"weights": weights})(expected).codes)
    rule = create("population_maximin", {"weights": weights}).fit(expected)
    shared = means(expected, rule(expected).codes)
    assert summed.argmin() == 2
    assert shared[2] - summed[2] == pytest.approx(0.16, abs=0.03)  # the left-behind gain
    assert shared[1] - summed[1] == pytest.approx(-0.12, abs=0.03)  # the others pay
    # a linear programme over all randomised policies knows how high the lowest mean can be
    n, (n_stakeholders, n_actions) = 120, expected.values.shape[:2]
    some = expected.values[:, :, :n]
    cost = np.r_[np.zeros(n_actions * n), -1.0]
    above = np.c_[-some.reshape(n_stakeholders, -1) / n, np.ones(n_stakeholders)]
    one = np.c_[np.tile(np.eye(n), n_actions), np.zeros(n)]
    solved = linprog(cost, above, np.zeros(n_stakeholders), one, np.ones(n), bounds=(0, 1))
    fitted = create("population_maximin", {}).fit(
        ExpectedRewards(some, stakeholders=expected.stakeholders, actions=expected.actions)
    )
    found = fitted.optimal_policy(ExpectedRewards(some, stakeholders=expected.stakeholders, actions=expected.actions))
    assert found.value == pytest.approx(-solved.fun, abs=1e-6)


def test_in_truth_no_single_grant_does_as_well_for_the_worst_off():
    expected, weights = truth("story", {"Resident (type 1)": KINDS[0], "Resident (type 2)": KINDS[1]})
    lowest = expected.values.mean(axis=2).min(axis=0)
    rule = create("population_maximin", {"weights": weights}).fit(expected)
    assert means(expected, rule(expected).codes).min() > lowest.max() + 0.04


@pytest.mark.parametrize("rule", ["utilitarian", "maximin", "nash_social_welfare", "population_maximin"])
def test_in_the_null_twin_everything_in_truth_says_insulation(rule):
    expected, weights = truth("story-null", {"Resident": ALIKE})
    strategy = create(rule, {"weights": weights})
    strategy = strategy.fit(expected) if rule.startswith("population") else strategy
    assert (strategy(expected).codes == ACTIONS.index("Insulation")).all()
    assert (expected.values.argmax(axis=1) == ACTIONS.index("Insulation")).all()  # for everybody, in every home


@pytest.mark.parametrize("kind", [*KINDS, ALIKE])
def test_true_rewards_use_the_whole_range(kind):
    rewards = true_rewards(kind, HOMES)
    assert rewards.min() == 0 and rewards.max() == 1
    assert ((rewards == 0) | (rewards == 1)).mean() < 0.02 if kind != ALIKE else True
