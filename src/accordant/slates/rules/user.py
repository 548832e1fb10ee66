"""What the user wants, for rules that put the user's own wishes apart from those of others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.errors import UnknownNameError
from accordant.slates.candidates import Candidates


def user_position(candidates: Candidates, name: str | None) -> int | None:
    """Return the position of the user among stakeholders; None if the user has no say (weight 0).

    Parameters
    ----------
    candidates
        E and weights.
    name
        A stakeholder; None for the first who has a say.

    Raises
    ------
    UnknownNameError
        If there is no such stakeholder.
    """
    name = candidates.user if name is None else name
    if name is None:
        return int(np.flatnonzero(candidates.weights > 0)[0])
    if name not in candidates.stakeholders:
        raise UnknownNameError("stakeholder named as user:", name, candidates.stakeholders)
    position = candidates.stakeholders.index(name)
    return position if candidates.weights[position] > 0 else None


def user_values(candidates: Candidates, name: str | None) -> NDArray[np.float64]:
    """Return E of the user, shape (item, user); 0 throughout if the user has no say, as if nobody knew the wishes.

    Raises
    ------
    UnknownNameError
        If there is no such stakeholder.
    """
    position = user_position(candidates, name)
    return np.zeros_like(candidates.values[0]) if position is None else candidates.values[position]


def weighted_means(candidates: Candidates) -> NDArray[np.float64]:
    """Return Σ_i w_i E[i, c, u] / Σ_i w_i, what an item is worth to all, in [0, 1], shape (item, user)."""
    return np.asarray(np.tensordot(candidates.weights / candidates.weights.sum(), candidates.values, axes=1))
