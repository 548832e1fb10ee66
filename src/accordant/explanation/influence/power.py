"""Shapley and Banzhaf values of the game of who is heard.

Shapley (1953): the mean, over all orders in which players may be heard one after the other, of what the worth gains
when i is heard. Banzhaf (1965): the mean of what it gains over all coalitions of the others. With voting games both
are power indices (Shapley and Shubik 1954); here a game is played in every context, and the values are summed.

Both are kept as whole numbers over a common denominator, so that no rounding hides what theorems promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Mask, Values, WholeNumbers

Worth = Callable[[Codes], WholeNumbers]

MOST_PLAYERS = 10  # up to here all 2^n coalitions are enumerated; beyond, orders and coalitions are drawn


@dataclass(frozen=True, eq=False)
class PowerIndex:
    """What each stakeholder contributes to the decisions.

    Attributes
    ----------
    counts
        Contributions times `denominator`, shape (stakeholder, context).
    denominator
        n! for Shapley and 2^(n−1) for Banzhaf values of n players, or the number of draws if they were sampled; times
        the orders of actions in which ties were broken.
    error
        Standard error of `raw`, shape (stakeholder,); None if values are exact.
    """

    counts: WholeNumbers
    denominator: int
    error: Values | None = None

    @property
    def raw(self) -> Values:
        """Contributions summed over contexts, in numbers of contexts, shape (stakeholder,)."""
        return self.within(slice(None))[0]

    @property
    def share(self) -> tuple[float, ...] | None:
        """Contributions as shares of their sum; None if that is not above 0.

        A share is below 0 where somebody more often pulls away from the decision than towards it, and others then
        have more than 1 together.
        """
        return self.within(slice(None))[1]

    def within(self, contexts: Mask | slice) -> tuple[Values, tuple[float, ...] | None]:
        """Return contributions in some contexts, raw and as shares."""
        sums = self.counts[:, contexts].sum(axis=1)
        total = int(sums.sum())
        share = tuple(int(contribution) / total for contribution in sums) if total > 0 else None
        return np.asarray(sums / self.denominator, dtype=np.float64), share


def enumerate_coalitions(
    worth: Worth, players: Mask, n_contexts: int, *, unit: int = 1
) -> tuple[PowerIndex, PowerIndex]:
    """Return exact Shapley and Banzhaf values from the worth of every coalition.

    A coalition S counts for its members (|S| − 1)! (n − |S|)! / n! times in the Shapley value, and against all others
    |S|! (n − |S| − 1)! / n! times; in the Banzhaf value 1 / 2^(n−1) times, for or against (Shapley 1953, Banzhaf 1965).

    Parameters
    ----------
    worth
        From positions of stakeholders to v_t times `unit`, shape (context,).
    players
        Who takes part, shape (stakeholder,); all others contribute 0.
    n_contexts
        Number of contexts.
    unit
        What a worth of 1 is counted as.
    """
    who = np.flatnonzero(players)
    n = len(who)
    shapley = np.zeros((len(players), n_contexts), dtype=np.int64)
    banzhaf = np.zeros_like(shapley)
    factorial = [math.factorial(k) for k in range(n + 1)]
    for number in range(2**n if n else 0):
        inside = (number >> np.arange(n)) & 1 == 1
        size = int(inside.sum())
        value = worth(who[inside]).astype(np.int64)
        for i, member in zip(who, inside, strict=True):
            orders = factorial[size - 1] * factorial[n - size] if member else -factorial[size] * factorial[n - size - 1]
            shapley[i] += orders * value
            banzhaf[i] += value if member else -value
    return PowerIndex(shapley, factorial[n] * unit), PowerIndex(banzhaf, 2 ** max(0, n - 1) * unit)


def sample_orders(
    worth: Worth, players: Mask, n_contexts: int, *, samples: int, generator: np.random.Generator, unit: int = 1
) -> tuple[PowerIndex, PowerIndex]:
    """Return estimates of Shapley values from drawn orders, and of Banzhaf values from drawn coalitions.

    Both are unbiased (Castro, Gómez and Tejada 2009); the same orders and coalitions serve all contexts, so errors are
    those of sums over contexts.

    Parameters
    ----------
    worth, players, n_contexts
        As for `enumerate_coalitions`.
    samples
        Number of orders, and of coalitions, at least 2.
    generator
        Source of randomness.
    unit
        What a worth of 1 is counted as.
    """
    who = np.flatnonzero(players)
    drawn_orders = (_along(worth, generator.permutation(who)) for _ in range(samples))
    drawn_coalitions = (_around(worth, who, generator.random(len(who)) < 0.5) for _ in range(samples))
    shape = len(players), n_contexts
    return _mean(drawn_orders, shape, samples, unit), _mean(drawn_coalitions, shape, samples, unit)


def _along(worth: Worth, order: Codes) -> Iterator[tuple[int, WholeNumbers]]:
    """Yield what the worth gains when each player in an order is heard."""
    before = worth(order[:0]).astype(np.int64)
    for k, i in enumerate(order):
        after = worth(order[: k + 1]).astype(np.int64)
        yield int(i), after - before
        before = after


def _around(worth: Worth, who: Codes, inside: Mask) -> Iterator[tuple[int, WholeNumbers]]:
    """Yield what the worth gains when each player is heard beside the other members of a drawn coalition."""
    here = worth(who[inside]).astype(np.int64)
    for k, i in enumerate(who):
        other = inside.copy()
        other[k] = not other[k]
        there = worth(who[other]).astype(np.int64)
        yield int(i), here - there if inside[k] else there - here


def _mean(
    draws: Iterator[Iterator[tuple[int, WholeNumbers]]], shape: tuple[int, int], samples: int, unit: int
) -> PowerIndex:
    """Return the mean of drawn contributions with the standard error of their sums."""
    counts = np.zeros(shape, dtype=np.int64)
    sums = np.zeros((samples, shape[0]))
    for draw, contributions in enumerate(draws):
        for i, gained in contributions:
            counts[i] += gained
            sums[draw, i] = gained.sum() / unit
    return PowerIndex(counts, samples * unit, sums.std(axis=0, ddof=1) / math.sqrt(samples))


def as_json(stakeholders: tuple[str, ...], index: PowerIndex, contexts: Mask | slice = slice(None)) -> dict[str, Any]:
    """Return raw values and shares in some contexts by stakeholder."""
    raw, share = index.within(contexts)
    return {
        "raw": dict(zip(stakeholders, raw.tolist(), strict=True)),
        "share": None if share is None else dict(zip(stakeholders, share, strict=True)),
    }
