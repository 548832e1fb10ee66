"""Access of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.cells import access, checked_fact, groups, label
from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.scenario import Scenario


@register("group_access")
@dataclass(frozen=True)
class GroupAccess(Measure):
    """Mean share of the patients with one value of a fact.

    In [0, 1]; NaN if there is no such patient.

    Parameters
    ----------
    group
        Fact that makes the groups.
    value
        Any JSON value; null stands for those whose fact is null.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    group: str
    value: Any

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)
        label(self.value, self.group)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the access of the group in each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        wanted = label(self.value, self.group)
        if wanted not in labels:
            return np.full(len(shares), np.nan)
        return np.asarray(access(shares, np.where(keys == labels.index(wanted), 0, 1), 1)[:, 0])
