"""`Guarded`: a utility under hard constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents.frameworks.framework import Framework
from accordant.allocations import Scenario, Utility


@dataclass(frozen=True, eq=False)
class Guarded:
    """A framework's utility, less for each broken hard constraint than anything else could make up for.

    So the constraints stay known where only utilities are read, as in settlement: they are given up last.

    Attributes
    ----------
    framework
        Whose constraints they are.
    scenario
        Whose patients they are for.
    utility
        Without constraints.
    loss
        What a broken constraint costs: more than the range of the utility over feasible allocations.
    """

    framework: Framework
    scenario: Scenario
    utility: Utility
    loss: float

    def of(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the utility less the losses, shape (option,)."""
        return np.asarray(self.utility.of(shares) - self.loss * self.framework.violations(self.scenario, shares))

    def to_json(self) -> Any:
        """Return the utility without constraints, and what breaking one costs."""
        return {"form": "guarded", "utility": self.utility.to_json(), "loss": self.loss}


def guarded_utility(framework: Framework, scenario: Scenario, seed: int) -> Utility:
    """Return the utility of a framework, guarded where one of its hard constraints can be broken."""
    from accordant.allocations.search import utility_range

    utility = framework.utility(scenario, seed)
    if not framework.binds(scenario):
        return utility
    return Guarded(framework, scenario, utility, 1.0 + utility_range(scenario, utility, seed=seed).width)
