"""Utilities on one scale: over all feasible allocations the lowest is 0 and the highest 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import shares_of
from accordant.allocations.options import Options
from accordant.allocations.scenario import Scenario
from accordant.allocations.search.climbing import climbed, linearised, starts
from accordant.allocations.search.greedy import best, worst
from accordant.allocations.utility import AdditiveUtility, Utility

Values = NDArray[np.float64]

INDIFFERENT = 1e-12  # a range of utilities narrower than this, relative to their size, is rounding


@dataclass(frozen=True)
class Range:
    """Lowest and highest utility over all feasible allocations.

    Attributes
    ----------
    low, high
        In the utility's own unit.
    exact
        Whether no feasible allocation lies outside; False if a search found them.
    """

    low: float
    high: float
    exact: bool

    @property
    def width(self) -> float:
        """High minus low; 0 if the difference is rounding."""
        gap = self.high - self.low
        return gap if gap > INDIFFERENT * max(1.0, abs(self.low), abs(self.high)) else 0.0


def utility_range(scenario: Scenario, utility: Utility, options: Options | None = None, seed: int = 0) -> Range:
    """Return the lowest and the highest utility over all feasible allocations.

    Exact where `options` are all allocations (compare them), and for values that add up over patients (serve by value
    per portion, see `accordant.allocations.search.greedy`). Otherwise a seeded exchange search climbs up and down, and
    the options are looked at too: the true range is at least as wide.

    Parameters
    ----------
    scenario
        Whose allocations are compared.
    utility
        Whose range is asked for.
    options
        Allocations that are known; None if none are listed.
    seed
        Of the search.
    """
    if options is not None and options.complete:
        known = utility.of(options.shares)
        return Range(float(known.min()), float(known.max()), exact=True)
    if isinstance(utility, AdditiveUtility):
        ends = np.stack([worst(scenario, utility.values), best(scenario, utility.values)])
        low, high = utility.of(shares_of(scenario, ends))
        return Range(float(low), float(high), exact=True)
    found = [] if options is None else [utility.of(options.shares)]
    for sign in (1.0, -1.0):

        def directed(shares: Values, sign: float = sign) -> Values:
            """Return the utility, or its negative."""
            return sign * utility.of(shares)

        first = starts(scenario, linearised(scenario, [directed]), seed)
        tops = np.stack([climbed(scenario, each, directed, seed) for each in first])
        found.append(utility.of(shares_of(scenario, tops)))
    everything = np.concatenate(found)
    return Range(float(everything.min()), float(everything.max()), exact=False)


@dataclass(frozen=True, eq=False)
class Scaled:
    """Utilities of several agents, scaled to [0, 1] over all feasible allocations (all 1 where one is indifferent).

    Attributes
    ----------
    utilities
        Of each agent, in its own unit.
    ranges
        Of each agent; where one is not exact, scaled utilities may leave [0, 1].
    values, floors
        The same per patient where every utility adds up over patients, shapes (agent, patient) and (agent,):
        u_k(x) = floors_k + Σ_i values_ki x_i. None otherwise.
    """

    utilities: tuple[Utility, ...]
    ranges: tuple[Range, ...]
    values: Values | None
    floors: Values | None

    def of(self, shares: Values) -> Values:
        """Return scaled utilities, shape (agent, option), from shares of shape (option, patient)."""
        return np.stack(
            [
                np.ones(len(shares)) if extent.width == 0 else (utility.of(shares) - extent.low) / extent.width
                for utility, extent in zip(self.utilities, self.ranges, strict=True)
            ]
        )


def scaled(scenario: Scenario, utilities: Sequence[Utility], options: Options | None = None, seed: int = 0) -> Scaled:
    """Return the utilities on one scale; parameters as in `utility_range`."""
    ranges = tuple(utility_range(scenario, utility, options, seed) for utility in utilities)
    values: list[Values] = []
    floors: list[float] = []
    for utility, extent in zip(utilities, ranges, strict=True):
        if not isinstance(utility, AdditiveUtility):
            return Scaled(tuple(utilities), ranges, None, None)
        flat = extent.width == 0
        values.append(np.zeros(len(scenario.ids)) if flat else utility.values / extent.width)
        floors.append(1.0 if flat else -extent.low / extent.width)
    return Scaled(tuple(utilities), ranges, np.stack(values), np.array(floors))
