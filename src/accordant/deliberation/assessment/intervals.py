"""Intervals for shares and means of independent repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from accordant.randomness import generator

LEVEL = 0.95
RESAMPLES = 1_000  # the ends of an interval are then known to about two hundredths of its width


@dataclass(frozen=True)
class Estimate:
    """A share or a mean with its interval.

    Attributes
    ----------
    value, low, high
        None where nothing was defined.
    n
        How many repetitions it rests on: those in which it is defined.
    interval
        ``wilson`` for shares, ``bootstrap`` (percentile) for means.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    interval: Literal["wilson", "bootstrap"]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self)


def share_estimate(seen: Sequence[bool | None], level: float = LEVEL) -> Estimate:
    """Return the share of True among those not None, with the score interval of Wilson (1927)."""
    known = [each for each in seen if each is not None]
    n = len(known)
    if n == 0:
        return Estimate(None, None, None, 0, "wilson")
    rate, z = sum(known) / n, NormalDist().inv_cdf(0.5 + level / 2)
    centre, spread = rate + z * z / (2 * n), z * float(np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)))
    low, high = (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)
    return Estimate(rate, min(rate, max(0.0, low)), max(rate, min(1.0, high)), n, "wilson")


def mean_estimate(seen: Sequence[float | None], seed: int, level: float = LEVEL) -> Estimate:
    """Return the mean of those not None, with the percentile interval of the bootstrap (Efron 1979).

    One value alone gives an interval of no width: nothing is known about spread.
    """
    known = np.array([each for each in seen if each is not None], dtype=np.float64)
    if len(known) == 0:
        return Estimate(None, None, None, 0, "bootstrap")
    counts = generator(seed, "resamples").multinomial(len(known), np.full(len(known), 1 / len(known)), size=RESAMPLES)
    low, high = np.quantile(counts @ known / len(known), [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(float(known.mean()), float(low), float(high), len(known), "bootstrap")
