"""`Concession`: from what has happened so far to the lowest utility that an agent offers and accepts now."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.registry import Registry

concessions: Registry[Concession] = Registry(
    "concession strategy", group="accordant.concessions", packages=("accordant.agents.concession",)
)


@dataclass(frozen=True, eq=False)
class Progress:
    """What an agent knows when it decides how far to concede; utilities are its own, scaled to [0, 1].

    Parameters
    ----------
    time
        Share of the negotiation that is over, in [0, 1].
    made, received
        Utility of the offers that it made, and that it received, oldest first.
    distinct_received
        How many different offers it received.
    reservation
        Utility of the disagreement: it never goes below.
    levels
        The different utilities that options have, falling, shape (level,).
    opponents
        The utilities of `received` once more, apart for each opponent; empty if there is one.
    """

    time: float
    made: tuple[float, ...] = ()
    received: tuple[float, ...] = ()
    distinct_received: int = 0
    reservation: float = 0.0
    levels: NDArray[np.float64] = field(default_factory=lambda: np.array([1.0, 0.0]))
    opponents: tuple[tuple[float, ...], ...] = ()


class Concession(ABC):
    """A concession strategy with its parameters, a frozen dataclass."""

    name: ClassVar[str]

    @abstractmethod
    def target(self, progress: Progress) -> float:
        """Return the lowest own utility that is offered and accepted now, in [reservation, 1].

        The reservation is in [0, 1].
        """

    @property
    def exponent(self) -> float | None:
        """The e of the band 1 − t^e, see `accordant.allocations.band`; None for a strategy of another form."""
        return None


register = concessions.named


def concession_of(given: str | Concession) -> Concession:
    """Return a concession strategy, or the one that a name stands for.

    Raises
    ------
    UnknownNameError
        If the name is not registered.
    InputError
        If it is neither a name nor a strategy.
    """
    if isinstance(given, str):
        return concessions.create(given)
    if not isinstance(given, Concession):
        raise InputError(f"concession is {given!r:.60}; allowed: {', '.join(concessions.names())}")
    return given
