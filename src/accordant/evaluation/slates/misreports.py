"""What one stakeholder might say instead of the truth about items: the misreports that manipulability tries.

    approve own top       1 for its best 1, 2, … k items, 0 for the others
    exaggerate            its values stretched so that its worst item has 0 and its best 1
    bury rivals'          0 for the k items that the others together like best, but for its own best k
    raise and bury        the same, with 1 for its own best k
    swap                  the values of two items exchanged, by ranks that are drawn
    order                 with few items: every order, with its own values and with evenly spaced ones

The families are those that manipulation of scoring, approval and ranking rules is known by (burying and compromising,
for instance Tideman 2006, Chapter 6) [ours]. A list of families proves no rule safe: it shows gains that exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.randomness import keyed_seed
from accordant.slates.candidates import Candidates

Values = NDArray[np.float64]
Codes = NDArray[np.intp]

FEW = 5  # up to this many items every order is tried: 5! = 120


@dataclass(frozen=True, eq=False)
class Misreport:
    """Values that a stakeholder reports for all users.

    Attributes
    ----------
    family
        See the head of this module.
    values
        In [0, 1], shape (item, user).
    """

    family: str
    values: Values


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
    own, n_items = candidates.values[stakeholder], len(candidates.items)
    order = _order(own, candidates.available)
    ranks = np.argsort(order, axis=0, kind="stable")
    weights = candidates.weights.copy()
    weights[stakeholder] = 0.0
    rivals = _order(np.asarray(np.tensordot(weights, candidates.values, axes=1), np.float64), candidates.available)
    mine, theirs = ranks < k, np.argsort(rivals, axis=0, kind="stable") < k
    for top in range(1, min(k, n_items) + 1):
        yield Misreport("approve own top", (ranks < top).astype(np.float64))
    yield Misreport("exaggerate", _stretched(own, candidates.available))
    yield Misreport("bury rivals'", np.where(theirs & ~mine, 0.0, own))
    yield Misreport("raise and bury", np.where(mine, 1.0, np.where(theirs, 0.0, own)))
    generator = np.random.default_rng(keyed_seed(seed, candidates.stakeholders[stakeholder]))
    for _ in range(tries if n_items > 1 else 0):
        first, second = generator.choice(n_items, size=2, replace=False)
        yield Misreport("swap", _exchanged(own, order, int(first), int(second)))
    if n_items <= FEW:
        ordered = np.sort(own, axis=0)[::-1]
        spaced = np.broadcast_to(np.linspace(1.0, 0.0, n_items)[:, None], own.shape)
        for said in itertools.permutations(range(n_items)):
            for levels in (ordered, spaced):
                yield Misreport("order", levels[list(said)])


def _order(values: Values, available: NDArray[np.bool_]) -> Codes:
    """Return items from the highest value to the lowest, unavailable ones last, shape (rank, user)."""
    return np.argsort(np.where(available, -values, np.inf), axis=0, kind="stable")


def _stretched(own: Values, available: NDArray[np.bool_]) -> Values:
    """Return values with 0 for the worst and 1 for the best available item; unchanged where they are alike."""
    low = np.where(available, own, np.inf).min(axis=0)
    high = np.where(available, own, -np.inf).max(axis=0)
    wide = np.isfinite(low) & (high > low)
    start, span = np.where(wide, low, 0.0), np.where(wide, high - np.where(wide, low, 0.0), 1.0)
    return np.asarray(np.clip((own - start) / span, 0.0, 1.0))


def _exchanged(own: Values, order: Codes, first: int, second: int) -> Values:
    """Return values with those of the items at two ranks exchanged."""
    changed, users = own.copy(), np.arange(own.shape[1])
    changed[order[first], users], changed[order[second], users] = own[order[second], users], own[order[first], users]
    return changed
