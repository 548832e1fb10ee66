"""Most compatible: whoever fits the user best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from accordant.arrays import Values
from accordant.slates.rules.dynamic.allocation.say import SayAllocation, first_largest, only, register


@register("most_compatible")
@dataclass(frozen=True)
class MostCompatible(SayAllocation):
    """All to the largest c_i, as in SCRUF-D; the code draws among ties, here the first declared gets it [ours]."""

    reads_compatibility: ClassVar[bool] = True

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del fairness, weights
        return only(first_largest(compatibility), len(names))
