"""Concession strategies: how far below its best an agent goes as time passes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.agents.parameters import number
from accordant.allocations.utility import band
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
        """The e of the band 1 − t^e, see `accordant.allocations.utility`; None for a strategy of another form."""
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


@register("micro")
@dataclass(frozen=True)
class Micro(Concession):
    """The best utility first, then at most one level lower in each own turn, for offers received that were new.

    Knows neither time nor the others' utilities, and repeated offers move nothing. MiCRO of de Jonge (2022), which is
    for one opponent; for several it is ours: what they offer in one round counts once, so that three opponents do not
    draw three concessions for one of one's own. Rounds are told apart by own utilities: there an offer is new if no
    earlier round gave the same utility.
    """

    def target(self, progress: Progress) -> float:
        """Return the level that the number of rounds with a new offer stands for, at least the reservation."""
        level = min(rounds_with_news(progress), len(progress.made), len(progress.levels) - 1)
        return max(progress.reservation, float(progress.levels[level]))


def rounds_with_news(progress: Progress) -> int:
    """Return in how many rounds an opponent offered something new."""
    if len(progress.opponents) < 2:
        return progress.distinct_received
    known, found = set[float](), 0
    for offers in zip_longest(*progress.opponents):
        new = {each for each in offers if each is not None} - known
        known |= new
        found += bool(new)
    return min(found, progress.distinct_received)


@register("nice")
@dataclass(frozen=True)
class Nice(Concession):
    """u(t) = the reservation, from the start."""

    def target(self, progress: Progress) -> float:
        """Return the reservation."""
        return progress.reservation


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


@register("tit_for_tat")
@dataclass(frozen=True)
class TitForTat(Concession):
    """Start at 1, then go below one's own last offer by what the opponents' last offer gave, in own utility.

    Of several opponents, the least generous one is mirrored. Who took something back, or offered only once, has given
    nothing. Behaviour-dependent tactics of Faratin, Sierra and Jennings (1998), absolute form with a window of one.
    """

    def target(self, progress: Progress) -> float:
        """Return one's last offer less the smallest last concession of an opponent."""
        if not progress.made:
            return 1.0
        given = min(map(last_concession, progress.opponents or (progress.received,)))
        return min(1.0, max(progress.reservation, progress.made[-1] - given))


def last_concession(received: tuple[float, ...]) -> float:
    """Return by how much an opponent's last offer was better than the one before, at least 0."""
    return max(0.0, max((after - before for before, after in pairwise(received[-2:])), default=0.0))


@register("tough")
@dataclass(frozen=True)
class Tough(Concession):
    """u(t) = 1, whatever happens: like `Hardheaded`, but no band that a time-based rule could read."""

    def target(self, progress: Progress) -> float:
        """Return 1."""
        del progress
        return 1.0
