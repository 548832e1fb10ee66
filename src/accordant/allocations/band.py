"""The band 1 − t^e: the share of a range of utility that is still asked for at a time."""

from __future__ import annotations

import math


def band(exponent: float, time: float) -> float:
    """Return 1 − t^e, in [0, 1]; 1 at every time, the last included, for an infinite exponent.

    Linear form of the time-dependent tactics of Faratin, Sierra and Jennings (1998), with their 1/β written as e.

    Parameters
    ----------
    exponent
        e above 0.
    time
        In [0, 1].
    """
    return 1.0 if math.isinf(exponent) else 1.0 - float(time**exponent)
