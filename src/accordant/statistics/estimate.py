"""`Estimate`: a value with its interval, and why it or its interval is not there; standard errors of means."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.faces import Displayed


@dataclass(frozen=True)
class Estimate(Displayed):
    """A value with its interval.

    Attributes
    ----------
    value
        The number; None if it is not defined.
    low, high
        Limits of the interval; None if there is no value, nothing was resampled, or the interval is withheld.
    level
        Coverage that the interval is made for, in (0, 1); None if there is none.
    n
        How many units it rests on; None if that was not counted.
    undefined
        Share of resamples without a value, which the interval leaves out; None if nothing was resampled.
    reason
        Why there is no value or no interval; empty if there are both.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: int | float | None = None
    undefined: float | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "not defined"
        return f"{self.value:.3f}" + ("" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]")

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self)


def standard_error(values: Values, clusters: Codes | None = None) -> Values:
    """Return the standard error of means over the last axis; NaN for fewer than two units or clusters.

    Units in clusters: √(g/(g − 1) Σ_c (Σ_{u in c} (v_u − v̄))²) / n, with g clusters (Liang and Zeger 1986, for a mean).
    With clusters of one unit each it is s / √n.

    Parameters
    ----------
    values
        Shape (..., unit).
    clusters
        Cluster of each unit, shape (unit,); any whole numbers from 0. None if units are independent.
    """
    n = values.shape[-1]
    if clusters is None:
        return np.asarray(values.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[:-1], np.nan))
    present, codes = np.unique(clusters, return_inverse=True)
    if len(present) < 2:
        return np.full(values.shape[:-1], np.nan)
    deviations = (values - values.mean(axis=-1, keepdims=True)).reshape(-1, n)
    sums = np.stack([np.bincount(codes, weights=row, minlength=len(present)) for row in deviations])
    squares = (sums**2).sum(axis=-1) * len(present) / (len(present) - 1)
    return np.asarray(np.sqrt(squares).reshape(values.shape[:-1]) / n)
