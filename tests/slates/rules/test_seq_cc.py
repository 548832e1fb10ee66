"""Greedy Chamberlin-Courant: the share of the best coverage, justified representation, and what fills the list."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards


def candidates(values, weights=None):
    n_stakeholders, n_items = values.shape
    expected = ExpectedRewards(
        values, stakeholders=[f"s{i}" for i in range(n_stakeholders)], actions=[f"c{c}" for c in range(n_items)]
    )
    return Candidates(expected, weights=weights)


def elect(approves, k, weights=None):
    world = candidates(np.full(approves.shape, 0.5), weights)
    return rules.create("seq_cc").elect(approves[:, :, None], world, k).items[0].tolist()


def test_share_of_the_best_coverage():
    generator, ratios = np.random.default_rng(2), []
    for _ in range(80):
        approves, k = generator.random((8, 7)) < 0.3, int(generator.integers(1, 5))
        weights = generator.integers(1, 5, 8).astype(float)
        covered = [
            weights[approves[:, list(each)].any(axis=1)].sum()
            for each in (*itertools.combinations(range(7), k), elect(approves, k, weights))
        ]
        ratios.append(covered[-1] / max(covered) if max(covered) else 1.0)
    assert min(ratios) >= 1 - 1 / np.e
    assert min(ratios) < 1  # it is no exact rule


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 6))
def test_justified_representation(seed, n_stakeholders, k):
    """Of those with 1/k of the weight who all approve an item, one approves an item of the list (Aziz et al. 2017)."""
    generator = np.random.default_rng(seed)
    approves = generator.random((n_stakeholders, 6)) < generator.choice([0.2, 0.5])
    weights = generator.integers(1, 5, n_stakeholders)
    without = ~approves[:, elect(approves, k, weights)].any(axis=1)
    for c in range(6):
        assert k * weights[without & approves[:, c]].sum() < weights.sum()


def test_all_covered():
    """One item covers both; then the sum decides, not who approves how much."""
    values = np.array([[0.9, 0.6, 0.0, 0.5], [0.7, 0.1, 0.9, 0.5]])
    slates = rules.create("seq_cc", {"threshold": 0.6})(candidates(values), 3)
    assert slates.items.tolist() == [[0, 3, 2]]
    assert slates.tied.all()
    assert slates.quantities["approved"][:, 0].tolist() == [1, 2]


def test_decimal_weights_leave_nothing_behind():
    """0.3 − 0.1 − 0.2 is not 0 in floats; those who are covered count for nothing all the same."""
    approves = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)
    values = np.array([[0.5, 0.5, 0.5, 0.8]] * 3)
    slates = rules.create("seq_cc").elect(approves[:, :, None], candidates(values, [0.1, 0.2, 0.3]), 2)
    assert slates.items.tolist() == [[0, 3]]
