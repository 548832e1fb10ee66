"""Static lottery: declared shares, whatever happened before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.rules.dynamic.allocation.say import SayAllocation, register


@register("static_lottery")
@dataclass(frozen=True)
class StaticLottery(SayAllocation):
    """Declared shares; a sum below 1 leaves the rest to nobody, a larger one is scaled to 1, as in SCRUF-D.

    Parameters
    ----------
    chances
        Stakeholder to its share, at least 0; others get none.

    Raises
    ------
    InputError
        If a share is negative or not finite, or there is none.
    """

    chances: Mapping[str, float]

    def __post_init__(self) -> None:
        wrong = [name for name, chance in self.chances.items() if not (np.isfinite(chance) and chance >= 0)]
        if wrong or not self.chances:
            raise InputError(f"chances are {dict(self.chances)!r:.80}; allowed: finite numbers of at least 0 by name")

    def check(self, stakeholders: Sequence[str]) -> None:
        """Stop if a share is for somebody who does not exist.

        Raises
        ------
        UnknownNameError
            Names the stakeholder.
        """
        for name in self.chances:
            if name not in stakeholders:
                raise UnknownNameError("stakeholder in chances:", name, stakeholders)

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares; whoever has no say gets none, and leaves it to nobody."""
        del fairness, compatibility, weights
        found = np.array([self.chances.get(name, 0.0) for name in names], dtype=np.float64)
        return np.asarray(found / max(1.0, sum(self.chances.values())))
