"""Proportional item: the share of protected items among all that were shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.slates.rules.dynamic.history.fairness import register
from accordant.slates.rules.dynamic.history.protected import ItemFairness

NOTHING_SHOWN = "every slate so far was empty"


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
