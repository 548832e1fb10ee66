"""Product: who is behind and fits the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from accordant.arrays import Values
from accordant.slates.rules.dynamic.allocation.say import SayAllocation, normalised, register


@register("product")
@dataclass(frozen=True)
class Product(SayAllocation):
    """Shares ∝ (1 − m_i) c_i, as in the official code of SCRUF-D."""

    reads_compatibility: ClassVar[bool] = True

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del names
        return normalised(weights * (1.0 - fairness) * compatibility)
