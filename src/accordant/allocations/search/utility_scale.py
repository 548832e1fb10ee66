"""Utilities on one scale: over all feasible allocations the lowest is 0 and the highest 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.allocations.allocation import AdditiveUtility, Options, Utility, shares_of
from accordant.allocations.enumeration import best, worst
from accordant.allocations.scenario import Scenario
from accordant.allocations.search.exchange_search import climb, linearise, starts
from accordant.arrays import Values
from accordant.errors import InputError

INDIFFERENT = 1e-12  # a range of utilities narrower than this, relative to what they add up, is rounding
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Range:
    """Lowest and highest utility over all feasible allocations.

    Attributes
    ----------
    low, high
        In the utility's own unit.
    exact
        Whether no feasible allocation lies outside; False if a search found them.
    size
        How large the numbers are that the utility adds up, in its own unit, at least 0: rounding is relative to it.
    """

    low: float
    high: float
    exact: bool
    size: float = 0.0

    @property
    def width(self) -> float:
        """High minus low; 0 if the difference is rounding."""
        gap = self.high - self.low
        return gap if gap > INDIFFERENT * max(self.size, abs(self.low), abs(self.high)) else 0.0


def utility_range(scenario: Scenario, utility: Utility, options: Options | None = None, seed: int = 0) -> Range:
    """Return the lowest and the highest utility over all feasible allocations.

    Exact where `options` are all allocations (compare them), and for values that add up over claimants (serve by value
    per portion, see `accordant.allocations.enumeration`). Otherwise a seeded exchange search climbs up and down, and
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

    Raises
    ------
    InputError
        If the utility is not finite for an allocation that was looked at, or too large to be compared.
    """
    if options is not None and options.complete:
        return range_of(scenario, utility, numbers_of(utility, options.shares), exact=True)
    if isinstance(utility, AdditiveUtility):
        ends = np.stack([worst(scenario, utility.values), best(scenario, utility.values)])
        return range_of(scenario, utility, numbers_of(utility, shares_of(scenario, ends)), exact=True)
    utilities = [] if options is None else [numbers_of(utility, options.shares)]
    for sign in (1.0, -1.0):

        def directed(shares: Values, sign: float = sign) -> Values:
            """Return the utility, or its negative."""
            return sign * utility.of(shares)

        first = starts(scenario, linearise(scenario, [directed]), seed)
        tops = np.stack([climb(scenario, start, directed, seed) for start in first])
        utilities.append(numbers_of(utility, shares_of(scenario, tops)))
    return range_of(scenario, utility, np.concatenate(utilities), exact=False)


def numbers_of(utility: Utility, shares: Values) -> Values:
    """Return utilities, shape (option,), from shares of shape (option, claimant).

    Raises InputError if there is not one finite number for each option.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        utilities = np.asarray(utility.of(shares), dtype=np.float64)
    if utilities.shape != (len(shares),):
        raise InputError(
            f"a utility has shape {utilities.shape} for {len(shares)} allocations; allowed: a number for each"
        )
    if not np.isfinite(utilities).all():
        wrong = int(np.argmin(np.isfinite(utilities)))
        raise InputError(
            f"a utility is {utilities[wrong]} for the shares {shares[wrong].tolist()!r:.80}; allowed: finite numbers"
        )
    return utilities


def range_of(scenario: Scenario, utility: Utility, known: Values, *, exact: bool) -> Range:
    """Return the range of utilities, shape (option,), of allocations of a scenario.

    Raises InputError if the range is too wide for a number.
    """
    low, high = float(known.min()), float(known.max())
    if not np.isfinite(high - low):
        raise InputError(f"a utility is between {low:g} and {high:g}; allowed: a difference below 1e308")
    return Range(low, high, exact, size_of(utility, len(scenario.ids)))


def size_of(utility: Utility, n_claimants: int) -> float:
    """Return how large the numbers are that a utility adds up, at least 0.

    That is Σ_i |v_i| for values of claimants, for others the largest utility of one claimant's whole demand alone.
    """
    if isinstance(utility, AdditiveUtility):
        with np.errstate(over="ignore"):
            return min(float(np.abs(utility.values).sum()), LARGEST)
    alone = np.abs(np.asarray(utility.of(np.eye(n_claimants)), dtype=np.float64))
    return float(alone.max(initial=0.0, where=np.isfinite(alone)))


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
        The same per claimant where every utility adds up over claimants, shapes (agent, claimant) and (agent,):
        u_k(x) = floors_k + Σ_i values_ki x_i. None otherwise.
    """

    utilities: tuple[Utility, ...]
    ranges: tuple[Range, ...]
    values: Values | None
    floors: Values | None

    def of(self, shares: Values) -> Values:
        """Return scaled utilities, shape (agent, option), from shares of shape (option, claimant)."""
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
