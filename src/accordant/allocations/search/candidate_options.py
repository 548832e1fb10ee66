"""Options where feasible allocations are too many to list: those a deterministic, seeded search found worth comparing.

Four kinds of allocations, in this order of importance:

1. those that must be there, such as proposals on the table;
2. where a climb by exchanges ends, for the product of scaled utilities, their minimum, and each of them;
3. supported points: the best allocation for each of many weightings of the utilities, exact for additive ones;
4. seeded walks of a few exchanges from those, so that rules with other aims than the utilities find something too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import Allocation, Options, Utility, shares_of
from accordant.allocations.enumeration import best_of_each, smallest_kind, worst
from accordant.allocations.scenario import Scenario
from accordant.allocations.search.exchange_search import climb, climb_in_utilities, exchanges, linearise
from accordant.allocations.search.utility_scale import Scaled, scaled
from accordant.arrays import Values, WholeNumbers
from accordant.errors import InputError
from accordant.randomness import keyed_seed

SIZE = 1_000
WEIGHTINGS = 200  # weightings of utilities at most; for two agents the weight moves in steps of 1/199
SAY = 1e-6  # share of the weight that is spread over all agents, so that what costs nobody anything is taken
SHARPER = (30.0, 300.0)  # soft minima at most log(K)/30 and log(K)/300 below the minimum
LONGEST_WALK = 8  # exchanges
WALKS_PER_PLACE = 3  # walks tried for each free place: some end where another did


def pool(
    scenario: Scenario,
    utilities: Sequence[Utility],
    include: Sequence[Allocation] = (),
    seed: int = 0,
    size: int = SIZE,
) -> Options:
    """Return feasible allocations worth comparing, without duplicates, in the canonical order of `enumeration`.

    Parameters
    ----------
    scenario
        Whose feasible allocations are searched.
    utilities
        Of the agents, at least one.
    include
        Allocations of this scenario that must be among the options, however many they are.
    seed
        Of the search: the same seed gives the same options.
    size
        How many options there may be, at least 1; there are fewer where the search finds no more.

    Raises
    ------
    InputError
        If there are no utilities, the size is below 1, or an allocation is not feasible here.
    """
    if not utilities or size < 1:
        raise InputError(f"a pool of {size} options for {len(utilities)} utilities; allowed: at least 1 of each")
    for allocation in include:
        Allocation(scenario, allocation.granted)
    scale = scaled(scenario, utilities, seed=seed)
    supported = _supported(scenario, scale)
    kept = _Kept(scenario, max(size, len(include)))
    kept.add(allocation.granted for allocation in include)
    kept.add(_tops(scenario, scale, np.concatenate([supported, kept.array()]), seed))
    kept.add(supported)
    kept.add(_walks(scenario, kept.array(), kept.free, seed))
    return Options(scenario, kept.in_order(), complete=False)


class _Kept:
    """Different allocations, up to a number; those added first stay."""

    def __init__(self, scenario: Scenario, size: int) -> None:
        self.shape, self.size = scenario.demand.shape, size
        self.kind = smallest_kind(scenario.demand)
        self.rows: dict[bytes, None] = {}

    @property
    def free(self) -> int:
        """How many more there may be."""
        return self.size - len(self.rows)

    def add(self, granted: Iterable[WholeNumbers]) -> None:
        """Add allocations, shape (claimant, resource) each, while there is room."""
        for allocation in granted:
            if not self.free:
                return
            self.rows[allocation.T.astype(">i8").tobytes()] = None

    def array(self, rows: Sequence[bytes] | None = None) -> WholeNumbers:
        """Return them as they were added, shape (option, claimant, resource)."""
        joined = b"".join(self.rows if rows is None else rows)
        return np.frombuffer(joined, dtype=">i8").reshape(-1, *self.shape[::-1]).transpose(0, 2, 1).astype(np.int64)

    def in_order(self) -> NDArray[Any]:
        """Return them in canonical order: big-endian bytes of numbers from 0 up sort as the numbers do."""
        granted = np.ascontiguousarray(self.array(sorted(self.rows, reverse=True)), dtype=self.kind)
        granted.setflags(write=False)
        return granted


def weightings(n_agents: int, most: int = WEIGHTINGS) -> Values:
    """Return weights on a regular grid over the simplex, shape (weighting, agent), rows summing to 1.

    The finest grid {w : w_k a multiple of 1/q} with at most `most` points; at least the agents alone.
    """
    steps = 1
    while n_agents > 1 and comb(steps + n_agents, n_agents - 1) <= most:
        steps += 1
    grid = []
    for bars in combinations(range(steps + n_agents - 1), n_agents - 1):
        ends = (-1, *bars, steps + n_agents - 1)
        grid.append([right - left - 1 for left, right in pairwise(ends)])
    return np.array(grid, dtype=np.float64) / steps


def _supported(scenario: Scenario, scale: Scaled) -> WholeNumbers:
    """Return the best allocation for each weighting, and the worst for each agent, shape (option, claimant, resource).

    Utilities that do not add up over claimants take part by what `linearise` says of them.
    """
    directions = scale.values
    if directions is None:
        alone = [partial(_one, scale=scale, agent=agent) for agent in range(len(scale.utilities))]
        directions = linearise(scenario, alone)
    weights = weightings(len(directions))
    weights = (1 - SAY) * weights + SAY / len(directions)
    lowest = np.stack([worst(scenario, direction) for direction in directions])
    return np.concatenate([best_of_each(scenario, weights @ directions), lowest])


def _one(shares: Values, *, scale: Scaled, agent: int) -> Values:
    """Return the scaled utility of one agent."""
    return np.asarray(scale.of(shares)[agent])


def product(utilities: Values) -> Values:
    """Return Π_k max(u_k, 0), shape (option,) from utilities (agent, option)."""
    return np.asarray(np.maximum(utilities, 0.0).prod(axis=0))


def smallest(utilities: Values) -> Values:
    """Return min_k u_k with a trace of the mean to part ties, shape (option,) from utilities (agent, option)."""
    return np.asarray(utilities.min(axis=0) + SAY * utilities.mean(axis=0))


def nearly_smallest(utilities: Values, *, sharpness: float) -> Values:
    """Return the soft minimum −log(Σ_k exp(−s u_k)) / s, shape (option,): at most log(K)/s below the minimum."""
    least = utilities.min(axis=0)
    return np.asarray(least - np.log(np.exp(-sharpness * (utilities - least)).sum(axis=0)) / sharpness)


def _tops(scenario: Scenario, scale: Scaled, known: WholeNumbers, seed: int) -> list[WholeNumbers]:
    """Return where climbs from the best known allocations end: product, minimum, and utilities that do not add up.

    The minimum is climbed directly, and by softer ones first: it is flat wherever the agent with least gains nothing by
    one exchange.
    """
    chains: list[list[Callable[[Values], Values]]] = [
        [product],
        [smallest],
        [*(partial(nearly_smallest, sharpness=sharpness) for sharpness in SHARPER), smallest],
    ]
    if scale.values is None:
        chains += [[partial(_weighted, weights=row)] for row in np.eye(len(scale.utilities))]
    utilities = scale.of(shares_of(scenario, known))
    tops = []
    for number, goals in enumerate(chains):
        top, draws = known[int(np.argmax(goals[0](utilities)))], keyed_seed(seed, f"climb {number}")
        for goal in goals:
            if scale.values is not None and scale.floors is not None:
                top = climb_in_utilities(scenario, top, scale.values, scale.floors, goal, draws)
            else:
                top = climb(scenario, top, partial(_of_shares, scale=scale, goal=goal), draws)
        tops.append(top)
    return tops


def _weighted(utilities: Values, *, weights: Values) -> Values:
    """Return the weighted sum of utilities with a trace of all, shape (option,)."""
    return np.asarray((weights + SAY) @ utilities)


def _of_shares(shares: Values, *, scale: Scaled, goal: Callable[[Values], Values]) -> Values:
    """Return a goal of scaled utilities for allocations given by shares."""
    return goal(scale.of(shares))


def _walks(scenario: Scenario, known: WholeNumbers, places: int, seed: int) -> Iterable[WholeNumbers]:
    """Yield where walks of one to eight random exchanges from known allocations end."""
    generator = np.random.default_rng(keyed_seed(seed, "walks"))
    for walk in range(WALKS_PER_PLACE * places):
        granted = known[walk % len(known)]
        for _ in range(int(generator.integers(1, LONGEST_WALK + 1))):
            offered = exchanges(scenario, granted, 1, generator)
            if len(offered):
                granted = offered.make(granted, int(generator.integers(len(offered))))
        yield granted
