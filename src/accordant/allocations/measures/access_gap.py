"""Access gap: how far apart groups are in the share of their demand that is met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.cells import access, checked_fact, groups, largest_gap
from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.scenario import Scenario


@register("access_gap")
@dataclass(frozen=True)
class AccessGap(Measure):
    """max_g access_g − min_g access_g with access_g the mean share in g: the demographic parity gap of allocations.

    In [0, 1]; NaN if there is one group only. (Dwork et al. 2012 for parity.)

    Parameters
    ----------
    group
        Fact that makes the groups.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    group: str

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gap of each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        return largest_gap(access(shares, keys, len(labels)))
