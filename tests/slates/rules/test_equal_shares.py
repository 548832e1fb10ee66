"""Equal Shares on lists: exact twin of both ballots and completions, abcvoting, replicated voters, extended JR."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from accordant.errors import InputError
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


def elect(approves, k, weights=None, **given):
    return rules.create("equal_shares", {"threshold": 1.0} | given)(of_ballots(approves, weights), k)


def price(utilities, weights, held, item):
    """The lowest ρ with Σ min(held, w ρ u) = 1, by trying every voter as the richest who still pays all; else None."""
    voters = [i for i, row in enumerate(utilities) if row[item] > 0 and weights[i] > 0]
    if sum((held[i] for i in voters), Fraction(0)) < 1:
        return None
    order = sorted(voters, key=lambda i: held[i] / (weights[i] * utilities[i][item]))
    paid, sharing = Fraction(0), sum(weights[i] * utilities[i][item] for i in order)
    for i in order:
        rho = (1 - paid) / sharing
        if weights[i] * rho * utilities[i][item] <= held[i]:
            return rho
        paid, sharing = paid + held[i], sharing - weights[i] * utilities[i][item]
    raise AssertionError("the last voter can always pay")


def twin(world, u, k, approves, ballots, completion):
    """The list, whether a tie was broken, how many items were bought, and money left."""
    shown = np.flatnonzero(world.available[:, u]).tolist()
    weights = [Fraction(w) for w in world.weights.tolist()]
    rewards = [[Fraction(e) for e in row] for row in world.values[:, :, u].tolist()]
    utilities = [[Fraction(int(a)) for a in row] for row in approves] if ballots == "approval" else rewards
    totals = [sum(row[c] for row, w in zip(rewards, weights, strict=True) if w) for c in range(len(rewards[0]))]
    held, chosen, tied = [w * k / sum(weights) for w in weights], [], False

    def take(scores):
        """Choose the lowest score with the declared tie-break."""
        nonlocal tied
        level = [c for c, score in scores.items() if score == min(scores.values())]
        tied |= len(level) > 1
        chosen.append(min(level, key=lambda c: (-totals[c], c)))

    while len(chosen) < k:
        prices = {c: rho for c in shown if c not in chosen and (rho := price(utilities, weights, held, c)) is not None}
        if not prices:
            break
        take(prices)
        rho = prices[chosen[-1]]
        held = [b - min(b, w * rho * row[chosen[-1]]) for b, w, row in zip(held, weights, utilities, strict=True)]
    bought, loads = len(chosen), [-b / w if w else Fraction(0) for b, w in zip(held, weights, strict=True)]
    while len(chosen) < min(k, len(shown)):
        left = [c for c in shown if c not in chosen]
        if completion == "utilitarian":
            take({c: -sum(w * row[c] for w, row in zip(weights, utilities, strict=True)) for c in left})
            continue
        voters = {c: [i for i, row in enumerate(approves) if row[c] and weights[i]] for c in left}
        never = Fraction(10**9)
        after = {
            c: (1 + sum(weights[i] * loads[i] for i in group)) / sum(weights[i] for i in group) if group else never
            for c, group in voters.items()
        }
        take(after)
        for i in voters[chosen[-1]]:
            loads[i] = after[chosen[-1]]
    return chosen + [-1] * (k - len(chosen)), tied, bought, held


def random_world(generator, n_users=4):
    n_stakeholders, n_items = generator.integers(1, 7), generator.integers(1, 8)
    values = generator.integers(0, GRID + 1, (n_stakeholders, n_items, n_users)) / GRID
    weights = generator.integers(0, 4, n_stakeholders)
    weights[generator.integers(n_stakeholders)] += 1
    return candidates(values, generator.random((n_items, n_users)) < 0.85, weights)


@pytest.mark.long
@pytest.mark.parametrize("ballots", ["approval", "utility"])
@pytest.mark.parametrize("completion", ["phragmen", "utilitarian"])
def test_twin(ballots, completion):
    generator, broken, completed = np.random.default_rng([9, len(ballots), len(completion)]), 0, 0
    for _ in range(50):
        world, k = random_world(generator), int(generator.integers(1, 9))
        given = {"threshold": 0.6, "ballots": ballots, "completion": completion}
        slates = rules.create("equal_shares", given)(world, k)
        scale = world.weights[world.weights > 0].mean()
        for u in range(world.n_users):
            approves = (world.values[:, :, u] >= 0.6) & world.available[:, u]
            items, tied, bought, held = twin(world, u, k, approves.tolist(), ballots, completion)
            assert slates.items[u].tolist() == items
            assert bool(slates.tied[u]) == tied
            assert slates.quantities["bought"][u] == bought
            some = world.weights > 0
            expected = np.array([float(b) for b in held])[some] * scale / world.weights[some]
            np.testing.assert_allclose(slates.quantities["held"][some, u], expected, atol=1e-12)
            broken, completed = broken + tied, completed + (bought < (slates.items[u] >= 0).sum())
    assert 10 < broken < 200
    assert completed > 20


@pytest.mark.long
def test_by_hand_of_lackner_and_skowron():
    """Example 12 of Lackner and Skowron (2023), k = 3: c for 1/5, a for 13/40, then d by Phragmén."""
    approves = np.array([[0, 0, 1, 1]] * 3 + [[1, 1, 0, 0]] * 2 + [[1, 0, 1, 0]] * 2 + [[0, 1, 0, 1]], dtype=bool)
    found = elect(approves, 3)
    assert found.names(0) == ("c2", "c0", "c3")
    assert found.quantities["bought"][0] == 2
    np.testing.assert_allclose(found.quantities["held"][:, 0], [7 / 40] * 3 + [1 / 20] * 2 + [0] * 2 + [3 / 8])
    assert elect(approves, 3, completion="utilitarian").names(0) == ("c2", "c0", "c3")


@pytest.mark.long
def test_a_strong_wish_counts_in_utilities_and_not_in_approvals():
    """Two stakeholders with one place each: a minority's best item against one that is a little good for both."""
    values = np.array([[[1.0], [0.0], [0.6]], [[0.0], [1.0], [0.6]]])
    assert rules.create("equal_shares", {"threshold": 0.5})(candidates(values), 2).names(0)[0] == "c2"
    values[:, 2] = 0.4
    assert set(rules.create("equal_shares", {"ballots": "utility"})(candidates(values), 2).names(0)) == {"c0", "c1"}


@pytest.mark.long
@pytest.mark.parametrize(("completion", "theirs"), [("phragmen", "seqphragmen"), ("utilitarian", "av")])
def test_among_the_committees_of_abcvoting(completion, theirs, extra):
    abcrules, preferences = extra("abcvoting.abcrules"), extra("abcvoting.preferences")
    generator, several = np.random.default_rng([10, len(theirs)]), 0
    for _ in range(60):
        approves = generator.random((int(generator.integers(2, 8)), 6)) < 0.4
        weights, k = generator.integers(1, 4, len(approves)), int(generator.integers(1, 6))
        profile = preferences.Profile(6)
        for row, weight in zip(approves, weights.tolist(), strict=True):
            profile.add_voter(preferences.Voter(np.flatnonzero(row).tolist(), weight=weight))
        found = abcrules.compute_equal_shares(
            profile, k, algorithm="standard-fractions", resolute=False, max_num_of_committees=None, completion=theirs
        )
        several += len(found) > 1
        ours = elect(approves, k, weights, completion=completion)
        assert set(ours.items[0].tolist()) in [set(each) for each in found]
        assert ours.tied[0] or len(found) == 1
    assert 10 < several < 55


@pytest.mark.long
def test_weighted_voters_are_replicated_voters():
    """What is bought is the same; sums that break ties count each stakeholder once, so only lists without ties do."""
    generator, compared = np.random.default_rng(11), 0
    for ballots in ("approval", "utility"):
        for _ in range(40):
            values = generator.random((4, 7, 1)) if ballots == "utility" else generator.random((4, 7, 1)).round()
            weights = generator.integers(1, 5, 4)
            rule = rules.create("equal_shares", {"threshold": 0.5, "ballots": ballots})
            together = rule(candidates(values, weights=weights), 5)
            apart = rule(candidates(np.repeat(values, weights, axis=0)), 5)
            if not apart.tied[0]:
                compared += 1
                assert apart.names(0) == together.names(0)
            scaled = rule(candidates(values, weights=weights * 1e6), 5)
            assert scaled.names(0) == together.names(0)
    assert compared > 30


def test_extended_justified_representation():
    """Peters and Skowron (2020): of ℓ n / k voters who all approve ℓ items, one approves ℓ of the list."""
    generator, groups = np.random.default_rng(12), 0
    for completion in ("phragmen", "utilitarian"):
        for _ in range(40):
            approves, k = generator.random((6, 6)) < 0.5, int(generator.integers(2, 5))
            chosen = elect(approves, k, completion=completion).items[0]
            assert len(set(chosen.tolist())) == k
            for size in range(1, 7):
                for group in itertools.combinations(range(6), size):
                    deserved = min(size * k // 6, int(approves[list(group)].all(axis=0).sum()))
                    groups += deserved > 1
                    assert approves[list(group)][:, chosen].sum(axis=1).max() >= deserved
    assert groups > 100


@pytest.mark.long
def test_single_precision():
    """Prices that differ by float32 rounding tie, and the sums decide."""
    values = np.full((3, 4, 1), 0.7, dtype=np.float32)
    values[0, 2] = np.nextafter(np.float32(0.7), np.float32(1))
    found = rules.create("equal_shares", {"ballots": "utility"})(candidates(values), 2)
    assert found.items[0].tolist() == [0, 1] and found.tied[0]


def test_nobody_wants_anything():
    world = candidates(np.zeros((2, 3, 1)))
    for ballots in ("approval", "utility"):
        found = rules.create("equal_shares", {"threshold": 0.5, "ballots": ballots})(world, 2)
        assert found.items[0].tolist() == [0, 1] and found.quantities["bought"][0] == 0
    empty = rules.create("equal_shares")(candidates(np.ones((2, 3, 1)), np.zeros((3, 1), dtype=bool)), 2)
    assert empty.items.tolist() == [[-1, -1]]


@pytest.mark.parametrize(("given", "message"), [
    ({"ballots": "aproval"}, "did you mean 'approval'"),
    ({"completion": "none"}, "valid: phragmen, utilitarian"),
    ({"best": 0}, "at least 1"),
])  # fmt: skip
def test_wrong_parameters(given, message):
    with pytest.raises(InputError, match=message):
        rules.create("equal_shares", given)


def test_threads_and_blocks_do_not_matter():
    generator = np.random.default_rng(13)
    world = candidates(generator.random((3, 60, 3_000)))
    for given in ({"best": 6}, {"ballots": "utility"}):
        rule = rules.create("equal_shares", given)
        one, two = rule(world, 4, threads=1), rule(world, 4, threads=2)
        np.testing.assert_array_equal(one.items, two.items)
        some = rule(world.take(slice(1_500, 1_510)), 4)
        np.testing.assert_array_equal(some.items, one.items[1_500:1_510])
