"""`Measure`: one number about an allocation, for many allocations at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.scenario import Scenario
from accordant.registry import Registry

Goal = Literal["max", "min"]

measures: Registry[Measure] = Registry(
    "allocation measure", group="accordant.allocation_measures", packages=("accordant.allocations.measures",)
)


class Measure(ABC):
    """A measure with its parameters, a frozen dataclass.

    Class attributes
    ----------------
    name
        Registered name.
    goal
        Whether more is better, ``max``, or less, ``min``.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal]

    @abstractmethod
    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the measure of each allocation, shape (option,); NaN where it is not defined.

        Parameters
        ----------
        scenario
            With all facts: measures are taken by the environment, not by an agent.
        shares
            Share of each patient's demand that is met, shape (option, patient).
        """

    def meets(self, values: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
        """Return whether values meet a threshold, with rounding forgiven; what is not defined does not."""
        slack = 1e-9
        with np.errstate(invalid="ignore"):
            met = values <= threshold + slack if self.goal == "min" else values >= threshold - slack
        return np.asarray(met & ~np.isnan(values))


register = measures.named
