"""Weights drawn evenly from the simplex, and how sure a share of draws is."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError

Values = NDArray[np.float64]
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


def wilson_interval(successes: int, trials: int, level: float) -> tuple[float, float]:
    """Return the score interval of a share (Wilson 1927).

    Parameters
    ----------
    successes, trials
        Whole numbers, at least one trial.
    level
        Coverage, in (0, 1).
    """
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, size = successes / trials, 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / size
    half = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2)) / size
    low = 0.0 if successes == 0 else float(centre - half)
    return low, 1.0 if successes == trials else float(centre + half)
