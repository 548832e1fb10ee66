"""Newton's method for smooth convex problems that read their coefficients through a linear map.

Each step solves its linear system by conjugate gradients, preconditioned by the curvature at the start (Nocedal and
Wright 2006, chapter 7): a product with the data per iteration instead of a new matrix per step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError

Values = NDArray[np.float64]

SMALL = 1e-12  # added to the preconditioner's diagonal, relative to its mean, where the curvature may be singular
MOST_STEPS, MOST_PRODUCTS, MOST_HALVINGS = 100, 200, 60  # of Newton's method, of one system, of one line search
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)
ROUNDING = 1e-15  # relative rise of the value that rounding explains


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


class ConvexProblem(ABC):
    """A convex function of θ that depends on θ through predictions L θ + offset, and a ridge."""

    @property
    @abstractmethod
    def start(self) -> Values:
        """Where to begin if nobody says otherwise, shape (feature,)."""

    @abstractmethod
    def predictions(self, coefficients: Values) -> Values:
        """Return L θ + offset."""

    @abstractmethod
    def changes(self, direction: Values) -> Values:
        """Return L times a direction."""

    @abstractmethod
    def value(self, coefficients: Values, predictions: Values) -> float:
        """Return the value, from coefficients and their predictions."""

    @abstractmethod
    def gradient(self, coefficients: Values, predictions: Values) -> Values:
        """Return the gradient, shape (feature,)."""

    @abstractmethod
    def curvature(self, predictions: Values) -> Callable[[Values], Values]:
        """Return the function from a direction to the second derivative times it, both of shape (feature,)."""

    @abstractmethod
    def curvature_matrix(self, predictions: Values) -> Values:
        """Return the second derivative, perhaps from some of the data only, shape (feature, feature)."""

    def solve(self, start: Values | None = None, *, tolerance: float = 1e-8) -> Solution:
        """Minimise.

        Parameters
        ----------
        start
            Coefficients to begin at, shape (feature,); None for `start`.
        tolerance
            Largest entry of the gradient at the end, above 0.
        """
        if not tolerance > 0:
            raise InputError(f"tolerance is {tolerance}; allowed: above 0")
        theta = np.array(self.start if start is None else start, dtype=np.float64)
        predictions = self.predictions(theta)
        value, gradient = self.value(theta, predictions), self.gradient(theta, predictions)
        factor, step = None, 0
        while np.abs(gradient).max(initial=0.0) > tolerance and step < MOST_STEPS:
            factor = self._factor(predictions) if factor is None else factor
            direction = _newton_direction(self.curvature(predictions), gradient, factor)
            theta, predictions, value, moved = self._along(theta, predictions, value, gradient, direction)
            gradient, step = self.gradient(theta, predictions), step + 1
            if not moved:
                break
        largest = float(np.abs(gradient).max(initial=0.0))
        return Solution(theta, value, largest, step, largest <= tolerance)

    def _factor(self, predictions: Values) -> tuple[Values, bool]:
        """Return the Cholesky factor of the curvature."""
        from scipy.linalg import cho_factor

        matrix = self.curvature_matrix(predictions)
        matrix[np.diag_indices(len(matrix))] += SMALL * max(np.trace(matrix) / max(1, len(matrix)), SMALL)
        factor: tuple[Values, bool] = cho_factor(matrix, check_finite=False)
        return factor

    def _along(
        self, theta: Values, predictions: Values, value: float, gradient: Values, direction: Values
    ) -> tuple[Values, Values, float, bool]:
        """Return the point along a direction that lowers the value enough; the old one if none does."""
        slope, change, length = float(gradient @ direction), self.changes(direction), 1.0
        for _ in range(MOST_HALVINGS):
            point, moved = theta + length * direction, predictions + length * change
            found = self.value(point, moved)
            if found <= value + SUFFICIENT * length * slope + ROUNDING * abs(value):
                return point, moved, found, True
            length /= 2
        return theta, predictions, value, False


def _newton_direction(bend: Callable[[Values], Values], gradient: Values, factor: tuple[Values, bool]) -> Values:
    """Return where Newton's method goes, by preconditioned conjugate gradients."""
    from scipy.linalg import cho_solve

    direction, residual = np.zeros_like(gradient), -gradient
    preconditioned = cho_solve(factor, residual, check_finite=False)
    search, product = preconditioned.copy(), float(residual @ preconditioned)
    # the nearer to the end, the more exact: quadratic convergence (Dembo, Eisenstat and Steihaug 1982)
    size = float(np.linalg.norm(gradient))
    enough = min(0.1, np.sqrt(size)) * size
    for _ in range(MOST_PRODUCTS):
        bent = bend(search)
        along = float(search @ bent)
        if along <= 0.0:
            break
        length = product / along
        direction += length * search
        residual -= length * bent
        if np.linalg.norm(residual) <= enough:
            break
        preconditioned = cho_solve(factor, residual, check_finite=False)
        product, previous = float(residual @ preconditioned), product
        search = preconditioned + (product / previous) * search
    return direction if direction.any() else -gradient
