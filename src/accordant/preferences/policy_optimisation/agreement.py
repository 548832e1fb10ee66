"""Agreement with a user's false stance under optimisation: does a reward model push it, how far, and what undoes that.

A(x, y) = 1 if response y agrees with a *false* stance of the user in prompt x. Optimisation of strength s against a
divergence gives π ∝ π₀ exp(s r) (s is 1 / β of `maximin_expectation`; the literature on sycophancy writes β for it).
With expectations E₀ under π₀ in one prompt (after Shapira, Benade and Procaccia 2026, arXiv 2602.01002):

    drift     E_π[A] − E₀[A] = Cov₀(A, e^{s r}) / E₀[e^{s r}]
    tilt      E₀[r | A = 1] − E₀[r | A = 0], the sign of the drift for small s
    penalty   λ = max(0, (1 / s) log(E₀[e^{s r} | A = 1] / E₀[e^{s r} | A = 0]))

The reward r − λ A brings the agreement back to its base rate if it had risen; no smaller λ does. Where π₀ always or
never agrees, nothing can drift: drift and penalty are 0 and the tilt is NaN. Prompts without a false stance have A = 0
throughout.

`tilt_report` and `tilt_over_time` give the tilt user by user, against the pooled model, and over time. Pooled rewards
average over users, which damps flattery; what a user's own model adds to the tilt is the cost of personalising. The
spread over users answers a question that a mean hides: whose model flatters most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Counts, Values
from accordant.errors import InputError
from accordant.preferences.checks import finite_array
from accordant.preferences.policy_optimisation.policies import checked_reference

AXES = ("user", "candidate", "context")
ROUNDING = 1e-12  # a tilt below this share of the rewards is rounding


@dataclass(frozen=True, eq=False)
class AgreementDrift:
    """How agreement with false stances moves under optimisation; every array has shape (user, context).

    Attributes
    ----------
    base
        E₀[A], in [0, 1].
    optimised
        E_π[A], in [0, 1].
    drift
        optimised − base, computed as the covariance above.
    """

    base: Values
    optimised: Values
    drift: Values


def reward_tilt(rewards: ArrayLike, agreement: ArrayLike, reference: ArrayLike) -> Values:
    """Return E₀[r | A = 1] − E₀[r | A = 0] of every user and prompt, shape (user, context), in units of reward.

    Parameters
    ----------
    rewards
        r, shape (user, candidate, context), finite.
    agreement
        A, the same shape, 0 or 1.
    reference
        π₀, shape (candidate, context).

    Returns
    -------
    NaN where π₀ always or never agrees. Tilts within rounding are 0.

    Raises
    ------
    InputError
        If a shape differs, a number is not finite, the agreement is not binary, or the reference is no policy.
    """
    array, agrees, start = _checked(rewards, agreement, reference)
    agreeing, other = _conditional(start, agrees), _conditional(start, ~agrees)
    tilt = (agreeing * array).sum(axis=1) - (other * array).sum(axis=1)
    tilt[np.abs(tilt) <= ROUNDING * np.abs(array).max(axis=1)] = 0.0
    return np.asarray(tilt)


def agreement_drift(rewards: ArrayLike, agreement: ArrayLike, reference: ArrayLike, strength: float) -> AgreementDrift:
    """Return how far optimisation moves the agreement rate of every user and prompt.

    Parameters
    ----------
    rewards, agreement, reference
        As in `reward_tilt`.
    strength
        s > 0, finite, in 1 / units of reward.

    Raises
    ------
    InputError
        As in `reward_tilt`, or if the strength is outside its range.
    """
    array, agrees, start = _checked(rewards, agreement, reference)
    exponent = _checked_strength(strength) * array
    possible = np.broadcast_to(start > 0, array.shape)
    growth = np.exp(np.where(possible, exponent - _top(exponent, possible), -np.inf))
    mean = (start * growth).sum(axis=1)
    base = (start * agrees).sum(axis=1)
    optimised = (start * growth * agrees).sum(axis=1) / mean
    covariance = (start * (growth - mean[:, None, :]) * (agrees - base[:, None, :])).sum(axis=1)
    return AgreementDrift(base, optimised, covariance / mean)


def agreement_penalty(rewards: ArrayLike, agreement: ArrayLike, reference: ArrayLike, strength: float) -> Values:
    """Return the smallest penalty λ ≥ 0 that keeps agreement at its base rate or below, shape (user, context).

    Each prompt has its own λ. Agreement falls as λ rises, so the largest over a user's prompts suffices for all.

    Parameters, units and errors as in `agreement_drift`; λ is in units of reward.
    """
    array, agrees, start = _checked(rewards, agreement, reference)
    strength = _checked_strength(strength)
    mass = np.broadcast_to(start, array.shape)
    agreeing, other = (_log_mean(strength * array, mass, which) for which in (agrees, ~agrees))
    defined = np.isfinite(agreeing) & np.isfinite(other)
    ratio = np.subtract(agreeing, other, out=np.zeros_like(agreeing), where=defined)
    return np.asarray(np.maximum(ratio / strength, 0.0))


def penalised_rewards(rewards: ArrayLike, agreement: ArrayLike, penalty: ArrayLike) -> Values:
    """Return r − λ A, shape (user, candidate, context).

    Parameters
    ----------
    rewards, agreement
        As in `reward_tilt`.
    penalty
        λ, shape (user, context), finite and ≥ 0.

    Raises
    ------
    InputError
        If a shape differs, a number is not finite, the agreement is not binary, or a penalty is negative.
    """
    array = finite_array("rewards", rewards, AXES)
    agrees = _checked_agreement(agreement, array.shape)
    charged = finite_array("penalty", penalty, ("user", "context"))
    if charged.shape != array[:, 0].shape or (charged < 0).any():
        raise InputError(
            f"penalty has shape {charged.shape} and smallest number {charged.min():g}; "
            f"allowed: numbers ≥ 0 of shape {array[:, 0].shape}"
        )
    return np.asarray(array - charged[:, None, :] * agrees)


def _checked(
    rewards: ArrayLike, agreement: ArrayLike, reference: ArrayLike
) -> tuple[Values, NDArray[np.bool_], Values]:
    """Return rewards, agreement and reference whose shapes fit."""
    array = finite_array("rewards", rewards, AXES)
    return array, _checked_agreement(agreement, array.shape), checked_reference(reference, array.shape[1:])


def _checked_agreement(agreement: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the agreement as truth values of the given shape."""
    array = finite_array("agreement", agreement, AXES)
    if array.shape != shape or not np.isin(array, (0.0, 1.0)).all():
        raise InputError(
            f"agreement has shape {array.shape} and values {np.unique(array)[:5].tolist()}; "
            f"allowed: 0 and 1, of shape {shape}"
        )
    return np.asarray(array == 1)


def _checked_strength(strength: float) -> float:
    """Return the strength if it is a finite number above 0."""
    if not (math.isfinite(strength) and strength > 0):
        raise InputError(f"strength is {strength}; allowed: a finite number above 0")
    return float(strength)


def _conditional(reference: Values, chosen: NDArray[np.bool_]) -> Values:
    """Return π₀ given the chosen candidates, shape (user, candidate, context); NaN where they have no probability."""
    mass = reference * chosen
    total = mass.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(mass, total, out=np.full_like(mass, np.nan), where=total > 0))


def _top(values: Values, chosen: NDArray[np.bool_]) -> Values:
    """Return the largest chosen value over candidates, shape (user, 1, context); 0 where none is chosen."""
    top = np.where(chosen, values, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(np.where(np.isfinite(top), top, 0.0))


def _log_mean(exponent: Values, mass: Values, chosen: NDArray[np.bool_]) -> Values:
    """Return log E₀[e^exponent | chosen], shape (user, context); −∞ or NaN where the chosen have no probability."""
    possible = chosen & (mass > 0)
    top = _top(exponent, possible)
    weighted = (mass * np.exp(np.where(possible, exponent - top, -np.inf))).sum(axis=1)
    total = (mass * chosen).sum(axis=1)
    mean = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)
    with np.errstate(divide="ignore"):
        return np.asarray(top[:, 0] + np.log(mean))


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
