"""Least fair: whoever is furthest behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.arrays import Values
from accordant.slates.rules.dynamic.allocation.say import SayAllocation, first_largest, only, register


@register("least_fair")
@dataclass(frozen=True)
class LeastFair(SayAllocation):
    """All to the smallest m_i, as in SCRUF-D; the code draws among ties, here the first declared gets it [ours]."""

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del compatibility, weights
        return only(first_largest(-fairness), len(names))
