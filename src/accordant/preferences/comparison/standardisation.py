"""One scale for features, so that what learners take for much or little evidence means the same for every file.

A ridge or a prior weighs coefficients against records, and coefficients depend on the unit of the features. [ours]
Features are divided so that differences of training records have the mean square 2 per feature, that of two independent
standard normal items. Directions that an encoder made share one scale: dividing each by its own would blow up those
that hardly vary. Features of a file have units of their own, and each has its own scale.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from accordant.arrays import Codes
from accordant.preferences.records import Comparisons

MEAN_SQUARE = 2.0


def scaled(comparisons: Comparisons, training: Codes, *, each: bool) -> Comparisons:
    """Return the same records with scaled features; a feature that never differs in training stays as it is.

    Parameters
    ----------
    comparisons
        All records.
    training
        Rows that are learned from; no others are looked at.
    each
        Whether every feature has its own scale.
    """
    features = comparisons.features
    sizes = np.abs(features[np.concatenate([comparisons.chosen[training], comparisons.rejected[training]])])
    largest = sizes.max(axis=0, initial=0.0)
    largest = largest if each else np.full_like(largest, largest.max(initial=0.0))
    features = np.ldexp(features, -np.frexp(largest)[1])  # by a power of two, which rounds nothing
    squares = ((features[comparisons.chosen[training]] - features[comparisons.rejected[training]]) ** 2).mean(axis=0)
    if not each:
        squares = np.full_like(squares, squares.mean())
    varies = squares > 0
    factors = np.sqrt(np.divide(MEAN_SQUARE, squares, out=np.ones_like(squares), where=varies))
    return replace(comparisons, features=np.where(varies, features * factors, comparisons.features))
