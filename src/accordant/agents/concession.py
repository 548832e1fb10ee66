"""Concession strategies: how far below its best an agent goes as time passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

import numpy as np
from numpy.typing import NDArray

from accordant.agents.parameters import number
from accordant.allocations.allocation import band
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


@dataclass(frozen=True)
class Concession:
    """A concession strategy with its parameters.

    `name`: registered name; `function`: (progress, parameters…) to the lowest own utility that is offered and accepted
    now; `parameters`: by name.
    """

    name: str
    function: Callable[..., float] = field(repr=False)
    parameters: Mapping[str, float] = field(default_factory=dict)

    def target(self, progress: Progress) -> float:
        """Return the lowest own utility that is offered and accepted now, in [reservation, 1].

        The reservation is in [0, 1].
        """
        return self.function(progress, **self.parameters)

    @property
    def exponent(self) -> float | None:
        """The e of the band 1 − t^e, see `accordant.allocations.allocation`; None for a strategy of another form."""
        return self.parameters.get("exponent")


def concession_of(given: str | Concession) -> Concession:
    """Return a concession strategy, or the one that a name stands for.

    Raises UnknownNameError if the name is not registered; InputError if it is neither a name nor a strategy.
    """
    if isinstance(given, str):
        return concessions.create(given)
    if not isinstance(given, Concession):
        raise InputError(f"concession is {given!r:.60}; allowed: {', '.join(concessions.names())}")
    return given


def _power_of_time(progress: Progress, exponent: float) -> float:
    """Return u(t) = u_min + (u_max − u_min)(1 − t^e), with u_min the reservation and u_max = 1.

    Above 1, an exponent keeps the agent tough until late; below 1, it gives way early. Time-dependent tactics of
    Faratin, Sierra and Jennings (1998), with their 1/β written as e.
    """
    return progress.reservation + (1.0 - progress.reservation) * band(exponent, progress.time)


def _exponential_of_time(progress: Progress, power: float) -> float:
    """Return u(t) = u_min + (1 − u_min) (exp((1 − t)^e) − 1) / (exp(1) − 1), with u_min the reservation.

    The smaller the power, the tougher: the other way round than with powers of time. After the time-dependent tactics
    of Faratin, Sierra and Jennings (1998); this normalisation is the one that starts at 1 and ends at the reservation.
    """
    left = math.expm1((1.0 - progress.time) ** power) / math.expm1(1.0)
    return progress.reservation + (1.0 - progress.reservation) * left


def _micro(progress: Progress) -> float:
    """Return the best utility first, then at most one level lower in each own turn, for offers received that were new.

    Knows neither time nor the others' utilities, and repeated offers move nothing. MiCRO of de Jonge (2022), which is
    for one opponent; for several it is ours: what they offer in one round counts once, so that three opponents do not
    draw three concessions for one of one's own. Rounds are told apart by own utilities: there an offer is new if no
    earlier round gave the same utility.
    """
    level = min(rounds_with_news(progress), len(progress.made), len(progress.levels) - 1)
    return max(progress.reservation, float(progress.levels[level]))


def rounds_with_news(progress: Progress) -> int:
    """Return in how many rounds an opponent offered something new."""
    if len(progress.opponents) < 2:
        return progress.distinct_received
    known, rounds = set[float](), 0
    for offers in zip_longest(*progress.opponents):
        new = {offer for offer in offers if offer is not None} - known
        known |= new
        rounds += bool(new)
    return min(rounds, progress.distinct_received)


def _tit_for_tat(progress: Progress) -> float:
    """Start at 1, then go below one's own last offer by what the opponents' last offer gave, in own utility.

    Of several opponents, the least generous one is mirrored. Who took something back, or offered only once, has given
    nothing. Behaviour-dependent tactics of Faratin, Sierra and Jennings (1998), absolute form with a window of one.
    """
    if not progress.made:
        return 1.0
    given = min(map(last_concession, progress.opponents or (progress.received,)))
    return min(1.0, max(progress.reservation, progress.made[-1] - given))


def last_concession(received: tuple[float, ...]) -> float:
    """Return by how much an opponent's last offer was better than the one before, at least 0."""
    return max(0.0, max((after - before for before, after in pairwise(received[-2:])), default=0.0))


@concessions.register("polynomial")
def polynomial(exponent: float = 1.0) -> Concession:
    """Return the strategy u(t) = u_min + (1 − u_min)(1 − t^e); e above 0, infinite for no concession at all."""
    if not number(exponent, "exponent") > 0:
        raise InputError(f"exponent is {exponent}; allowed: above 0, or infinity")
    return Concession("polynomial", _power_of_time, {"exponent": exponent})


@concessions.register("exponential")
def exponential(power: float = 0.725) -> Concession:
    """Return the strategy u_min + (1 − u_min) (exp((1 − t)^e) − 1) / (exp(1) − 1); e above 0 and finite."""
    if not 0 < number(power, "power") < math.inf:
        raise InputError(f"power is {power}; allowed: above 0")
    return Concession("exponential", _exponential_of_time, {"power": power})


def _full(progress: Progress) -> float:
    """Return 1, whatever happens: like ``hardheaded``, but no band that a time-based rule could read."""
    del progress
    return 1.0


def _least(progress: Progress) -> float:
    """Return the reservation, from the start."""
    return progress.reservation


def _without_parameters(name: str, function: Callable[..., float], **fixed: float) -> None:
    concessions.register(name)(lambda: Concession(name, function, fixed))


_without_parameters("boulware", _power_of_time, exponent=4.0)  # tough until shortly before the deadline
_without_parameters("linear", _power_of_time, exponent=1.0)  # the same step at every time
_without_parameters("conceder", _power_of_time, exponent=0.25)  # gives way at once, little is left for later
_without_parameters("hardheaded", _power_of_time, exponent=math.inf)  # u(t) = 1 at every time, the deadline included
_without_parameters("tough", _full)
_without_parameters("nice", _least)
_without_parameters("micro", _micro)
_without_parameters("tit_for_tat", _tit_for_tat)
