"""Access ratio: access of the group with least over access of the group with most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.cells import access, checked_fact, groups
from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.scenario import Scenario


@register("access_ratio")
@dataclass(frozen=True)
class AccessRatio(Measure):
    """min_g access_g / max_g access_g with access_g the mean share in g.

    In [0, 1]; NaN if there is one group only, or nobody gets anything. A threshold of four fifths is a heuristic of
    employment guidelines (EEOC 1978) for where to look closer; it is no test, and no law of triage.

    Parameters
    ----------
    group
        Fact that makes the groups.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    group: str

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        rates = access(shares, keys, len(labels))
        most = rates.max(axis=1)
        undefined = (most <= 0) | (len(labels) < 2)
        return np.asarray(np.where(undefined, np.nan, rates.min(axis=1) / np.where(undefined, 1.0, most)))
