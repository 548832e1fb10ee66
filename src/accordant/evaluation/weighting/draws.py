"""Weights drawn evenly from the simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError

BLOCK = 2_000_000  # scores held at a time (16 MB)


def drawn_weights(n_weights: int, draws: int, generator: np.random.Generator) -> Values:
    """Return weights drawn evenly from the simplex (Dirichlet with all parameters 1), shape (draw, weight).

    Raises
    ------
    InputError
        If there is no draw.
    """
    if draws < 1:
        raise InputError(f"draws is {draws}; allowed: 1 or more")
    return np.asarray(generator.dirichlet(np.ones(n_weights), size=draws))


def wins_of(rows: Values, weights: Values) -> NDArray[np.intp]:
    """Return for how many weight vectors each row has the highest score, shape (row,); the first among equals.

    Parameters
    ----------
    rows
        Normalised metrics, shape (row, metric).
    weights
        Shape (draw, metric).
    """
    wins = np.zeros(len(rows), dtype=np.intp)
    step = max(1, BLOCK // len(rows))
    for start in range(0, len(weights), step):
        wins += np.bincount((weights[start : start + step] @ rows.T).argmax(axis=1), minlength=len(rows))
    return wins
