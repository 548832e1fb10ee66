"""Scoring forms: differentiable scores of actions, with their slopes, ranges and bounds on both.

A form scores each action from its own column of E, so ∂Φ_b/∂E[i, a, t] = 0 for b ≠ a. For a direction Δ of the
coalition, |Δ| ≤ 1, write u_a = Σ_i ∂Φ_a/∂E[i, a] Δ[i, a] and q_a = Σ_ij ∂²Φ_a/∂E[i, a]∂E[j, a] Δ[i, a] Δ[j, a].
`growth` bounds |u_a| by U, and gives the length Q of an interval that contains 0 and all q_a. The rows of the table
are proved in docs/methods/paper-certificates.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.certificates.schema.perturbations import PerturbationSet, Region

SMALLEST_GAIN = 1e-9  # gains that may fall to this leave a logarithm without useful bounds


@dataclass(frozen=True, eq=False)
class Growth:
    """Bounds on first and second derivatives of a score along directions of the coalition.

    Attributes
    ----------
    slope
        U, the largest |u_a| over actions, directions and the region, shape (context,).
    bend
        Q, the length of an interval that contains 0 and every q_a, shape (context,).
    """

    slope: Values
    bend: Values


@dataclass(frozen=True, eq=False)
class Extremes:
    """Exact lowest and highest score of each action over a box, both of shape (action, context)."""

    lowest: Values
    highest: Values


@dataclass(frozen=True, eq=False)
class ScoringForm(ABC):
    """A differentiable score Φ of actions.

    Class attributes
    ----------------
    substitute
        Whether it may decide otherwise than the strategy it comes from.

    Parameters
    ----------
    name
        How results call it.
    weights
        Shape (stakeholder,), at least 0; a stakeholder with weight 0 does not count.
    """

    substitute: ClassVar[bool] = False

    name: str
    weights: Values

    @property
    def has_weight(self) -> Mask:
        """Who counts, shape (stakeholder,)."""
        return np.asarray(self.weights > 0)

    @abstractmethod
    def scores(self, values: Values) -> Values:
        """Return Φ, shape (action, context), of values of shape (stakeholder, action, context)."""

    @abstractmethod
    def slopes(self, values: Values) -> Values:
        """Return ∂Φ_a/∂E[i, a, t], shape (stakeholder, action, context)."""

    @abstractmethod
    def growth(self, perturbations: PerturbationSet, region: Region) -> Growth:
        """Return U and Q over the whole tube, or over the perturbation set only."""

    def extremes(self, low: Values, high: Values) -> Extremes:
        """Return the exact range of each score over a box; here for scores that never fall when a reward rises."""
        return Extremes(self.scores(low), self.scores(high))

    def defined(self, low: Values) -> Mask:
        """Return in which contexts the score is smooth on every box with these lower ends, shape (context,)."""
        return np.ones(low.shape[2], dtype=bool)

    def _speaking(self, members: Codes) -> Codes:
        """Return the members who count."""
        return members[self.has_weight[members]]


@dataclass(frozen=True, eq=False)
class WeightedSum(ScoringForm):
    """Σ_i w_i e_i: the utilitarian rule (Harsanyi 1955). U = W_V = Σ_{i∈V} w_i, Q = 0."""

    def scores(self, values: Values) -> Values:
        """Return weighted sums."""
        return np.asarray(np.tensordot(self.weights, values, axes=1))

    def slopes(self, values: Values) -> Values:
        """Return the weights."""
        return np.asarray(np.broadcast_to(self.weights[:, None, None], values.shape))

    def growth(self, perturbations: PerturbationSet, region: Region) -> Growth:
        """Return W_V and 0, whatever the region."""
        del region
        n_contexts = perturbations.centre.shape[2]
        return Growth(np.full(n_contexts, self.weights[perturbations.members].sum()), np.zeros(n_contexts))


@dataclass(frozen=True, eq=False)
class LogProduct(ScoringForm):
    """Σ_i w_i log(e_i − d_i): proportional fairness (Kelly 1998) with d = 0, or Nash bargaining (Nash 1950).

    U = W_V / μ and Q = W_V / μ² on the tube for d = 0. With a disagreement point, μ_d stands for μ: the smallest gain
    of a member over the perturbation set, in each context.

    Parameters
    ----------
    disagreement
        Fixed d, shape (stakeholder,); None for 0.
    """

    disagreement: Values | None = None

    def gains(self, values: Values) -> Values:
        """Return e − d of those who count; 1 where there is none, in contexts that are not `defined`."""
        gains = values if self.disagreement is None else values - self.disagreement[:, None, None]
        return np.asarray(np.where(self.has_weight[:, None, None] & (gains > 0), gains, 1.0))

    def scores(self, values: Values) -> Values:
        """Return weighted sums of logarithms."""
        return np.asarray(np.tensordot(self.weights, np.log(self.gains(values)), axes=1))

    def slopes(self, values: Values) -> Values:
        """Return w_i / (e_i − d_i)."""
        return np.asarray(self.weights[:, None, None] / self.gains(values))

    def defined(self, low: Values) -> Mask:
        """Return where everybody who counts keeps a gain at every action."""
        if self.disagreement is None:
            return super().defined(low)
        gains = (low - self.disagreement[:, None, None])[self.has_weight]
        return np.asarray((gains > SMALLEST_GAIN).all(axis=(0, 1)))

    def growth(self, perturbations: PerturbationSet, region: Region) -> Growth:
        """Return the largest Σ_{i∈V} w_i / gain_i and Σ_{i∈V} w_i / gain_i² over actions."""
        members = self._speaking(perturbations.members)
        start = perturbations.low if self.disagreement is not None else perturbations.extent(region)[0]
        gains = self.gains(start)[members]
        if self.disagreement is not None and region == "tube":
            gains = np.broadcast_to(gains.min(axis=(0, 1), initial=np.inf), gains.shape)
        weights = self.weights[members]
        slope = np.tensordot(weights, 1 / gains, axes=1).max(axis=0)
        bend = np.tensordot(weights, 1 / gains**2, axes=1).max(axis=0)
        return _per_context(slope, bend, perturbations)


@dataclass(frozen=True, eq=False)
class Product(ScoringForm):
    """∏_i e_i: Nash social welfare without the logarithm (Kaneko and Nakamura 1979); weights are 1 or 0.

    On the tube U = v (1 − μ)^(n − 1) and Q = 2 v (v − 1) (1 − μ)^(n − 2), for v members among n who count.
    """

    def _factors(self, values: Values) -> Values:
        return np.where(self.has_weight[:, None, None], values, 1.0)

    def scores(self, values: Values) -> Values:
        """Return products."""
        return np.asarray(self._factors(values).prod(axis=0))

    def slopes(self, values: Values) -> Values:
        """Return the products of the others' rewards; rewards are above 0 in the tube."""
        return np.asarray(self.has_weight[:, None, None] * self.scores(values) / self._factors(values))

    def growth(self, perturbations: PerturbationSet, region: Region) -> Growth:
        """Return the largest Σ_{i∈V} ∏_{j≠i} e_j and 2 Σ_{i≠j∈V} ∏_{l≠i,j} e_l over actions."""
        high = perturbations.extent(region)[1]
        members = self._speaking(perturbations.members)
        product, inverse = self.scores(high), 1 / high[members]
        single, pairs = inverse.sum(axis=0), inverse.sum(axis=0) ** 2 - (inverse**2).sum(axis=0)
        bend = 2 * np.maximum(pairs, 0.0) * product  # rounding may leave a lone member less than no pairs
        return _per_context((product * single).max(axis=0), bend.max(axis=0), perturbations)


@dataclass(frozen=True, eq=False)
class SquaredDistance(ScoringForm):
    """−Σ_i w_i (u*_i − e_i)²: compromise programming with p = 2 (Zeleny 1973), without the square root.

    The library's score is minus the square root of the weighted sum, which puts actions in the same order. The
    one-sided form takes max(0, u*_i − e_i): its slope is continuous, and its second derivative exists but at u*.
    Q = 2 W_V; on the tube U = Σ_{i∈V} 2 w_i max |u*_i − e|, at most 2 W_V (1 − 2 μ) for u* in the tube.

    Parameters
    ----------
    ideal
        Fixed u*, shape (stakeholder,).
    two_sided
        Whether exceeding u* counts like falling short of it.
    """

    ideal: Values
    two_sided: bool = False

    def shortfalls(self, values: Values) -> Values:
        """Return u* − e, not below 0 in the one-sided form."""
        short = self.ideal[:, None, None] - values
        return short if self.two_sided else np.maximum(short, 0.0)

    def scores(self, values: Values) -> Values:
        """Return minus weighted sums of squares."""
        return np.asarray(-np.tensordot(self.weights, self.shortfalls(values) ** 2, axes=1))

    def slopes(self, values: Values) -> Values:
        """Return 2 w_i (u*_i − e_i)."""
        return np.asarray(2 * self.weights[:, None, None] * self.shortfalls(values))

    def extremes(self, low: Values, high: Values) -> Extremes:
        """Return scores at the points of the box nearest to u* and farthest from it."""
        ideal = self.ideal[:, None, None]
        nearest = np.clip(ideal, low, high)
        farthest = np.where(np.abs(self.shortfalls(low)) >= np.abs(self.shortfalls(high)), low, high)
        return Extremes(self.scores(farthest), self.scores(nearest))

    def growth(self, perturbations: PerturbationSet, region: Region) -> Growth:
        """Return the largest Σ_{i∈V} 2 w_i |u*_i − e_i| over actions, and 2 W_V."""
        low, high = perturbations.extent(region)
        members = perturbations.members
        largest = np.maximum(np.abs(self.slopes(low)), np.abs(self.slopes(high)))[members]
        return _per_context(largest.sum(axis=0).max(axis=0), 2 * self.weights[members].sum(), perturbations)


@dataclass(frozen=True, eq=False)
class SoftMinimum(ScoringForm):
    """−σ log Σ_i exp(−g_i / σ) with g_i = (e_i − d_i) / s_i: a smooth stand-in for a minimum, and another rule.

    min_i g_i − σ log n ≤ Φ ≤ min_i g_i for n who count. With d = 0 and s = 1 it stands in for maximin, with
    s = u* − d for Kalai–Smorodinsky. U = 1 / min_{i∈V} s_i and Q = 1 / (σ min_{i∈V} s_i²).

    Parameters
    ----------
    disagreement, scale
        d and s, shape (stakeholder,); s above 0 for those who count.
    sigma
        σ, above 0, in units of g.
    """

    substitute: ClassVar[bool] = True

    disagreement: Values
    scale: Values
    sigma: float

    def _relative(self, values: Values) -> Values:
        return (values - self.disagreement[:, None, None])[self.has_weight] / self.scale[self.has_weight][:, None, None]

    def scores(self, values: Values) -> Values:
        """Return soft minima."""
        gains = self._relative(values)
        smallest = gains.min(axis=0)
        return np.asarray(smallest - self.sigma * np.log(np.exp((smallest - gains) / self.sigma).sum(axis=0)))

    def slopes(self, values: Values) -> Values:
        """Return each one's share of the soft minimum over its scale."""
        gains = self._relative(values)
        shares = np.exp((gains.min(axis=0) - gains) / self.sigma)
        slopes = np.zeros(values.shape)
        slopes[self.has_weight] = shares / shares.sum(axis=0) / self.scale[self.has_weight][:, None, None]
        return slopes

    def growth(self, perturbations: PerturbationSet, region: Region) -> Growth:
        """Return 1 / min s and 1 / (σ min s²) over members who count, whatever the region."""
        del region
        steepest = (1 / self.scale[self._speaking(perturbations.members)]).max(initial=0.0)
        return _per_context(steepest, steepest**2 / self.sigma, perturbations)


def _per_context(slope: Values, bend: Values, perturbations: PerturbationSet) -> Growth:
    """Return bounds that hold for every context, or one each, as one each."""
    shape = (perturbations.centre.shape[2],)
    return Growth(np.array(np.broadcast_to(slope, shape)), np.array(np.broadcast_to(bend, shape)))
