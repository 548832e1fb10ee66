"""Give resources to patients one after the other; by lot, where nobody agreed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Allocation, Scenario
from accordant.randomness import keyed_uniform


def served(scenario: Scenario, order: Iterable[int]) -> NDArray[np.int64]:
    """Return portions, shape (patient, resource): everybody in turn gets the demand, as far as something is left.

    Feasible, and nothing is left idle while somebody still demands it, if `order` holds every patient.

    Parameters
    ----------
    scenario
        Whose patients they are.
    order
        Positions of patients, the first served first.
    """
    left = scenario.capacity.copy()
    granted = np.zeros_like(scenario.demand)
    for patient in order:
        granted[patient] = np.minimum(scenario.demand[patient], left)
        left -= granted[patient]
    return granted


def procedural_lottery(scenario: Scenario, seed: int) -> Allocation:
    """Return the allocation by lot: patients are served in the order of a number drawn for each.

    The number depends on the seed and the patient's id alone, so no fact of any patient is read.
    """
    drawn = keyed_uniform(seed, scenario.ids)
    return Allocation(scenario, served(scenario, np.argsort(drawn, kind="stable").tolist()))
