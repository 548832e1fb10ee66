"""What the values of items of one type have in common: the expected best few, and what one more item adds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.slates.consumption.checks import checked_counts


class ValueDistribution(Protocol):
    """Values of the items of one type, all at least 0.

    Of items that are exchangeable, the best k of a are worth

        h(a) = Σ_{i ≤ min(k, a)} μ(a − i + 1, a),

    with μ(r, a) the mean of the r-th smallest of a values. h is concave (Peng et al. 2024).
    """

    @abstractmethod
    def best(self, consumed: int, items: ArrayLike) -> Values:
        """Return h(a), the expected sum of the best k of a values.

        Parameters
        ----------
        consumed
            k ≥ 1; all are taken if there are fewer.
        items
            a ≥ 0, whole numbers of any shape, which is the shape of the result.
        """

    @abstractmethod
    def log_gains(self, consumed: int, items: int) -> Values:
        """Return log(h(a + 1) − h(a)) for a = 0..items − 1; −∞ where nothing is gained.

        It never rises, but for rounding.
        Logarithms keep gains apart that are too small for a float. Shape (items,), or shorter if there are fewer items.
        """


def summed_gains(log_gains: Values, items: ArrayLike) -> Values:
    """Return h(a) as the sum of the first a gains, for values without a closed form.

    Parameters
    ----------
    log_gains
        For a = 0, 1, …, as many as the largest of `items`.
    items
        a ≥ 0, whole numbers of any shape.
    """
    totals = np.concatenate([[0.0], np.cumsum(np.exp(log_gains))])
    return np.asarray(totals[checked_counts("items", items)])
