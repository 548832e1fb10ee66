"""`Options`: the feasible allocations that a decision is taken among."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import Allocation, shares_of
from accordant.allocations.read_only import sealed
from accordant.allocations.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Options:
    """Feasible allocations of one scenario, in a fixed order.

    Attributes
    ----------
    scenario
        Whose patients they are for.
    granted
        Portions, shape (option, patient, resource); kept read-only.
    complete
        Whether these are all feasible allocations, or those that a search found.
    """

    scenario: Scenario
    granted: NDArray[np.integer[Any]]
    complete: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "granted", sealed(self.granted))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild, so that arrays are sealed after they were copied or sent to a worker process."""
        return type(self), (self.scenario, self.granted, self.complete)

    def __len__(self) -> int:
        return len(self.granted)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Share of each patient's demand that is met, shape (option, patient); read-only."""
        return sealed(shares_of(self.scenario, self.granted))

    def allocation(self, option: int) -> Allocation:
        """Return one of them."""
        return Allocation(self.scenario, self.granted[option])

    def position(self, allocation: Allocation) -> int | None:
        """Return where an allocation stands, or None if it is not among them."""
        same = (self.granted == allocation.granted).all(axis=(1, 2))
        return int(np.argmax(same)) if same.any() else None
