"""How the moderator normalises scores after each round, so that old rounds and the new one count alike.

The official code of Collab-REC carries the normalised scores into the next round, and so is it done here.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import UnknownNameError

Scaling = Literal["min-max", "z"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)

SPAN = 1e-12  # scores whose range or deviation is smaller, relative to max(1, |score|), are all the same


def scaled(mode: Scaling, scores: Values, counted: NDArray[np.bool_]) -> Values:
    """Return normalised scores, shape of `scores`; 0 for all where they do not differ.

    ``min-max``: (s − min) / (max − min). ``z``: (s − mean) / standard deviation.

    Parameters
    ----------
    mode
        One of `SCALINGS`.
    scores
        Shape (item, user).
    counted
        Which items are not banned, shape (item, user); others get 0, and nothing reads it.

    Raises
    ------
    UnknownNameError
        If there is no such mode.
    """
    if mode not in SCALINGS:
        raise UnknownNameError("scaling", mode, SCALINGS)
    number = np.maximum(counted.sum(axis=0), 1)
    if mode == "min-max":
        shift = np.where(counted, scores, np.inf).min(axis=0, initial=np.inf)
        span = np.where(counted, scores, -np.inf).max(axis=0, initial=-np.inf) - shift
    else:
        shift = np.where(counted, scores, 0.0).sum(axis=0) / number
        span = np.sqrt(np.where(counted, (scores - shift) ** 2, 0.0).sum(axis=0) / number)
    differ = np.isfinite(span) & (span > SPAN * np.maximum(1.0, np.abs(shift)))
    return np.where(counted & differ, (scores - np.where(differ, shift, 0.0)) / np.where(differ, span, 1.0), 0.0)
