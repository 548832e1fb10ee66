"""Advantages of the rollouts of one prompt from several rewards.

For rollouts i = 1..G and objectives k = 1..K, with mean μ_k and standard deviation σ_k of r_ik over the rollouts,
weights w_k ≥ 0 and A_ik = (r_ik − μ_k) / σ_k:

    reward combination (RC)      R_i = Σ_k w_k r_ik, (R_i − mean R) / std(R)
    advantage combination (AC)   Σ_k w_k A_ik
    batch standardised           AC, then standardised over all rollouts of the batch (GDPO, arXiv 2601.05242)
    variance adaptive (DVAO)     Σ_k w̃_k A_ik, w̃_k = w_k σ_k / Σ_l w_l σ_l (arXiv 2605.25604)

The last equals Σ_k w_k (r_ik − μ_k) / Σ_l w_l σ_l = RC · std(R) / Σ_l w_l σ_l: it orders the rollouts like the weighted
sum and is never larger than RC. Over groups of people it damps steps; it is no rule about who gets how much.

A missing reward (NaN) counts as its objective's mean over the other rollouts, so it adds nothing; how many were missing
is reported. An objective that is constant, or known for fewer than two rollouts, adds 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Counts, Values
from accordant.errors import InputError

ROUNDING = 1e-12  # a spread below this share of the values themselves is rounding, not difference
FEW = 4  # up to so many rollouts, standard deviations are mostly noise


@dataclass(frozen=True, eq=False)
class Advantages:
    """Advantages of the rollouts of one prompt.

    Attributes
    ----------
    values
        Shape (rollout,).
    weights
        The weight of each objective's standardised reward, shape (objective,): w as given, or w̃ for DVAO.
    spreads
        σ_k, shape (objective,); 0 for an objective that is constant or known for fewer than two rollouts.
    missing
        Rewards that were NaN, shape (objective,).
    """

    values: Values
    weights: Values
    spreads: Values
    missing: Counts

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to bear in mind about these advantages; empty if nothing."""
        said = []
        if len(self.values) <= FEW:
            said.append(f"{len(self.values)} rollouts: standard deviations of so few are mostly noise")
        if self.missing.any():
            said.append(f"{int(self.missing.sum())} missing rewards count as their objective's mean")
        return tuple(said)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Rewards minus their objective's mean (0 where missing), and what belongs to them."""

    centred: Values
    weights: Values
    spreads: Values
    missing: Counts
    largest: Values


def reward_combination(rewards: ArrayLike, weights: ArrayLike, *, ddof: int = 0, epsilon: float = 0.0) -> Advantages:
    """Return RC: the weighted sum of rewards, standardised over the rollouts.

    Parameters
    ----------
    rewards
        r, shape (rollout, objective); NaN for a missing reward.
    weights
        w, shape (objective,), finite and ≥ 0.
    ddof
        What is taken from the number of rollouts in a variance: 0, or 1 as in some trainers.
    epsilon
        Added to what divides, ≥ 0; some trainers take 10⁻⁴. A divisor that is not above it gives advantages 0.

    Raises
    ------
    InputError
        If a shape does not fit, a reward is infinite, or a weight, ddof or epsilon is outside its range.
    """
    ready = _prepared(rewards, weights, ddof, epsilon)
    combined = ready.centred @ ready.weights
    spread = _spread(combined, ddof, float(ready.largest @ ready.weights))
    return _result(ready, _divided(combined, spread, epsilon), ready.weights)


def advantage_combination(rewards: ArrayLike, weights: ArrayLike, *, ddof: int = 0, epsilon: float = 0.0) -> Advantages:
    """Return AC: the weighted sum of standardised rewards. Parameters and errors as in `reward_combination`."""
    ready = _prepared(rewards, weights, ddof, epsilon)
    kept = ready.spreads > epsilon
    scale = np.divide(ready.weights, ready.spreads + epsilon, out=np.zeros_like(ready.weights), where=kept)
    return _result(ready, ready.centred @ scale, ready.weights)


def variance_adaptive(rewards: ArrayLike, weights: ArrayLike, *, ddof: int = 0, epsilon: float = 0.0) -> Advantages:
    """Return DVAO: standardised rewards weighted by w_k σ_k. Parameters and errors as in `reward_combination`.

    With epsilon the weights are w_k σ_k / (Σ_l w_l σ_l + epsilon), so the order of the rollouts never depends on it.
    """
    ready = _prepared(rewards, weights, ddof, epsilon)
    total = float(ready.weights @ ready.spreads)
    adapted = _divided(ready.weights * ready.spreads, total, epsilon)
    return _result(ready, _divided(ready.centred @ ready.weights, total, epsilon), adapted)


def batch_standardised(
    prompts: Sequence[ArrayLike], weights: ArrayLike, *, ddof: int = 0, epsilon: float = 0.0
) -> tuple[Advantages, ...]:
    """Return AC of every prompt, standardised over all rollouts of the batch (GDPO).

    Parameters
    ----------
    prompts
        One array (rollout, objective) for each prompt; they may have different numbers of rollouts.
    weights, ddof, epsilon
        As in `reward_combination`; ddof and epsilon hold for both steps.

    Raises
    ------
    InputError
        If there is no prompt, or as in `reward_combination`.
    """
    if len(prompts) == 0:
        raise InputError("the batch has no prompts; allowed: at least one")
    singles = [advantage_combination(rewards, weights, ddof=ddof, epsilon=epsilon) for rewards in prompts]
    every = np.concatenate([single.values for single in singles])
    centred = every - every.mean()
    scaled = _divided(centred, _spread(centred, ddof, float(np.abs(every).max())), epsilon)
    parts = np.split(scaled, np.cumsum([len(single.values) for single in singles])[:-1])
    return tuple(replace(single, values=part) for single, part in zip(singles, parts, strict=True))


def _prepared(rewards: ArrayLike, weights: ArrayLike, ddof: int, epsilon: float) -> _Prepared:
    """Check the input, centre each objective over the rewards that are known, and measure its spread."""
    array, shares = np.asarray(rewards, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"rewards have shape {array.shape}; allowed: (rollout, objective), none of them empty")
    if shares.shape != array.shape[1:] or not np.isfinite(shares).all() or (shares < 0).any():
        raise InputError(
            f"weights are {shares.tolist()}; allowed: one finite number ≥ 0 for each of the {array.shape[1]} objectives"
        )
    if np.isinf(array).any():
        raise InputError(f"{int(np.isinf(array).sum())} rewards are infinite; allowed: numbers, or NaN if missing")
    if ddof not in {0, 1} or not (math.isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"ddof is {ddof} and epsilon {epsilon}; allowed: ddof 0 or 1, epsilon a finite number ≥ 0")
    known = ~np.isnan(array)
    filled, counts = np.where(known, array, 0.0), known.sum(axis=0)
    means = filled.sum(axis=0) / np.maximum(counts, 1)
    largest = np.abs(filled).max(axis=0)
    centred = np.where(known, array - means, 0.0)
    spreads = np.sqrt((centred**2).sum(axis=0) / np.maximum(counts - ddof, 1))
    varied = (counts > 1) & (spreads > ROUNDING * largest)
    return _Prepared(
        np.where(varied, centred, 0.0), shares, np.where(varied, spreads, 0.0), (~known).sum(axis=0), largest
    )


def _spread(centred: Values, ddof: int, largest: float) -> float:
    """Return the standard deviation of values with mean 0; 0 for one value and for mere rounding."""
    if len(centred) < 2:
        return 0.0
    spread = math.sqrt(float((centred**2).sum()) / (len(centred) - ddof))
    return spread if spread > ROUNDING * largest else 0.0


def _divided(values: Values, divisor: float, epsilon: float) -> Values:
    """Return values / (divisor + epsilon), or 0 if the divisor is not above epsilon."""
    return np.asarray(values / (divisor + epsilon)) if divisor > epsilon else np.zeros_like(values)


def _result(ready: _Prepared, values: Values, weights: Values) -> Advantages:
    """Return advantages with what was measured on the way."""
    return Advantages(values, weights, ready.spreads, ready.missing)
