"""Logistic regression on margins without an intercept: the convex problem that linear preference learners share.

    minimise  Σ_r w_r [softplus(D_r) − p_r D_r] / Σ_r w_r + ½ Σ_k ridge_k θ_k²,   D_r = θ · x_r + offset_r

With targets p = 1 this is the Bradley–Terry log-loss −log σ(D). Solved by Newton's method; each step solves its linear
system by conjugate gradients, preconditioned by the curvature at the start (Nocedal and Wright 2006, chapter 7), which
takes one product with the data per iteration instead of a new matrix per step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError

Values = NDArray[np.float64]

SMALL = 1e-12  # added to the preconditioner's diagonal, relative to its mean, where the ridge is 0
CACHED = 1 << 17  # entries of x that stay in cache between two products: 1 MiB
SAMPLED = 20_000  # records are enough for a preconditioner
MOST_STEPS, MOST_PRODUCTS = 100, 200  # of Newton's method, and of conjugate gradients within one step
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients and how good they are.

    Attributes
    ----------
    coefficients
        θ, shape (feature,).
    loss
        Value of the problem.
    gradient
        Largest entry of the gradient, in absolute value.
    steps
        Newton steps.
    converged
        Whether the gradient is at most the tolerance.
    """

    coefficients: Values
    loss: float
    gradient: float
    steps: int
    converged: bool


def log_loss(margins: Values, targets: Values | float = 1.0) -> Values:
    """Return softplus(D) − p D = −p log σ(D) − (1 − p) log σ(−D), without overflow, shape (record,)."""
    return np.asarray(np.logaddexp(0.0, margins) - targets * margins)


def sigmoid(margins: Values) -> Values:
    """Return σ(D) without overflow, shape as given."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -margins)))


@dataclass(frozen=True, eq=False)
class LogisticProblem:
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
        for name, size in (
            ("targets", n_records),
            ("weights", n_records),
            ("offsets", n_records),
            ("centre", n_features),
        ):
            found = getattr(self, name)
            if found is not None and np.shape(found) != (size,):
                raise InputError(f"{name} have shape {np.shape(found)}; allowed: ({size},)")
        ridge = np.asarray(self.ridge, dtype=np.float64)
        if ridge.shape not in ((), (n_features,)) or not (np.isfinite(ridge) & (ridge >= 0)).all():
            raise InputError(f"ridge is {self.ridge}; allowed: a number of at least 0, or one per feature")
        if self.weights is not None and n_records and not np.sum(self.weights) > 0:
            raise InputError("weights are all 0; at least one record must count")

    @cached_property
    def _shares(self) -> Values:
        """Weights divided by their sum, shape (record,)."""
        weights = np.ones(len(self.differences)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        return np.asarray(weights / max(weights.sum(), np.finfo(float).tiny))

    @cached_property
    def _ridge(self) -> Values:
        """One ridge per feature."""
        return np.broadcast_to(np.asarray(self.ridge, dtype=np.float64), self.differences.shape[1:])

    @cached_property
    def _centre(self) -> Values:
        """What the ridge draws towards, shape (feature,)."""
        return np.zeros(self.differences.shape[1]) if self.centre is None else self.centre

    def margins(self, coefficients: Values) -> Values:
        """Return D, shape (record,)."""
        margins = self.differences @ coefficients
        return np.asarray(margins if self.offsets is None else margins + self.offsets)

    def value(self, coefficients: Values, margins: Values) -> float:
        """Return the value of the problem, from coefficients and their margins."""
        targets = 1.0 if self.targets is None else self.targets
        away = coefficients - self._centre
        return float(self._shares @ log_loss(margins, targets) + 0.5 * (self._ridge * away) @ away)

    def gradient(self, coefficients: Values, margins: Values) -> Values:
        """Return the gradient, shape (feature,)."""
        targets = 1.0 if self.targets is None else self.targets
        residuals = self._shares * (sigmoid(margins) - targets)
        return np.asarray(residuals @ self.differences + self._ridge * (coefficients - self._centre))

    def curvature(self, margins: Values, direction: Values) -> Values:
        """Return the second derivative times a direction, shape (feature,)."""
        likely = sigmoid(margins)
        return self._bent(self._shares * likely * (1.0 - likely), direction)

    def _bent(self, bent: Values, direction: Values) -> Values:
        """Return Σ_r bent_r x_r (x_r · direction) + ridge ∘ direction, in one reading of the data, shape (feature,)."""
        found = self._ridge * direction
        rows = max(1, CACHED // max(1, self.differences.shape[1]))
        for start in range(0, len(self.differences), rows):
            part = self.differences[start : start + rows]
            found = found + (bent[start : start + rows] * (part @ direction)) @ part
        return np.asarray(found)

    def solve(self, start: Values | None = None, *, tolerance: float = 1e-8) -> Solution:
        """Minimise.

        Parameters
        ----------
        start
            Coefficients to begin at, shape (feature,); None for those the ridge draws towards.
        tolerance
            Largest entry of the gradient at the end, above 0.
        """
        if not tolerance > 0:
            raise InputError(f"tolerance is {tolerance}; allowed: above 0")
        theta = np.array(self._centre if start is None else start, dtype=np.float64)
        margins = self.margins(theta)
        value, gradient = self.value(theta, margins), self.gradient(theta, margins)
        factor, step = self._preconditioner(margins), 0
        while np.abs(gradient).max(initial=0.0) > tolerance and step < MOST_STEPS:
            direction = self._newton_direction(margins, gradient, factor)
            theta, margins, value, moved = self._along(theta, margins, value, gradient, direction)
            gradient, step = self.gradient(theta, margins), step + 1
            if not moved:
                break
        largest = float(np.abs(gradient).max(initial=0.0))
        return Solution(theta, value, largest, step, largest <= tolerance)

    def _preconditioner(self, margins: Values) -> tuple[Values, bool]:
        """Return the Cholesky factor of the curvature at the start, from some of the records."""
        from scipy.linalg import cho_factor

        n_records, n_features = self.differences.shape
        every = max(1, n_records // SAMPLED)
        likely = sigmoid(margins[::every])
        bent = self._shares[::every] * likely * (1.0 - likely) * every
        matrix = (self.differences[::every] * bent[:, None]).T @ self.differences[::every]
        matrix[np.diag_indices(n_features)] += self._ridge + SMALL * max(np.trace(matrix) / max(1, n_features), SMALL)
        factor: tuple[Values, bool] = cho_factor(matrix, check_finite=False)
        return factor

    def _newton_direction(self, margins: Values, gradient: Values, factor: tuple[Values, bool]) -> Values:
        """Return where Newton's method goes, by preconditioned conjugate gradients."""
        from scipy.linalg import cho_solve

        likely = sigmoid(margins)
        bent = self._shares * likely * (1.0 - likely)
        direction, residual = np.zeros_like(gradient), -gradient
        preconditioned = cho_solve(factor, residual, check_finite=False)
        search, product = preconditioned.copy(), float(residual @ preconditioned)
        # the nearer to the end, the more exact: quadratic convergence (Dembo, Eisenstat and Steihaug 1982)
        size = float(np.linalg.norm(gradient))
        enough = min(0.1, np.sqrt(size)) * size
        for _ in range(MOST_PRODUCTS):
            bent_search = self._bent(bent, search)
            along = float(search @ bent_search)
            if along <= 0.0:
                break
            length = product / along
            direction += length * search
            residual -= length * bent_search
            if np.linalg.norm(residual) <= enough:
                break
            preconditioned = cho_solve(factor, residual, check_finite=False)
            product, previous = float(residual @ preconditioned), product
            search = preconditioned + (product / previous) * search
        return direction if direction.any() else -gradient

    def _along(
        self, theta: Values, margins: Values, value: float, gradient: Values, direction: Values
    ) -> tuple[Values, Values, float, bool]:
        """Return the point along a direction that lowers the value enough; the old one if none does."""
        slope, change, length = float(gradient @ direction), self.differences @ direction, 1.0
        for _ in range(60):
            point, moved = theta + length * direction, margins + length * change
            found = self.value(point, moved)
            if found <= value + SUFFICIENT * length * slope + 1e-15 * abs(value):
                return point, moved, found, True
            length /= 2
        return theta, margins, value, False
