"""What else could have been decided: all feasible allocations, or a seeded sample with everything on record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Allocation, Utility
from accordant.allocations.enumeration import MOST_OPTIONS, enumerate_options
from accordant.allocations.options import Options
from accordant.allocations.search import scaled as scaled_together
from accordant.deliberation.record import Deliberation
from accordant.deliberation.settlement.serving import procedural_lottery
from accordant.errors import InputError
from accordant.randomness import keyed_seed

DRAWN = 2_000  # allocations in a sample: the standard error of a rate is at most .012


@dataclass(frozen=True, eq=False)
class Alternatives:
    """What null hypotheses choose among; the joint decision is one of them.

    Attributes
    ----------
    options
        Different allocations.
    drawn
        Positions in `options` of what a random decision takes, each as likely, shape (draw,): every option once if
        all are listed, else the sample, in which an option may repeat.
    """

    options: Options
    drawn: NDArray[np.intp]


def alternatives(deliberation: Deliberation, *, limit: int = MOST_OPTIONS, drawn: int = DRAWN) -> Alternatives:
    """Return what else could have been decided.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    limit
        How many allocations are listed at most.
    drawn
        How many are drawn where there are more. First, last and joint allocations, and what settlement compared, join
        the options, not the draws.
        Patients are served in random order, so allocations are equally likely only where demands are whole and alike.
    """
    listed = enumerate_options(deliberation.scenario, limit)
    if listed is not None:
        return Alternatives(listed, np.arange(len(listed)))
    seed = keyed_seed(deliberation.seed, "alternatives")
    sample = [procedural_lottery(deliberation.scenario, keyed_seed(seed, str(draw))) for draw in range(drawn)]
    known = [each.allocation for each in (*deliberation.solo.values(), *deliberation.revised.values())]
    if deliberation.options is not None:
        known += [deliberation.options.allocation(place) for place in range(len(deliberation.options))]
    places = {each: place for place, each in enumerate(dict.fromkeys([deliberation.joint, *known, *sample]))}
    granted = np.array([each.granted for each in places], dtype=np.int16)
    options = Options(deliberation.scenario, granted, complete=False)
    return Alternatives(options, np.array([places[each] for each in sample], dtype=np.intp))


def scaled(utility: Utility, options: Options, seed: int = 0) -> NDArray[np.float64]:
    """Return the utility of each option, lowest 0 and highest 1 over all feasible allocations; all 1 if indifferent.

    Shape (option,). Where the options are not all and the utility is no sum over patients, a seeded search finds lowest
    and highest, and what it missed is cut off at 0 and 1.
    """
    together = scaled_together(options.scenario, [utility], options, seed)
    return np.asarray(np.clip(together.of(options.shares)[0], 0.0, 1.0))


def position(options: Options, allocation: Allocation) -> int:
    """Return where an allocation stands among the options.

    Raises
    ------
    InputError
        If it is not among them.
    """
    found = options.position(allocation)
    if found is None:
        raise InputError(f"an allocation of {options.scenario.name!r} is not among the {len(options)} options")
    return found
