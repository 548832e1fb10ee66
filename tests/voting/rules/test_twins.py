"""Every rule against a twin in plain Python with exact fractions, on thousands of small profiles full of ties.

The twins look at one context at a time, follow the definitions, and search where the library computes: all rankings
for Kemeny, all orders of tied pairs for ranked pairs, all paths for Schulze, votes taken out one by one for majority
judgment.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from accordant import strategies
from accordant.voting import Profile

CONTEXTS = 40
SHAPES = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (3, 3), (5, 3), (2, 4), (3, 4), (5, 4)]
WEIGHTS = {
    "one each": [1, 1, 1, 1, 1],
    "whole": [3, 1, 2, 0, 2],
    "decimals whose sums round": ["0.1", "0.2", "0.3", "0.6", "0.7"],
}


class Election:
    """Ballots of one context: `above[i][a]` are the alternatives that voter i puts above a."""

    def __init__(self, ranks, weights, grades):
        self.m, self.voters = len(ranks[0]), range(len(ranks))
        self.weights, self.total = weights, sum(weights)
        self.grades = grades
        unranked = 10**6
        self.ranks = [[unranked if rank < 0 else rank for rank in row] for row in ranks]
        pairs = itertools.product(range(self.m), repeat=2)
        self.margin = {
            (a, b): self.weight(lambda r: r[a] < r[b]) - self.weight(lambda r: r[b] < r[a]) for a, b in pairs
        }

    def weight(self, holds):
        return sum(self.weights[i] for i in self.voters if holds(self.ranks[i]))

    def shares(self, among, best):
        """Weight of first (best=min) or last (best=max) places among some alternatives, ties shared."""
        got = dict.fromkeys(among, Fraction(0))
        for i in self.voters:
            row = self.ranks[i]
            tops = [a for a in among if row[a] == best(row[b] for b in among)]
            for a in tops:
                got[a] += self.weights[i] / len(tops)
        return got


def tiers_of(value):
    """Sets of alternatives from the highest value to the lowest."""
    return [{a for a in value if value[a] == each} for each in sorted(set(value.values()), reverse=True)]


def peeled(members, winners_among):
    """Winners, then the winners among the rest, and so on."""
    tiers, left = [], set(members)
    while left:
        tiers.append(set(winners_among(sorted(left))))
        left -= tiers[-1]
    return tiers


def plurality(e):
    return tiers_of(e.shares(range(e.m), min))


def anti_plurality(e):
    return tiers_of({a: -share for a, share in e.shares(range(e.m), max).items()})


def borda(e):
    def points(row, a):
        return sum(Fraction(1) if row[a] < row[b] else Fraction(1, 2) if row[a] == row[b] else 0
                   for b in range(e.m) if b != a)  # fmt: skip

    return tiers_of({a: sum(e.weights[i] * points(e.ranks[i], a) for i in e.voters) for a in range(e.m)})


def copeland(e):
    def sign(x):
        return (x > 0) - (x < 0)

    return tiers_of({a: sum(sign(e.margin[a, b]) for b in range(e.m)) for a in range(e.m)})


def minimax(e):
    return tiers_of({a: -max([Fraction(0)] + [e.margin[b, a] for b in range(e.m)]) for a in range(e.m)})


def schulze(e):
    def strength(a, b):
        best = Fraction(0)
        others = [c for c in range(e.m) if c not in (a, b)]
        for size in range(len(others) + 1):
            for middle in itertools.permutations(others, size):
                path = (a, *middle, b)
                best = max(best, min(e.margin[pair] for pair in itertools.pairwise(path)))
        return best

    beaten = {a: sum(strength(b, a) > strength(a, b) for b in range(e.m) if b != a) for a in range(e.m)}
    return tiers_of({a: -beaten[a] for a in beaten})


def ranked_pairs(e):
    def locked(order):
        above = set()
        for a, b in order:
            if (b, a) not in above:
                above |= {(x, y) for x in range(e.m) for y in range(e.m)
                          if (x == a or (x, a) in above) and (y == b or (b, y) in above)}  # fmt: skip
        return above

    def winners(members):
        victories = [pair for pair in itertools.permutations(members, 2) if e.margin[pair] > 0]
        groups = [[pair for pair in victories if e.margin[pair] == size]
                  for size in sorted({e.margin[pair] for pair in victories}, reverse=True)]  # fmt: skip
        found = set()
        for orders in itertools.product(*(list(itertools.permutations(group)) for group in groups)):
            above = locked([pair for group in orders for pair in group])
            # drawn pairs come last, in any order, so any completion is possible
            found |= {a for a in members if not any((b, a) in above for b in members)}
        return found

    return peeled(range(e.m), winners)


def kemeny(e):
    def winners(members):
        agreement = {order: sum(e.margin[pair] for pair in itertools.combinations(order, 2))
                     for order in itertools.permutations(members)}  # fmt: skip
        return {order[0] for order in agreement if agreement[order] == max(agreement.values())}

    return peeled(range(e.m), winners)


def eliminated(e, losers_among):
    gone, left = [], set(range(e.m))
    while left:
        losers = losers_among(sorted(left))
        gone.append(set(losers))
        left -= set(losers)
    return gone[::-1]


def instant_runoff(e):
    def losers(left):
        support = {a: e.weight(lambda row: row[a] == min(row[b] for b in left)) for a in left}
        return {a for a in left if support[a] == min(support.values())}

    return eliminated(e, losers)


def coombs(e):
    def losers(left):
        firsts, lasts = e.shares(left, min), e.shares(left, max)
        may_go = [a for a in left if firsts[a] <= e.total / 2]
        return {a for a in may_go if lasts[a] == max(lasts[b] for b in may_go)} or left

    return eliminated(e, losers)


def bucklin(e):
    def support(a, depth):
        return e.weight(lambda row: sum(x < row[a] for x in row) < depth and row[a] < max(row))

    place = {}
    for a in range(e.m):
        depths = [k for k in range(1, e.m) if support(a, k) > e.total / 2]
        place[a] = (-depths[0], support(a, depths[0])) if depths else (-e.m, support(a, e.m - 1))
    return tiers_of(place)


def random_dictatorship(e):
    return plurality(e)


def approval(e):
    def approves(row, a):
        return row[a] >= Fraction(sum(row), len(row))

    return tiers_of({a: sum(e.weights[i] for i in e.voters if approves(e.grades[i], a)) for a in range(e.m)})


def range_voting(e):
    return tiers_of({a: sum(e.weights[i] * e.grades[i][a] for i in e.voters) for a in range(e.m)})


def majority_judgment(e):
    unit = math.lcm(*(weight.denominator for weight in e.weights))

    def majority_value(a):
        votes = sorted(grade for i in e.voters for grade in [e.grades[i][a]] * int(e.weights[i] * unit))
        medians = []
        while votes:
            medians.append(votes.pop((len(votes) - 1) // 2))
        return medians

    return tiers_of({a: tuple(majority_value(a)) for a in range(e.m)})


RANKED = [plurality, anti_plurality, borda, copeland, minimax, schulze, ranked_pairs, kemeny, instant_runoff, coombs,
          bucklin, random_dictatorship]  # fmt: skip
GRADED = [approval, range_voting, majority_judgment]


def drawn(n_voters, n_alternatives, weights):
    """Random ranks with ties and gaps, grades on a coarse scale, and the exact elections of every context."""
    generator = np.random.default_rng([n_voters, n_alternatives])
    shape = (n_voters, n_alternatives, CONTEXTS)
    ranks, grades = generator.integers(-1, n_alternatives, shape), generator.integers(0, 4, shape)
    exact = [Fraction(str(each)) for each in WEIGHTS[weights][:n_voters]]
    profile = Profile(ranks, [float(each) for each in exact], grades=grades)
    return profile, [Election(ranks[:, :, t].tolist(), exact, grades[:, :, t].tolist()) for t in range(CONTEXTS)]


def tiers(counted, context=0):
    return [{int(name) - 1 for name in tier} for tier in counted.ranking(context)]


@pytest.mark.long
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
@pytest.mark.parametrize("twin", RANKED + GRADED, ids=lambda twin: twin.__name__)
def test_rankings_equal_the_twin(twin, n_voters, n_alternatives, weights):
    profile, elections = drawn(n_voters, n_alternatives, weights)
    rule = strategies.create(twin.__name__.removesuffix("_voting"))
    many = rule.count(profile)
    for t, election in enumerate(elections):
        assert tiers(many, t) == twin(election), f"context {t}"


@pytest.mark.long
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    "name", [twin.__name__.removesuffix("_voting") for twin in RANKED + GRADED] + ["maximal_lotteries"]
)
def test_few_and_many_contexts_are_counted_alike(name, weights):
    """Kernels over contexts and numpy over voters give the same numbers."""
    rule = strategies.create(name)
    for shape in SHAPES:
        profile, _ = drawn(*shape, weights)
        many = rule.count(profile).scores
        for t in range(0, CONTEXTS, 3):
            part = slice(t, t + 1)
            alone = Profile(profile.ranks[:, :, part], profile.weights, grades=profile.grades[:, :, part])
            np.testing.assert_allclose(rule.count(alone).scores[:, 0], many[:, t], rtol=1e-12)


@pytest.mark.few(10)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
def test_shares_of_random_dictatorship(n_voters, n_alternatives, weights):
    profile, elections = drawn(n_voters, n_alternatives, weights)
    found = strategies.create("random_dictatorship").count(profile).scores
    for t, election in enumerate(elections):
        shares = election.shares(range(n_alternatives), min)
        expected = [float(shares[a] / election.total) for a in range(n_alternatives)]
        np.testing.assert_allclose(found[:, t], expected, atol=1e-12)


@pytest.mark.few(8)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_voters", "n_alternatives"), SHAPES)
def test_maximal_lotteries_hold_their_certificate(n_voters, n_alternatives, weights):
    """No lottery beats p; and p is the one closest to uniform: p·v ≥ p·p for every other maximal v."""
    from scipy.optimize import linprog

    profile, elections = drawn(n_voters, n_alternatives, weights)
    found = strategies.create("maximal_lotteries").count(profile).scores
    for t, election in enumerate(elections):
        p = found[:, t]
        margins = np.array(
            [[float(election.margin[a, b]) for b in range(n_alternatives)] for a in range(n_alternatives)]
        )
        assert p.min() >= 0
        assert abs(p.sum() - 1) < 1e-12
        assert (p @ margins).min() > -1e-9
        if t % 4 == 0:
            least = linprog(
                p, A_ub=-margins.T, b_ub=np.zeros(n_alternatives), A_eq=np.ones((1, n_alternatives)), b_eq=[1]
            )
            assert least.fun >= p @ p - 1e-7
