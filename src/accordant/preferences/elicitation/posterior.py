"""What is believed about one user's reward after some answers.

    P(chosen | θ) = (1 − lapse) σ(θ · x) + lapse / 2,    x = features of the chosen item less those of the rejected one

with θ = s β, a normal prior of β and one of log s: Bayesian Bradley–Terry with a scale that is learned. Without it the
prior would say how sure answers are, and the answers of somebody who hardly cares would be taken for strong
preferences. `lapse` is the share of answers that are given without looking; an answer against a large margin then costs
a bounded amount (Wichmann and Hill 2001 for the lapse rate).

The normal approximation has its mean at the mode, and the inverse of prior precision plus Fisher information

    Σ_r p'(D_r)² / (p(D_r) (1 − p(D_r))) x_r x_rᵀ

as covariance; without lapses that is the Laplace approximation. With a scale there is an approximation for each of a
few scales, weighed by how likely each makes the answers, and mean and covariance are those of the mixture. It is too
narrow on the side where nothing was said: after one steep answer the posterior is half a normal distribution. With
lapses the posterior may also have several modes: answers against the prior were slips, or the prior is wrong. `samples`
therefore go from the prior and the approximations at the modes that were found to the posterior (`tempered_draws`).
They move in the coordinates of β and of a standard normal number that stands for log s, in which the prior is N(0, I)
[ours].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.checks import numbers
from accordant.preferences.elicitation.sampling import (
    FEWEST,
    Normal,
    resample,
    share_in_effect,
    sweep,
    tempered_draws,
)
from accordant.preferences.learners.logistic import LogisticProblem, sigmoid
from accordant.preferences.normal_belief import NormalPrior, ScalePrior

FEW_SWEEPS = 2  # of samples that are nearly right already
FEW = 0.1  # share of samples that must be left in effect to be used again
WIDER = 0.5  # how much wider approximations are with one feature, where samples begin; less with more features
SAME = 1e-3  # distance of two modes, in units of the prior's standard deviation, below which they are one
TOLERANCE = 1e-9  # of the gradient, and of the last step, in units of the prior's standard deviation
SHARES = (0.15, 0.5, 0.85)  # of the way from the smallest to the largest scale: where approximations are made
NEAR_SCALE = 0.7  # width of each of them in the standard normal number of the scale
GRID = 60  # scales from which one is drawn for coefficients that came without: neighbours differ by 8 %
MOST_ROUNDS = 200  # of weighing answers by how likely they were given with attention


def chance(margins: Values, lapse: float = 0.0) -> Values:
    """Return the probability (1 − lapse) σ(D) + lapse / 2 of an answer with margin D, shape as given."""
    return np.asarray((1.0 - lapse) * sigmoid(margins) + 0.5 * lapse)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed about the coefficients of one user's linear reward.

    Parameters
    ----------
    prior
        Before any answer.
    lapse
        Share of answers given without looking, half of them right by chance; in [0, 1).
    differences
        One row for each answer: features of the chosen item less those of the rejected one, shape (answer, feature);
        None for no answer.
    scale
        How much the coefficients may be larger or smaller than the prior says. None takes the prior at its word: then
        probabilities are right for people whose answers are as sure as it says, and too high for those who hardly care.

    Raises
    ------
    InputError
        If a shape or a number is wrong.
    """

    prior: NormalPrior
    lapse: float = 0.0
    differences: Values | None = None
    scale: ScalePrior | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.lapse < 1:
            raise InputError(f"lapse is {self.lapse}; allowed: at least 0, below 1")
        n_features = self.prior.n_features
        given = np.empty((0, n_features)) if self.differences is None else np.asarray(self.differences, np.float64)
        if given.ndim != 2 or given.shape[1] != n_features or not np.isfinite(given).all():
            raise InputError(
                f"differences have shape {given.shape}; allowed: finite numbers of shape (answer, {n_features})"
            )
        object.__setattr__(self, "differences", given)

    def updated(self, difference: Any) -> Posterior:
        """Return the belief after one more answer.

        An answer "equally good" is one answer each way: `updated(x).updated(−x)`, the limit of the tie of Rao and
        Kupper (1967) for a small threshold. Whoever cannot say says nothing about the reward: no update.

        Parameters
        ----------
        difference
            Features of the chosen item less those of the rejected one, shape (feature,).
        """
        row = numbers("difference", difference, "feature", self.prior.n_features)
        return replace(self, differences=np.vstack([self._rows, row]))

    @property
    def n_answers(self) -> int:
        """Number of answers."""
        return len(self._rows)

    @cached_property
    def mean(self) -> Values:
        """Most probable coefficients, the densest mode that was found; their mean over scales, shape (feature,)."""
        if self.scale is None:
            return np.asarray(self.prior.mean + self.prior.root @ self._mode)
        return np.asarray(self._chances_of_scales @ np.stack([belief.mean for belief in self._at_scales]))

    @cached_property
    def covariance(self) -> Values:
        """Covariance of the normal approximation, shape (feature, feature)."""
        if self.scale is None:
            spread = self.prior.root @ self._root_at(self._mode)
            return np.asarray(spread @ spread.T)
        parts = [belief.covariance + np.outer(belief.mean, belief.mean) for belief in self._at_scales]
        second = np.einsum("k,kij->ij", self._chances_of_scales, np.stack(parts))
        return np.asarray(second - np.outer(self.mean, self.mean))

    def log_density(self, coefficients: Values) -> Values:
        """Return the logarithm of the posterior density, up to a constant, shape (sample,).

        Parameters
        ----------
        coefficients
            Shape (sample, feature).
        """
        if self.scale is None:
            return self._log_density(self._whitened_from(coefficients))
        chances = self._known._log_chances(self._known._whitened_from(coefficients)).sum(axis=1)  # noqa: SLF001
        return np.asarray(chances + np.logaddexp.reduce(self._log_scales(coefficients, self._grid), axis=1))

    def samples(self, n: int, generator: np.random.Generator) -> Values:
        """Return draws from the posterior, shape (n, feature); deterministic given the generator.

        Draws of the prior and of a normal approximation at each mode, taken again and moved on the way to the posterior
        until two halves agree, see `tempered_draws`. Every move leaves the exact posterior as it is, but draws are
        finitely many: compared with sums over a grid, means of 2000 draws are off by about 0.05 standard deviations,
        and a mode that neither the prior nor a search finds is missed. With tens of features work and errors grow: with
        60, means of two runs differ by about 0.3 standard deviations.
        """
        if n < 1:
            raise InputError(f"{n} samples were asked for; allowed: at least 1")
        if not self.n_answers:
            return self._coefficients(self._starts[0].draws(n, generator))
        return self._coefficients(tempered_draws(self._starts, self._log_density, n, generator))

    def samples_from(self, before: Values, newest: int, generator: np.random.Generator) -> Values:
        """Return as many draws from the posterior, made of draws from the belief before the newest answers.

        Much cheaper than `samples`: draws are taken again in proportion to how likely they would have given the new
        answers, then moved a little (iterated batch importance sampling, Chopin 2002). If too few of them would have,
        all are drawn afresh.

        Parameters
        ----------
        before
            Draws from the earlier belief, shape (sample, feature).
        newest
            Number of answers since then, at least 0.
        generator
            Source of randomness.
        """
        n, first = len(before), self.n_answers - newest
        if first < 0 or before.shape != (n, self.prior.n_features) or n == 0:
            raise InputError(
                f"samples of shape {before.shape} from {newest} answers ago were given; allowed: (sample, "
                f"{self.prior.n_features}), at most {self.n_answers} answers ago"
            )
        whitened = self._states(before, generator)
        log_weights = self._log_chances(whitened, slice(first, None)).sum(axis=1)
        if n < FEWEST or share_in_effect(log_weights) < FEW:
            return self.samples(n, generator)
        whitened = generator.permutation(whitened[resample(log_weights, generator)])
        halves = [whitened[: n // 2], whitened[n // 2 :]]
        for _ in range(FEW_SWEEPS):
            halves = sweep(halves, self._log_density, self._starts, generator)
        return self._coefficients(np.vstack(halves))

    @property
    def _rows(self) -> Values:
        assert self.differences is not None
        return self.differences

    @cached_property
    def _starts(self) -> tuple[Normal, ...]:
        """The prior in whitened coordinates, and a widened approximation at every mode, at some scales."""
        n_features = self.prior.n_features
        wider = 1.0 + WIDER / np.sqrt(n_features)
        if self.scale is None:
            hills = [Normal(mode, wider * self._root_at(mode)) for mode in self._modes]
            return (Normal(np.zeros(n_features), np.eye(n_features)), *hills)
        order = np.argsort(-self._chances_of_scales)  # the first mode has a part of its own in every move
        hills = []
        for k in order:
            for hill in self._at_scales[k]._starts[1:]:  # noqa: SLF001
                root = np.eye(n_features + 1) * NEAR_SCALE
                root[:n_features, :n_features] = hill.root
                hills.append(Normal(np.append(hill.centre, self._scale_states[k]), root))
        return (Normal(np.zeros(n_features + 1), np.eye(n_features + 1)), *hills)

    @property
    def _scale_states(self) -> Values:
        """Standard normal numbers of the scales with an approximation of their own, shape (scale,)."""
        assert self.scale is not None
        return np.array([self.scale.standard(share) for share in SHARES])

    @cached_property
    def _known(self) -> Posterior:
        """The same answers with the prior as it stands."""
        return replace(self, scale=None)

    @cached_property
    def _at_scales(self) -> tuple[Posterior, ...]:
        """The belief if the scale were known, for a few of them."""
        assert self.scale is not None
        factors = self.scale.scales(self._scale_states)
        return tuple(replace(self, prior=self.prior.scaled(float(factor)), scale=None) for factor in factors)

    @cached_property
    def _chances_of_scales(self) -> Values:
        """Probabilities of these scales by the evidence of the normal approximations, shape (scale,)."""
        logs = np.array([belief._log_evidence for belief in self._at_scales])  # noqa: SLF001
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    @property
    def _log_evidence(self) -> float:
        """Logarithm of the probability of the answers by the normal approximation around the mode."""
        curvature = np.linalg.slogdet(self._root_at(self._mode))[1]
        return float(self._log_density(self._mode[None])[0] + curvature)

    @cached_property
    def _whitened(self) -> Values:
        """Differences in coordinates in which the prior is N(0, I), shape (answer, feature)."""
        return np.asarray(self._rows @ self.prior.root)

    @cached_property
    def _offsets(self) -> Values:
        """Margins at the mean of the prior, shape (answer,)."""
        return np.asarray(self._rows @ self.prior.mean)

    @cached_property
    def _modes(self) -> tuple[Values, ...]:
        """The modes that were found, in those coordinates, the densest first, each of shape (feature,).

        One is climbed from the prior's mean. With lapses another is climbed from the mode without lapses, where no
        answer is a slip.
        """
        origin = np.zeros(self.prior.n_features)
        if not self.n_answers:
            return (origin,)
        if self.lapse == 0:
            return (self._weighed(origin, np.ones(self.n_answers)),)
        attentive = self._weighed(origin, np.ones(self.n_answers))
        modes = [self._climbed(origin), self._climbed(attentive)]
        modes.sort(key=lambda point: -float(self._log_density(point[None])[0]))
        return tuple(modes[: 1 if np.abs(modes[0] - modes[1]).max() <= SAME else 2])

    @property
    def _mode(self) -> Values:
        return self._modes[0]

    def _climbed(self, point: Values) -> Values:
        """Return the mode that a point leads to: expectation–maximisation over who looked.

        Given the chance that an answer was given with attention, the rest is a weighted logistic problem.
        """
        for _ in range(MOST_ROUNDS):
            likely = (1.0 - self.lapse) * sigmoid(self._whitened @ point + self._offsets)
            attention = likely / (likely + 0.5 * self.lapse + np.finfo(float).tiny)
            previous, point = point, self._weighed(point, attention)
            if np.abs(point - previous).max() <= TOLERANCE:
                break
        return point

    def _weighed(self, start: Values, attention: Values) -> Values:
        """Return the mode without lapses, given how likely each answer was given with attention, shape (answer,)."""
        # a weight of 0 would be refused where every answer is beyond belief
        weights = np.maximum(attention, np.finfo(float).eps)
        problem = LogisticProblem(self._whitened, weights=weights, offsets=self._offsets, ridge=1.0 / weights.sum())
        return problem.solve(start, tolerance=TOLERANCE).coefficients

    def _root_at(self, point: Values) -> Values:
        """Return the root of the approximation's covariance around a point, shape (feature, feature)."""
        inside = sigmoid(self._whitened @ point + self._offsets)
        likely = (1.0 - self.lapse) * inside + 0.5 * self.lapse
        slope = (1.0 - self.lapse) * inside * (1.0 - inside)
        bent = slope**2 / np.maximum(likely * (1.0 - likely), np.finfo(float).tiny)
        precision = (self._whitened * bent[:, None]).T @ self._whitened + np.eye(self.prior.n_features)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(precision)).T)

    def _coefficients(self, states: Values) -> Values:
        """Return coefficients of states in coordinates in which the prior is N(0, I), shape (sample, feature)."""
        if self.scale is None:
            return np.asarray(self.prior.mean + states @ self.prior.root.T)
        factors = self.scale.scales(states[:, -1:])
        return np.asarray(factors * (self.prior.mean + states[:, :-1] @ self.prior.root.T))

    def _states(self, coefficients: Values, generator: np.random.Generator) -> Values:
        """Return states of coefficients; the scale is drawn from its distribution given these, on a grid."""
        if self.scale is None:
            return self._whitened_from(coefficients)
        logs = self._log_scales(coefficients, self._grid)
        drawn = (logs + generator.gumbel(size=logs.shape)).argmax(axis=1)
        factors = self.scale.scales(self._grid[drawn])[:, None]
        return np.column_stack([self._whitened_from(coefficients / factors), self._grid[drawn]])

    @cached_property
    def _grid(self) -> Values:
        """Standard normal numbers of many scales, equally probable, shape (scale,)."""
        assert self.scale is not None
        return np.array([self.scale.standard(share) for share in (np.arange(GRID) + 0.5) / GRID])

    def _log_scales(self, coefficients: Values, states: Values) -> Values:
        """Return the logarithm of the prior density of coefficients at some scales, shape (sample, scale)."""
        assert self.scale is not None
        base = np.linalg.solve(self.prior.root, coefficients.T).T
        centre = np.linalg.solve(self.prior.root, self.prior.mean)
        factors = self.scale.scales(states)
        squares = (base**2).sum(axis=1)[:, None] / factors**2 - 2 * (base @ centre)[:, None] / factors + centre @ centre
        return np.asarray(-0.5 * squares - self.prior.n_features * np.log(factors))

    def _whitened_from(self, coefficients: Values) -> Values:
        """Return coefficients in coordinates in which the prior is N(0, I), shape (sample, feature)."""
        return np.asarray(np.linalg.solve(self.prior.root, (coefficients - self.prior.mean).T).T)

    def _log_chances(self, states: Values, answers: slice = slice(None)) -> Values:
        """Return the logarithm of the probability of some answers, shape (sample, answer)."""
        n_features = self.prior.n_features
        margins = states[:, :n_features] @ self._whitened[answers].T + self._offsets[answers]
        if self.scale is not None:
            margins *= self.scale.scales(states[:, -1:])
        if self.lapse == 0:
            return np.asarray(-np.logaddexp(0.0, -margins))
        return np.asarray(np.log(chance(margins, self.lapse)))

    def _log_density(self, states: Values) -> Values:
        return np.asarray(self._log_chances(states).sum(axis=1) - 0.5 * (states**2).sum(axis=1))
