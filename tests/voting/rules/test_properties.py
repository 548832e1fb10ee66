"""What voting theory says about the rules, on random ballots full of ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant import strategies
from accordant.voting import Profile
from accordant.voting.rules.tally import condorcet_winners
from accordant.voting.rules.pairwise import minimax_scores
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.pairwise import schulze_scores, strongest_paths
from accordant.voting.rules.sums import in_whole_units
from accordant.voting.rules.tally import tally_of_profile

NAMES = [name for name in strategies.names() if issubclass(strategies.strategies.factory(name), VotingRule)]
CONDORCET = ["copeland", "minimax", "ranked_pairs", "schulze", "kemeny", "maximal_lotteries"]
CONTEXTS = 200


def drawn(n_voters, n_alternatives, seed):
    generator = np.random.default_rng([n_voters, n_alternatives, seed])
    shape = (n_voters, n_alternatives, CONTEXTS)
    weights = generator.integers(0, 4, n_voters) + generator.choice([0.0, 0.1, 0.25])
    weights[0] += 1
    return Profile(generator.integers(-1, n_alternatives, shape), weights, grades=generator.integers(0, 3, shape))


def scores(name, profile):
    return strategies.create(name).count(profile).scores


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_neutrality(name, seed):
    """Renaming alternatives renames the result."""
    profile = drawn(4, 4, seed)
    order = np.random.default_rng(seed).permutation(4)
    renamed = Profile(profile.ranks[:, order], profile.weights, grades=profile.grades[:, order])
    np.testing.assert_allclose(scores(name, renamed), scores(name, profile)[order], rtol=1e-9, atol=1e-9)


@pytest.mark.few(16)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_anonymity(name, seed):
    """Neither the order of voters counts, nor whether one votes with weight 2 or two with weight 1."""
    profile = drawn(5, 4, seed)
    order = np.random.default_rng(seed).permutation(5)
    shuffled = Profile(profile.ranks[order], profile.weights[order], grades=profile.grades[order])
    np.testing.assert_allclose(scores(name, shuffled), scores(name, profile), rtol=1e-12, atol=1e-12)
    twice = [0, 1, 2, 3, 4, 4]
    weights = profile.weights[twice] / [1, 1, 1, 1, 2, 2]
    split = Profile(profile.ranks[twice], weights, grades=profile.grades[twice])
    np.testing.assert_allclose(scores(name, split), scores(name, profile), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CONDORCET)
@pytest.mark.parametrize(("n_voters", "n_alternatives"), [(3, 3), (5, 4), (7, 6)])
def test_condorcet_consistency(name, n_voters, n_alternatives):
    """Whoever beats every other alternative wins alone."""
    profile = drawn(n_voters, n_alternatives, 0)
    beats_all = condorcet_winners(tally_of_profile(profile).margins)
    some = beats_all.any(axis=0)
    assert 20 < some.sum() < CONTEXTS
    found = scores(name, profile)[:, some]
    np.testing.assert_array_equal(found == found.max(axis=0), beats_all[:, some])


@pytest.mark.parametrize("name", ["plurality", "borda", "instant_runoff", "anti_plurality", "bucklin"])
def test_others_are_not_condorcet_consistent(name):
    profile = drawn(7, 5, 0)
    beats_all = condorcet_winners(tally_of_profile(profile).margins)
    some = beats_all.any(axis=0)
    found = scores(name, profile)[:, some]
    assert not ((found == found.max(axis=0)) == beats_all[:, some]).all()


def all_margins_of_three():
    triples = np.array(list(itertools.product(range(-3, 4), repeat=3)), dtype=float).T
    margins = np.zeros((3, 3, triples.shape[1]))
    for (a, b), row in zip(((0, 1), (0, 2), (1, 2)), triples, strict=True):
        margins[a, b], margins[b, a] = row, -row
    return margins


def test_schulze_elects_the_minimax_winners_of_three():
    """With three alternatives the two rules have the same winners (Schulze 2011); here for all small margins."""
    margins = all_margins_of_three()
    smallest, paths = minimax_scores(margins), schulze_scores(margins)
    np.testing.assert_array_equal(smallest == smallest.max(axis=0), paths == paths.max(axis=0))


def test_stronger_paths_are_transitive():
    """Schulze (2011): so scores order alternatives as the relation does."""
    paths = strongest_paths(tally_of_profile(drawn(5, 6, 1)).margins)
    above = paths > paths.transpose(1, 0, 2)
    for a, b, c in itertools.permutations(range(6), 3):
        assert not (above[a, b] & above[b, c] & ~above[a, c]).any()


@pytest.mark.parametrize("name", ["schulze", "ranked_pairs"])
def test_clones_change_nothing(name):
    """A copy right below an alternative on every ballot: the winners are the same, but for the copy (Tideman 1987)."""
    generator = np.random.default_rng(3)
    ranks = generator.random((7, 4, CONTEXTS)).argsort(axis=1).argsort(axis=1)
    with_clone = np.concatenate([2 * ranks, 2 * ranks[:, :1] + 1], axis=1)
    before, after = scores(name, Profile(ranks)), scores(name, Profile(with_clone))
    unclear = 0
    for t in range(CONTEXTS):
        winners = set(np.flatnonzero(before[:, t] == before[:, t].max()))
        found = {0 if a == 4 else a for a in np.flatnonzero(after[:, t] == after[:, t].max())}
        if name == "ranked_pairs" and found != winners:
            unclear += 1  # with tied margins, ranked pairs over all orders is not independent of clones
            assert (
                len({*map(abs, tally_of_profile(Profile(ranks[:, :, t])).margins[..., 0][np.triu_indices(4, 1)])}) < 6
            )
        else:
            assert found == winners
    assert unclear < CONTEXTS / 4


@pytest.mark.parametrize("name", NAMES)
def test_unanimity(name):
    """What everybody puts first alone, and grades highest, is among the winners, and wins alone but for vetoes."""
    profile = drawn(4, 4, 2)
    ranks, grades = profile.ranks.copy() + 1, profile.grades.copy()
    ranks[:, 2], grades[:, 2] = 0, 5
    found = scores(name, Profile(ranks, profile.weights, grades=grades))
    assert (found[2] == found.max(axis=0)).all()
    if name != "anti_plurality":
        assert (np.delete(found, 2, axis=0) < found[2]).all()


@pytest.mark.parametrize(("weights", "numbers"), [
    ([1.0, 2.0, 0.0], [1, 2, 0]), ([0.1, 0.2, 0.3], [1, 2, 3]), ([1 / 3, 2 / 3, 1.0], [1, 2, 3]),
    ([0.25, 0.5, 0.125], [2, 4, 1]), ([1e300, 3e300], [1, 3]), ([2.0**50, 2.0**49], [2, 1]), ([1e-9, 0.5e-9], [2, 1]),
])  # fmt: skip
def test_weights_with_a_common_unit_become_whole(weights, numbers):
    found, unit = in_whole_units(np.array(weights))
    assert found.tolist() == numbers
    np.testing.assert_allclose(found * unit, weights, rtol=1e-15)


@pytest.mark.parametrize("weights", [[1.0, np.pi], [1.0, 2**0.5, 3**0.5], [1.0, 1e-13], np.linspace(1, 2, 1201) ** 0.5])
def test_weights_without_a_common_unit_stay(weights):
    found, unit = in_whole_units(np.array(weights))
    assert unit == 1.0
    np.testing.assert_array_equal(found, weights)


@pytest.mark.parametrize("name", NAMES)
def test_weights_without_a_common_unit_still_tie(name):
    """Two opposite voters of weight π, two of weight e: a and c are alike by symmetry, in either layout."""
    ranks = np.array([[0, 1, 2], [2, 1, 0], [0, 1, 2], [2, 1, 0]])
    for n_contexts in (1, 40):
        every = np.repeat(ranks[:, :, None], n_contexts, axis=2)
        profile = Profile(every, [np.pi, np.pi, np.e, np.e], grades=2 - every)
        found = scores(name, profile)
        np.testing.assert_allclose(found[0], found[2], rtol=1e-12)
