"""Decisions at stake: a user's own choice, any function, and a strategy with everybody else's E held fixed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.elicitation import ChosenBy, CollectiveChoice, OwnChoice
from accordant.utilities import ExpectedRewards

ITEMS = np.eye(4)
OUTCOMES = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.1, 0.2, 0.3, 0.4]])
E = ExpectedRewards(
    [[0.9, 0.5, 0.1], [0.3, 0.3, 0.3], [0.2, 0.4, 0.6]], stakeholders=["Ada", "Ben", "Cleo"], actions=["a", "b", "c"]
)


def collective(strategy="utilitarian", parameters=None, **changes):
    given = {"expected": E, "stakeholder": "Ben", "items": ITEMS, "outcomes": OUTCOMES} | changes
    return CollectiveChoice(**given, strategy=strategies.create(strategy, parameters))


def test_own_choice_is_the_highest_reward_and_losses_are_what_is_missing():
    found = OwnChoice(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])).verdicts(np.array([[2.0, 0.0], [0.0, 3.0]]))
    assert found.decided.tolist() == [0, 1]
    assert found.losses.tolist() == [[0.0, 2.0, 1.0], [3.0, 0.0, 1.5]]


def test_own_choice_is_blind_to_a_constant():
    coefficients = np.random.default_rng(0).normal(size=(50, 3))
    actions = np.random.default_rng(1).normal(size=(4, 3))
    plain, moved = (OwnChoice(actions + shift).verdicts(coefficients) for shift in (0.0, [1.0, -2.0, 5.0]))
    assert np.array_equal(plain.decided, moved.decided)
    assert moved.losses == pytest.approx(plain.losses)


@pytest.mark.parametrize("name", ["utilitarian", "maximin", "kalai_smorodinsky", "borda", "nash_social_welfare"])
def test_a_collective_decides_like_its_strategy_on_one_table_at_a_time(name):
    coefficients = np.random.default_rng(2).normal(size=(40, 4))
    found = collective(name).verdicts(coefficients)
    for sample, theta in enumerate(coefficients):
        scaled = (theta - theta.min()) / (theta.max() - theta.min())
        table = [list(E.values[0, :, 0]), [float(row @ scaled) for row in OUTCOMES], list(E.values[2, :, 0])]
        single = strategies.create(name)(ExpectedRewards(table, stakeholders=E.stakeholders, actions=E.actions))
        assert found.decided[sample] == single.codes[0]
    assert (found.losses >= 0).all()
    assert (found.losses[np.arange(40), found.decided] == 0).all()


def test_losses_of_a_collective_are_differences_of_scores():
    coefficients = np.random.default_rng(3).normal(size=(6, 4))
    stake = collective()
    totals = stake.expected_rewards(coefficients).values.sum(axis=0).T
    missing = totals.max(axis=1, keepdims=True) - totals
    scores = strategies.create("utilitarian")(stake.expected_rewards(coefficients)).scores.T
    found = stake.verdicts(coefficients).losses
    assert found == pytest.approx(scores.max(axis=1, keepdims=True) - scores)
    assert (np.argsort(found, axis=1) == np.argsort(missing, axis=1)).all()


def test_without_finite_scores_a_wrong_action_costs_one():
    coefficients = np.random.default_rng(4).normal(size=(9, 4))
    stake = collective("constant", parameters={"action": "b"})
    assert stake.strategy(stake.expected_rewards(coefficients)).scores is None
    assert stake.verdicts(coefficients).losses.tolist() == [[1.0, 0.0, 1.0]] * 9
    function = ChosenBy(lambda theta: (theta[:, 0] > 0).astype(int), 3)
    found = function.verdicts(np.array([[1.0], [-1.0]]))
    assert found.losses.tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]


def test_a_reward_without_differences_is_one_half_everywhere():
    values = collective().expected_rewards(np.zeros((1, 4))).values
    assert values[1, :, 0].tolist() == [0.5, 0.5, 0.5]
    assert np.array_equal(values[[0, 2]], E.values[[0, 2]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: collective(outcomes=OUTCOMES[:2]), "outcomes have shape"),
        (lambda: collective(outcomes=OUTCOMES * 2), "sum to 1"),
        (lambda: collective(outcomes=OUTCOMES - 0.25), "at least 0"),
        (lambda: collective(expected=ExpectedRewards(np.zeros((3, 3, 2)), stakeholders=E.stakeholders, actions=E.actions)),
         "hold 2 contexts"),
        (lambda: OwnChoice(np.zeros(3)), "actions have shape"),
        (lambda: OwnChoice(np.array([[np.inf]])), "finite"),
        (lambda: ChosenBy(lambda theta: theta, 2).verdicts(np.zeros((3, 1))), "returned shape"),
        (lambda: ChosenBy(lambda theta: np.array([5]), 2).verdicts(np.zeros((1, 1))), "returned 5"),
    ],
)  # fmt: skip
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_an_unknown_stakeholder_is_named():
    with pytest.raises(UnknownNameError, match="did you mean 'Ben'"):
        collective(stakeholder="Bne")


def test_a_rule_over_the_whole_batch_is_refused():
    @dataclass(frozen=True)
    class Together(type(strategies.create("utilitarian"))):
        """Decides on all contexts together: samples would influence each other."""

        whole_batch = True

    with pytest.raises(InputError, match="decides on all contexts together"):
        CollectiveChoice(E, "Ben", ITEMS, OUTCOMES, Together())
