"""What a slate gives to each stakeholder: utilities, and utilities between its own worst and its own ideal list.

    u_i(S)      mean of E[i, c, u] over the items c in S
    ideal       the largest u_i over lists of the same length: the best items for i
    worst       the smallest
    attained    (u_i − worst) / (ideal − worst), in [0, 1]: 1 is i's ideal list; NaN where all lists are alike for i

A stakeholder to whom every list is alike can neither gain nor lose, so it counts neither as served nor as behind.

Where E or availability depends on what was shown before, rules face different moments: the ideal of a rule that fills
places is lower than that of one that does not. `accordant.slates.serving.on_one_scale` therefore measures all rules
of a comparison between the best ideal and the worst worst that any of them faced.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.slates.candidates import Candidates
from accordant.slates.slates import NOTHING, Slates

ALIKE = 1e-9  # a stakeholder whose ideal and worst lists differ by less is indifferent


@dataclass(frozen=True, eq=False)
class Gains:
    """What slates give to each stakeholder.

    Attributes
    ----------
    utilities
        Mean expected rewards of lists in [0, 1], shape (stakeholder, user); NaN for an empty list.
    ideal, worst
        The same of the best and the worst list for each stakeholder; NaN where nothing may be shown.
    """

    utilities: Values
    ideal: Values
    worst: Values

    @property
    def attained(self) -> Values:
        """Normalised utilities in [0, 1], shape (stakeholder, user); NaN for whom all lists are alike."""
        span = self.ideal - self.worst
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = (self.utilities - self.worst) / span
        return np.where(span > ALIKE, np.clip(shares, 0.0, 1.0), np.nan)

    @property
    def regret(self) -> Values:
        """Ideal minus utility, in [0, 1], shape (stakeholder, user)."""
        return np.asarray(self.ideal - self.utilities)


def gains_of(slates: Slates, candidates: Candidates) -> Gains:
    """Return what slates give to each stakeholder.

    Parameters
    ----------
    slates, candidates
        Of the same users and items.
    """
    values, items = candidates.values, slates.items
    users = np.arange(slates.n_users)[:, None]
    taken = np.where(items != NOTHING, values[:, np.maximum(items, 0), users], 0.0)
    lengths = slates.lengths
    with np.errstate(invalid="ignore", divide="ignore"):
        utilities = taken.sum(axis=2) / lengths
    ideal, worst = extremes(candidates, lengths)
    return Gains(utilities, ideal, worst)


def extremes(candidates: Candidates, lengths: NDArray[np.intp]) -> tuple[Values, Values]:
    """Return the best and the worst mean over lists of given lengths, each of shape (stakeholder, user).

    Parameters
    ----------
    candidates
        E and what may be shown.
    lengths
        Items in the list of each user, at most as many as are available, shape (user,).
    """
    values, available = candidates.values, candidates.available
    n_users = candidates.n_users
    places = np.arange(values.shape[1])[:, None] < lengths
    found = []
    for sign in (1.0, -1.0):
        ordered = -np.sort(np.where(available, -sign * values, np.inf), axis=1)
        summed = np.where(places, ordered, 0.0).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(sign * summed / lengths.reshape(1, n_users))
    return found[0], found[1]
