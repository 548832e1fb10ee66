"""Mean reciprocal rank of the first protected item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.slates.rules.dynamic.history.fairness import register
from accordant.slates.rules.dynamic.history.protected import ItemFairness


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
