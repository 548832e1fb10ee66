"""Logistic regression on margins without an intercept: the convex problem that linear preference learners share.

    minimise  Σ_r w_r [softplus(D_r) − p_r D_r] / Σ_r w_r + Σ_r v_r (D_r − m_r)² + ½ Σ_k ridge_k (θ_k − centre_k)²
    D_r = Σ_j s_rj θ_j · x_r + offset_r

With targets p = 1 the first part is the Bradley–Terry log-loss −log σ(D). Scales s let coefficients depend on who asks:
with s_r = (1, c) the reward is θ_0 + Σ_j c_j θ_j for a user with context c. The second part pulls margins towards given
ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.learners.solving.newton import Bend, ConvexProblem

CACHED = 1 << 17  # entries of x that stay in cache between two products: 1 MiB
SAMPLED = 20_000  # records are enough for a preconditioner
SAMPLED_DIAGONAL = 4_000  # and fewer for its diagonal


def log_loss(margins: Values, targets: Values | float = 1.0) -> Values:
    """Return softplus(D) − p D = −p log σ(D) − (1 − p) log σ(−D), without overflow, shape (record,)."""
    return np.asarray(np.logaddexp(0.0, margins) - targets * margins)


def sigmoid(margins: Values) -> Values:
    """Return σ(D) without overflow, shape as given."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -margins)))


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
        for name, (found, size) in given.items():
            if found is not None and np.shape(found) != (size,):
                raise InputError(f"{name} have shape {np.shape(found)}; allowed: ({size},)")
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
            found, moved = self._ridge * direction, np.empty(len(self.differences))
            for start in range(0, len(self.differences), rows):
                part = slice(start, start + rows)
                some, scales = self.differences[part], None if self.scales is None else self.scales[part]
                moved[part] = _spread(some, scales, direction)
                found = found + _gathered(some, scales, bent[part] * moved[part])
            return np.asarray(found), moved

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
