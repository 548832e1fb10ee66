"""Seeded exchange search: move portions of one resource from one claimant to another while that helps.

Every exchange leads from one feasible allocation to another, and every feasible allocation can be reached. Portions
move in lots of 2^k, the largest that a demand holds first and single ones last. A climb makes at most 200 exchanges of
each size, so with thousands of contested portions it may end before nothing helps any more. Where few
exchanges are possible all are compared in every step, so the search ends where no single exchange helps; where there
are many, a seeded sample is. Neither is sure to find the best allocation: bounds say how much may be missing
(`accordant.allocations.search.bounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import shares_of
from accordant.allocations.enumeration import best_of_each, worth_of_portions
from accordant.allocations.scenario import Scenario
from accordant.arrays import Values, WholeNumbers
from accordant.randomness import keyed_uniform

Goal = Callable[[Values], Values]

STEPS = 200  # exchanges of one size of lots in one climb at most
PATIENCE = 3  # samples of exchanges without a gain before a climb ends
CELLS = 131_072  # shares or utilities compared at once, (exchange, claimant) or (agent, exchange)
FEWEST = 64  # exchanges sampled at least, however many claimants there are
RANDOM_STARTS = 2
GAIN = 1e-12  # smaller gains, relative to the size of the goal, are rounding


@dataclass(frozen=True, eq=False)
class Exchanges:
    """Portions that may change hands: resource, giver and receiver, each of shape (exchange,).

    `all_of_them` says whether no exchange that is possible was left out, `lot` how many portions each one moves.
    """

    resource: NDArray[np.intp]
    giver: NDArray[np.intp]
    receiver: NDArray[np.intp]
    all_of_them: bool
    lot: int = 1

    def __len__(self) -> int:
        return len(self.resource)

    def make(self, granted: WholeNumbers, exchange: int) -> WholeNumbers:
        """Return the allocation after one of them."""
        after = granted.copy()
        after[self.giver[exchange], self.resource[exchange]] -= self.lot
        after[self.receiver[exchange], self.resource[exchange]] += self.lot
        return after


def exchanges(
    scenario: Scenario, granted: WholeNumbers, most: int, generator: np.random.Generator, lot: int = 1
) -> Exchanges:
    """Return the exchanges of a lot that are possible from an allocation: all, or a sample of `most` of more."""
    givers = [np.flatnonzero(column >= lot) for column in granted.T]
    receivers = [np.flatnonzero(column >= lot) for column in (scenario.demand - granted).T]
    sizes = np.array([len(a) * len(b) for a, b in zip(givers, receivers, strict=True)])
    total, before = int(sizes.sum()), sizes.cumsum() - sizes
    everything = total <= most
    chosen = np.arange(total) if everything else generator.integers(total, size=most)
    resource = np.searchsorted(before + sizes, chosen, side="right")
    giver, receiver = np.empty_like(chosen), np.empty_like(chosen)
    for position in np.unique(resource):
        these = resource == position
        row, column = np.divmod(chosen[these] - before[position], len(receivers[position]))
        giver[these], receiver[these] = givers[position][row], receivers[position][column]
    moved = giver != receiver
    return Exchanges(resource[moved], giver[moved], receiver[moved], everything, lot)


def climb(scenario: Scenario, start: WholeNumbers, goal: Goal, seed: int) -> WholeNumbers:
    """Return where steepest ascent by exchanges ends, shape (claimant, resource).

    `scenario`: whose feasible allocations are searched; `start`: a feasible allocation; `goal`: from shares (option,
    claimant) to what is to be large, shape (option,); `seed`: of the samples.
    """
    most = max(FEWEST, CELLS // len(scenario.ids))

    def judge(granted: WholeNumbers, offered: Exchanges) -> tuple[float, Values]:
        """Return the goal now, and after each exchange."""
        rows = np.arange(len(offered))
        shares = np.repeat(shares_of(scenario, granted)[None], len(offered) + 1, axis=0)
        shares[rows, offered.giver] -= offered.lot * scenario.parts[offered.giver, offered.resource]
        shares[rows, offered.receiver] += offered.lot * scenario.parts[offered.receiver, offered.resource]
        values = goal(shares)
        return float(values[-1]), values[:-1]

    return _ascend(scenario, start, judge, most, seed)


def climb_in_utilities(
    scenario: Scenario, start: WholeNumbers, values: Values, floors: Values, goal: Goal, seed: int
) -> WholeNumbers:
    """Return `climb` for a goal that reads additive utilities, (agent, option) to (option,): far more exchanges."""
    worth = worth_of_portions(scenario, values)
    idle = values[:, scenario.demand.sum(axis=1) == 0].sum(axis=1)

    def judge(granted: WholeNumbers, offered: Exchanges) -> tuple[float, Values]:
        """Return the goal now, and after each exchange."""
        now = (floors + idle + np.einsum("kir,ir->k", worth, granted))[:, None]
        gained = worth[:, offered.receiver, offered.resource] - worth[:, offered.giver, offered.resource]
        after = now + offered.lot * gained
        return float(goal(now)[0]), goal(after)

    return _ascend(scenario, start, judge, CELLS // len(values), seed)


def _ascend(
    scenario: Scenario,
    start: WholeNumbers,
    judge: Callable[[WholeNumbers, Exchanges], tuple[float, Values]],
    most: int,
    seed: int,
) -> WholeNumbers:
    """Take the best exchange while one helps, of large lots first."""
    generator = np.random.default_rng(seed)
    granted = np.array(start, dtype=np.int64)
    for lot in lots(scenario):
        fruitless = 0
        for _ in range(STEPS):
            offered = exchanges(scenario, granted, most, generator, lot)
            if not len(offered):
                break
            now, after = judge(granted, offered)
            top = int(np.argmax(after))
            if after[top] > now + GAIN * max(abs(now), float(np.abs(after).max())):
                granted, fruitless = offered.make(granted, top), 0
                continue
            fruitless += 1
            if offered.all_of_them or fruitless == PATIENCE:
                break
    return granted


def lots(scenario: Scenario) -> list[int]:
    """Return 2^k, …, 4, 2, 1, the first the largest that some demand holds; 1 alone if nothing is demanded."""
    return [1 << power for power in range(max(1, int(scenario.demand.max()).bit_length()) - 1, -1, -1)]


def linearise(scenario: Scenario, goals: Sequence[Goal]) -> Values:
    """Return what meeting a claimant's demand adds if the demand of all others is met in part, shape (goal, claimant).

    For values that add up over claimants these are the values; for others they are a place to start from.
    """
    n = len(scenario.ids)
    met = np.minimum(1.0, scenario.capacity.sum() / max(1, int(scenario.demand.sum())))
    shares = np.full((2 * n, n), met)
    shares[np.arange(n), np.arange(n)] = 1.0
    shares[n + np.arange(n), np.arange(n)] = 0.0
    values = (goal(shares) for goal in goals)
    return np.stack([np.nan_to_num(row[:n] - row[n:], posinf=0.0, neginf=0.0) for row in values])


def starts(scenario: Scenario, directions: Values, seed: int) -> WholeNumbers:
    """Return allocations to start from, shape (start, claimant, resource).

    The best by each direction, shape (direction, claimant), and the best by seeded draws that depend on ids alone.
    """
    draws = [keyed_uniform(seed, (f"start {k}:{claimant}" for claimant in scenario.ids)) for k in range(RANDOM_STARTS)]
    return best_of_each(scenario, np.concatenate([directions, np.stack(draws)]))
