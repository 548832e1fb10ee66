"""How far the chosen weights are from weights under which somebody else wins, and how often the winner survives.

A rival r overtakes the winner s where c · w ≥ 0 with c = N_r − N_s. If c_k ≤ 0 for every metric k, no weights let it.

    share moved   ½ Σ_k |w_k − w⁰_k|: the weight that has to go from some metrics to others, in parts of the whole.
                  Moving a unit from metric j to k changes the gap by c_k − c_j, so the cheapest way gives everything
                  to the metric with the largest c, and takes it where c is smallest first.
    distance      ‖w − w⁰‖₂. The nearest point is the projection of w⁰ + λ c on the simplex for some λ ≥ 0
                  (stationarity), and c · P(w⁰ + λ c) never falls in λ: projections are monotone (Zarantonello 1971).

Asking for the smallest change of weights that alters the best alternative: Wolters and Mareschal 1995; Triantaphyllou
and Sánchez 1997. Both formulas above are ours.

`sampling_error` says whether the winner survives the sampling error of the metrics, by shares of weights. Every
resample of contexts gives metric values, and these divide the simplex anew. Shares are estimated with the same evenly
drawn weights in every resample, so that differences between resamples come from the metrics alone. Uncertain criteria
and unknown weights together: Lahdelma and Salminen 2001 (SMAA-2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.evaluation.composite import EQUAL
from accordant.evaluation.weighting.undominated_scores import UndominatedScores
from accordant.json_values import fields_json
from accordant.statistics import percentile_interval

HALVINGS = 200  # more than the bits of a float, so the bracket closes


@dataclass(frozen=True)
class Shift:
    """The smallest change of weights under which a rival draws level with the winner; beyond it, the rival is ahead.

    Attributes
    ----------
    rival, tied_with
        Who draws level, and the strategies with the same normalised metrics.
    share_moved
        Share of all weight that moves between metrics, in [0, 1]; times 100 it is percentage points.
    weights
        The weights after that move, by metric.
    distance
        Smallest Euclidean distance to weights at which the two are level; another point than `weights` in general.
    wins_from
        Smallest share of weight that must move until nobody at all is ahead of the rival; None if it wins nowhere.
    """

    rival: str
    tied_with: tuple[str, ...]
    share_moved: float
    weights: tuple[float, ...]
    distance: float
    wins_from: float | None


@dataclass(frozen=True)
class WeightSensitivity:
    """How far the chosen weights are from another winner.

    Attributes
    ----------
    metrics, weights
        The metrics weighed and the chosen weights, sum 1.
    winner, tied_with
        Who wins there, and whoever has the same normalised metrics; of several leaders the first that wins on a set of
        weights with volume.
    level_with
        Others with the same score there; if there are any, the nearest border is at distance 0.
    shifts
        One per rival that can overtake the winner, smallest share first.
    cannot
        Rivals that no weights bring ahead of the winner.
    """

    metrics: tuple[str, ...]
    weights: tuple[float, ...]
    winner: str
    tied_with: tuple[str, ...]
    level_with: tuple[str, ...]
    shifts: tuple[Shift, ...]
    cannot: tuple[str, ...]

    @property
    def nearest(self) -> Shift | None:
        """The smallest change of weights that changes the winner; None if no weights do."""
        return self.shifts[0] if self.shifts else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; weights and their changes by metric."""
        shifts = [self._plain(shift) for shift in self.shifts]
        return {
            "winner": self.winner,
            "tied_with": list(self.tied_with),
            "level_with": list(self.level_with),
            "nearest": shifts[0] if shifts else None,
            "shifts": shifts,
            "cannot": list(self.cannot),
        }

    def _plain(self, shift: Shift) -> dict[str, Any]:
        pairs = zip(shift.weights, self.weights, strict=True)
        return {
            "rival": shift.rival,
            "tied_with": list(shift.tied_with),
            "share_moved": shift.share_moved,
            "weights": dict(zip(self.metrics, shift.weights, strict=True)),
            "change": dict(zip(self.metrics, (new - old for new, old in pairs), strict=True)),
            "distance": shift.distance,
            "wins_from": shift.wins_from,
        }


def weight_sensitivity(scores: UndominatedScores, winning: Mapping[str, bool]) -> WeightSensitivity:
    """Return how far the chosen weights are from every rival's overtaking.

    Parameters
    ----------
    scores
        Candidates, metrics and chosen weights.
    winning
        First name of each place to whether it wins on a set of weights with volume. Of several leaders the first that
        does is the winner.
    """
    leaders = scores.leaders
    winner = next((place for place in leaders if winning[scores.places[place][0]]), leaders[0])
    shifts, cannot = [], []
    for rival, names in enumerate(scores.places):
        gain = scores.rows[rival] - scores.rows[winner]
        if rival == winner:
            continue
        if gain.max() <= EQUAL:
            cannot.append(names[0])
            continue
        moved = nearest_by_share(scores.weights, gain)
        wins_from = share_until_best(scores, rival) if winning[names[0]] else None
        distance = float(np.linalg.norm(nearest_by_distance(scores.weights, gain) - scores.weights))
        share = float(np.abs(moved - scores.weights).sum() / 2)
        shifts.append(Shift(names[0], names[1:], share, tuple(moved.tolist()), distance, wins_from))
    return WeightSensitivity(
        scores.metrics,
        tuple(scores.weights.tolist()),
        scores.places[winner][0],
        scores.places[winner][1:],
        tuple(scores.places[place][0] for place in leaders if place != winner),
        tuple(sorted(shifts, key=lambda shift: shift.share_moved)),
        tuple(cannot),
    )


def nearest_by_share(weights: Values, gain: Values) -> Values:
    """Return the weights with gain · w ≥ 0 that move the smallest share, shape (metric,).

    What is lacking after a step and differences between gains are rounding up to 1e-12, and a quotient of two roundings
    is no share; so nothing is taken for the one, and from the others.

    Parameters
    ----------
    weights
        Chosen weights, sum 1.
    gain
        c, with an entry above 1e-12.
    """
    nearest, to = weights.copy(), int(gain.argmax())
    level = EQUAL * float(np.abs(gain).max())
    for giver in np.argsort(gain, kind="stable"):
        lacking, closer = -float(gain @ nearest), float(gain[to] - gain[giver])
        if lacking <= level or closer <= EQUAL:
            break
        share = min(float(nearest[giver]), lacking / closer)
        nearest[giver] -= share
        nearest[to] += share
    return nearest


def nearest_by_distance(weights: Values, gain: Values) -> Values:
    """Return the weights with gain · w ≥ 0 at the smallest Euclidean distance; see `nearest_by_share`."""
    if gain @ weights >= -EQUAL * np.abs(gain).max():
        return weights.copy()
    low, high = 0.0, 1.0 / float(gain.max())
    while gain @ on_simplex(weights + high * gain) < 0:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if gain @ on_simplex(weights + middle * gain) < 0:
            low = middle
        else:
            high = middle
    return on_simplex(weights + high * gain)


def on_simplex(point: Values) -> Values:
    """Return the nearest weights of at least 0 that sum to 1 (Held, Wolfe and Crowder 1974), shape (metric,)."""
    ordered = np.sort(point)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(point) + 1)
    return np.asarray(np.maximum(point - excess[ordered > excess][-1], 0.0))


def share_until_best(scores: UndominatedScores, place: int) -> float | None:
    """Return the smallest share of weight that must move until nobody is ahead of a place; None if nothing helps."""
    from scipy.optimize import linprog

    ahead = np.delete(scores.rows, place, axis=0) - scores.rows[place]
    n_metrics = len(scores.metrics)
    # w = w⁰ + gained − given
    done = linprog(
        np.repeat([1.0, 0.0], n_metrics),
        A_ub=np.hstack([ahead, -ahead]),
        b_ub=-ahead @ scores.weights,
        A_eq=[np.repeat([1.0, -1.0], n_metrics)],
        b_eq=[0.0],
        bounds=[*[(0, None)] * n_metrics, *((0, weight) for weight in scores.weights.tolist())],
    )
    return max(0.0, float(done.fun)) if done.success else None


DRAWS_PER_RESAMPLE = 2_000  # standard error of a share in one resample at most 0.011


@dataclass(frozen=True)
class Survival:
    """One candidate over all resamples.

    Attributes
    ----------
    strategy
        Its name.
    share, low, high
        Mean share of all weights at which it wins, and percentile interval over resamples; strategies with equal
        scores share a weight vector.
    unranked
        Share of resamples in which a weighted metric is not defined for it, so that it wins nowhere.
    """

    strategy: str
    share: float
    low: float
    high: float
    unranked: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


@dataclass(frozen=True)
class SamplingError:
    """All candidates over all resamples, largest mean share first.

    Attributes
    ----------
    strategies
        One entry per candidate.
    resamples, draws, level
        Resamples of contexts, weight vectors drawn (the same for all resamples), coverage of the intervals.
    """

    strategies: tuple[Survival, ...]
    resamples: int
    draws: int
    level: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self)


def sampling_error(
    normalised: Values,
    strategies: Sequence[str],
    weights: Values,
    candidates: NDArray[np.bool_],
    *,
    level: float = 0.95,
) -> SamplingError:
    """Return how shares vary over resamples.

    Parameters
    ----------
    normalised
        Normalised anew in each resample, weighted metrics only, shape (resample, strategy, metric); NaN where a metric
        is not defined.
    strategies
        Names.
    weights
        Drawn weights, shape (draw, metric).
    candidates
        Who can win, shape (strategy,).
    level
        Coverage of the intervals.

    Raises
    ------
    InputError
        If there is no resample or nobody can win.
    """
    if not len(normalised) or not candidates.any():
        raise InputError("sampling error needs at least one resample and one candidate")
    rows, names = normalised[:, candidates], [strategies[s] for s in np.flatnonzero(candidates)]
    shares = np.stack([_shares(resample, weights) for resample in rows])
    limits = percentile_interval(shares, level)
    unranked = np.isnan(rows).any(axis=-1).mean(axis=0)
    survivals = [
        Survival(name, float(shares[:, s].mean()), float(limits.low[s]), float(limits.high[s]), float(unranked[s]))
        for s, name in enumerate(names)
    ]
    survivals.sort(key=lambda survival: -survival.share)
    return SamplingError(tuple(survivals), len(rows), len(weights), level)


def _shares(rows: Values, weights: Values) -> Values:
    """Return the share of weight vectors at which each row wins, equals sharing, shape (strategy,)."""
    ranked = ~np.isnan(rows).any(axis=1)
    shares = np.zeros(len(rows))
    if ranked.any():
        scores = rows[ranked] @ weights.T
        first = scores >= scores.max(axis=0) - EQUAL
        shares[ranked] = (first / first.sum(axis=0)).mean(axis=1)
    return shares
