"""Greedy Monroe: quotas, divided stakeholders, an example by hand, and justified representation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards


def elect(approves, k, weights=None, **parameters):
    n_stakeholders, n_items = approves.shape
    expected = ExpectedRewards(
        np.full((n_stakeholders, n_items), 0.5),
        stakeholders=[f"s{i}" for i in range(n_stakeholders)],
        actions=[f"c{c}" for c in range(n_items)],
    )
    rule = rules.create("greedy_monroe", parameters)
    return rule.elect(approves[:, :, None], Candidates(expected, weights=weights), k).items[0].tolist()


def ballots(*sets, n_items):
    return np.array([[c in each for c in range(n_items)] for each in sets])


def test_by_hand():
    """Item 0 stands for the first three of its four, or the first two; those who are left still count."""
    approves = ballots({0, 1}, {0}, {0, 1}, {0, 1}, {2}, {2}, n_items=3)
    assert elect(approves, 2) == [0, 2]
    assert elect(approves, 3) == [0, 1, 2]


def test_quotas():
    rule = rules.create("greedy_monroe")
    whole = rules.create("greedy_monroe", {"whole": True})
    np.testing.assert_allclose(rule.quotas(np.array([0.5, 0.3, 0.2]), 4), [0.25] * 4)
    assert whole.quotas(np.array([4.0, 3.0]), 3).tolist() == [3, 2, 2]
    assert whole.quotas(np.array([1.0, 1.0]), 4).tolist() == [1, 1, 0, 0]
    assert whole.quotas(np.array([4.0, 2.0]), 3).tolist() == rule.quotas(np.array([4.0, 2.0]), 3).tolist()
    assert whole.label == "greedy_monroe[whole=True]"


def test_more_places_than_stakeholders():
    """Two stakeholders, four places: each gets two items; counted whole, the last two places are for nobody."""
    approves = ballots({1, 2, 3}, {4, 5}, n_items=6)
    assert elect(approves, 4) == [1, 4, 2, 5]
    assert elect(approves, 4, whole=True) == [1, 4, 0, 2]


def test_only_ratios_of_weights_matter():
    generator = np.random.default_rng(3)
    for _ in range(30):
        approves = generator.random((4, 8)) < 0.5
        weights = generator.integers(1, 6, 4).astype(float)
        assert elect(approves, 5, weights) == elect(approves, 5, weights / weights.sum())


def test_half_a_voter():
    with pytest.raises(InputError, match="whole numbers"):
        elect(ballots({0}, {1}, n_items=2), 1, [0.5, 1.5], whole=True)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 6), st.booleans())
def test_justified_representation(seed, n_stakeholders, k, whole):
    """Of those with 1/k of the weight who all approve an item, one approves an item of the list."""
    generator = np.random.default_rng(seed)
    approves = generator.random((n_stakeholders, 6)) < generator.choice([0.2, 0.5])
    weights = generator.integers(1, 5, n_stakeholders)
    without = ~approves[:, elect(approves, k, weights, whole=whole)].any(axis=1)
    for c in range(6):
        assert k * weights[without & approves[:, c]].sum() < weights.sum()
