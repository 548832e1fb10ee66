"""Distributional preference learning: a mean and a spread of reward for every item (Siththaranjan et al. 2024).

    z = (μ_chosen − μ_rejected) / √(s_chosen² + s_rejected²),   loss = softplus(−√(2π) z) ≈ −log Φ(z)

with μ = θ · features and s = softplus(φ · features + φ₀). Users who want opposite things of an item give it a wide
spread instead of a mean in the middle. Re-implemented from the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.preferences.learners.learner import PreferenceLearner, RewardModel, checked_records, register
from accordant.preferences.learners.logistic import log_loss, sigmoid
from accordant.preferences.records import Comparisons

Values = NDArray[np.float64]

STEEPNESS = float(np.sqrt(2 * np.pi))  # makes the logistic curve as steep at 0 as the normal one
NARROWEST = 1e-6  # added to spreads


@dataclass(frozen=True, eq=False)
class DistributionalReward(RewardModel):
    """A normal distribution of rewards for every item.

    Attributes
    ----------
    mean
        θ, shape (feature,).
    spread, spread_at_zero
        φ, shape (feature,), and φ₀.
    """

    mean: Values
    spread: Values
    spread_at_zero: float

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the mean reward of each item, shape (item,)."""
        del user
        return np.asarray(features @ self.mean)

    def spreads(self, features: Values) -> Values:
        """Return the standard deviation of each item's reward, shape (item,)."""
        return np.asarray(np.logaddexp(0.0, features @ self.spread + self.spread_at_zero) + NARROWEST)

    def quantiles(self, features: Values, level: float) -> Values:
        """Return a quantile of each item's reward: what a careful choice maximises, shape (item,).

        Parameters
        ----------
        features
            Shape (item, feature).
        level
            Between 0 and 1; small ones are risk-averse.
        """
        from scipy.special import ndtri

        if not 0 < level < 1:
            raise InputError(f"level is {level}; allowed: between 0 and 1")
        return np.asarray(self.rewards(features) + ndtri(level) * self.spreads(features))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return √(2π) z, whose sigmoid is the probability of the choice, shape (record,)."""
        means, spreads = self.rewards(comparisons.features), self.spreads(comparisons.features)
        gaps = means[comparisons.chosen] - means[comparisons.rejected]
        widths = np.hypot(spreads[comparisons.chosen], spreads[comparisons.rejected])
        return np.asarray(STEEPNESS * gaps / widths)

    def explained(self, features: Values) -> float:
        """Return r² = Var(μ) / (Var(μ) + mean(s²)): how much of the reward is agreed upon; low means disagreement.

        Mean and spread are identified up to a common scale only, which r² does not depend on; NaN for one item.
        """
        variance = float(np.var(self.rewards(features)))
        total = variance + float(np.mean(self.spreads(features) ** 2))
        return variance / total if len(features) > 1 and total > 0 else float("nan")


@register("distributional")
@dataclass(frozen=True)
class Distributional(PreferenceLearner):
    """Minimise the mean loss plus ridges on θ and φ, from θ = 0 and spreads of 1, with exact gradients (L-BFGS).

    The problem is not convex: another start may end elsewhere.

    Parameters
    ----------
    ridge
        Multiplies half the squared length of θ and of φ, above 0; it also fixes the common scale of means and spreads.
    steps
        Most iterations, at least 1.
    tolerance
        Largest entry of the gradient at the end.
    """

    ridge: float = 1e-4
    steps: int = 2000
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        if not 0 < self.ridge < np.inf:
            raise InputError(f"ridge is {self.ridge}; allowed: above 0")
        if self.steps < 1:
            raise InputError(f"steps is {self.steps}; allowed: at least 1")

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> DistributionalReward:
        """Learn means and spreads; deterministic."""
        from scipy.optimize import minimize

        del generator
        checked_records(comparisons)
        n_features = comparisons.features.shape[1]
        start = np.zeros(2 * n_features + 1)
        start[-1] = np.log(np.expm1(1.0))
        found = minimize(
            loss_and_gradient, start, (comparisons, self.ridge), "L-BFGS-B", jac=True,
            options={"maxiter": self.steps, "gtol": self.tolerance, "ftol": 0.0, "maxfun": 4 * self.steps},
        )  # fmt: skip
        return DistributionalReward(found.x[:n_features], found.x[n_features:-1], float(found.x[-1]))


def loss_and_gradient(parameters: Values, comparisons: Comparisons, ridge: float) -> tuple[float, Values]:
    """Return the value of the problem and its gradient at (θ, φ, φ₀), shape (2 features + 1,)."""
    features, n_features = comparisons.features, comparisons.features.shape[1]
    theta, phi = parameters[:n_features], parameters[n_features:-1]
    weights = comparisons.record_weights / comparisons.record_weights.sum()
    raw = features @ phi + parameters[-1]
    means, spreads = features @ theta, np.logaddexp(0.0, raw) + NARROWEST
    chosen, rejected = comparisons.chosen, comparisons.rejected
    gaps, widths = means[chosen] - means[rejected], np.hypot(spreads[chosen], spreads[rejected])
    margins = STEEPNESS * gaps / widths
    slopes = weights * (sigmoid(margins) - 1.0)
    by_mean, by_width = slopes * STEEPNESS / widths, -slopes * margins / widths
    n_items = len(features)
    of_means = np.bincount(chosen, by_mean, n_items) - np.bincount(rejected, by_mean, n_items)
    of_spreads = np.bincount(chosen, by_width * spreads[chosen] / widths, n_items)
    of_spreads += np.bincount(rejected, by_width * spreads[rejected] / widths, n_items)
    of_raw = of_spreads * sigmoid(raw)
    value = float(weights @ log_loss(margins)) + 0.5 * ridge * float(theta @ theta + phi @ phi)
    gradient = np.concatenate([of_means @ features + ridge * theta, of_raw @ features + ridge * phi, [of_raw.sum()]])
    return value, gradient
