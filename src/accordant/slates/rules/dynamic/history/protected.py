"""Measures that ask how often a stakeholder's own items were shown: which items those are, and when each was shown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rules.dynamic.history.fairness import FairnessOfHistory, HistoryFairness
from accordant.slates.rules.dynamic.history.past import History
from accordant.slates.slates import NOTHING

NO_ITEM = "no item is protected for this stakeholder"
SHARE = 0.2  # of items count as a stakeholder's best, unless declared: the usual split into head and tail [ours]


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

    Raises
    ------
    InputError
        If the target or the share is outside its range.
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

        Raises
        ------
        UnknownNameError
            If a declared stakeholder or item does not exist.
        """
        n_items = len(candidates.items)
        found = np.zeros((len(candidates.stakeholders), n_items), dtype=bool)
        declared = self.items or {}
        for name in declared:
            if name not in candidates.stakeholders:
                raise UnknownNameError("stakeholder with protected items:", name, candidates.stakeholders)
        number = max(1, int(self.share * n_items))
        for i, name in enumerate(candidates.stakeholders):
            if name in declared:
                found[i, [_position(item, candidates.items) for item in declared[name]]] = True
            else:
                means = candidates.expected.values[i].mean(axis=1, dtype=np.float64)
                found[i, np.argsort(-means, kind="stable")[:number]] = True
        return found

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
