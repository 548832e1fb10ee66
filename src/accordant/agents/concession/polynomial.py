"""`Polynomial`: concede with a power of time; four exponents have names of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from accordant.agents.concession.concession import Concession, Progress, register
from accordant.agents.parameters import number
from accordant.allocations.band import band
from accordant.errors import InputError


@register("polynomial")
@dataclass(frozen=True)
class Polynomial(Concession):
    """u(t) = u_min + (u_max − u_min)(1 − t^e), with u_min the reservation and u_max = 1.

    Above 1, an exponent keeps the agent tough until late; below 1, it gives way early. Time-dependent tactics of
    Faratin, Sierra and Jennings (1998), with their 1/β written as e.

    Parameters
    ----------
    exponent
        e above 0; infinite for no concession at all, even at the deadline.

    Raises
    ------
    InputError
        If the exponent is not above 0.
    """

    exponent: float = 1.0

    def __post_init__(self) -> None:
        number(self.exponent, "exponent")
        if not self.exponent > 0:
            raise InputError(f"exponent is {self.exponent}; allowed: above 0, or infinity")

    def target(self, progress: Progress) -> float:
        """Return u(t)."""
        return progress.reservation + (1.0 - progress.reservation) * band(self.exponent, progress.time)


@register("boulware")
@dataclass(frozen=True)
class Boulware(Polynomial):
    """e = 4: tough until shortly before the deadline."""

    exponent: float = field(default=4.0, init=False)


@register("linear")
@dataclass(frozen=True)
class Linear(Polynomial):
    """e = 1: the same step at every time."""

    exponent: float = field(default=1.0, init=False)


@register("conceder")
@dataclass(frozen=True)
class Conceder(Polynomial):
    """e = 1/4: gives way at once, little is left for later."""

    exponent: float = field(default=0.25, init=False)


@register("hardheaded")
@dataclass(frozen=True)
class Hardheaded(Polynomial):
    """e = ∞: u(t) = 1 at every time, the deadline included."""

    exponent: float = field(default=math.inf, init=False)
