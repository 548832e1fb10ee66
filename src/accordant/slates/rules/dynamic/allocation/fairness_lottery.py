"""Fairness lottery: the further behind, the likelier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.arrays import Values
from accordant.slates.rules.dynamic.allocation.say import SayAllocation, normalised, register


@register("fairness_lottery")
@dataclass(frozen=True)
class FairnessLottery(SayAllocation):
    """Shares ∝ 1 − m_i, as in the official code of SCRUF-D."""

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del names, compatibility
        return normalised(weights * (1.0 - fairness))
