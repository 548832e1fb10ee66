"""Intervals for shares and means of independent repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from accordant.randomness import generator

LEVEL = 0.95
SAME = 1e-12  # values that differ by no more than rounding are the same
RESAMPLES = 1_000  # the ends of an interval are then known to about two hundredths of its width


@dataclass(frozen=True)
class Estimate:
    """A share or a mean with its interval.

    Attributes
    ----------
    value
        None where nothing was defined.
    low, high
        None where nothing was defined, and for a mean of values that are all the same and of unknown range: a
        bootstrap would then show an interval of no width, which says nothing.
    n
        How many repetitions it rests on: those in which it is defined.
    interval
        How it was made: ``wilson`` for shares, and for means of values of known range that are all the same;
        ``bootstrap`` (percentile) for other means.
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
    rate = sum(known) / n
    return Estimate(rate, *_wilson(rate, n, level), n, "wilson")


def mean_estimate(
    seen: Sequence[float | None], seed: int, level: float = LEVEL, *, within: tuple[float, float] | None = None
) -> Estimate:
    """Return the mean of those not None, with an interval.

    The interval is that of the percentile bootstrap (Efron 1979), unless all values are the same. Then nothing is known
    about their spread but their range, and the score interval of Wilson (1927) for the mean, with the range taken as
    [0, 1], stands in: a variable in [0, 1] with mean μ has a variance of at most μ (1 − μ), that of a share, so the
    interval is as wide as any such variable may need. Without a range there is none.

    Parameters
    ----------
    seen
        One value per repetition; None where it is not defined.
    seed
        Of the resamples.
    level
        Confidence level, in (0, 1).
    within
        Lowest and highest value that is possible; None if there is no such bound.
    """
    known = np.array([each for each in seen if each is not None], dtype=np.float64)
    n = len(known)
    if n == 0:
        return Estimate(None, None, None, 0, "bootstrap")
    value = float(known.mean())
    if np.ptp(known) <= SAME:
        if within is None or within[0] == within[1]:
            return Estimate(value, None, None, n, "bootstrap")
        least, most = within
        share = min(1.0, max(0.0, (value - least) / (most - least)))
        low, high = (least + (most - least) * end for end in _wilson(share, n, level))
        return Estimate(value, min(value, low), max(value, high), n, "wilson")
    counts = generator(seed, "resamples").multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    low, high = np.quantile(counts @ known / n, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(value, float(low), float(high), n, "bootstrap")


def _wilson(rate: float, n: int, level: float) -> tuple[float, float]:
    """Return the score interval of a share seen in n repetitions."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre, spread = rate + z * z / (2 * n), z * float(np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)))
    low, high = (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)
    return min(rate, max(0.0, low)), max(rate, min(1.0, high))
