"""Bands of acceptance that widen with time, and the first time at which somebody's bands meet.

At time t agent k accepts every option whose utility is at least 1 − t^{e_k} (Faratin, Sierra and Jennings 1998, linear
form). Time runs over a grid 0, 1/n, …, 1. Pure array functions: they serve allocations, and actions of a decision
problem in many contexts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import band
from accordant.arrays import Values

STEPS = 60  # parts of the grid of times: t = 0, 1/60, …, 1
EQUAL = 1e-12  # utilities in [0, 1] closer than this are the same but for rounding; products, in proportion


@dataclass(frozen=True, eq=False)
class FirstCommon:
    """The first time at which some option is acceptable to everybody.

    Attributes
    ----------
    time
        In [0, 1]; None if there is none up to 1, which takes two agents who do not concede at all.
    bands
        The lowest utility that each agent accepts then, or at time 1 if there is no such time, shape (agent,).
    acceptable
        Whether each option is acceptable to everybody then, shape (option,).
    """

    time: float | None
    bands: Values
    acceptable: NDArray[np.bool_]


def bands_over_time(exponent: float, steps: int = STEPS) -> Values:
    """Return the band 1 − t^e at t = 0, 1/steps, …, 1, shape (steps + 1,); never rising."""
    return np.minimum.accumulate([band(exponent, step / steps) for step in range(steps + 1)])


def first_steps(utilities: Values, exponent: float, steps: int = STEPS) -> NDArray[np.intp]:
    """Return the first step at which one agent accepts, same shape as `utilities`; steps + 1 for never."""
    rising = EQUAL - bands_over_time(exponent, steps)
    return np.searchsorted(rising, -utilities, side="left")


def first_common(utilities: Values, exponents: Sequence[float], steps: int = STEPS) -> FirstCommon:
    """Return the first time at which some option is acceptable to everybody, and the options that are.

    Parameters
    ----------
    utilities
        In [0, 1], shape (agent, option).
    exponents
        e above 0 of each agent; infinite for one who never concedes.
    steps
        Parts of the grid of times.
    """
    accepted = np.array([first_steps(row, e, steps) for row, e in zip(utilities, exponents, strict=True)])
    common = accepted.max(axis=0)
    first = int(common.min())
    at = min(first, steps)
    bands = np.array([bands_over_time(exponent, steps)[at] for exponent in exponents])
    return FirstCommon(None if first > steps else first / steps, bands, (common == first) & (first <= steps))


def largest(scores: Values, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which options have the largest score of those allowed, but for rounding; scores at least 0.

    Parameters
    ----------
    scores, among
        Shape (option, …); the comparison runs along the first axis. Where nothing is allowed, nothing is returned.
    """
    best = np.where(among, scores, -1.0).max(axis=0)
    return np.asarray(among & (scores >= best * (1.0 - EQUAL)))
