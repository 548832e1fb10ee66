"""How far apart two contexts are, feature by feature (Gower 1971)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.explanation.contexts.changes import Value


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances between contexts feature by feature (Gower 1971), with numbers in units of their interquartile range.

    Numbers: |x − y| / IQR; if that is 0 the standard deviation takes its place, and if that is 0 too, any difference
    counts 1. Texts: 1 if they differ. A missing value differs from any other by 1. (Gower divides by the range, which
    one outlier may stretch; the interquartile range is this package's choice.)

    Attributes
    ----------
    scales
        Feature to unit of its numbers; None for texts.
    """

    scales: dict[str, float | None]

    @classmethod
    def of(cls, observed: Contexts, features: Sequence[str]) -> Distances:
        """Take units from observed contexts."""
        return cls({name: _scale(observed[name]) for name in features})

    def apart(self, name: str, here: Value, there: NDArray[Any]) -> Values:
        """Return how far some values of one feature are from a value, shape (value,)."""
        scale = self.scales[name]
        if scale is None:
            return np.asarray(there != here, dtype=np.float64)
        gap = np.abs(there - here) / scale if scale > 0 else np.asarray(there != here, dtype=np.float64)
        missing = np.isnan(there)
        return np.asarray(np.where(missing | np.isnan(here), missing != np.isnan(here), gap), dtype=np.float64)


def _scale(values: NDArray[Any]) -> float | None:
    if values.dtype != np.float64:
        return None
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0
    lower, upper = np.quantile(known, (0.25, 0.75))
    return float(upper - lower) or float(known.std())
