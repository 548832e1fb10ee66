"""Fairness lottery: the further behind, the likelier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.slates.rules.dynamic.allocation.say import SayAllocation, normalised, register

Values = NDArray[np.float64]


@register("fairness_lottery")
@dataclass(frozen=True)
class FairnessLottery(SayAllocation):
    """Shares ∝ 1 − m_i, as in the official code of SCRUF-D."""

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del names, compatibility
        return normalised(weights * (1.0 - fairness))
