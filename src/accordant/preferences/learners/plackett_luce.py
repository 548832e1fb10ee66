"""Plackett–Luce: a ranking is a sequence of choices from what is left (Luce 1959, Plackett 1975).

    −log P(i_1 ≻ i_2 ≻ … ≻ i_K) = Σ_{k<K} [log Σ_{j≥k} exp(r_j) − r_k],   r = θ · features

Rankings of two items give Bradley–Terry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import DataError, InputError
from accordant.preferences.checks import check_positive
from accordant.preferences.learners.learner import LinearReward
from accordant.preferences.learners.logistic import Bend, ConvexProblem
from accordant.preferences.records import NO_ITEM, Rankings


@dataclass(frozen=True, eq=False)
class RankingProblem(ConvexProblem):
    """The mean of the loss above over rankings, plus ½ ridge |θ|². Predictions are rewards of items.

    Attributes
    ----------
    rankings
        At least one.
    ridge
        At least 0.
    weights
        Of the rankings in the mean, at least 0, shape (record,), not all 0; None for 1.
    """

    rankings: Rankings
    ridge: float = 0.0
    weights: Values | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.ridge < np.inf:
            raise InputError(f"ridge is {self.ridge}; allowed: a number of at least 0")
        if self.weights is None:
            return
        if np.shape(self.weights) != (len(self.rankings),):
            raise InputError(f"weights have shape {np.shape(self.weights)}; allowed: ({len(self.rankings)},)")
        if not (np.isfinite(self.weights).all() and np.min(self.weights) >= 0 and np.sum(self.weights) > 0):
            raise InputError("weights must be finite and at least 0, and not all 0")

    @property
    def start(self) -> Values:
        """Zero."""
        return np.zeros(self.rankings.features.shape[1])

    def predictions(self, coefficients: Values) -> Values:
        """Return the reward of each item, shape (item,)."""
        return np.asarray(self.rankings.features @ coefficients)

    def changes(self, direction: Values) -> Values:
        """Return how rewards change, shape (item,)."""
        return self.predictions(direction)

    def value(self, coefficients: Values, predictions: Values) -> float:
        """Return the value of the problem."""
        return float(self._shares @ self.losses(predictions) + 0.5 * self.ridge * coefficients @ coefficients)

    def losses(self, predictions: Values) -> Values:
        """Return the loss of each ranking, shape (record,)."""
        ordered = self._placed(predictions)
        placed = np.where(self._chosen, self._log_left(ordered) - np.where(self._chosen, ordered, 0.0), 0.0)
        return np.asarray(placed.sum(axis=1))

    def gradient(self, coefficients: Values, predictions: Values) -> Values:
        """Return the gradient, shape (feature,)."""
        likely = self._likely(self._placed(predictions))
        pull = likely.sum(axis=1) - self._chosen
        return self._pulled(pull) + self.ridge * coefficients

    def curvature(self, predictions: Values) -> Bend:
        """Return the product with the second derivative."""
        likely = self._likely(self._placed(predictions))

        def product(direction: Values) -> tuple[Values, Values]:
            """Return the second derivative times a direction, and the change of rewards."""
            change = self.changes(direction)
            moved = np.where(self._present, change[self._order], 0.0)
            mean = np.einsum("rkj,rj->rk", likely, moved)
            bent = np.einsum("rkj,rj->rj", likely, moved) - np.einsum("rkj,rk->rj", likely, mean)
            return self._pulled(bent) + self.ridge * direction, change

        return product

    def curvature_diagonal(self, predictions: Values) -> Values:
        """Return the diagonal of the part of the second derivative that single items give, shape (feature,)."""
        return self._bent_by_item(predictions) @ self.rankings.features**2 + self.ridge

    def curvature_blocks(self, predictions: Values) -> Values:
        """Return the part of the second derivative that single items give, shape (1, feature, feature)."""
        features = self.rankings.features
        matrix = (features * self._bent_by_item(predictions)[:, None]).T @ features
        matrix[np.diag_indices(len(matrix))] += self.ridge
        return np.asarray(matrix[None])

    def _bent_by_item(self, predictions: Values) -> Values:
        """Return the second derivative by each item's reward alone, shape (item,)."""
        likely = self._likely(self._placed(predictions))
        return self._by_item((likely * (1.0 - likely)).sum(axis=1))

    @cached_property
    def _present(self) -> NDArray[np.bool_]:
        return np.asarray(self.rankings.order != NO_ITEM)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.where(self._present, self.rankings.order, 0)

    @cached_property
    def _chosen(self) -> NDArray[np.bool_]:
        """Places at which something was chosen: all but the last of each ranking, shape (record, place)."""
        return np.asarray(self._present & (np.arange(self._order.shape[1]) < self.rankings.lengths[:, None] - 1))

    def _placed(self, rewards: Values) -> Values:
        """Return rewards by place, −inf where there is no item, shape (record, place)."""
        return np.where(self._present, rewards[self._order], -np.inf)

    def _log_left(self, ordered: Values) -> Values:
        """Return log Σ_{j≥k} exp(r_j), shape (record, place)."""
        with np.errstate(invalid="ignore"):
            left = np.logaddexp.accumulate(ordered[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(left)

    def _likely(self, ordered: Values) -> Values:
        """Return the probability that place j is chosen at step k, 0 for j < k, shape (record, step, place)."""
        places = ordered.shape[1]
        left = np.where(self._chosen, self._log_left(ordered), 0.0)
        later = np.arange(places)[None, :] >= np.arange(places)[:, None]
        shown = self._chosen[:, :, None] & later & self._present[:, None, :]
        return np.asarray(np.exp(np.where(shown, ordered[:, None, :] - left[:, :, None], -np.inf)))

    def _pulled(self, pull: Values) -> Values:
        """Return the mean over records of Σ over places of pull × features, shape (feature,)."""
        return np.asarray(self._by_item(pull) @ self.rankings.features)

    def _by_item(self, placed: Values) -> Values:
        """Return the mean over records of what stands at places, from (record, place) to shape (item,)."""
        shared = placed * self._shares[:, None]
        rows = self._order[self._present]
        return np.asarray(
            np.bincount(rows, shared[self._present], minlength=len(self.rankings.features)), dtype=np.float64
        )

    @cached_property
    def _shares(self) -> Values:
        """Weights divided by their sum, shape (record,)."""
        weights = np.ones(len(self.rankings)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class PlackettLuce:
    """One linear reward for everybody, from rankings.

    Parameters
    ----------
    ridge
        Multiplies half the squared length of the coefficients, beside the mean loss; above 0.
    tolerance
        Largest entry of the gradient at the end.
    """

    control: ClassVar[bool] = True

    ridge: float = 1e-4
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        check_positive(ridge=self.ridge, tolerance=self.tolerance)

    def fit(self, rankings: Rankings) -> LinearReward:
        """Learn one linear reward; deterministic.

        Raises
        ------
        DataError
            If there is no ranking.
        """
        if len(rankings) == 0:
            raise DataError("there are no rankings to learn from")
        return LinearReward(RankingProblem(rankings, self.ridge).solve(tolerance=self.tolerance).coefficients)
