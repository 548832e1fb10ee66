"""Logistic regression on margins without an intercept, and Newton's method for smooth convex problems like it.

`ConvexProblem` reads its coefficients through a linear map. Each step of Newton's method solves its linear system by
conjugate gradients (Nocedal and Wright 2006, chapter 7): a product with the data per iteration instead of a new matrix
per step. The diagonal of the curvature is the preconditioner; where it does not get far in a few products, the inverses
of blocks of the curvature, made once, take its place.

`LogisticProblem` is the convex problem that linear preference learners share:

    minimise  Σ_r w_r [softplus(D_r) − p_r D_r] / Σ_r w_r + Σ_r v_r (D_r − m_r)² + ½ Σ_k ridge_k (θ_k − centre_k)²
    D_r = Σ_j s_rj θ_j · x_r + offset_r

With targets p = 1 the first part is the Bradley–Terry log-loss −log σ(D). Scales s let coefficients depend on who asks:
with s_r = (1, c) the reward is θ_0 + Σ_j c_j θ_j for a user with context c. The second part pulls margins towards given
ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

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
CACHED = 1 << 17  # entries of x that stay in cache between two products: 1 MiB
SAMPLED = 20_000  # records are enough for a preconditioner
SAMPLED_DIAGONAL = 4_000  # and fewer for its diagonal


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
                way = _solved(bend, -gradient, self._by_diagonal(predictions), FEW_PRODUCTS, tolerance)
                if not way.near:
                    inverses = self._by_blocks(predictions)
            if inverses is not None:
                way = _solved(bend, -gradient, inverses, MOST_PRODUCTS, tolerance)
            theta, predictions, value, moved = self._along(theta, predictions, value, gradient, way)
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
            there = self.value(point, moved)
            if there <= value + SUFFICIENT * length * slope + ROUNDING * abs(value):
                return point, moved, there, True
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


def log_loss(margins: Values, targets: Values | float = 1.0) -> Values:
    """Return softplus(D) − p D = −p log σ(D) − (1 − p) log σ(−D), without overflow, shape (record,)."""
    return np.asarray(np.logaddexp(0.0, margins) - targets * margins)


def sigmoid(margins: Values) -> Values:
    """Return σ(D) without overflow, shape as given."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -margins)))


def right(margins: Values) -> Values:
    """Return 1 where a margin is above 0, ½ where it is 0, else 0, shape (record,)."""
    return np.asarray(np.where(margins > 0, 1.0, np.where(margins == 0, 0.5, 0.0)))


def log_softmax(scores: Values) -> Values:
    """Return scores less the logarithm of the sum of their exponentials over the last axis, shape as given."""
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Pull:
    """Margins that predictions are drawn towards.

    Attributes
    ----------
    margins
        m, shape (record,), finite.
    weights
        v of at least 0, shape (record,); not divided by their sum.
    """

    margins: Values
    weights: Values


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
        At least 0: one number, or one per coefficient.
    centre
        What coefficients are drawn towards by the ridge, shape (coefficient,); None for 0.
    scales
        s, shape (record, scale); None for a single 1. Coefficients are then the rows of a (scale, feature) table.
    pull
        Margins that predictions are drawn towards; None for none.
    """

    differences: Values
    targets: Values | None = None
    weights: Values | None = None
    offsets: Values | None = None
    ridge: float | Values = 0.0
    centre: Values | None = None
    scales: Values | None = None
    pull: Pull | None = None

    def __post_init__(self) -> None:
        n_records = len(self.differences)
        if self.scales is not None and (self.scales.ndim != 2 or len(self.scales) != n_records):
            raise InputError(f"scales have shape {self.scales.shape}; allowed: ({n_records}, scale)")
        sizes = {"targets": n_records, "weights": n_records, "offsets": n_records, "centre": self.n_coefficients}
        given = {name: (getattr(self, name), size) for name, size in sizes.items()}
        if self.pull is not None:
            given |= {f"pull.{name}": (getattr(self.pull, name), n_records) for name in ("margins", "weights")}
        for name, (vector, size) in given.items():
            if vector is not None and np.shape(vector) != (size,):
                raise InputError(f"{name} have shape {np.shape(vector)}; allowed: ({size},)")
        ridge = np.asarray(self.ridge, dtype=np.float64)
        if ridge.shape not in ((), (self.n_coefficients,)) or not (np.isfinite(ridge) & (ridge >= 0)).all():
            raise InputError(f"ridge is {self.ridge}; allowed: a number of at least 0, or one per coefficient")
        if self.weights is not None and n_records and not np.sum(self.weights) > 0:
            raise InputError("weights are all 0; at least one record must count")

    @property
    def n_coefficients(self) -> int:
        """Features times scales."""
        return int(self.differences.shape[1] * (1 if self.scales is None else self.scales.shape[1]))

    @property
    def start(self) -> Values:
        """What the ridge draws towards."""
        return self._centre

    def predictions(self, coefficients: Values) -> Values:
        """Return margins D, shape (record,)."""
        margins = self.changes(coefficients)
        return np.asarray(margins if self.offsets is None else margins + self.offsets)

    def changes(self, direction: Values) -> Values:
        """Return how margins change, shape (record,)."""
        return _spread(self.differences, self.scales, direction)

    def value(self, coefficients: Values, predictions: Values) -> float:
        """Return the value of the problem."""
        away = coefficients - self._centre
        value = float(self._shares @ log_loss(predictions, self._targets) + 0.5 * (self._ridge * away) @ away)
        if self.pull is not None:
            value += float(self.pull.weights @ (predictions - self.pull.margins) ** 2)
        return value

    def gradient(self, coefficients: Values, predictions: Values) -> Values:
        """Return the gradient, shape (coefficient,)."""
        residuals = self._shares * (sigmoid(predictions) - self._targets)
        if self.pull is not None:
            residuals += 2.0 * self.pull.weights * (predictions - self.pull.margins)
        return _gathered(self.differences, self.scales, residuals) + self._ridge * (coefficients - self._centre)

    def curvature(self, predictions: Values) -> Bend:
        """Return the product with the second derivative, which reads the data once."""
        bent = self._bent(predictions)
        rows = max(1, CACHED // max(1, self.differences.shape[1]))

        def product(direction: Values) -> tuple[Values, Values]:
            """Return the second derivative times a direction, and the change of margins."""
            image, moved = self._ridge * direction, np.empty(len(self.differences))
            for start in range(0, len(self.differences), rows):
                part = slice(start, start + rows)
                some, scales = self.differences[part], None if self.scales is None else self.scales[part]
                moved[part] = _spread(some, scales, direction)
                image = image + _gathered(some, scales, bent[part] * moved[part])
            return np.asarray(image), moved

        return product

    def curvature_blocks(self, predictions: Values) -> Values:
        """Return the second derivative of each scale, from evenly spaced records if there are many."""
        every = max(1, len(self.differences) // SAMPLED)
        some, bent = self.differences[::every], self._bent(predictions)[::every] * every
        scales = np.ones((len(some), 1)) if self.scales is None else self.scales[::every]
        blocks = np.stack([(some * (bent * scale**2)[:, None]).T @ some for scale in scales.T])
        n_features = some.shape[1]
        blocks[:, range(n_features), range(n_features)] += self._ridge.reshape(-1, n_features)
        return np.asarray(blocks)

    def curvature_diagonal(self, predictions: Values) -> Values:
        """Return the diagonal of the second derivative, from evenly spaced records, shape (coefficient,)."""
        every = max(1, len(self.differences) // SAMPLED_DIAGONAL)
        some, scales = self.differences[::every], None if self.scales is None else self.scales[::every] ** 2
        return _gathered(some**2, scales, self._bent(predictions)[::every] * every) + self._ridge

    def _bent(self, predictions: Values) -> Values:
        """Return the second derivative by margin, shape (record,)."""
        likely = sigmoid(predictions)
        bent = self._shares * likely * (1.0 - likely)
        return np.asarray(bent if self.pull is None else bent + 2.0 * self.pull.weights)

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
        return np.broadcast_to(np.asarray(self.ridge, dtype=np.float64), (self.n_coefficients,))

    @cached_property
    def _centre(self) -> Values:
        return np.zeros(self.n_coefficients) if self.centre is None else self.centre


def _spread(differences: Values, scales: Values | None, coefficients: Values) -> Values:
    """Return Σ_j s_rj θ_j · x_r, shape (record,)."""
    if scales is None:
        return np.asarray(differences @ coefficients)
    table = coefficients.reshape(scales.shape[1], differences.shape[1])
    return np.asarray(np.einsum("rj,rj->r", differences @ table.T, scales))


def _gathered(differences: Values, scales: Values | None, residuals: Values) -> Values:
    """Return Σ_r residual_r s_rj x_r, the transpose of `_spread`, shape (coefficient,)."""
    if scales is None:
        return np.asarray(residuals @ differences)
    return np.asarray((scales * residuals[:, None]).T @ differences).ravel()
