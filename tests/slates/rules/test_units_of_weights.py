"""Only ratios of weights matter: every rule gives the same lists and the same ties in every unit of weights."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules_of
from accordant.slates.rule import rules
from accordant.slates.rules.floors import Floored
from accordant.slates.candidates import even_weights
from accordant.utilities import ExpectedRewards

NAMES = ("guest", "town", "inn", "park")
UNITS = (1e-13, 2.0**-43, 1e-7, 2.0**7, 1e9)
N_ITEMS = 6
EVERY = (
    *rules_of((), NAMES, "guest", N_ITEMS),
    *(
        rules.create(name, parameters)
        for name, parameters in (
            ("equal_shares", {"completion": "utilitarian"}),
            ("equal_shares", {"ballots": "utility"}),
            ("reciprocal_rank", {"rounds": 3}),
            ("reciprocal_rank", {"rounds": 3, "scaling": "z"}),
            ("dynamic", {"allocation": "weighted_product", "mode": "mixture"}),
            ("seq_pav", {"best": 2}),
        )
    ),
    Floored("utilitarian_slate", 0.5),
    Floored("dynamic", 0.5),
)


def world(seed, precision, unit=1.0):
    """Values and weights of few digits, so that ties are frequent."""
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 11, (4, N_ITEMS, 3)) / 10
    weights = generator.choice([0.0, 0.1, 0.3, 0.7, 1.0, 2.0, 3.0, 84929.25], 4)
    weights[generator.integers(4)] = 0.5
    available = generator.random((N_ITEMS, 3)) < 0.9
    expected = ExpectedRewards(values.astype(precision), stakeholders=NAMES, actions=list("abcdef"))
    return Candidates(expected, available, weights * unit, generator.integers(-1, 3, N_ITEMS), "guest")


@pytest.mark.long
@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("unit", UNITS)
def test_units_do_not_matter(unit, precision):
    for seed in range(5):
        k = 1 + seed % 5
        one, other = world(seed, precision), world(seed, precision, unit)
        for rule in EVERY:
            here, there = rule(one, k), rule(other, k)
            np.testing.assert_array_equal(here.items, there.items, err_msg=f"{rule.label}, seed {seed}")
            np.testing.assert_array_equal(here.tied, there.tied, err_msg=f"{rule.label}, seed {seed}")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, {}) for name in ("seq_pav", "seq_cc", "greedy_monroe", "seq_phragmen", "equal_shares")),
        ("equal_shares", {"completion": "utilitarian"}),
    ],
)
def test_sums_of_weights_are_as_exact_as_weights_whatever_the_precision_of_rewards(name, parameters):
    """One in ten million more weight decides, though E in single precision ties within one in a million."""
    values = np.array([[0, 1, 0.9], [1, 0, 0.9]], dtype=np.float32)[:, :, None]
    expected = ExpectedRewards(values, stakeholders=["one", "other"], actions=list("abc"))
    found = rules.create(name, {"best": 1} | parameters)(Candidates(expected, weights=[1.0, 1.0 + 1e-7]), 1)
    assert found.names(0) == ("a",)
    assert not found.tied[0]


def test_a_small_weight_beside_a_large_one_still_decides():
    """When the large one is served, the small one comes before the sum of rewards."""
    values = np.array([[1, 1, 1, 0.75], [0.75, 0.5, 0.75, 0]])[:, :, None]
    expected = ExpectedRewards(values, stakeholders=["large", "small"], actions=list("abcd"))
    for weights in ([84929.25, 3094.81], [8.492925, 0.309481], [84929.25, 1e-3]):
        found = rules.create("seq_cc", {"threshold": 0.75})(Candidates(expected, weights=weights), 2)
        assert found.names(0) == ("a", "c")  # all are served by a; c has the higher sum of what is left


def test_the_mean_is_1_over_those_who_have_a_say():
    assert even_weights(np.array([1.0, 1.0, 0.0])).tolist() == [1, 1, 0]
    assert even_weights(np.array([4.0, 3.0, 5.0])).tolist() == [1, 0.75, 1.25]
    assert even_weights(np.array([0.0, 1e-300])).tolist() == [0, 1]
