"""Equal-opportunity gap: how far apart groups are in access, among the urgent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.cells import (
    Urgent,
    access,
    checked_fact,
    checked_urgent,
    groups,
    largest_gap,
    urgent_patients,
)
from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.scenario import Scenario


@register("equal_opportunity_gap")
@dataclass(frozen=True)
class EqualOpportunityGap(Measure):
    """max_g − min_g of the mean share of the urgent patients in g.

    In [0, 1]; NaN if a group has no urgent patient, or there is one group only. `cell_counts` says how many each group
    has. (Hardt, Price and Srebro 2016, with urgency in the place of the qualified outcome.)

    Parameters
    ----------
    group
        Fact that makes the groups.
    urgent
        How to tell who is urgent: ``acuity`` (1 or 2), or ``severity`` (as many of the most severe as fit).
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    group: str
    urgent: Urgent = "acuity"

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)
        checked_urgent(self.name, self.urgent)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gap of each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        return largest_gap(access(shares, keys, len(labels), urgent_patients(scenario, self.urgent)))
