"""`Exponential`: concede with an exponential of the time that is left."""

from __future__ import annotations

import math
from dataclasses import dataclass

from accordant.agents.concession.concession import Concession, Progress, register
from accordant.agents.parameters import number
from accordant.errors import InputError


@register("exponential")
@dataclass(frozen=True)
class Exponential(Concession):
    """u(t) = u_min + (1 − u_min) (exp((1 − t)^e) − 1) / (exp(1) − 1), with u_min the reservation.

    The smaller the power, the tougher: the other way round than in `Polynomial`. After the time-dependent tactics
    of Faratin, Sierra and Jennings (1998); this normalisation is the one that starts at 1 and ends at the reservation.

    Parameters
    ----------
    power
        e above 0.

    Raises
    ------
    InputError
        If the power is not above 0 and finite.
    """

    power: float = 0.725

    def __post_init__(self) -> None:
        number(self.power, "power")
        if not 0 < self.power < math.inf:
            raise InputError(f"power is {self.power}; allowed: above 0")

    def target(self, progress: Progress) -> float:
        """Return u(t)."""
        left = math.expm1((1.0 - progress.time) ** self.power) / math.expm1(1.0)
        return progress.reservation + (1.0 - progress.reservation) * left
