"""Each compromise function on the framework's worked example, and what is peculiar to it."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError
from accordant.utilities import ExpectedRewards


def rewards(*rows, actions=None):
    """Return E of one context from a row per stakeholder."""
    values = np.array(rows, dtype=float)
    names = actions or [f"a{a + 1}" for a in range(values.shape[1])]
    return ExpectedRewards(values, stakeholders=[f"i{i + 1}" for i in range(len(values))], actions=names)


# Framework, section 2, "Worked example (all rules, three actors, three actions)": scores, decision.
WORKED = [
    ("utilitarian", {}, [0.566667, 0.550000, 0.383333], "a1", "utilitarian"),
    ("maximin", {}, [0.40, 0.50, 0.30], "a2", "maximin"),
    ("nash_social_welfare", {}, np.log([0.168, 0.165, 0.0525]), "a1", "nash_social_welfare"),
    ("proportional_fairness", {}, [-1.783791, -1.801810, -2.946942], "a1", "nash_social_welfare"),
    ("compromise_programming", {}, [-0.200000, -0.206155, -0.482183], "a1", "compromise_programming[context]"),
    ("kalai_smorodinsky", {}, [0.0, 0.5, 0.0], "a2", "kalai_smorodinsky[context]"),
    ("nash_bargaining", {}, [-np.inf, np.log(0.008), -np.inf], "a2", "nash_bargaining[context]"),
    ("kalai_smorodinsky", {"disagreement": 0.0, "ideal": 1.0}, [0.4, 0.5, 0.3], "a2", "kalai_smorodinsky[declared]"),
    ("nash_bargaining", {"disagreement": 0.0}, np.log([0.168, 0.165, 0.0525]), "a1", "nash_bargaining[declared]"),
]


@pytest.mark.parametrize(("name", "parameters", "scores", "action", "label"), WORKED)
def test_worked_example(example, name, parameters, scores, action, label):
    decided = strategies.create(name, parameters)(example)
    np.testing.assert_allclose(decided.scores[:, 0], scores, atol=1e-6)
    assert decided.actions.tolist() == [action]
    assert decided.strategy == label
    assert not decided.tied.any()


def test_worked_products(example):
    """The table gives NSW and NBS as products: they are the exponentials of the scores."""
    product = np.exp(strategies.nash_social_welfare(example).scores[:, 0])
    np.testing.assert_allclose(product, [0.168, 0.165, 0.0525], atol=1e-6)
    gains = np.exp(strategies.nash_bargaining(example).scores[:, 0])
    np.testing.assert_allclose(gains, [0.0, 0.008, 0.0], atol=1e-6)


def test_reference_points_are_told(example):
    quantities = strategies.kalai_smorodinsky(example).quantities
    np.testing.assert_allclose(quantities["disagreement"][:, 0], [0.3, 0.4, 0.35])
    np.testing.assert_allclose(quantities["ideal"][:, 0], [0.7, 0.6, 0.6])


# --- weights


def test_utilitarian_weights_are_normalised(example):
    weighted = strategies.create("utilitarian", {"weights": (6.0, 2.0, 0.0)})(example)
    np.testing.assert_allclose(weighted.scores[:, 0], [0.75 * 0.7 + 0.25 * 0.4, 0.525, 0.35])


@pytest.mark.parametrize("name", ["utilitarian", "maximin", "nash_social_welfare", "nash_bargaining",
                                  "kalai_smorodinsky", "compromise_programming"])  # fmt: skip
def test_weight_zero_is_the_same_as_absence(name):
    """For every rule a stakeholder with weight 0 changes nothing but ties, which go by the plain sum."""
    values = np.random.default_rng(1).random((3, 4, 300))
    names = {"actions": list("abcd")}
    with_all = ExpectedRewards(values, stakeholders=["x", "y", "z"], **names)
    without = ExpectedRewards(values[[0, 2]], stakeholders=["x", "z"], **names)
    left = strategies.create(name, {"weights": (1.0, 0.0, 2.0)})(with_all)
    right = strategies.create(name, {"weights": (1.0, 2.0)})(without)
    np.testing.assert_allclose(left.scores, right.scores, rtol=1e-12)
    np.testing.assert_array_equal(left.codes[~left.tied], right.codes[~right.tied])


@pytest.mark.parametrize("weights", [(1.0, 1.0), (-1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (np.nan, 1.0, 1.0),
                                     (np.inf, 1.0, 1.0), ("a", "b", "c"), 2.0])  # fmt: skip
def test_wrong_weights(example, weights):
    with pytest.raises(InputError, match="stakeholder weights .* 3 numbers of at least 0, not all 0"):
        strategies.create("utilitarian", {"weights": weights})(example)


# --- Nash bargaining


def test_two_actions_in_conflict_are_no_agreement():
    """Acceptance test 6: with context minima one of two actions is always somebody's minimum."""
    decided = strategies.nash_bargaining(rewards([0.9, 0.1], [0.2, 0.6]))
    assert decided.flags["no_agreement"].tolist() == [True]
    assert decided.tied.tolist() == [True]
    assert decided.actions.tolist() == ["a1"]  # the utilitarian sum decides: 1.1 against 0.7


def test_no_agreement_falls_to_the_declared_order_last():
    decided = strategies.nash_bargaining(rewards([0.75, 0.25], [0.25, 0.75], actions=["second", "first"]))
    assert decided.actions.tolist() == ["second"]


def test_an_irrational_action_never_wins_the_tie():
    """No product is positive: a1 harms i2 and has the larger sum, a2 harms nobody, a3 is the status quo."""
    expected = rewards([1.0, 0.5, 0.5], [0.25, 0.5, 0.5], actions=["harms", "harmless", "stay"])
    rule = strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "stay"})
    decided = rule(expected)
    assert decided.actions.tolist() == ["harmless"]
    assert decided.flags["no_agreement"].tolist() == [True]
    assert decided.flags["irrational"].tolist() == [False]
    np.testing.assert_allclose(np.exp(decided.scores[:, 0]), 0.0, atol=1e-300)
    softened = strategies.create("nash_bargaining", rule.parameters | {"selection": "softmax", "temperature": 1.0})(
        expected
    )
    np.testing.assert_allclose(softened.policy[:, 0], [0.0, 0.5, 0.5])


@pytest.mark.parametrize("name", ["nash_bargaining", "kalai_smorodinsky"])
def test_status_quo_stays_where_every_alternative_harms_somebody(name):
    expected = rewards([0.5, 1.0, 0.0], [0.5, 0.25, 1.0], actions=["stay", "harms i2", "harms i1"])
    decided = strategies.create(name, {"disagreement": "status_quo", "status_quo": "stay"})(expected)
    assert decided.actions.tolist() == ["stay"]
    assert decided.flags["irrational"].tolist() == [True]
    assert decided.tied.tolist() == [False]


@pytest.mark.parametrize("name", ["nash_bargaining", "kalai_smorodinsky"])
def test_a_single_action_is_not_irrational(name):
    decided = strategies.create(name, {"disagreement": "status_quo", "status_quo": "a1"})(rewards([0.5], [0.2]))
    assert decided.flags["irrational"].tolist() == [False]


def test_rounding_is_no_gain():
    """0.1 + 0.2 exceeds 0.3 by 6e-17; that is not an agreement."""
    expected = rewards([0.3, 0.1 + 0.2], [0.5, 0.9], actions=["stay", "other"])
    decided = strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "stay"})(expected)
    assert decided.flags["no_agreement"].tolist() == [True]
    assert decided.actions.tolist() == ["other"]


def test_bargaining_power_is_an_exponent():
    rule = strategies.create("nash_bargaining", {"disagreement": 0.1, "weights": (2.0, 0.5)})
    np.testing.assert_allclose(np.exp(rule(rewards([0.6], [0.9])).scores), [[0.5**2 * 0.8**0.5]])


# --- Kalai–Smorodinsky


def test_all_indifferent_is_a_tie_of_all_actions():
    """Acceptance test 6."""
    decided = strategies.kalai_smorodinsky(rewards([0.4, 0.4, 0.4], [0.9, 0.9, 0.9]))
    assert decided.tied.tolist() == [True]
    assert decided.scores[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert decided.actions.tolist() == ["a1"]


def test_the_indifferent_do_not_decide():
    decided = strategies.kalai_smorodinsky(rewards([0.4, 0.4, 0.4], [0.1, 0.5, 0.9], [0.2, 0.6, 0.4]))
    np.testing.assert_allclose(decided.scores[:, 0], [0.0, 0.5, 0.5])


def test_disagreement_of_two_over_two_actions_is_tied():
    """Pitfall 4: the official code let the string-hash seed decide here."""
    decided = strategies.kalai_smorodinsky(rewards([0.9, 0.1], [0.2, 0.6]))
    assert decided.tied.tolist() == [True]


def test_relative_gains_are_not_capped_and_may_be_negative():
    rule = strategies.create("kalai_smorodinsky", {"disagreement": 0.2, "ideal": 0.7})
    np.testing.assert_allclose(rule(rewards([0.9, 0.1])).scores[:, 0], [1.4, -0.2])


# --- compromise programming


def test_exceeding_a_declared_ideal_is_punished_only_if_two_sided():
    expected = rewards([0.5, 0.9], [0.5, 0.5])
    one = strategies.create("compromise_programming", {"ideal": 0.5})(expected)
    two = strategies.create("compromise_programming", {"ideal": 0.5, "two_sided": True})(expected)
    np.testing.assert_allclose(one.scores[:, 0], [0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(two.scores[:, 0], [0.0, -0.4], atol=1e-15)
    assert one.actions.tolist() == ["a2"]
    assert two.actions.tolist() == ["a1"]
    assert two.strategy == "compromise_programming[declared][two-sided]"


@pytest.mark.parametrize("exponent", [0.5, -np.inf, np.nan])
def test_wrong_exponent(exponent):
    with pytest.raises(InputError, match="exponent is .*; allowed: at least 1, or inf"):
        strategies.create("compromise_programming", {"exponent": exponent})


def test_large_exponents_approach_the_largest_shortfall():
    """0.2 ** 2000 is 0 in floating point; the norm must not be."""
    generator = np.random.default_rng(2)
    names = {"stakeholders": list("xyz"), "actions": list("abcd")}
    expected = ExpectedRewards(1 - 0.2 * generator.random((3, 4, 50)), **names)
    largest, near = (
        strategies.create("compromise_programming", {"ideal": 1.0, "exponent": exponent})(expected).scores
        for exponent in (np.inf, 2000.0)
    )
    np.testing.assert_allclose(near, largest, rtol=1e-3)


def test_tiny_next_to_large_shortfalls_with_a_large_exponent():
    expected = rewards([0.0, 0.999, 0.99, 1.0], [1.0, 0.999, 0.99, 0.5])
    rule = strategies.create("compromise_programming", {"exponent": 300.0, "ideal": 1.0})
    assert rule(expected).actions.tolist() == ["a2"]
    assert not rule(expected).tied.any()
    assert rule.label == "compromise_programming[declared][L300]"


# --- Nash social welfare


def test_the_floor_is_told():
    decided = strategies.nash_social_welfare(rewards([0.0, 1.0], [1.0, 0.5]))
    assert decided.flags["floored"].tolist() == [True]
    np.testing.assert_allclose(np.exp(decided.scores[:, 0]), [1e-6, 0.5])
    aside = strategies.create("nash_social_welfare", {"weights": (0.0, 1.0)})(rewards([0.0, 1.0], [1.0, 0.5]))
    assert aside.flags["floored"].tolist() == [False]  # whoever has no weight decides nothing


@pytest.mark.parametrize(
    "name", ["utilitarian", "maximin", "nash_social_welfare", "nash_bargaining", "kalai_smorodinsky"]
)
def test_weight_zero_is_as_if_the_stakeholder_were_not_there(name):
    values = np.random.default_rng(0).integers(0, 5, (3, 3, 500)) / 4
    names = ["i", "j", "k"]
    three = ExpectedRewards(values, stakeholders=names, actions=["a", "b", "c"])
    two = ExpectedRewards(values[:2], stakeholders=names[:2], actions=["a", "b", "c"])
    with_third = strategies.create(name, {"weights": [3, 1, 0]})(three)
    without = strategies.create(name, {"weights": [3, 1]})(two)
    assert np.array_equal(with_third.codes, without.codes)
    assert np.array_equal(with_third.tied, without.tied)


def test_a_randomised_strategy_draws_and_may_be_selected():
    certain = strategies.create("maximin")
    randomised = strategies.create("maximin", {"selection": "softmax", "temperature": 0.5})
    assert (certain.may_be_selected, randomised.may_be_selected) == (True, True)
    assert (certain.draws, randomised.draws) == (False, True)
