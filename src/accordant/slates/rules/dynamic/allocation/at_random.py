"""Random: everybody alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accordant.arrays import Values
from accordant.slates.rules.dynamic.allocation.say import SayAllocation, normalised, register


@register("random")
@dataclass(frozen=True)
class RandomSay(SayAllocation):
    """Shares in proportion to weights, whatever happened before; all the same if weights are, as in SCRUF-D."""

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del names, fairness, compatibility
        return normalised(weights)
