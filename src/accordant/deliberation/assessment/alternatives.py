"""What else could have been decided: all feasible allocations, or what a search and random walks found.

Where allocations are too many to list, `at_level` draws some at an agent's concession level by seeded walks. The level
set holds all feasible allocations that an agent likes at least as much as a given one. A walk starts at that one and
exchanges single portions; an exchange that would leave the set is not made. For each resource the demand of all
claimants is a row of places, one per portion, of which those that are given out come first. A step picks one place that
is given out, held by i, and one that is not, demanded by j, all pairs equally likely, and offers to swap them. With g
portions granted and o portions still open before the swap, the offer from x to y is made with probability ∝ g_i o_j,
and that from y to x with probability ∝ (g_j + 1)(o_i + 1). Accepting with probability

    min(1, (g_j + 1)(o_i + 1) / (g_i o_j))

makes every allocation of the set equally likely in the long run (Metropolis, Rosenbluth, Rosenbluth, Teller and Teller
1953; Hastings 1970), as far as single exchanges reach it. Where the utility adds up over claimants they reach all of
it: from each allocation a chain of exchanges that never lose leads to a best one. Where it does not, a part of the set
may stay out of reach. A walk is finite, so shares of its draws are approximate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import AdditiveUtility, Allocation, Scenario, Utility
from accordant.allocations.allocation import Options, shares_of
from accordant.allocations.enumeration import MOST_OPTIONS, enumerate_options, given_out
from accordant.allocations.search import best, pool, scaled
from accordant.allocations.search.candidate_options import SIZE
from accordant.arrays import Codes, Values
from accordant.deliberation.record import Deliberation
from accordant.randomness import keyed_seed

CLOSE = 1e-9  # utilities this close, relative to their size, are level
WALKS = 200  # side by side, all from the same allocation
BURN_IN = 10  # steps before the first draw, per portion that may change hands
APART = 1  # steps between two draws of one walk, per portion that may change hands
FEWEST = 20  # portions that the two numbers above are multiplied by at least
DRAWN = 2_000  # allocations drawn for each agent: ten of each walk


def lowest_at_level(liked: float) -> float:
    """Return the lowest utility that counts as at least `liked`, with rounding forgiven."""
    return liked - CLOSE * max(1.0, abs(liked))


def at_level(scenario: Scenario, utility: Utility, start: Allocation, draws: int, seed: int) -> Values:
    """Return shares of random allocations that are liked at least as much as one is, shape (draw, claimant).

    Parameters
    ----------
    scenario
        Whose allocations are drawn.
    utility
        Of whoever is to be left at least as well off.
    start
        As well off as in this allocation, where all walks start.
    draws
        How many, at least 1; an allocation may repeat.
    seed
        Of the walks.
    """
    generator = np.random.default_rng(seed)
    walks = _Walks(scenario, utility, start, min(WALKS, draws))
    free = [resource for resource, row in enumerate(walks.places) if 0 < row.given < row.held.shape[1]]
    span = max([FEWEST, *(walks.places[resource].movable for resource in free)]) * max(1, len(free))
    shares = []
    for number in range(-(-draws // walks.count)):
        for _ in range(span * (APART if number else BURN_IN) if free else 0):
            walks.step(free[int(generator.integers(len(free)))], generator)
        shares.append(walks.shares())
    return np.concatenate(shares)[:draws]


@dataclass(frozen=True, eq=False)
class _Row:
    """One resource: the claimant at each place, shape (walk, place); the first `given` places are given out."""

    held: Codes
    given: int

    @property
    def movable(self) -> int:
        """How many portions can change hands at once."""
        return int(min(self.given, self.held.shape[1] - self.given))


class _Walks:
    """Several walks side by side."""

    def __init__(self, scenario: Scenario, utility: Utility, start: Allocation, count: int) -> None:
        self.scenario, self.utility, self.count = scenario, utility, count
        self.rows = np.arange(count)
        self.granted = np.repeat(start.granted.astype(np.int64)[None], count, axis=0)
        self.liked = np.repeat(utility.of(start.shares[None]), count)
        self.lowest = lowest_at_level(float(self.liked[0]))
        self.worth = utility.values[:, None] * scenario.parts if isinstance(utility, AdditiveUtility) else None
        everybody = np.arange(len(scenario.ids))
        self.places = []
        for resource, given in enumerate(given_out(scenario).tolist()):
            got, wanted = start.granted[:, resource], scenario.demand[:, resource]
            row = np.concatenate([np.repeat(everybody, got), np.repeat(everybody, wanted - got)])
            self.places.append(_Row(np.repeat(row[None], count, axis=0), given))

    def step(self, resource: int, generator: np.random.Generator) -> None:
        """Offer each walk one swap of a resource, and make those that are accepted."""
        row, rows = self.places[resource], self.rows
        one = generator.integers(row.given, size=self.count)
        other = generator.integers(row.given, row.held.shape[1], size=self.count)
        giver, receiver = row.held[rows, one], row.held[rows, other]
        chance = self._ratio(resource, giver, receiver) > generator.random(self.count)
        liked = self._liked(resource, giver, receiver)
        made = chance & (giver != receiver) & (liked >= self.lowest)
        walk, i, j = rows[made], giver[made], receiver[made]
        row.held[walk, one[made]], row.held[walk, other[made]] = j, i
        self.granted[walk, i, resource] -= 1
        self.granted[walk, j, resource] += 1
        self.liked[made] = liked[made]

    def shares(self) -> Values:
        """Return where the walks are, shape (walk, claimant)."""
        return shares_of(self.scenario, self.granted)

    def _ratio(self, resource: int, giver: Codes, receiver: Codes) -> Values:
        """Return how likely the way back is offered, over how likely the way there is, shape (walk,)."""
        granted, rows = self.granted[:, :, resource], self.rows
        open_to = self.scenario.demand[:, resource] - granted
        back = (granted[rows, receiver] + 1.0) * (open_to[rows, giver] + 1.0)
        return np.asarray(back / (granted[rows, giver] * open_to[rows, receiver]))

    def _liked(self, resource: int, giver: Codes, receiver: Codes) -> Values:
        """Return the utility after the swaps, shape (walk,)."""
        if self.worth is not None:
            return np.asarray(self.liked + self.worth[receiver, resource] - self.worth[giver, resource])
        after = self.granted.copy()
        after[self.rows, giver, resource] -= 1
        after[self.rows, receiver, resource] += 1
        return np.asarray(self.utility.of(shares_of(self.scenario, after)))


@dataclass(frozen=True, eq=False)
class Alternatives:
    """What strategies and null hypotheses choose among; the joint decision is one of the options.

    Attributes
    ----------
    options
        Different allocations: all, or those that a search found.
    random
        Agent to what a random decision takes that leaves the agent its utility of the joint decision or more, each as
        likely, shape (draw, claimant): shares of each such option once if all are listed, else of allocations that
        walks drew, in which one may repeat.
    """

    options: Options
    random: Mapping[str, NDArray[np.float64]]


def alternatives(
    deliberation: Deliberation, *, limit: int = MOST_OPTIONS, drawn: int = DRAWN, size: int = SIZE
) -> Alternatives:
    """Return what else could have been decided.

    Where there are more allocations than `limit`, a search looks for those worth comparing by the utilities that
    settlement read (`accordant.allocations.search.pool`). First, last and joint allocations, the disagreement, and an
    allocation with the largest sum of scaled utilities, which is exact for utilities that add up, are always among
    them. Settlement searched for itself, and its list is not on the record, but its choice is. The null hypothesis
    takes walks (`accordant.deliberation.assessment.alternatives`), never that search.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    limit
        How many allocations are listed at most.
    drawn
        How many are drawn for each agent where there are more.
    size
        How many the search lists at most, besides what is on record.
    """
    scenario, joint = deliberation.scenario, deliberation.joint
    listed = enumerate_options(scenario, limit)
    if listed is not None:
        levels = {name: level(utility, listed, joint) for name, utility in deliberation.utilities.items()}
        return Alternatives(listed, {name: listed.shares[liked] for name, liked in levels.items()})
    random = {
        name: at_level(scenario, utility, joint, drawn, keyed_seed(deliberation.seed, f"walks {name}"))
        for name, utility in deliberation.utilities.items()
    }
    return Alternatives(_searched(deliberation, size), random)


def _searched(deliberation: Deliberation, size: int) -> Options:
    """Return what a search found, and everything on record; agents in the order of their names."""
    seed = keyed_seed(deliberation.seed, "alternatives")
    known = [deliberation.joint]
    for proposals in (deliberation.solo, deliberation.revised):
        known += [proposals[name].allocation for name in sorted(proposals)]
    if deliberation.disagreement is not None:
        known.append(deliberation.disagreement)
    utilities = [deliberation.utilities[name] for name in sorted(deliberation.utilities)]
    largest = largest_sum(deliberation)
    include = list(dict.fromkeys(known if largest is None else [*known, largest]))
    return pool(deliberation.scenario, utilities, include=include, seed=seed, size=size + len(include))


def largest_sum(deliberation: Deliberation) -> Allocation | None:
    """Return a feasible allocation with the largest sum of scaled utilities; None if one does not add up.

    Exact, see `accordant.allocations.enumeration`.
    """
    utilities = [deliberation.utilities[name] for name in sorted(deliberation.utilities)]
    if not all(isinstance(utility, AdditiveUtility) for utility in utilities):
        return None
    values = scaled(deliberation.scenario, utilities).values
    assert values is not None
    return Allocation(deliberation.scenario, best(deliberation.scenario, values.sum(axis=0)))


def level(utility: Utility, options: Options, joint: Allocation) -> NDArray[np.bool_]:
    """Return which options are liked at least as much as the joint decision, shape (option,)."""
    return np.asarray(utility.of(options.shares) >= lowest_at_level(float(utility.of(joint.shares[None])[0])))


def relative_utility(utility: Utility, options: Options, seed: int = 0) -> NDArray[np.float64]:
    """Return the utility of each option, lowest 0 and highest 1 over all feasible allocations; all 1 if indifferent.

    Shape (option,). Where the options are not all and the utility is no sum over claimants, a seeded search finds
    lowest and highest, and what it missed is cut off at 0 and 1.
    """
    together = scaled(options.scenario, [utility], options, seed)
    return np.asarray(np.clip(together.of(options.shares)[0], 0.0, 1.0))
