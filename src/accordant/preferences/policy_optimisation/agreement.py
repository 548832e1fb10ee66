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
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.policy_optimisation.checks import checked_reference, finite_array

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
