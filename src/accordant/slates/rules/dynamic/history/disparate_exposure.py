"""Disparate exposure: attention per protected item over attention per other item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.slates.rules.dynamic.history.fairness import register
from accordant.slates.rules.dynamic.history.protected import ItemFairness
from accordant.slates.slates import attention

NO_OTHER_SHOWN = "no unprotected item was shown, there is nothing to compare with"


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
