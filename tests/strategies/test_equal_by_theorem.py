"""Rules that are equal by theorem are equal on the data: real-valued, full of ties, and weighted."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.utilities import ExpectedRewards

N = 3000
GENERATOR = np.random.default_rng(11)
SMOOTH = GENERATOR.random((4, 5, N))
TIED = GENERATOR.choice([0.0, 0.25, 0.5, 1.0], size=(4, 5, N))
WEIGHTS = (1.0, 2.0, 0.0, 0.5)
INF = float("inf")


def rewards(values):
    return ExpectedRewards(values, stakeholders=list("wxyz"), actions=list("abcde"))


def assert_same_decisions(first, second, values):
    one, two = (strategies.create(*rule)(rewards(values)) for rule in (first, second))
    np.testing.assert_array_equal(one.codes, two.codes, err_msg=f"{first} {second}")
    np.testing.assert_array_equal(one.tied, two.tied, err_msg=f"{first} {second}")


EQUAL = [
    # Mo and Walrand 2000: the ends and the middle of α-fairness
    (("alpha_fairness", {"alpha": 0.0}), ("utilitarian", {})),
    (("alpha_fairness", {"alpha": 1.0}), ("nash_social_welfare", {})),
    (("alpha_fairness", {"alpha": INF}), ("maximin", {})),
    # Atkinson 1970: his welfare is the power mean of α-fairness
    (("atkinson", {"aversion": 0.5}), ("alpha_fairness", {"alpha": 0.5})),
    (("atkinson", {"aversion": 2.0}), ("alpha_fairness", {"alpha": 2.0})),
    (("atkinson", {"aversion": INF}), ("maximin", {})),
    # Hurwicz 1951: without optimism, Wald's maximin
    (("hurwicz", {"optimism": 0.0}), ("maximin", {})),
    # bargaining from the origin with ideals at 1 (notes of the framework)
    (("kalai_smorodinsky", {"disagreement": 0.0, "ideal": 1.0}), ("maximin", {})),
    (("relative_utilitarian", {"disagreement": 0.0, "ideal": 1.0}), ("utilitarian", {})),
    (("compromise_programming", {"ideal": 1.0, "exponent": 1.0}), ("utilitarian", {})),
    # Savage 1951 as a distance
    (("minimax_regret", {}), ("compromise_programming", {"exponent": INF})),
]
UNWEIGHTED = [
    # Yager 1988: OWA weights at the ends
    (("generalised_gini", {"order_weights": (1.0, 1.0, 1.0, 1.0)}), ("utilitarian", {})),
    (("generalised_gini", {"order_weights": (1.0, 0.0, 0.0, 0.0)}), ("maximin", {})),
    (("generalised_gini", {"order_weights": (0.5, 0.0, 0.0, 0.5)}), ("hurwicz", {})),
    # Kalai 1977 from the origin, equal proportions
    (("egalitarian_equivalent", {"disagreement": 0.0}), ("maximin", {})),
    (("compromise_programming", {"ideal": 1.0, "exponent": INF}), ("maximin", {})),
    (("hurwicz", {"optimism": 1.0}), ("generalised_gini", {"order_weights": (0.0, 0.0, 0.0, 1.0)})),
]


@pytest.mark.parametrize("values", [SMOOTH, TIED], ids=["smooth", "tied"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal_rules(first, second, weights, values):
    assert_same_decisions(*((name, parameters | {"weights": weights}) for name, parameters in (first, second)), values)


@pytest.mark.parametrize("values", [SMOOTH, TIED], ids=["smooth", "tied"])
@pytest.mark.parametrize(("first", "second"), UNWEIGHTED)
def test_equal_rules_of_equals(first, second, values):
    assert_same_decisions(first, second, values)


def test_nobody_below_a_floor_of_nothing():
    """Everybody reaches the floor 0: all actions tie, and the tie rule is utilitarian."""
    one = strategies.create("sufficientarian", {"floor": 0.0})(rewards(SMOOTH))
    assert one.tied.all()
    np.testing.assert_array_equal(one.codes, strategies.utilitarian(rewards(SMOOTH)).codes)


def test_leximin_chooses_among_the_maximin_actions():
    """Sen 1970: leximin refines maximin."""
    for values in (SMOOTH, TIED):
        decided = strategies.leximin(rewards(values))
        worst = values.min(axis=0)
        chosen = worst[decided.codes.astype(int), np.arange(N)]
        np.testing.assert_array_equal(chosen, worst.max(axis=0))


def test_large_alpha_approaches_leximin_on_a_grid():
    """Moulin 1988 (section 3.2): where rewards lie on a grid, a large enough α is leximin."""
    values = GENERATOR.choice([0.2, 0.4, 0.6, 1.0], size=(3, 4, N))
    E = ExpectedRewards(values, stakeholders=list("xyz"), actions=list("abcd"))
    leximin, alpha = strategies.leximin(E), strategies.create("alpha_fairness", {"alpha": 12.0})(E)
    np.testing.assert_array_equal(leximin.codes, alpha.codes)


def test_gini_welfare_is_the_mean_less_half_the_mean_difference():
    """Sen 1973: μ (1 − G) with G = Σ_i Σ_j |x_i − x_j| / (2 n² μ)."""
    scores = strategies.generalised_gini(rewards(SMOOTH)).scores
    n = len(SMOOTH)
    difference = np.abs(SMOOTH[:, None] - SMOOTH[None]).sum(axis=(0, 1)) / (2 * n**2)
    np.testing.assert_allclose(scores, SMOOTH.mean(axis=0) - difference, atol=1e-12)


def test_weights_are_copies_of_a_stakeholder():
    """A stakeholder of weight 2 counts as two alike, for every rule whose weights are shares of the population."""
    doubled = ExpectedRewards(SMOOTH[[0, 1, 1, 2, 3]], stakeholders=list("wxXyz"), actions=list("abcde"))
    for name, parameters in (
        ("utilitarian", {}), ("relative_utilitarian", {}), ("nash_social_welfare", {}), ("nash_bargaining", {}),
        ("alpha_fairness", {"alpha": 2.0}), ("alpha_fairness", {"alpha": 0.3}), ("atkinson", {}),
        ("generalised_gini", {}), ("sufficientarian", {}), ("compromise_programming", {}),
    ):  # fmt: skip
        weighted = strategies.create(name, parameters | {"weights": (1.0, 2.0, 1.0, 1.0)})(rewards(SMOOTH))
        copied = strategies.create(name, parameters)(doubled)
        np.testing.assert_allclose(weighted.scores, copied.scores, rtol=1e-9, err_msg=name)


def test_rules_of_relative_gains_know_no_unit():
    """Stretching and shifting one stakeholder's rewards changes no rule that measures relative gains."""
    moved = SMOOTH.copy()
    moved[1] = 0.3 + 0.4 * moved[1]
    for name in ("relative_utilitarian", "kalai_smorodinsky", "nash_bargaining"):
        np.testing.assert_array_equal(
            strategies.create(name)(rewards(SMOOTH)).codes, strategies.create(name)(rewards(moved)).codes, err_msg=name
        )
