"""`History`: the last slates with what they gave to whom, kept up to date user by user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.slates.slates import NOTHING
from accordant.slates.state import WINDOW

SPARE = 4 * WINDOW  # slates that are written before the oldest are thrown away: copying then costs next to nothing


@dataclass(frozen=True, eq=False)
class History:
    """What a measure of fairness reads.

    Attributes
    ----------
    slates
        The last slates, oldest first, shape (slate, k); `NOTHING` for empty places.
    attained
        Normalised utility of each stakeholder from each, shape (stakeholder, slate); NaN for whom all lists are alike.
    """

    slates: NDArray[np.intp]
    attained: Values

    @property
    def empty(self) -> bool:
        """Whether nothing was shown yet."""
        return not len(self.slates)


class RunningHistory:
    """A history that grows, of which the last `WINDOW` slates are seen: the same that `State` remembers.

    Parameters
    ----------
    slates, attained
        As in `History`; only the last `WINDOW` are kept.
    k
        Places of the slates to come.
    """

    def __init__(self, slates: NDArray[np.intp], attained: Values, k: int) -> None:
        slates, attained = slates[-WINDOW:], attained[:, -WINDOW:]
        self._stop = len(slates)
        width = max(k, slates.shape[1])
        self._slates = np.full((self._stop + SPARE, width), NOTHING, dtype=np.intp)
        self._attained = np.empty((len(attained), self._stop + SPARE))
        self._slates[: self._stop, : slates.shape[1]] = slates
        self._attained[:, : self._stop] = attained

    @property
    def seen(self) -> History:
        """The last slates."""
        part = slice(max(0, self._stop - WINDOW), self._stop)
        return History(self._slates[part], self._attained[:, part])

    def add(self, slate: NDArray[np.intp], attained: Values) -> None:
        """Remember one more slate, shape (k,), padded with `NOTHING`, and what it gave, shape (stakeholder,)."""
        if self._stop == len(self._slates):
            last = self.seen
            kept = len(last.slates)
            self._slates[:kept], self._attained[:, :kept] = last.slates.copy(), last.attained.copy()
            self._stop = kept
        self._slates[self._stop, : len(slate)] = slate
        self._attained[:, self._stop] = attained
        self._stop += 1
