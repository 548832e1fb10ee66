"""What each item adds to the normalised utility of each stakeholder, so that a whole list has its reported utility.

A list of m items gives stakeholder i the normalised utility

    (Σ_{c in S} E[i, c, u] − W_i) / (I_i − W_i)  =  Σ_{c in S} (E[i, c, u] − W_i / m) / (I_i − W_i)

with I_i and W_i the sums over i's m best and m worst items that may be shown. The right side gives every item a gain,
and the sum of gains is exactly `Gains.attained` when the list is full [ours]. While it grows, each empty place counts
as the average item of i's worst list, so that a running sum may lie a little below 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.compiled import compiled
from accordant.slates.candidates import Candidates
from accordant.slates.gains import ALIKE


@dataclass(frozen=True, eq=False)
class NormalisedGains:
    """Gains of those who have a say, or of others who are asked for.

    Attributes
    ----------
    values
        Shape (stakeholder, item, user); 0 for whom all lists are alike.
    sided
        Whether lists differ for a stakeholder, shape (stakeholder, user).
    weights
        Shape (stakeholder,); above 0 for who has a say.
    lengths
        Items in the list of each user, shape (user,).
    tolerance
        Utilities this close are level.
    """

    values: Values
    sided: Mask
    weights: Values
    lengths: NDArray[np.intp]
    tolerance: float

    def of(self, items: NDArray[np.intp]) -> Values:
        """Return the gains of one item for each user, shape (stakeholder, user); 0 for `NOTHING`, which is −1."""
        found = self.values[:, np.maximum(items, 0), np.arange(len(items))]
        return np.where(items >= 0, found, 0.0)

    def total(self, items: NDArray[np.intp]) -> Values:
        """Return the normalised utilities of lists, shape (stakeholder, user), from items of shape (user, place)."""
        reached = np.zeros(self.sided.shape)
        add_up(self.values, np.ascontiguousarray(items), reached)
        return reached


def normalised_gains(candidates: Candidates, k: int) -> NormalisedGains:
    """Return the gains of every item for lists of k items, or of all items where there are fewer."""
    say = candidates.weights > 0
    lengths = np.minimum(k, candidates.available.sum(axis=0))
    return gains_for_lengths(candidates, say, lengths)


def gains_for_lengths(candidates: Candidates, who: Mask, lengths: NDArray[np.intp]) -> NormalisedGains:
    """Return the gains of every item to some stakeholders.

    Parameters
    ----------
    candidates
        E and what may be shown.
    who
        Which stakeholders, shape (stakeholder,).
    lengths
        Items in the list of each user, at most as many as may be shown, shape (user,).
    """
    values = candidates.values if who.all() else np.ascontiguousarray(candidates.values[who])
    available = np.ascontiguousarray(candidates.available)
    kept = np.empty((max(1, int(lengths.max(initial=0))), candidates.n_users))
    best, worst = (end_sums(values, available, lengths, sign, kept) for sign in (1.0, -1.0))
    span, places = best - worst, np.maximum(lengths, 1)
    sided = span / places > ALIKE
    scale = np.where(sided, 1.0 / np.where(sided, span, 1.0), 0.0)
    gains = np.empty_like(values)
    scaled(values, worst / places, scale, gains)
    return NormalisedGains(gains, sided, candidates.weights[who], lengths, candidates.tolerance)


@compiled
def end_sums(values: Values, available: Mask, lengths: NDArray[np.intp], sign: float, kept: Values) -> Values:
    """Return the sum of the largest values (smallest with sign −1) of each stakeholder, shape (stakeholder, user).

    Parameters
    ----------
    values, available
        Shapes (stakeholder, item, user) and (item, user).
    lengths
        How many are summed, shape (user,).
    sign
        1 or −1.
    kept
        Room for the best so far in descending order, shape (place, user).
    """
    n_stakeholders, n_items, n_users = values.shape
    sums = np.zeros((n_stakeholders, n_users))
    last = len(kept) - 1
    for i in range(n_stakeholders):
        kept[:] = -np.inf
        for c in range(n_items):
            row, shown = values[i, c], available[c]
            for u in range(n_users):
                value = sign * row[u]
                if shown[u] and value > kept[last, u]:
                    place = last
                    while place > 0 and value > kept[place - 1, u]:
                        kept[place, u] = kept[place - 1, u]
                        place -= 1
                    kept[place, u] = value
        for u in range(n_users):
            for place in range(lengths[u]):
                sums[i, u] += sign * kept[place, u]
    return sums


@compiled
def add_up(gains: Values, items: NDArray[np.intp], reached: Values) -> None:
    """Add the gains of lists, shape (user, place) with −1 for empty places, to utilities, shape (stakeholder, user)."""
    for i in range(len(gains)):
        for u in range(len(items)):
            for place in range(items.shape[1]):
                if items[u, place] >= 0:
                    reached[i, u] += gains[i, items[u, place], u]


@compiled
def scaled(values: Values, less: Values, scale: Values, out: Values) -> None:
    """Write (values[i, c, u] − less[i, u]) · scale[i, u]."""
    n_stakeholders, n_items, n_users = values.shape
    for i in range(n_stakeholders):
        low, factor = less[i], scale[i]
        for c in range(n_items):
            row, result = values[i, c], out[i, c]
            for u in range(n_users):
                result[u] = (row[u] - low[u]) * factor[u]
