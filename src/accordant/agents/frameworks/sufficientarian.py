"""`Sufficientarian`: what matters is that as many as possible have enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from accordant.agents.frameworks.framework import Framework, register
from accordant.agents.frameworks.outcomes import Outcomes
from accordant.agents.parameters import number
from accordant.allocations import Scenario
from accordant.arrays import Values
from accordant.errors import InputError

ROUNDING = 1e-12  # an outcome this little below the threshold has reached it


@dataclass(frozen=True, eq=False)
class Lifted:
    """How many patients are lifted to a threshold θ: p_without < θ ≤ outcome.

    Attributes
    ----------
    outcomes
        Of the patients.
    threshold
        θ in (0, 1].
    """

    outcomes: Outcomes
    threshold: float

    def of(self, shares: Values) -> Values:
        """Return how many are lifted, shape (option,)."""
        enough = self.threshold - ROUNDING
        lifted = (self.outcomes.without < enough) & (self.outcomes.under(shares) >= enough)
        return np.asarray(lifted.sum(axis=1), dtype=np.float64)

    def to_json(self) -> Any:
        """Return the form, and the outcomes that it reads."""
        return {
            "form": "lifted",
            "threshold": self.threshold,
            "without": self.outcomes.without.tolist(),
            "whole": self.outcomes.whole.tolist(),
        }


@register("sufficientarian")
@dataclass(frozen=True)
class Sufficientarian(Framework):
    """Lift as many as possible over a threshold of the chance of a good outcome (Frankfurt 1987; Crisp 2003).

    Parts of a demand count for nothing unless they lift, so the utility is not additive in shares.

    Parameters
    ----------
    threshold
        θ in (0, 1].

    Raises
    ------
    InputError
        If θ is not in (0, 1].
    """

    title: ClassVar[str] = "Sufficientarian"
    claim: ClassVar[str] = "See that as many as possible have enough, before anybody has more."
    code: ClassVar[str] = "threshold"
    sees = ("p_with", "p_without")

    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < number(self.threshold, "threshold") <= 1:
            raise InputError(f"threshold is {self.threshold}; allowed: above 0, at most 1")

    def utility(self, scenario: Scenario, seed: int) -> Lifted:
        """Return how many patients are lifted."""
        del seed
        return Lifted(Outcomes.of(scenario), self.threshold)
