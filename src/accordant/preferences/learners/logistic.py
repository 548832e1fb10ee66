"""Logistic regression on margins without an intercept: the convex problem that linear preference learners share.

    minimise  Σ_r w_r [softplus(D_r) − p_r D_r] / Σ_r w_r + ½ Σ_k ridge_k (θ_k − centre_k)²,   D_r = θ · x_r + offset_r

With targets p = 1 this is the Bradley–Terry log-loss −log σ(D).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.preferences.learners.newton import ConvexProblem

Values = NDArray[np.float64]

CACHED = 1 << 17  # entries of x that stay in cache between two products: 1 MiB
SAMPLED = 20_000  # records are enough for a preconditioner


def log_loss(margins: Values, targets: Values | float = 1.0) -> Values:
    """Return softplus(D) − p D = −p log σ(D) − (1 − p) log σ(−D), without overflow, shape (record,)."""
    return np.asarray(np.logaddexp(0.0, margins) - targets * margins)


def sigmoid(margins: Values) -> Values:
    """Return σ(D) without overflow, shape as given."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -margins)))


@dataclass(frozen=True, eq=False)
class LogisticProblem(ConvexProblem):
    """The problem above.

    Attributes
    ----------
    differences
        x, shape (record, feature).
    targets
        p in [0, 1], shape (record,); None for 1.
    weights
        w of at least 0, shape (record,), not all 0; None for 1.
    offsets
        Added to margins, shape (record,); None for 0.
    ridge
        At least 0: one number, or one per feature.
    centre
        What coefficients are drawn towards by the ridge, shape (feature,); None for 0.
    """

    differences: Values
    targets: Values | None = None
    weights: Values | None = None
    offsets: Values | None = None
    ridge: float | Values = 0.0
    centre: Values | None = None

    def __post_init__(self) -> None:
        n_records, n_features = self.differences.shape
        sizes = {"targets": n_records, "weights": n_records, "offsets": n_records, "centre": n_features}
        for name, size in sizes.items():
            found = getattr(self, name)
            if found is not None and np.shape(found) != (size,):
                raise InputError(f"{name} have shape {np.shape(found)}; allowed: ({size},)")
        ridge = np.asarray(self.ridge, dtype=np.float64)
        if ridge.shape not in ((), (n_features,)) or not (np.isfinite(ridge) & (ridge >= 0)).all():
            raise InputError(f"ridge is {self.ridge}; allowed: a number of at least 0, or one per feature")
        if self.weights is not None and n_records and not np.sum(self.weights) > 0:
            raise InputError("weights are all 0; at least one record must count")

    @property
    def start(self) -> Values:
        """What the ridge draws towards."""
        return self._centre

    def predictions(self, coefficients: Values) -> Values:
        """Return margins D, shape (record,)."""
        margins = self.differences @ coefficients
        return np.asarray(margins if self.offsets is None else margins + self.offsets)

    def changes(self, direction: Values) -> Values:
        """Return how margins change, shape (record,)."""
        return np.asarray(self.differences @ direction)

    def value(self, coefficients: Values, predictions: Values) -> float:
        """Return the value of the problem."""
        away = coefficients - self._centre
        return float(self._shares @ log_loss(predictions, self._targets) + 0.5 * (self._ridge * away) @ away)

    def gradient(self, coefficients: Values, predictions: Values) -> Values:
        """Return the gradient, shape (feature,)."""
        residuals = self._shares * (sigmoid(predictions) - self._targets)
        return np.asarray(residuals @ self.differences + self._ridge * (coefficients - self._centre))

    def curvature(self, predictions: Values) -> Callable[[Values], Values]:
        """Return the product with Σ_r bent_r x_r x_rᵀ + ridge, which reads the data once."""
        likely = sigmoid(predictions)
        bent = self._shares * likely * (1.0 - likely)
        rows = max(1, CACHED // max(1, self.differences.shape[1]))

        def product(direction: Values) -> Values:
            """Return the second derivative times a direction."""
            found = self._ridge * direction
            for start in range(0, len(self.differences), rows):
                part = self.differences[start : start + rows]
                found = found + (bent[start : start + rows] * (part @ direction)) @ part
            return np.asarray(found)

        return product

    def curvature_matrix(self, predictions: Values) -> Values:
        """Return the second derivative, from evenly spaced records if there are many, shape (feature, feature)."""
        every = max(1, len(self.differences) // SAMPLED)
        some, likely = self.differences[::every], sigmoid(predictions[::every])
        matrix = (some * (self._shares[::every] * likely * (1.0 - likely) * every)[:, None]).T @ some
        matrix[np.diag_indices(len(matrix))] += self._ridge
        return np.asarray(matrix)

    @cached_property
    def _targets(self) -> Values | float:
        return 1.0 if self.targets is None else self.targets

    @cached_property
    def _shares(self) -> Values:
        """Weights divided by their sum, shape (record,)."""
        weights = np.ones(len(self.differences)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        return np.asarray(weights / max(weights.sum(), np.finfo(float).tiny))

    @cached_property
    def _ridge(self) -> Values:
        return np.broadcast_to(np.asarray(self.ridge, dtype=np.float64), self.differences.shape[1:])

    @cached_property
    def _centre(self) -> Values:
        return np.zeros(self.differences.shape[1]) if self.centre is None else self.centre
