"""What lists are judged by: what was really consumed, or what a model expects of a user who wants one type of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.slates.slates import NOTHING, Slates


class Outcomes(Protocol):
    """Accuracy of lists under two readings."""

    @property
    def judged(self) -> Mask:
        """Requests that a list can be judged by, shape (request,)."""

    def accuracies(self, slates: Slates, consumed: int) -> tuple[Values, Values]:
        """Return the accuracy if all is consumed, and if the best k_c are, each in [0, 1], shape (request,).

        The first is the mean over the list, the second the mean over its best k_c items, missing ones counting 0.
        """


@dataclass(frozen=True, eq=False)
class LoggedOutcomes:
    """What each user really consumed.

    Parameters
    ----------
    targets
        Shape (item, request); requests without any are not judged.
    """

    targets: Mask

    @property
    def judged(self) -> Mask:
        """Requests with a target."""
        return np.asarray(self.targets.any(axis=0))

    def accuracies(self, slates: Slates, consumed: int) -> tuple[Values, Values]:
        """Return hits over the length of the list, and hits up to k_c over k_c."""
        shown = slates.items != NOTHING
        requests = np.arange(slates.n_users)[:, None]
        hits = (self.targets[np.maximum(slates.items, 0), requests] & shown).sum(axis=1)
        return hits / np.maximum(slates.lengths, 1), np.minimum(hits, consumed) / consumed


@dataclass(frozen=True, eq=False)
class ModelledOutcomes:
    """A user wants one type; items of that type please independently, others do not (Peng and others 2024).

    Parameters
    ----------
    wanted
        p_t, shape (type, request), with sum 1 for each request.
    chances
        With which an item pleases if its type is wanted, in [0, 1], shape (item, request).
    types
        Of items, shape (item,).

    Raises
    ------
    InputError
        If shapes or numbers do not fit.
    """

    wanted: Values
    chances: Values
    types: NDArray[np.intp]

    def __post_init__(self) -> None:
        if self.chances.shape != (len(self.types), self.wanted.shape[1]):
            allowed = (len(self.types), self.wanted.shape[1])
            raise InputError(f"chances have shape {self.chances.shape}; allowed: (item, request), {allowed}")
        if not ((self.chances >= 0) & (self.chances <= 1)).all() or not np.allclose(self.wanted.sum(axis=0), 1.0):
            raise InputError("chances are outside [0, 1], or the chances of types do not sum to 1")

    @property
    def judged(self) -> Mask:
        """All requests."""
        return np.ones(self.wanted.shape[1], dtype=bool)

    def accuracies(self, slates: Slates, consumed: int) -> tuple[Values, Values]:
        """Return Σ_t p_t (expected number that pleases) / length, and Σ_t p_t E min(k_c, number) / k_c."""
        every, best = np.zeros(slates.n_users), np.zeros(slates.n_users)
        requests = np.arange(slates.n_users)
        exactly = np.zeros((*self.wanted.shape, consumed))  # chances of 0, 1, …, k_c − 1 that please
        exactly[:, :, 0] = 1.0
        for items in slates.items.T:
            there = items != NOTHING
            item, request = items[there], requests[there]
            t = self.types[item]
            q, p = self.chances[item, request], self.wanted[t, request]
            every[request] += p * q
            fewer = exactly[t, request]
            best[request] += p * q * fewer.sum(axis=1)
            after = fewer * (1.0 - q[:, None])
            after[:, 1:] += fewer[:, :-1] * q[:, None]
            exactly[t, request] = after
        return every / np.maximum(slates.lengths, 1), best / consumed
