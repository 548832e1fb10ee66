"""Individual rationality: nobody is asked to accept less than the status quo."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Floats
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.reference_points import INDIFFERENT

NO_GAIN = float(np.log(np.finfo(np.float64).smallest_subnormal))  # the logarithm of a product of gains that is 0


def rank_irrational_last(
    scores: Floats,
    block: Block,
    disagreement: NDArray[np.floating],
    status_quo: str | None,
    say: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Give −inf, in place, to actions that leave somebody who has a say below the status quo.

    Where that leaves no finite score (nobody can gain together), the other actions get `NO_GAIN`, so that
    an irrational action never ties with them; the status quo is always among them.

    Returns
    -------
    Contexts in which every alternative is irrational, shape (context,).
    """
    if status_quo is None:
        raise InputError("individual rationality needs the status-quo action")
    worse = np.asarray((block.values[say] < disagreement[say][:, None] - INDIFFERENT).any(axis=0))
    scores[worse] = -np.inf
    level = np.isneginf(scores).all(axis=0)
    scores[:, level] = np.where(worse[:, level], -np.inf, NO_GAIN)
    alternatives = np.arange(len(block.actions)) != block.actions.index(status_quo)
    return np.asarray(worse[alternatives].all(axis=0) & alternatives.any())
