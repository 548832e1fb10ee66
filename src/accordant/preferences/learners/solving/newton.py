"""Newton's method for smooth convex problems that read their coefficients through a linear map.

Each step solves its linear system by conjugate gradients (Nocedal and Wright 2006, chapter 7): a product with the data
per iteration instead of a new matrix per step. The diagonal of the curvature is the preconditioner; where it does not
get far in a few products, the inverses of blocks of the curvature, made once, take its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError

Precondition = Callable[[Values], Values]
Bend = Callable[[Values], tuple[Values, Values]]

SMALL = 1e-12  # added to the preconditioner's diagonal, relative to its mean, where the curvature may be singular
MOST_STEPS, MOST_PRODUCTS, MOST_HALVINGS = 100, 200, 60  # of Newton's method, of one system, of one line search
FEW_PRODUCTS = 12  # cost about as much as the inverse for 384 features; features of equal size need fewer
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
    def value(self, coefficients: Values, predictions: Values) -> float:
        """Return the value, from coefficients and their predictions."""

    @abstractmethod
    def gradient(self, coefficients: Values, predictions: Values) -> Values:
        """Return the gradient, shape (feature,)."""

    @abstractmethod
    def curvature(self, predictions: Values) -> Bend:
        """Return the function from a direction to the second derivative times it, and to the change of predictions."""

    @abstractmethod
    def curvature_diagonal(self, predictions: Values) -> Values:
        """Return the diagonal of the second derivative, perhaps an approximation, shape (coefficient,).

        It speeds up the search alone, as do the blocks: the minimum does not depend on them.
        """

    @abstractmethod
    def curvature_blocks(self, predictions: Values) -> Values:
        """Return blocks on its diagonal, perhaps an approximation, shape (block, size, size)."""

    def solve(self, start: Values | None = None, *, tolerance: float = 1e-8, steps: int = MOST_STEPS) -> Solution:
        """Minimise.

        Parameters
        ----------
        start
            Coefficients to begin at, shape (feature,); None for `start`.
        tolerance
            Largest entry of the gradient at the end, above 0.
        steps
            Most Newton steps; each lowers the value.
        """
        if not tolerance > 0:
            raise InputError(f"tolerance is {tolerance}; allowed: above 0")
        theta = np.array(self.start if start is None else start, dtype=np.float64)
        predictions = self.predictions(theta)
        value, gradient = self.value(theta, predictions), self.gradient(theta, predictions)
        inverses: Precondition | None = None
        step = 0
        while np.abs(gradient).max(initial=0.0) > tolerance and step < steps:
            bend = self.curvature(predictions)
            if inverses is None:
                found = _solved(bend, -gradient, self._by_diagonal(predictions), FEW_PRODUCTS, tolerance)
                if not found.near:
                    inverses = self._by_blocks(predictions)
            if inverses is not None:
                found = _solved(bend, -gradient, inverses, MOST_PRODUCTS, tolerance)
            theta, predictions, value, moved = self._along(theta, predictions, value, gradient, found)
            gradient, step = self.gradient(theta, predictions), step + 1
            if not moved:
                break
        largest = float(np.abs(gradient).max(initial=0.0))
        return Solution(theta, value, largest, step, largest <= tolerance)

    def _by_diagonal(self, predictions: Values) -> Precondition:
        """Return the division by the diagonal of the curvature."""
        diagonal = self.curvature_diagonal(predictions)
        diagonal = diagonal + SMALL * max(float(diagonal.mean()), SMALL)
        return lambda residual: residual / diagonal

    def _by_blocks(self, predictions: Values) -> Precondition:
        """Return the product with the inverses of the blocks of the curvature."""
        blocks = self.curvature_blocks(predictions)
        size = blocks.shape[1]
        means = np.trace(blocks, axis1=1, axis2=2) / max(1, size)
        blocks[:, range(size), range(size)] += SMALL * np.maximum(means, SMALL)[:, None]
        inverses = np.linalg.inv(blocks)
        return lambda residual: (inverses @ residual.reshape(len(inverses), size, 1)).ravel()

    def _along(
        self, theta: Values, predictions: Values, value: float, gradient: Values, way: _Direction
    ) -> tuple[Values, Values, float, bool]:
        """Return the point along a direction that lowers the value enough; the old one if none does."""
        slope, length = float(gradient @ way.direction), 1.0
        for _ in range(MOST_HALVINGS):
            point, moved = theta + length * way.direction, predictions + length * way.change
            found = self.value(point, moved)
            if found <= value + SUFFICIENT * length * slope + ROUNDING * abs(value):
                return point, moved, found, True
            length /= 2
        return theta, predictions, value, False


@dataclass(frozen=True, eq=False)
class _Direction:
    """Where to go, how predictions change on the way, and whether it solves its linear system nearly enough."""

    direction: Values
    change: Values
    near: bool


def _solved(bend: Bend, wanted: Values, precondition: Precondition, most: int, tolerance: float) -> _Direction:
    """Return the solution of bend(x) = wanted by preconditioned conjugate gradients."""
    residual = wanted.copy()
    search = precondition(residual)
    product = float(residual @ search)
    # the nearer to the end, the more exact: quadratic convergence (Dembo, Eisenstat and Steihaug 1982)
    size = float(np.linalg.norm(wanted))
    enough = max(min(0.1, np.sqrt(size)) * size, tolerance / 2)
    solution, change = np.zeros_like(wanted), np.zeros(0)
    for count in range(most):
        bent, moved = bend(search)
        along = float(search @ bent)
        if along <= 0.0:
            return _Direction(solution, change, near=True) if count else _Direction(wanted, bend(wanted)[1], near=True)
        length = product / along
        solution += length * search
        change = change + length * moved if count else length * moved
        residual -= length * bent
        if np.linalg.norm(residual) <= enough:
            return _Direction(solution, change, near=True)
        preconditioned = precondition(residual)
        product, previous = float(residual @ preconditioned), product
        search = preconditioned + (product / previous) * search
    return _Direction(solution, change, near=False)
