"""`Settlement`: from the utilities on the table to the joint decision, by a named rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.agents.concession import Concession
from accordant.allocations.allocation import Options
from accordant.deliberation.record import Settled
from accordant.registry import Registry

settlements: Registry[Settlement] = Registry(
    "settlement rule", group="accordant.settlements", packages=("accordant.deliberation.settlement",)
)


@dataclass(frozen=True, eq=False)
class Table:
    """What a settlement rule reads.

    Attributes
    ----------
    options
        Allocations to choose from.
    utilities
        Of each agent, scaled so that over all feasible allocations the lowest is 0 and the highest 1 (all 1 where an
        agent is indifferent), shape (agent, option).
    priorities
        How much each agent cares for meeting the whole demand of each patient alone, in any units, shape
        (agent, patient).
    values
        The same as `utilities` per patient where every utility is additive, shape (agent, patient), so that
        ``utilities = floors[:, None] + values @ shares.T``; None otherwise. Bounds on what a search missed read them.
    floors
        See `values`, shape (agent,).
    concessions
        Of each agent.
    revised
        Position of each agent's last proposal in `options`, shape (agent,).
    disagreement
        Position of the allocation without an agreement in `options`.
    met
        Whether each option meets each declared criterion, shape (criterion, option).
    seed
        Of tosses.
    names
        Of the agents; tosses are keyed by them, so that the order of the agents does not matter.
    """

    options: Options
    utilities: NDArray[np.float64]
    priorities: NDArray[np.float64]
    values: NDArray[np.float64] | None
    floors: NDArray[np.float64] | None
    concessions: tuple[Concession, ...]
    revised: NDArray[np.intp]
    disagreement: int
    met: NDArray[np.bool_]
    seed: int
    names: tuple[str, ...]


class Settlement(ABC):
    """A settlement rule with its parameters, a frozen dataclass."""

    name: ClassVar[str]

    def check(self, names: Sequence[str], conceding: Sequence[Concession]) -> None:
        """Refuse agents that the rule cannot read; asked before the deliberation begins.

        Raises
        ------
        InputError
            For example, if a time-based rule meets a concession that is not.
        """
        del names, conceding

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the rule: ``settlements.create(name, parameters)``."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    @abstractmethod
    def settle(self, table: Table) -> Settled:
        """Return the joint decision; the same for every order of the agents, except where a toss is named.

        Raises
        ------
        InputError
            If the rule cannot read these agents, such as a time-based rule for a concession that is not.
        """


register = settlements.named
