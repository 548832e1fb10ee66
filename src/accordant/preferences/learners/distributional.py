"""Distributional preference learning: a mean and a spread of reward for every item (Siththaranjan et al. 2024).

    z = (μ_chosen − μ_rejected) / √(s_chosen² + s_rejected²),   loss = softplus(−√(2π) z)

with μ = θ · features and s = softplus(φ · features + φ₀). Users who want opposite things of an item give it a wide
spread instead of a mean in the middle. Re-implemented from the formulas.

The loss stands for −log Φ(z), which normal rewards would give, and is steeper: σ(√(2π) z) has the slope .627 at 0 and
Φ(z) the slope .399. Both are equally steep at 0 with √(8/π) for √(2π), so that s comes out about π/2 times the standard
deviation of the reward. The published constant stays; `deviations`, `quantiles` and `explained` divide by π/2. [ours]

Choices do not show the common scale of μ and s. By default φ₀ is held where s = 1, so that a ridge on θ bounds what is
known rather than the scale, and the problem is well conditioned. [ours]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.checks import check_positive, check_whole
from accordant.preferences.learners.learner import (
    PreferenceLearner,
    RewardModel,
    checked_features,
    checked_records,
    register,
)
from accordant.preferences.learners.logistic import log_loss, sigmoid
from accordant.preferences.records import Comparisons

Scale = Literal["fixed", "free"]

STEEPNESS = float(np.sqrt(2 * np.pi))  # as published; steeper at 0 than the normal curve
TOO_WIDE = float(
    np.pi / 2
)  # √(2π) / √(8/π), the constant of the logistic curve that is as steep at 0 as the normal one
NARROWEST = 1e-6  # added to spreads
AT_ONE = float(np.log(np.expm1(1.0)))  # φ₀ at which s = 1


@dataclass(frozen=True, eq=False)
class DistributionalReward(RewardModel):
    """A normal distribution of rewards for every item.

    Means and spreads have a common scale that choices do not show, see `Distributional`; margins do not depend on it.

    Attributes
    ----------
    mean
        θ, shape (feature,).
    spread, spread_at_zero
        φ, shape (feature,), and φ₀.
    converged
        Whether the largest entry of the gradient is at most the tolerance.
    warnings
        Sentences that a reader of the result must see.
    """

    mean: Values
    spread: Values
    spread_at_zero: float
    converged: bool = True
    warnings: tuple[str, ...] = ()

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the mean reward of each item, shape (item,)."""
        del user
        return np.asarray(checked_features(features, len(self.mean)) @ self.mean)

    def spreads(self, features: Values) -> Values:
        """Return s of each item, about π/2 times the standard deviation of its reward, shape (item,)."""
        raw = checked_features(features, len(self.mean)) @ self.spread + self.spread_at_zero
        return np.asarray(np.logaddexp(0.0, raw) + NARROWEST)

    def deviations(self, features: Values) -> Values:
        """Return the standard deviation of each item's reward, s / (π/2), shape (item,)."""
        return np.asarray(self.spreads(features) / TOO_WIDE)

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
        return np.asarray(self.rewards(features) + ndtri(level) * self.deviations(features))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return √(2π) z, whose sigmoid is the probability of the choice, shape (record,)."""
        means, spreads = self.rewards(comparisons.features), self.spreads(comparisons.features)
        gaps = means[comparisons.chosen] - means[comparisons.rejected]
        widths = np.hypot(spreads[comparisons.chosen], spreads[comparisons.rejected])
        return np.asarray(STEEPNESS * gaps / widths)

    def explained(self, features: Values) -> float:
        """Return r², see `explained_share`, of means and standard deviations: low values may mean disagreement.

        It does not depend on the common scale of means and deviations. To be compared at one ridge only, one set of
        records against another: where users disagree, records tell the order of rewards and little of their distances,
        so that a smaller ridge gives a smaller r². Noise of the choices widens spreads as disagreement does.
        """
        return explained_share(self.rewards(features), self.deviations(features))


def explained_share(means: Values, deviations: Values) -> float:
    """Return r² = Var(μ) / (Var(μ) + mean(s²)), the share of rewards' variance that is agreed upon; NaN for one item.

    Parameters
    ----------
    means, deviations
        Mean and standard deviation of each item's reward, shape (item,) each.

    Raises
    ------
    InputError
        If the shapes differ.
    """
    if np.ndim(means) != 1 or np.shape(means) != np.shape(deviations):
        raise InputError(
            f"means have shape {np.shape(means)}, deviations {np.shape(deviations)}; allowed: (item,) each"
        )
    if len(means) < 2:
        return float("nan")
    variance, within = float(np.var(means)), float(np.mean(np.square(deviations)))
    return variance / (variance + within) if variance + within > 0 else float("nan")


@register("distributional")
@dataclass(frozen=True)
class Distributional(PreferenceLearner):
    """Minimise the mean loss plus ridges on θ and φ, from θ = 0 and s = 1, with exact gradients (L-BFGS).

    The problem is not convex: another start may end elsewhere.

    Parameters
    ----------
    ridge
        Multiplies half the squared length of θ and of φ, above 0.
    scale
        ``"fixed"``: an item whose features are 0 has s = 1. ``"free"``: φ₀ is learned, and the ridge alone keeps the
        common scale of means and spreads from falling, so that the search is long and may end unfinished.
    steps
        Most iterations, at least 1.
    tolerance
        Largest entry of the gradient at the end, above 0; the model warns if it is larger.
    """

    ridge: float = 1e-4
    scale: Scale = "fixed"
    steps: int = 2000
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        check_positive(ridge=self.ridge, tolerance=self.tolerance)
        check_whole(steps=self.steps)
        if self.scale not in get_args(Scale):
            raise UnknownNameError("scale", self.scale, get_args(Scale))

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> DistributionalReward:
        """Learn means and spreads; deterministic."""
        from scipy.optimize import minimize

        del generator
        checked_records(comparisons)
        n_features = comparisons.features.shape[1]
        start = np.append(np.zeros(2 * n_features), AT_ONE)
        at_zero = (AT_ONE, AT_ONE) if self.scale == "fixed" else (None, None)
        solution = minimize(
            loss_and_gradient, start, (comparisons, self.ridge), "L-BFGS-B", jac=True,
            bounds=[(None, None)] * (2 * n_features) + [at_zero],
            options={"maxiter": self.steps, "gtol": self.tolerance, "ftol": 0.0, "maxfun": 4 * self.steps},
        )  # fmt: skip
        free = slice(None, -1 if self.scale == "fixed" else None)
        largest = float(np.abs(solution.jac[free]).max(initial=0.0))
        warnings: tuple[str, ...] = ()
        if largest > self.tolerance:
            said = f"after {solution.nit} iterations the gradient is {largest:.2g}; allowed: {self.tolerance:g}; "
            warnings = (said + "means and spreads are unfinished",)
        return DistributionalReward(
            solution.x[:n_features], solution.x[n_features:-1], float(solution.x[-1]), not warnings, warnings
        )


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
