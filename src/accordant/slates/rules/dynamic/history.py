"""How well the last slates did for each stakeholder, in [0, 1]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.registry import Registry
from accordant.slates.candidates import Candidates
from accordant.slates.slates import NOTHING, WINDOW, attention

SPARE = 4 * WINDOW  # slates that are written before the oldest are thrown away: copying then costs next to nothing
NO_ITEM = "no item is protected for this stakeholder"
SHARE = 0.2  # of items count as a stakeholder's best, unless declared: the usual split into head and tail [ours]
ALIKE = "all lists so far were alike for this stakeholder"
NO_OTHER_SHOWN = "no unprotected item was shown, there is nothing to compare with"
NOTHING_SHOWN = "every slate so far was empty"


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


history_fairness: Registry[HistoryFairness] = Registry(
    "history fairness", group="accordant.history_fairness", packages=("accordant.slates.rules.dynamic.history",)
)


@dataclass(frozen=True, eq=False)
class FairnessOfHistory:
    """What a measure says.

    Attributes
    ----------
    values
        m_i in [0, 1], shape (stakeholder,); NaN where it is not defined. 1 for all of an empty history.
    reasons
        Position of a stakeholder to why its value is not defined.
    """

    values: Values
    reasons: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HistoryFairness(ABC):
    """A measure with its parameters, a frozen dataclass.

    Class attributes
    ----------------
    name
        Registered name.
    reads_items
        Whether it needs to know which items each stakeholder wants shown.
    """

    name: ClassVar[str]
    reads_items: ClassVar[bool] = False

    def of(self, history: History, protected: Mask) -> FairnessOfHistory:
        """Return m_i; 1 for everybody if nothing was shown yet.

        Parameters
        ----------
        history
            The last slates.
        protected
            Items that each stakeholder wants shown, shape (stakeholder, item); without items if they are not read.
        """
        if history.empty:
            return FairnessOfHistory(np.ones(len(history.attained)))
        return self.measured(history, protected)

    @abstractmethod
    def measured(self, history: History, protected: Mask) -> FairnessOfHistory:
        """Return m_i of a history that is not empty."""

    def protected(self, candidates: Candidates) -> Mask:
        """Return which items each stakeholder wants shown, shape (stakeholder, item)."""
        return np.zeros((len(candidates.stakeholders), 0), dtype=bool)


register = history_fairness.named


@dataclass(frozen=True)
class ItemFairness(HistoryFairness):
    """A measure of how protected items were shown.

    Parameters
    ----------
    target
        What counts as enough, above 0; more than that is 1.
    share
        Share of items that are protected for a stakeholder without declared items: those with the highest mean E over
        the batch, at least one; in (0, 1].
    items
        Stakeholder to its protected items.

    Raises `InputError` if the target or the share is outside its range.
    """

    reads_items: ClassVar[bool] = True

    target: float = 0.2
    share: float = SHARE
    items: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.target) and self.target > 0):
            raise InputError(f"target is {self.target}; allowed: a finite number above 0")
        if not 0 < self.share <= 1:
            raise InputError(f"share is {self.share}; allowed: above 0, at most 1")

    def protected(self, candidates: Candidates) -> Mask:
        """Return which items each stakeholder wants shown, shape (stakeholder, item).

        Raises `UnknownNameError` if a declared stakeholder or item does not exist.
        """
        n_items = len(candidates.items)
        mask = np.zeros((len(candidates.stakeholders), n_items), dtype=bool)
        declared = self.items or {}
        for name in declared:
            if name not in candidates.stakeholders:
                raise UnknownNameError("stakeholder with protected items:", name, candidates.stakeholders)
        number = max(1, int(self.share * n_items))
        for i, name in enumerate(candidates.stakeholders):
            if name in declared:
                mask[i, [_position(item, candidates.items) for item in declared[name]]] = True
            else:
                means = candidates.expected.values[i].mean(axis=1, dtype=np.float64)
                mask[i, np.argsort(-means, kind="stable")[:number]] = True
        return mask

    def measured(self, history: History, protected: Mask) -> FairnessOfHistory:
        """Return the measure divided by the target, at most 1; NaN where no item is protected."""
        shown = history.slates != NOTHING
        own = protected[:, np.where(shown, history.slates, 0)] & shown
        reached, reasons = self.reached(own, shown, protected.mean(axis=1))
        values = np.minimum(1.0, reached / self.target)
        for i in np.flatnonzero(~protected.any(axis=1)).tolist():
            values[i], reasons = np.nan, {**reasons, i: NO_ITEM}
        return FairnessOfHistory(values, reasons)

    @abstractmethod
    def reached(self, own: Mask, shown: Mask, shares: Values) -> tuple[Values, dict[int, str]]:
        """Return what is compared with the target, shape (stakeholder,), NaN where not defined, and why.

        Parameters
        ----------
        own
            Whether a place holds a protected item, shape (stakeholder, slate, k).
        shown
            Whether a place holds an item, shape (slate, k).
        shares
            Share of all items that are protected, shape (stakeholder,).
        """


def _position(item: str, items: tuple[str, ...]) -> int:
    if item not in items:
        raise UnknownNameError("protected item", item, items)
    return items.index(item)


@register("attained")
@dataclass(frozen=True)
class Attained(HistoryFairness):
    """m_i is the mean of (u_i − worst) / (ideal − worst) over the last slates [ours]; slates with NaN are left out."""

    def measured(self, history: History, protected: NDArray[np.bool_]) -> FairnessOfHistory:
        """Return means; NaN for whom every slate was alike."""
        del protected
        unknown = np.isnan(history.attained)
        if not unknown.any():
            return FairnessOfHistory(history.attained.mean(axis=1))
        counts = (~unknown).sum(axis=1)
        sums = np.where(unknown, 0.0, history.attained).sum(axis=1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return FairnessOfHistory(means, {int(i): ALIKE for i in np.flatnonzero(counts == 0)})


@register("disparate_exposure")
@dataclass(frozen=True)
class DisparateExposure(ItemFairness):
    """m_i = min(1, (A_prot / n) / (A_other / (1 − n)) / target), as in the official code of SCRUF-D.

    A sums 1 / log2(rank + 1) over places, rank counted from 1, and n is the share of items that are protected. The
    usual target is 1: a protected item gets as much attention as another.
    """

    target: float = 1.0

    def reached(
        self, own: NDArray[np.bool_], shown: NDArray[np.bool_], shares: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], dict[int, str]]:
        """Return ratios; NaN where no unprotected item was shown."""
        seen = attention(shown.shape[1])
        protected = own.sum(axis=1) @ seen
        other = (shown & ~own).sum(axis=1) @ seen
        defined = other > 0
        # without protected items the mean of none is 0 / 0, and the caller says so
        per_item = protected / np.where(shares > 0, shares, 1.0)
        ratio = np.where(defined, per_item * (1.0 - shares) / np.where(defined, other, 1.0), np.nan)
        return ratio, {int(i): NO_OTHER_SHOWN for i in np.flatnonzero(~defined)}


@register("mrr")
@dataclass(frozen=True)
class MeanReciprocalRank(ItemFairness):
    """m_i = min(1, MRR / target), as in the official code of SCRUF-D; a slate without a protected item counts 0.

    MRR is the mean over slates of 1 / rank of the first protected item, rank counted from 1. The default target is a
    protected item in the second place [ours].
    """

    target: float = 0.5

    def reached(
        self, own: NDArray[np.bool_], shown: NDArray[np.bool_], shares: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], dict[int, str]]:
        """Return mean reciprocal ranks."""
        del shown, shares
        first = own.argmax(axis=2)
        return np.where(own.any(axis=2), 1.0 / (first + 1.0), 0.0).mean(axis=1), {}


@register("proportional_item")
@dataclass(frozen=True)
class ProportionalItem(ItemFairness):
    """m_i = min(1, share of protected items / target), as in the official code of SCRUF-D."""

    def reached(
        self, own: NDArray[np.bool_], shown: NDArray[np.bool_], shares: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], dict[int, str]]:
        """Return shares; NaN if nothing was shown."""
        del shares
        total = int(shown.sum())
        if not total:
            return np.full(len(own), np.nan), dict.fromkeys(range(len(own)), NOTHING_SHOWN)
        return own.sum(axis=(1, 2)) / total, {}
