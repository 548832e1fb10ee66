"""Tilt towards agreement with false stances, user by user, against the pooled model, and over time.

Pooled rewards average over users, which damps flattery; what a user's own model adds to the tilt is the cost of
personalising. The spread over users answers a question that a mean hides: whose model flatters most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Counts, Values
from accordant.errors import InputError
from accordant.preferences.policy_optimisation.agreement import reward_tilt
from accordant.preferences.policy_optimisation.checks import finite_array


@dataclass(frozen=True, eq=False)
class TiltReport:
    """Tilt of every user's rewards, beside that of the pooled rewards in the same prompts.

    Attributes
    ----------
    tilt
        Mean tilt over the user's prompts, shape (user,), in units of reward; NaN if it is defined in none.
    pooled
        The same with the pooled rewards.
    positive
        Share of the user's prompts with a tilt above 0, shape (user,).
    pooled_positive
        The same with the pooled rewards.
    prompts
        Prompts in which the tilt is defined, shape (user,); the others are left out.
    """

    tilt: Values
    pooled: Values
    positive: Values
    pooled_positive: Values
    prompts: Counts

    @property
    def relative(self) -> Values:
        """What personalising adds to the tilt, shape (user,)."""
        return np.asarray(self.tilt - self.pooled)

    @property
    def spread(self) -> float:
        """Largest minus smallest tilt over users; NaN if no user has one."""
        defined = self.tilt[~np.isnan(self.tilt)]
        return float(np.ptp(defined)) if len(defined) else float("nan")


@dataclass(frozen=True, eq=False)
class TiltSeries:
    """Tilt at successive times; both arrays have shape (time, user).

    Attributes
    ----------
    tilt
        Mean tilt over the user's prompts.
    positive
        Share of the user's prompts with a tilt above 0.
    """

    tilt: Values
    positive: Values

    @property
    def change(self) -> Values:
        """Tilt minus that at the first time, shape (time, user)."""
        return np.asarray(self.tilt - self.tilt[0])


def fraction_positive_tilt(tilt: ArrayLike) -> Values:
    """Return the share of prompts with a tilt above 0 among those in which it is defined, shape (user,).

    Parameters
    ----------
    tilt
        From `reward_tilt`, shape (user, context); NaN where it is not defined.

    Raises
    ------
    InputError
        If the tilt has another number of axes or an empty one.
    """
    array = _two_axes(tilt)
    defined = ~np.isnan(array)
    return _mean((array > 0).astype(np.float64), defined)


def tilt_report(rewards: ArrayLike, pooled: ArrayLike, agreement: ArrayLike, reference: ArrayLike) -> TiltReport:
    """Return the tilt of every user's rewards and of the pooled rewards in the same prompts.

    Parameters
    ----------
    rewards
        Each user's own model, shape (user, candidate, context), finite.
    pooled
        The pooled model's rewards, shape (candidate, context), on the same scale.
    agreement
        Whether the response agrees with the user's false stance, shape (user, candidate, context), 0 or 1.
    reference
        π₀, shape (candidate, context).

    Raises
    ------
    InputError
        As in `reward_tilt`.
    """
    own = reward_tilt(rewards, agreement, reference)
    shared = finite_array("pooled", pooled, ("candidate", "context"))
    if shared.shape != np.shape(rewards)[1:]:
        raise InputError(
            f"pooled has shape {shared.shape}; allowed: (candidate, context), here {np.shape(rewards)[1:]}"
        )
    common = reward_tilt(np.broadcast_to(shared, np.shape(rewards)), agreement, reference)
    defined = ~np.isnan(own)
    return TiltReport(
        tilt=_mean(own, defined),
        pooled=_mean(common, defined),
        positive=fraction_positive_tilt(own),
        pooled_positive=fraction_positive_tilt(common),
        prompts=defined.sum(axis=1),
    )


def tilt_over_time(models: Sequence[ArrayLike], agreement: ArrayLike, reference: ArrayLike) -> TiltSeries:
    """Return the tilt of successive reward models on the same prompts.

    Parameters
    ----------
    models
        The rewards at each time, in order, each of shape (user, candidate, context).
    agreement, reference
        As in `tilt_report`.

    Raises
    ------
    InputError
        If there is no model, or as in `reward_tilt`.
    """
    if len(models) == 0:
        raise InputError("there are no models; allowed: the rewards of at least one time")
    tilts = [reward_tilt(rewards, agreement, reference) for rewards in models]
    return TiltSeries(
        tilt=np.stack([_mean(tilt, ~np.isnan(tilt)) for tilt in tilts]),
        positive=np.stack([fraction_positive_tilt(tilt) for tilt in tilts]),
    )


def _two_axes(tilt: ArrayLike) -> Values:
    """Return the tilt as an array (user, context)."""
    array = np.asarray(tilt, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"tilt has shape {array.shape}; allowed: (user, context), none of them empty")
    return array


def _mean(values: Values, defined: NDArray[np.bool_]) -> Values:
    """Return the mean over contexts where defined, shape (user,); NaN where it is defined nowhere."""
    count = defined.sum(axis=1)
    total = np.where(defined, values, 0.0).sum(axis=1)
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))
