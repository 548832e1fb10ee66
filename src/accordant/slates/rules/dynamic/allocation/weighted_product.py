"""Weighted product: who is behind and fits the user, one more than the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.rules.dynamic.allocation.say import SayAllocation, normalised, register


@register("weighted_product")
@dataclass(frozen=True)
class WeightedProduct(SayAllocation):
    """Shares ∝ (1 − m_i)^e1 c_i^e2, as in the official code of SCRUF-D.

    Parameters
    ----------
    fairness_exponent, compatibility_exponent
        e1 and e2, at least 0; 0 leaves a factor out.

    Raises
    ------
    InputError
        If an exponent is negative or not finite.
    """

    reads_compatibility: ClassVar[bool] = True

    fairness_exponent: float = 2.0
    compatibility_exponent: float = 1.0

    def __post_init__(self) -> None:
        for name in ("fairness_exponent", "compatibility_exponent"):
            exponent = getattr(self, name)
            if not (np.isfinite(exponent) and exponent >= 0):
                raise InputError(f"{name} is {exponent}; allowed: a finite number of at least 0")

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del names
        behind = (1.0 - fairness) ** self.fairness_exponent
        return normalised(weights * behind * compatibility**self.compatibility_exponent)
