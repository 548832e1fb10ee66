"""Phragmén's rule: exact twin, all committees of abcvoting, replicated voters, and proportional representation."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards

GRID = 8  # expected rewards are multiples of 1/8, which floats hold exactly


def candidates(values, available=None, weights=None):
    values = np.asarray(values)
    names = [[f"{letter}{j}" for j in range(size)] for letter, size in zip("sc", values.shape[:2], strict=True)]
    return Candidates(ExpectedRewards(values, stakeholders=names[0], actions=names[1]), available, weights)


def of_ballots(approves, weights=None):
    """Candidates whose expected rewards are 1 for approved items: use threshold 1; totals count approvals."""
    return candidates(np.asarray(approves, dtype=np.float64)[:, :, None], weights=weights)


def elect(approves, k, weights=None):
    return rules.create("seq_phragmen", {"threshold": 1.0})(of_ballots(approves, weights), k).names(0)


def raised(approves, weights, loads, item):
    """The load that an item would bring; None if nobody approves it."""
    voters = [i for i, row in enumerate(approves) if row[item] and weights[i]]
    if not voters:
        return None
    return (sum(weights[i] * loads[i] for i in voters) + 1) / Fraction(sum(weights[i] for i in voters))


def twin(approves, weights, k, shown, totals):
    """The list under the declared tie-break, whether a tie was broken, and loads per unit of weight."""
    chosen, tied, loads = [], False, [Fraction(0)] * len(approves)
    for _ in range(min(k, len(shown))):
        after = {c: raised(approves, weights, loads, c) for c in shown if c not in chosen}
        bearable = [load for load in after.values() if load is not None]
        lowest = min(bearable) if bearable else None
        level = [c for c, load in after.items() if load == lowest]
        tied |= len(level) > 1
        chosen.append(min(level, key=lambda c: (-totals[c], c)))
        if lowest is not None:
            loads = [
                lowest if row[chosen[-1]] and w else old for row, w, old in zip(approves, weights, loads, strict=True)
            ]
    return chosen + [-1] * (k - len(chosen)), tied, loads


def random_world(generator, n_users=4):
    n_stakeholders, n_items = generator.integers(1, 7), generator.integers(1, 8)
    values = generator.integers(0, GRID + 1, (n_stakeholders, n_items, n_users)) / GRID
    weights = generator.integers(0, 4, n_stakeholders)
    weights[generator.integers(n_stakeholders)] += 1
    return candidates(values, generator.random((n_items, n_users)) < 0.85, weights)


@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_twin(threshold):
    generator = np.random.default_rng([4, round(10 * threshold)])
    broken = 0
    for _ in range(50):
        world, k = random_world(generator), int(generator.integers(1, 9))
        slates = rules.create("seq_phragmen", {"threshold": threshold})(world, k)
        scale = world.weights[world.weights > 0].mean()
        for u in range(world.n_users):
            shown = np.flatnonzero(world.available[:, u]).tolist()
            approves = (world.values[:, :, u] >= threshold).tolist()
            totals = [sum(Fraction(e) for e in column) for column in world.values[world.weights > 0, :, u].T]
            weights = [Fraction(w) for w in world.weights.tolist()]
            items, tied, loads = twin(approves, weights, k, shown, totals)
            assert slates.items[u].tolist() == items
            assert bool(slates.tied[u]) == tied
            np.testing.assert_allclose(slates.quantities["load"][:, u], [float(load) * scale for load in loads])
            broken += tied
    assert 20 < broken < 200


def test_by_hand():
    """Loads 1/3 for a; then b, of its three voters, 2/3 against c and d, 1/2 each; d is worth more."""
    approves = [[1, 1, 0, 0]] * 3 + [[0, 0, 1, 1]] * 2
    values = np.array(approves, dtype=np.float64)
    values[:, 2] *= 0.9
    slates = rules.create("seq_phragmen", {"threshold": 0.5})(candidates(values[:, :, None]), 3)
    assert slates.names(0) == ("c0", "c3", "c1")
    assert slates.tied[0]
    np.testing.assert_allclose(slates.quantities["load"][:, 0], [2 / 3] * 3 + [1 / 2] * 2)


def test_items_that_nobody_approves_come_last():
    values = np.array([[0.9, 0.1, 0.3, 0.2]])[:, :, None]
    found = rules.create("seq_phragmen", {"threshold": 0.5})(candidates(values), 6)
    assert found.items[0].tolist() == [0, 2, 3, 1, -1, -1]
    nothing = rules.create("seq_phragmen")(candidates(values, np.zeros((4, 1), dtype=bool)), 2)
    assert nothing.items.tolist() == [[-1, -1]] and not nothing.tied[0]


@pytest.mark.long
def test_among_the_committees_of_abcvoting(extra):
    abcrules, preferences = extra("abcvoting.abcrules"), extra("abcvoting.preferences")
    generator, several = np.random.default_rng(5), 0
    for _ in range(60):
        approves = generator.random((int(generator.integers(2, 8)), 6)) < 0.4
        weights, k = generator.integers(1, 4, len(approves)), int(generator.integers(1, 6))
        profile = preferences.Profile(6)
        for row, weight in zip(approves, weights.tolist(), strict=True):
            profile.add_voter(preferences.Voter(np.flatnonzero(row).tolist(), weight=weight))
        theirs = abcrules.compute(
            "seqphragmen", profile, k, resolute=False, algorithm="standard-fractions", max_num_of_committees=None
        )
        several += len(theirs) > 1
        assert {int(name[1:]) for name in elect(approves, k, weights)} in [set(each) for each in theirs]
    assert 10 < several < 55


def test_weighted_voters_are_replicated_voters():
    generator = np.random.default_rng(6)
    for _ in range(40):
        approves, weights = generator.random((4, 7)) < 0.5, generator.integers(1, 5, 4)
        together = elect(approves, 5, weights)
        scores = candidates(np.repeat(approves, weights, axis=0).astype(np.float64)[:, :, None])
        # sums that break ties count stakeholders once in one world and often in the other: compare where none is broken
        apart = rules.create("seq_phragmen", {"threshold": 1.0})(scores, 5)
        if not apart.tied[0]:
            assert apart.names(0) == together
        assert elect(approves, 5, weights * 1e7) == together == elect(approves, 5, weights / 1e7)


def test_proportional_justified_representation():
    """Brill et al. (2017): ℓ n / k voters who all approve ℓ items approve ℓ of the list between them."""
    generator, groups = np.random.default_rng(7), 0
    for _ in range(40):
        approves, k = generator.random((6, 6)) < 0.5, int(generator.integers(2, 5))
        chosen = [int(name[1:]) for name in elect(approves, k)]
        for size in range(1, 7):
            for group in itertools.combinations(range(6), size):
                common = int(approves[list(group)].all(axis=0).sum())
                deserved = min(size * k // 6, common)
                groups += deserved > 1
                assert approves[list(group)].any(axis=0)[chosen].sum() >= deserved
    assert groups > 50


def test_threads_and_blocks_do_not_matter():
    generator = np.random.default_rng(8)
    world = candidates(generator.random((3, 60, 3_000)))
    rule = rules.create("seq_phragmen", {"best": 6})
    one, two = rule(world, 4, threads=1), rule(world, 4, threads=2)
    np.testing.assert_array_equal(one.items, two.items)
    some = rule(world.take(slice(1_500, 1_510)), 4)
    np.testing.assert_array_equal(some.items, one.items[1_500:1_510])
