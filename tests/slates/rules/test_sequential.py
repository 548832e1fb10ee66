"""What sequential PAV, greedy Chamberlin-Courant and greedy Monroe share, against exact twins and abcvoting.

The twins know all committees that some order of tied items leads to, as abcvoting's irresolute rules do, and the one
list that the declared tie-break leads to.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.voting import read_preflib
from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards

GRID = 8  # expected rewards are multiples of 1/8, which floats hold exactly
RULES = {
    "seq_pav": ("seq_pav", {}),
    "seq_cc": ("seq_cc", {}),
    "greedy_monroe": ("greedy_monroe", {}),
    "whole": ("greedy_monroe", {"whole": True}),
}
THEIRS = {"seq_pav": "seqpav", "seq_cc": "seqcc", "whole": "greedy-monroe"}


def create(key, **parameters):
    name, given = RULES[key]
    return rules.create(name, given | parameters)


def candidates(values, available=None, weights=None):
    values = np.asarray(values, dtype=np.float64)
    names = [[f"{letter}{j}" for j in range(size)] for letter, size in zip("sc", values.shape[:2], strict=True)]
    return Candidates(ExpectedRewards(values, stakeholders=names[0], actions=names[1]), available, weights)


def powers(key, approves, weights, k, chosen):
    """What each stakeholder's approval counts after some items were chosen in order; from the definition, exact."""
    approved = [sum(row[c] for c in chosen) for row in approves]
    if key == "seq_pav":
        return [w / (1 + a) for w, a in zip(weights, approved, strict=True)]
    if key == "seq_cc":
        return [Fraction(0) if a else w for w, a in zip(weights, approved, strict=True)]
    left, total = list(weights), sum(weights)
    for place, c in enumerate(chosen):
        quota = total / k if key == "greedy_monroe" else total // k + (place < total % k)
        for i, row in enumerate(approves):
            if row[c]:
                share = min(left[i], quota)
                left[i], quota = left[i] - share, quota - share
    return left


def best_items(key, approves, weights, k, chosen, shown):
    """Items with the highest score at the next place."""
    power = powers(key, approves, weights, k, chosen)
    scores = {
        c: sum((p for p, row in zip(power, approves, strict=True) if row[c]), Fraction(0))
        for c in shown
        if c not in chosen
    }
    return [c for c, score in scores.items() if score == max(scores.values())]


def committees(key, approves, weights, k, shown):
    """All committees that some order of tied items leads to."""
    weights, frontier = [Fraction(w) for w in weights], {()}
    for _ in range(min(k, len(shown))):
        frontier = {
            chosen if key == "whole" or key == "greedy_monroe" else tuple(sorted(chosen))
            for before in frontier
            for chosen in [(*before, c) for c in best_items(key, approves, weights, k, before, shown)]
        }
    return {frozenset(chosen) for chosen in frontier}


def twin(key, approves, weights, k, shown, totals):
    """The list under the declared tie-break, and whether a tie was broken."""
    chosen, tied, weights = [], False, [Fraction(w) for w in weights]
    for _ in range(min(k, len(shown))):
        best = best_items(key, approves, weights, k, chosen, shown)
        tied |= len(best) > 1
        chosen.append(min(best, key=lambda c: (-totals[c], c)))
    return chosen + [-1] * (k - len(chosen)), tied


def random_world(generator, shown=0.85):
    n_stakeholders, n_items = generator.integers(1, 7), generator.integers(1, 8)
    values = generator.integers(0, GRID + 1, (n_stakeholders, n_items, 4)) / GRID
    weights = generator.integers(0, 4, n_stakeholders)
    weights[generator.integers(n_stakeholders)] += 1
    return candidates(values, generator.random((n_items, 4)) < shown, weights)


@pytest.mark.few(3)
@pytest.mark.parametrize("key", RULES)
@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_twin(key, threshold):
    """Lists, ties, and how many items each stakeholder approves; weights of 0, items that may not be shown."""
    generator = np.random.default_rng([3, round(10 * threshold)])
    for _ in range(40):
        world, k = random_world(generator), int(generator.integers(1, 9))
        slates = create(key, threshold=threshold)(world, k)
        for u in range(world.n_users):
            shown = np.flatnonzero(world.available[:, u]).tolist()
            approves = (world.values[:, :, u] >= threshold).tolist()
            totals = [sum(Fraction(e) for e in column) for column in world.values[world.weights > 0, :, u].T]
            items, tied = twin(key, approves, world.weights.tolist(), k, shown, totals)
            assert slates.items[u].tolist() == items
            assert slates.tied[u] == tied
            expected = [sum(row[c] for c in items if c >= 0) for row in approves]
            assert slates.quantities["approved"][:, u].tolist() == expected


def their_profile(preferences, approves, weights=None):
    profile = preferences.Profile(len(approves[0]))
    for i, row in enumerate(approves):
        profile.add_voter(preferences.Voter(np.flatnonzero(row).tolist(), weight=1 if weights is None else weights[i]))
    return profile


@pytest.fixture(scope="module")
def committees_there(extra):
    """All committees of abcvoting, or the one with its tie-break, as sets."""
    abcrules, preferences = extra("abcvoting.abcrules"), extra("abcvoting.preferences")

    def compute(key, approves, k, weights=None, resolute=True):
        profile = their_profile(preferences, approves, weights)
        return {frozenset(each) for each in abcrules.compute(THEIRS[key], profile, k, resolute=resolute)}

    return compute


def random_profiles():
    """Profiles with 1 to 8 unit voters; many ties, voters who approve nothing, places that voters do not divide by."""
    for seed in range(200):
        generator = np.random.default_rng([11, seed])
        n_voters, n_items = int(generator.integers(1, 9)), int(generator.integers(2, 8))
        approves = generator.random((n_voters, n_items)) < generator.choice([0.2, 0.4, 0.7])
        yield approves, int(generator.integers(1, n_items + 1))


@pytest.mark.long
@pytest.mark.parametrize("key", THEIRS)
def test_abcvoting_breaks_ties_as_declared(key, committees_there):
    """With equal sums of expected rewards our tie-break is abcvoting's: the first item."""
    for approves, k in random_profiles():
        world = candidates(np.full((*approves.shape, 1), 0.5))
        ours = create(key).elect(approves[:, :, None], world, k)
        assert {frozenset(ours.items[0].tolist())} == committees_there(key, approves, k)


def test_divided_quotas_are_whole_where_places_divide_voters(committees_there):
    profiles = [(approves, k) for approves, k in random_profiles() if len(approves) % k == 0]
    assert len(profiles) > 50
    for approves, k in profiles:
        world = candidates(np.full((*approves.shape, 1), 0.5))
        ours = create("greedy_monroe").elect(approves[:, :, None], world, k)
        assert {frozenset(ours.items[0].tolist())} == committees_there("whole", approves, k)


@pytest.mark.long
@pytest.mark.parametrize("key", THEIRS)
def test_among_the_committees_of_abcvoting(key, committees_there):
    """Ties broken by sums lead to one of all committees; where there is one, to it. abcvoting has one greedy Monroe."""
    n_unique = 0
    for approves, k in random_profiles():
        values = (
            np.where(approves, 0.75, 0.25) + np.random.default_rng(approves.size).integers(0, 3, approves.shape) / 8
        )
        world = candidates(values[:, :, None])
        ours = frozenset(create(key, threshold=0.7).elect(approves[:, :, None], world, k).items[0].tolist())
        every = committees(key, approves.tolist(), [1] * len(approves), k, range(approves.shape[1]))
        resolute = key == "whole"
        there = committees_there(key, approves, k, resolute=resolute)
        assert there <= every if resolute else there == every
        assert ours in every
        n_unique += len(every) == 1
    assert n_unique > 20


FILES = [f"elections/00002_debian/00002-{n:08}.toc" for n in range(1, 9)] + [
    f"elections/00007_ers/00007-{n:08}.soi" for n in (2, 6, 13, 23, 28, 55)
]


@pytest.mark.long
@pytest.mark.parametrize("key", THEIRS)
def test_real_elections(key, committees_there, real_data):
    """Everybody approves the two best ranks; Debian's and the ERS' ballots with 43 to 2,785 voters."""
    for file in FILES:
        profile = read_preflib(real_data(file))
        approves, weights = profile.ranks[:, :, 0] < 2, profile.weights.astype(int)
        if key == "whole" and weights.sum() > 300:
            continue  # theirs takes time that grows with the square of voters
        voters, count = (np.repeat(approves, weights, axis=0), None) if key == "whole" else (approves, weights.tolist())
        world = candidates(np.full((*approves.shape, 1), 0.5), weights=weights)
        for k in (2, 3, approves.shape[1] - 1):
            ours = create(key).elect(approves[:, :, None], world, k)
            assert {frozenset(ours.items[0].tolist())} == committees_there(key, voters, k, count), (file, k)


@pytest.mark.parametrize("key", RULES)
def test_weights_are_replicas(key):
    generator = np.random.default_rng(5)
    for _ in range(30):
        world, k = random_world(generator), int(generator.integers(1, 6))
        times = world.weights.astype(int)
        copies = candidates(np.repeat(world.values, times, axis=0), world.available)
        # copies of a stakeholder also weigh in the sums that break ties, so those are made equal
        approved = np.random.default_rng(k).random(world.values.shape) < 0.4
        level = [candidates(np.full(each.values.shape, 0.5), world.available, w)
                 for each, w in ((world, world.weights), (copies, None))]  # fmt: skip
        rule = create(key)
        left = rule.elect(approved, level[0], k)
        right = rule.elect(np.repeat(approved, times, axis=0), level[1], k)
        np.testing.assert_array_equal(left.items, right.items)
        np.testing.assert_array_equal(left.tied, right.tied)


@pytest.mark.parametrize("key", RULES)
def test_weight_zero_has_no_say(key):
    generator = np.random.default_rng(6)
    values = generator.integers(0, GRID + 1, (4, 12, 20)) / GRID
    with_them = create(key)(candidates(values, weights=[1, 0, 2, 0]), 5)
    without = create(key)(candidates(values[[0, 2]], weights=[1, 2]), 5)
    np.testing.assert_array_equal(with_them.items, without.items)
    np.testing.assert_array_equal(with_them.tied, without.tied)


@pytest.mark.parametrize("key", RULES)
def test_users_blocks_and_threads_do_not_matter(key):
    """1,200 users in several blocks, in another order, alone, and on one thread or two."""
    generator = np.random.default_rng(7)
    values = generator.integers(0, GRID + 1, (5, 100, 1_200)) / GRID
    world = candidates(values, generator.random((100, 1_200)) < 0.9, [4, 2, 2, 3, 1])
    assert len(world.slices()) > 1
    rule, order = create(key), generator.permutation(1_200)
    here = rule(world, 6, threads=1)
    for other, users in (
        (rule(world, 6, threads=2), slice(None)),
        (rule(world.take(order), 6), order),
        (rule(world.take(slice(77, 78)), 6), slice(77, 78)),
    ):
        np.testing.assert_array_equal(other.items, here.take(users).items)
        np.testing.assert_array_equal(other.tied, here.take(users).tied)
        np.testing.assert_array_equal(other.quantities["approved"], here.take(users).quantities["approved"])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(RULES)), st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_lists_are_lists(key, seed, k):
    """Never an item twice or one that may not be shown; as many as there are, then nothing."""
    world = random_world(np.random.default_rng(seed), shown=0.5)
    slates = create(key)(world, k)
    assert slates.items.shape == (world.n_users, k)
    for u in range(world.n_users):
        shown = [c for c in slates.items[u].tolist() if c >= 0]
        assert len(set(shown)) == len(shown) == min(k, int(world.available[:, u].sum()))
        assert world.available[shown, u].all()
        assert (slates.items[u, len(shown) :] == -1).all()


@pytest.mark.parametrize("key", RULES)
def test_one_of_everything_and_nothing(key):
    rule = create(key)
    alone = rule(candidates(np.full((1, 1, 1), 0.3)), 3)
    assert alone.items.tolist() == [[0, -1, -1]] and not alone.tied.any()
    hidden = rule(candidates(np.full((2, 3, 2), 0.3), np.zeros((3, 2), dtype=bool)), 2)
    assert (hidden.items == -1).all() and not hidden.tied.any()
    nobody = rule(candidates(np.empty((2, 3, 0))), 2)
    assert nobody.items.shape == (0, 2)


@pytest.mark.parametrize("key", RULES)
def test_what_is_left_goes_to_higher_sums_then_to_the_first(key):
    """Nobody approves anything: the list is sorted by sums, and says that it is tied."""
    values = np.array([[0.1, 0.3, 0.2, 0.3], [0.1, 0.1, 0.3, 0.1]])[:, :, None]
    slates = create(key, threshold=0.9)(candidates(values), 4)
    assert slates.items.tolist() == [[2, 1, 3, 0]]
    assert slates.tied.all()
