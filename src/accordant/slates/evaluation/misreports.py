"""What one stakeholder might say instead of the truth about items: the misreports that manipulability tries.

approve own top       1 for its best 1, 2, … k items, 0 for the others
exaggerate            its values stretched so that its worst item has 0 and its best 1
bury rivals'          0 for the k items that the others together like best, but for its own best k
raise and bury        the same, with 1 for its own best k
swap                  the values of two items exchanged, by ranks that are drawn
order                 with few items: every order, with its own values and with evenly spaced ones

The families are those that manipulation of scoring, approval and ranking rules is known by (burying and compromising,
for instance Tideman 2006, Chapter 6) [ours]. A list of families proves no rule safe: what it finds are examples.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.randomness import keyed_seed
from accordant.slates.candidates import Candidates
from accordant.utilities import ExpectedRewards

FEW = 5  # up to this many items every order is tried: 5! = 120


@dataclass(frozen=True, eq=False)
class Misreport:
    """Values in [0, 1] that a stakeholder reports for all users, shape (item, user); see `misreports`."""

    family: str
    values: Values


@dataclass(frozen=True, eq=False)
class Sight:
    """What a misreporter sees of some requests, and the misreports that need nothing drawn.

    Its true values and what may be shown are of shape (item, user). `order` holds its items from the best to the worst,
    unavailable ones last, shape (rank, user); `ranks` the place of each item in that order, from 0; `mine` and `theirs`
    whether an item is among the best k for it, and for all others together, shape (item, user).
    """

    own: Values
    available: Mask
    order: Codes
    ranks: Codes
    mine: Mask
    theirs: Mask

    @classmethod
    def of(cls, candidates: Candidates, stakeholder: int, k: int) -> Sight:
        """Return what the stakeholder at a position sees if lists have k places; its own weight plays no part."""
        own, available = candidates.values[stakeholder], candidates.available
        order = _order(own, available)
        ranks = np.argsort(order, axis=0, kind="stable")
        weights = candidates.weights.copy()
        weights[stakeholder] = 0.0
        rivals = _order(np.asarray(np.tensordot(weights, candidates.values, axes=1), np.float64), available)
        return cls(own, available, order, ranks, ranks < k, np.argsort(rivals, axis=0, kind="stable") < k)

    def approved(self, top: int) -> Values:
        """Return 1 for its best items, as many as given, and 0 for the others."""
        return (self.ranks < top).astype(np.float64)

    def stretched(self) -> Values:
        """Return values with 0 for its worst and 1 for its best available item; unchanged where they are alike."""
        low = np.where(self.available, self.own, np.inf).min(axis=0)
        high = np.where(self.available, self.own, -np.inf).max(axis=0)
        wide = np.isfinite(low) & (high > low)
        start, span = np.where(wide, low, 0.0), np.where(wide, high - np.where(wide, low, 0.0), 1.0)
        return np.asarray(np.clip((self.own - start) / span, 0.0, 1.0))

    def buried(self) -> Values:
        """Return 0 for what others like best, unless it is among its own best."""
        return np.where(self.theirs & ~self.mine, 0.0, self.own)

    def raised(self) -> Values:
        """Return the same with 1 for its own best items."""
        return np.where(self.mine, 1.0, self.buried())

    def exchanged(self, first: int, second: int) -> Values:
        """Return values with those of the items at two ranks exchanged."""
        changed, users = self.own.copy(), np.arange(self.own.shape[1])
        one, other = self.order[first], self.order[second]
        changed[one, users], changed[other, users] = self.own[other, users], self.own[one, users]
        return changed


def misreports(candidates: Candidates, stakeholder: int, k: int, tries: int, seed: int) -> Iterator[Misreport]:
    """Yield what a stakeholder might report; what is drawn depends on the seed and its name alone.

    Parameters
    ----------
    candidates
        The truth.
    stakeholder
        Position.
    k
        Places in a list.
    tries
        Swaps to draw, at least 0.
    seed
        Of the draws.
    """
    sight, n_items = Sight.of(candidates, stakeholder, k), len(candidates.items)
    for top in range(1, min(k, n_items) + 1):
        yield Misreport("approve own top", sight.approved(top))
    yield Misreport("exaggerate", sight.stretched())
    yield Misreport("bury rivals'", sight.buried())
    yield Misreport("raise and bury", sight.raised())
    generator = np.random.default_rng(keyed_seed(seed, candidates.stakeholders[stakeholder]))
    for _ in range(tries if n_items > 1 else 0):
        first, second = generator.choice(n_items, size=2, replace=False)
        yield Misreport("swap", sight.exchanged(int(first), int(second)))
    if n_items <= FEW:
        ordered = np.sort(sight.own, axis=0)[::-1]
        spaced = np.broadcast_to(np.linspace(1.0, 0.0, n_items)[:, None], sight.own.shape)
        for said in itertools.permutations(range(n_items)):
            for levels in (ordered, spaced):
                yield Misreport("order", levels[list(said)])


def plain_misreports(k: int, n_items: int) -> dict[str, Callable[[Sight], Values]]:
    """Return ways to misreport that can be followed in every request, by name, those that promise most first.

    They are the families of `misreports` without draws and orders; approvals of the best 1, of k and of half of k items
    come before those of other numbers.
    """
    most = min(k, n_items)
    tops = list(dict.fromkeys([1, most, math.ceil(most / 2), *range(1, most + 1)]))
    approvals = {f"approve own top {top}": partial(Sight.approved, top=top) for top in tops}
    return {
        "raise and bury": Sight.raised, "bury rivals'": Sight.buried, "exaggerate": Sight.stretched, **approvals
    }  # fmt: skip


def with_report(expected: ExpectedRewards, stakeholder: int, values: Values) -> ExpectedRewards:
    """Return E with other values of one stakeholder, of shape (item, user), in the precision that E came in."""
    said = expected.values.copy()
    said[stakeholder] = values
    return ExpectedRewards(said, stakeholders=expected.stakeholders, actions=expected.actions)


def _order(values: Values, available: Mask) -> Codes:
    """Return items from the highest value to the lowest, unavailable ones last, shape (rank, user)."""
    return np.argsort(np.where(available, -values, np.inf), axis=0, kind="stable")
