"""Regret under every framework: how much each agent's allocation, and the joint one, leaves out by each standard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents.frameworks.framework import Framework, frameworks
from accordant.allocations import Allocation
from accordant.deliberation.assessment.alternatives import Alternatives, alternatives, position, scaled
from accordant.deliberation.record import Deliberation
from accordant.errors import UnknownNameError


@dataclass(frozen=True, eq=False)
class RegretMatrix:
    """Regrets, each in [0, 1].

    Attributes
    ----------
    allocations
        Rows: ``solo NAME`` and ``revised NAME`` of every agent, and ``joint``.
    frameworks
        Columns.
    regrets
        (best − this) / (best − worst) by the framework's utility over the alternatives, shape (row, column); 0 where
        the framework is indifferent. A column with low values for agents of other frameworks shows whom they favour.
    exact
        Whether best and worst are over all feasible allocations; otherwise over a sample, so that regrets are
        only what the sample shows.
    missing
        Frameworks left out because the scenario lacks facts they see, with these facts.
    """

    allocations: tuple[str, ...]
    frameworks: tuple[str, ...]
    regrets: NDArray[np.float64]
    exact: bool
    missing: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def of(self, allocation: str, framework: str) -> float:
        """Return one regret; of an agent's own allocation by its own framework it is the lack of fidelity.

        Raises
        ------
        UnknownNameError
            If there is no such row or column.
        """
        for kind, name, known in (
            ("allocation", allocation, self.allocations),
            ("framework", framework, self.frameworks),
        ):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        return float(self.regrets[self.allocations.index(allocation), self.frameworks.index(framework)])

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "allocations": list(self.allocations),
            "frameworks": list(self.frameworks),
            "regrets": self.regrets.tolist(),
            "exact": self.exact,
            "missing": {name: list(facts) for name, facts in self.missing},
        }


def regrets(
    deliberation: Deliberation, *, by: Sequence[Framework] | None = None, among: Alternatives | None = None
) -> RegretMatrix:
    """Return the regret of every allocation on record under every framework.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    by
        Frameworks; None for all that are registered, with default parameters.
    among
        Over what best and worst are taken, if that was already made.
    """
    standards = [frameworks.create(name) for name in frameworks.names()] if by is None else list(by)
    options = (alternatives(deliberation) if among is None else among).options
    known = set(deliberation.scenario.facts)
    missing = tuple(
        (each.name, lacking)
        for each in standards
        if (lacking := tuple(fact for fact in each.sees if fact not in known))
    )
    left_out = {name for name, _ in missing}
    kept = [each for each in standards if each.name not in left_out]
    rows = recorded(deliberation)
    places = [position(options, each) for each in rows.values()]
    columns = []
    for each in kept:
        utility = each.utility(deliberation.scenario.seen(each.sees), deliberation.seed)
        columns.append(1.0 - scaled(utility, options)[places])
    matrix = np.array(columns).reshape(len(kept), len(rows)).T
    return RegretMatrix(tuple(rows), tuple(each.name for each in kept), matrix, options.complete, missing)


def recorded(deliberation: Deliberation) -> dict[str, Allocation]:
    """Return every allocation on record: ``solo NAME`` and ``revised NAME`` of every agent, and ``joint``."""
    rows = {f"solo {name}": each.allocation for name, each in deliberation.solo.items()}
    rows |= {f"revised {name}": each.allocation for name, each in deliberation.revised.items()}
    return rows | {"joint": deliberation.joint}
