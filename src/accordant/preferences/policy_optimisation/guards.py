"""Guards around a personal reward: a hard gate first, then a bounded step away from what is shared.

    r_u = r_shared + clip(kept_u (r_personal,u − r_shared), −most, most)   where a response is permitted; −∞ elsewhere

Whether a response is correct and safe is a gate and never a term of a sum, so that no reward can outbid it. `kept` is
how far a user's own reward is believed, for example n / (n + prior) after n answers. [ours]
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.policy_optimisation.checks import finite_array


def guarded_rewards(
    shared: ArrayLike,
    personal: ArrayLike,
    *,
    most: float,
    kept: ArrayLike | None = None,
    permitted: ArrayLike | None = None,
) -> Values:
    """Return rewards within a distance of the shared ones, shape (user, candidate, context).

    Parameters
    ----------
    shared
        Rewards for everybody, shape (candidate, context).
    personal
        Rewards of each user in the same units, shape (user, candidate, context).
    most
        Largest distance from the shared reward, at least 0; infinite for no bound.
    kept
        Share of each user's own difference that is believed, in [0, 1], shape (user,); None for all of it.
    permitted
        Which candidates may be chosen, bool of shape (candidate, context), at least one in each context; None for all.

    Raises
    ------
    InputError
        If a shape or a number is wrong, or a context has no permitted candidate.
    """
    common = finite_array("shared", shared, ("candidate", "context"))
    own = finite_array("personal", personal, ("user", "candidate", "context"))
    if own.shape[1:] != common.shape:
        raise InputError(f"personal has shape {own.shape}; allowed: (user, {common.shape[0]}, {common.shape[1]})")
    if math.isnan(most) or most < 0:
        raise InputError(f"most is {most}; allowed: at least 0")
    believed = np.ones(len(own)) if kept is None else finite_array("kept", kept, ("user",))
    if believed.shape != (len(own),) or (believed < 0).any() or (believed > 1).any():
        raise InputError(f"kept has shape {believed.shape}; allowed: ({len(own)},), each in [0, 1]")
    allowed = np.ones(common.shape, dtype=bool) if permitted is None else np.asarray(permitted)
    if allowed.shape != common.shape or allowed.dtype != bool:
        raise InputError(f"permitted has shape {allowed.shape} of {allowed.dtype}; allowed: bool of {common.shape}")
    if not allowed.any(axis=0).all():
        raise InputError(
            f"context {int(np.argmin(allowed.any(axis=0)))} has no permitted candidate; allowed: at least one"
        )
    away = np.clip(believed[:, None, None] * (own - common), -most, most)
    return np.where(allowed, common + away, -np.inf)
