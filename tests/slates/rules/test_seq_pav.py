"""Sequential PAV: the share of the best score, an example by hand, and where it fails justified representation."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards


def elect(approves, k, weights=None):
    n_stakeholders, n_items = approves.shape
    expected = ExpectedRewards(
        np.full((n_stakeholders, n_items), 0.5),
        stakeholders=[f"s{i}" for i in range(n_stakeholders)],
        actions=[f"c{c}" for c in range(n_items)],
    )
    slates = rules.create("seq_pav").elect(approves[:, :, None], Candidates(expected, weights=weights), k)
    return slates.items[0].tolist()


def score(approves, committee):
    """Σ_i 1 + 1/2 + … + 1/a_i."""
    return sum((Fraction(1, a) for row in approves for a in range(1, 1 + int(row[list(committee)].sum()))), Fraction(0))


def test_by_hand():
    """Three of five approve a, b, c; two approve d: 3, then 2 against 3/2, then 3/2 against 1."""
    approves = np.array([[1, 1, 1, 0]] * 3 + [[0, 0, 0, 1]] * 2, dtype=bool)
    assert elect(approves, 3) == [0, 3, 1]


@pytest.mark.long
def test_share_of_the_best_score():
    """At least 1 − 1/e of the best PAV score, which all lists are tried for."""
    generator, ratios = np.random.default_rng(1), []
    for _ in range(60):
        approves, k = generator.random((12, 8)) < 0.3, int(generator.integers(2, 5))
        best = max(score(approves, each) for each in itertools.combinations(range(8), k))
        if best:
            ratios.append(float(score(approves, elect(approves, k)) / best))
    assert min(ratios) >= 1 - 1 / np.e
    assert min(ratios) < 1  # it is no exact rule


def test_justified_representation_may_fail():
    """The profile of Aziz et al. (2017): 120 of 1,199 voters, more than one tenth, get nothing of ten items."""
    counts, ballots = [], []
    for first in (0, 3):
        counts += [81, 81, 80, 80]
        ballots += [{first, first + 1}, {first, first + 2}, {first + 1}, {first + 2}]
    counts += [49, 49, 49, 96, 96, 96, 120]
    ballots += [{6, 7}, {6, 8}, {6, 9}, {7}, {8}, {9}, {10}]
    approves = np.array([[c in ballot for c in range(11)] for ballot in ballots])
    assert sum(counts) == 1_199 and 120 * 10 > sum(counts)
    assert sorted(elect(approves, 10, counts)) == list(range(10))
