"""The terms of the bound, context by context: for metrics of decisions, and for a rule's own score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from accordant.arrays import Mask, Values
from accordant.certificates.schema import constants
from accordant.certificates.schema.constants import minimiser
from accordant.certificates.schema.forms import ScoringForm
from accordant.certificates.schema.perturbations import PerturbationSet, Region

Bias = Literal["exponential", "linear"]
BIASES: tuple[Bias, ...] = ("exponential", "linear")


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms of the bound in each context, all of shape (context,).

    Attributes
    ----------
    tau
        Temperature.
    smooth_score
        S^τ at E.
    gradient
        δ ‖∇_V S^τ‖₁.
    curvature
        δ² L / 2.
    bias
        What S^τ and S^0 may differ by on the perturbation set.
    smoothness
        L.
    """

    tau: Values
    smooth_score: Values
    gradient: Values
    curvature: Values
    bias: Values
    smoothness: Values

    @property
    def rlb(self) -> Values:
        """The bound of Theorem 16 in each context."""
        return self.smooth_score - self.gradient - self.curvature - self.bias


class Schema(ABC):
    """What a bound needs of one form, one perturbation set and one kind of metric, for every τ.

    Attributes
    ----------
    scores, slopes
        Φ of shape (action, context), and ∂Φ_a/∂E[i, a, t] of shape (member, action, context), at the centre.
    growth
        U and Q.
    usable
        Where the bound says more than nothing, shape (context,).
    kappa, margin, trivial
        κ, the lead m, and what S^0 cannot fall below whatever happens, shape (context,).
    """

    usable: Mask
    kappa: Values
    margin: Values
    trivial: Values

    def __init__(self, form: ScoringForm, perturbations: PerturbationSet, region: Region) -> None:
        centre = perturbations.centre
        self.delta = perturbations.delta
        self.scores = form.scores(centre)
        self.slopes = form.slopes(centre)[perturbations.members]
        self.growth = form.growth(perturbations, region)
        self.defined = form.defined(perturbations.low)
        self._steepness = np.abs(self.slopes).sum(axis=0)

    @property
    @abstractmethod
    def star(self) -> tuple[Values, Values, Values]:
        """A, B and κ: curvature and bias are at most A / τ² + B / τ + κ τ, but for a constant."""

    @abstractmethod
    def smooth(self, tau: Values) -> constants.Smooth:
        """Return S^τ and its slope in Φ."""

    @abstractmethod
    def smoothness(self, tau: Values) -> Values:
        """Return L, shape (context,)."""

    @abstractmethod
    def bias(self, tau: Values) -> Values:
        """Return the bound on |S^τ − S^0|, shape (context,)."""

    def terms(self, tau: Values) -> Terms:
        """Return every term at these temperatures, shape (context,)."""
        smooth, smoothness = self.smooth(tau), self.smoothness(tau)
        gradient = self.delta * (np.abs(smooth.slope) * self._steepness).sum(axis=0)
        return Terms(tau, smooth.score, gradient, self.delta**2 * smoothness / 2, self.bias(tau), smoothness)

    def gradient(self, tau: Values) -> Values:
        """Return ∇_V S^τ of each context, shape (member, action, context)."""
        return np.asarray(self.smooth(tau).slope * self.slopes)

    def value(self, tau: Values) -> Values:
        """Return what is certified in each context: the bound, where usable and above the trivial one."""
        return np.where(self.usable, np.maximum(self.terms(tau).rlb, self.trivial), self.trivial)

    def temperature(self, *, jointly: bool) -> Values:
        """Return τ* for all contexts together, or for each by itself, shape (context,)."""
        parts = [np.where(self.usable, part, 0.0) for part in self.star]
        if jointly:
            parts = [np.full(part.shape, part.sum()) for part in parts]
        return minimiser(*parts)


class DecisionSchema(Schema):
    """For a metric θ_t(a) of decisions, S^τ = Σ_a π_a θ_a.

    The lead m is the smallest one over the perturbation set that actions with the metric's value of the decision have
    over the others; if all metric values differ, that of the best action over the second. Contexts in which it may
    vanish have no finite κ and only the trivial bound min_a θ_t(a).
    """

    def __init__(
        self, form: ScoringForm, perturbations: PerturbationSet, region: Region, theta: Values, bias: Bias
    ) -> None:
        super().__init__(form, perturbations, region)
        self.theta, self.kind = theta, bias
        self.theta_range = theta.max(axis=0) - theta.min(axis=0)
        self.trivial = theta.min(axis=0)
        extremes = form.extremes(perturbations.low, perturbations.high)
        chosen = self.scores.argmax(axis=0)
        alike = theta == np.take_along_axis(theta, chosen[None], axis=0)
        best = np.where(alike, extremes.lowest, -np.inf).max(axis=0)
        rival = np.where(alike, -np.inf, extremes.highest).max(axis=0)
        self.n_others = (~alike).sum(axis=0)
        self.margin = np.where(self.defined, best - rival, -np.inf)
        self.ahead = self.margin > perturbations.slack * np.maximum(1.0, np.abs(best))
        self.usable = self.defined & self.ahead
        lead = np.where(self.ahead, self.margin, 0.0)
        self.kappa = constants.decision_kappa(self.theta_range, lead, self.n_others)
        self._lead = lead

    @property
    def star(self) -> tuple[Values, Values, Values]:
        """A = δ² R c₃ U² / 2, B = δ² R Q / 8, κ."""
        half = self.delta**2 * self.theta_range / 2
        return half * constants.C3 * self.growth.slope**2, half * self.growth.bend / 4, self.kappa

    def smooth(self, tau: Values) -> constants.Smooth:
        """Return the metric's mean under softmax."""
        return constants.expected_metric(self.scores, self.theta, tau)

    def smoothness(self, tau: Values) -> Values:
        """Return R_θ (c₃ U² / τ² + Q / (4 τ))."""
        return constants.decision_smoothness(self.theta_range, self.growth.slope, self.growth.bend, tau)

    def bias(self, tau: Values) -> Values:
        """Return the exponential bound, or κ τ; R_θ (1 − 1 / k) where there is no lead."""
        if self.kind == "exponential":
            bound = constants.exponential_bias(self.theta_range, self._lead, self.n_others, tau)
        else:
            bound = self.kappa * tau
        return np.where(self.ahead, bound, self.theta_range * (1 - 1 / len(self.theta)))


class ValueSchema(Schema):
    """For the rule's own score of its decision, S^0 = max_a Φ_a and S^τ = τ log Σ_a exp(Φ_a / τ); no lead is needed."""

    def __init__(self, form: ScoringForm, perturbations: PerturbationSet, region: Region) -> None:
        super().__init__(form, perturbations, region)
        n_actions, n_contexts = self.scores.shape
        self.usable = self.defined
        self.steepest = self.growth.slope if n_actions > 1 else np.zeros(n_contexts)  # one score alone is not bent
        self.kappa = np.full(n_contexts, constants.surrogate_kappa(n_actions))
        self.margin = np.full(n_contexts, np.nan)
        self.trivial = np.full(n_contexts, -np.inf)

    @property
    def star(self) -> tuple[Values, Values, Values]:
        """A = 0, B = δ² U² / 2, κ = log k."""
        return np.zeros_like(self.kappa), self.delta**2 * self.steepest**2 / 2, self.kappa

    def smooth(self, tau: Values) -> constants.Smooth:
        """Return the log-sum-exp surrogate."""
        return constants.soft_maximum(self.scores, tau)

    def smoothness(self, tau: Values) -> Values:
        """Return U² / τ + Q."""
        return constants.value_smoothness(self.steepest, self.growth.bend, tau)

    def bias(self, tau: Values) -> Values:
        """Return τ log k."""
        return self.kappa * tau
