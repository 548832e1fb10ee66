"""A mixture of K linear rewards: users belong to hidden types, found by expectation maximisation.

    hard   each user to the type with the largest likelihood (as in MaxMin-RLHF, Chakraborty et al. 2024)
    soft   q_uk ∝ ρ_k exp(Σ_{r of u} w_r log σ(D_r^k)), ρ_k the mean of q_uk (Dempster, Laird and Rubin 1977)

Every round raises, and starts are compared by,

    log-likelihood − ½ ridge W Σ_k |θ_k|²,   W the weight of all records,

so that one type gives the pooled reward. [ours] A type that is left without users keeps its reward. From rankings,
log σ(D) becomes the log-likelihood of Plackett and Luce. Likelihoods are sums of logarithms, never products or ratios
of exponentials.

Few binary comparisons per user do not identify hidden types, while rankings of three items or more can (shown for
preference mixtures by Chidambaram et al. 2024, here as others report it); the model says so in `warnings`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, InputError
from accordant.preferences.learners.learner import PreferenceLearner, checked_from_one, checked_positive, register
from accordant.preferences.learners.mixture.evidence import Evidence, evidence
from accordant.preferences.learners.mixture.mixture_reward import (
    UNSURE,
    Assignment,
    MixtureReward,
    expected,
    few_records,
)
from accordant.preferences.records import Comparisons, Rankings

__all__ = ["UNSURE", "Mixture", "MixtureReward", "few_records"]

EMPTY = 1e-12  # share of the records' weight: a type with less is empty, its ridge would drown all that records say
SHORT = 8  # rounds of every start before the best goes on alone (Biernacki, Celeux and Govaert 2003)
NEWTON_STEPS = 2  # of a reward per round: raising it is enough (generalised EM, Dempster et al. 1977)
SPREAD = 1.0  # of the starting rewards around the pooled one, relative to its length


@register("mixture")
@dataclass(frozen=True)
class Mixture(PreferenceLearner):
    """Alternate between memberships and rewards from several random starts; the best after a few rounds goes on.

    Parameters
    ----------
    types
        K, at least 1.
    assignment
        ``"soft"`` or ``"hard"``.
    restarts, rounds
        Random starts, and the most rounds of each; both at least 1.
    change
        Rounds end when what they raise, divided by the weight of all records, rises by less; at least 0.
    ridge, tolerance
        See `BradleyTerry`; both above 0.
    """

    types: int = 2
    assignment: Assignment = "soft"
    restarts: int = 5
    rounds: int = 100
    change: float = 1e-7
    ridge: float = 1e-4
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        checked_from_one(types=self.types, restarts=self.restarts, rounds=self.rounds)
        checked_positive(ridge=self.ridge, tolerance=self.tolerance)
        if not 0 <= self.change < np.inf:
            raise InputError(f"change is {self.change}; allowed: at least 0")
        if self.assignment not in ("soft", "hard"):
            raise InputError(f"assignment is {self.assignment!r}; allowed: 'soft' or 'hard'")

    def fit(
        self, comparisons: Comparisons | Rankings, *, generator: np.random.Generator | None = None
    ) -> MixtureReward:
        """Learn types from comparisons, or from rankings; the same state of the generator gives the same result.

        Raises
        ------
        DataError
            If there is no record.
        """
        if len(comparisons) == 0:
            raise DataError("there are no comparisons or rankings to learn from")
        read = evidence(comparisons)
        generator = np.random.default_rng(0) if generator is None else generator
        pooled = read.problem(read.weights, self.ridge).solve(tolerance=self.tolerance).coefficients
        shares = np.full(self.types, 1.0 / self.types)
        starts = [self._start(pooled, generator) for _ in range(self.restarts)]
        short = min(SHORT, self.rounds) if self.restarts > 1 else 0
        tried = [self._climbed(read, start, shares, 0, short) for start in starts]
        first = max(tried, key=lambda model: self._raised(read, model.coefficients, model.log_likelihood))
        found = self._climbed(read, first.coefficients, first.shares, first.rounds, self.rounds)
        return replace(found, warnings=few_records(comparisons))

    def _start(self, pooled: Values, generator: np.random.Generator) -> Values:
        """Return starting rewards around the pooled one, shape (type, feature)."""
        length = max(float(np.linalg.norm(pooled)), 1.0) / np.sqrt(len(pooled))
        return np.asarray(pooled + SPREAD * length * generator.normal(size=(self.types, len(pooled))))

    def _climbed(self, read: Evidence, coefficients: Values, shares: Values, done: int, most: int) -> MixtureReward:
        """Return where rounds of expectation and maximisation lead, after `most` rounds in all at the latest."""
        reached, heard, rounds = -np.inf, read.counts > 0, done
        least = self.change * float(read.weights.sum())
        memberships, likelihood = expected(read, coefficients, shares, self.assignment)
        raised = self._raised(read, coefficients, likelihood)
        while rounds < most and raised - reached >= least:
            rounds, reached = rounds + 1, raised
            shares = memberships[heard].mean(axis=0)
            coefficients = self._maximised(read, coefficients, memberships)
            memberships, likelihood = expected(read, coefficients, shares, self.assignment)
            raised = self._raised(read, coefficients, likelihood)
        memberships = np.where(heard[:, None], memberships, shares)
        return MixtureReward(coefficients, shares, memberships, heard, likelihood, rounds, self.assignment)

    def _raised(self, read: Evidence, coefficients: Values, likelihood: float) -> float:
        """Return what rounds raise: the log-likelihood less the ridge on all types."""
        return likelihood - 0.5 * self.ridge * float(read.weights.sum()) * float((coefficients**2).sum())

    def _maximised(self, read: Evidence, coefficients: Values, memberships: Values) -> Values:
        """Return better rewards of the types on records weighted by membership; an empty type keeps its own.

        A problem is a mean over its weights W_k, so that its ridge is W / W_k of the mixture's.
        """
        found, total = coefficients.copy(), float(read.weights.sum())
        for k in range(self.types):
            weights = read.weights * memberships[read.users, k]
            if weights.sum() > EMPTY * total:
                problem = read.problem(weights, self.ridge * total / weights.sum())
                found[k] = problem.solve(coefficients[k], tolerance=self.tolerance, steps=NEWTON_STEPS).coefficients
        return found
