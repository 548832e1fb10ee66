"""A mixture of K linear rewards: users belong to hidden types, found by expectation maximisation.

    hard   each user to the type with the largest likelihood (as in MaxMin-RLHF, Chakraborty et al. 2024)
    soft   q_uk ∝ ρ_k exp(Σ_{r of u} w_r log σ(D_r^k)), ρ_k the mean of q_uk (Dempster, Laird and Rubin 1977)

Likelihoods are sums of log σ, never products or ratios of exponentials. An empty type keeps its reward. Few binary
comparisons per user do not identify hidden types (shown for preference mixtures by Chidambaram et al. 2024, here as
others report it); the model says so in `warnings`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.preferences.learners.bradley_terry import pooled_coefficients
from accordant.preferences.learners.learner import PreferenceLearner, RewardModel, checked_records, register
from accordant.preferences.learners.logistic import LogisticProblem, log_loss
from accordant.preferences.records import Comparisons

Values = NDArray[np.float64]

FEW_RECORDS = 10  # of a user: with fewer binary comparisons types are not told apart
UNSURE = 0.8  # a user whose largest probability is below this is not clearly of one type
SPREAD = 1.0  # of the starting rewards around the pooled one, relative to its length


@dataclass(frozen=True, eq=False)
class MixtureReward(RewardModel):
    """Rewards of hidden types, and how likely each user is of each type.

    Attributes
    ----------
    coefficients
        θ_k, shape (type, feature).
    shares
        ρ_k, shape (type,).
    memberships
        q_uk, shape (user, type); the shares for users without records.
    log_likelihood
        Σ_u log Σ_k ρ_k exp(…), or for hard assignments the sum over each user's own type.
    rounds
        Of expectation and maximisation.
    warnings
        Sentences that a reader of the result must see.
    """

    coefficients: Values
    shares: Values
    memberships: Values
    log_likelihood: float
    rounds: int
    warnings: tuple[str, ...] = ()

    def of_user(self, user: int | None) -> Values:
        """Return a user's coefficients: the types' mean by membership, shape (feature,)."""
        known = user is not None and 0 <= user < len(self.memberships)
        return np.asarray((self.memberships[user] if known else self.shares) @ self.coefficients)

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        return np.asarray(features @ self.of_user(user))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        by_type = comparisons.differences() @ self.coefficients.T
        known = comparisons.users < len(self.memberships)
        weights = np.tile(self.shares, (len(comparisons), 1))
        weights[known] = self.memberships[comparisons.users[known]]
        return np.asarray((weights * by_type).sum(axis=1))

    def log_likelihoods(self, comparisons: Comparisons) -> Values:
        """Return log Σ_k ρ_k exp(Σ_r w_r log σ(D_r^k)) of each user, taken as new, shape (user,); 0 without records.

        Nothing but the types and their shares is read: the users need not be those of the fit, and those of the fit are
        not recognised.
        """
        return _posterior(_log_joint(comparisons, comparisons.differences(), self.coefficients, self.shares))[1]

    def adapted(self, comparisons: Comparisons) -> MixtureReward:
        """Return the same types for other users: memberships are those that their records give.

        Parameters
        ----------
        comparisons
            Of the new users, whose positions count from 0 again. A user without records gets the shares.
        """
        memberships, likelihoods = _posterior(
            _log_joint(comparisons, comparisons.differences(), self.coefficients, self.shares)
        )
        memberships = np.where((comparisons.counts > 0)[:, None], memberships, self.shares)
        return replace(
            self, memberships=memberships, log_likelihood=float(likelihoods.sum()), rounds=0,
            warnings=few_records(comparisons),
        )  # fmt: skip

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many users are most likely of each type, shape (type,)."""
        return np.bincount(self.memberships.argmax(axis=1), minlength=len(self.shares))

    @property
    def unsure(self) -> float:
        """Share of users whose largest membership is below 0.8."""
        return float((self.memberships.max(axis=1) < UNSURE).mean())


@register("mixture")
@dataclass(frozen=True)
class Mixture(PreferenceLearner):
    """Alternate between memberships and rewards from several random starts, and keep the likeliest end.

    Parameters
    ----------
    types
        K, at least 1.
    assignment
        ``"soft"`` or ``"hard"``.
    restarts, rounds
        Random starts, and the most rounds of each; both at least 1.
    change
        Rounds end when the log-likelihood per record rises by less.
    ridge, tolerance
        See `BradleyTerry`.
    """

    types: int = 2
    assignment: Literal["soft", "hard"] = "soft"
    restarts: int = 5
    rounds: int = 100
    change: float = 1e-7
    ridge: float = 1e-4
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        for name in ("types", "restarts", "rounds"):
            if (
                isinstance(getattr(self, name), bool)
                or not isinstance(getattr(self, name), int)
                or getattr(self, name) < 1
            ):
                raise InputError(f"{name} is {getattr(self, name)}; allowed: a whole number from 1")
        if self.assignment not in ("soft", "hard"):
            raise InputError(f"assignment is {self.assignment!r}; allowed: 'soft' or 'hard'")

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> MixtureReward:
        """Learn types; the same state of the generator gives the same result."""
        checked_records(comparisons)
        generator = np.random.default_rng(0) if generator is None else generator
        pooled = pooled_coefficients(comparisons, ridge=self.ridge, tolerance=self.tolerance)
        differences = comparisons.differences()
        found = [self._climbed(comparisons, differences, self._start(pooled, generator)) for _ in range(self.restarts)]
        return max(found, key=lambda model: model.log_likelihood)

    def _start(self, pooled: Values, generator: np.random.Generator) -> Values:
        """Return starting rewards around the pooled one, shape (type, feature)."""
        length = max(float(np.linalg.norm(pooled)), 1.0) / np.sqrt(len(pooled))
        return np.asarray(pooled + SPREAD * length * generator.normal(size=(self.types, len(pooled))))

    def _climbed(self, comparisons: Comparisons, differences: Values, coefficients: Values) -> MixtureReward:
        shares, reached = np.full(self.types, 1.0 / self.types), -np.inf
        memberships, rounds = np.tile(shares, (comparisons.n_users, 1)), 0
        while rounds < self.rounds:
            rounds += 1
            memberships, likelihood = self._expected(comparisons, differences, coefficients, shares)
            if likelihood - reached < self.change * len(comparisons):
                reached = max(reached, likelihood)
                break
            reached = likelihood
            present = comparisons.counts > 0
            shares = memberships[present].mean(axis=0)
            coefficients = self._maximised(comparisons, differences, coefficients, memberships)
        memberships = np.where((comparisons.counts > 0)[:, None], memberships, shares)
        return MixtureReward(coefficients, shares, memberships, reached, rounds, few_records(comparisons))

    def _expected(
        self, comparisons: Comparisons, differences: Values, coefficients: Values, shares: Values
    ) -> tuple[Values, float]:
        """Return memberships, shape (user, type), and the log-likelihood."""
        if self.assignment == "hard":
            logs = _log_joint(comparisons, differences, coefficients, None)
            return np.eye(self.types)[logs.argmax(axis=1)], float(logs.max(axis=1).sum())
        memberships, likelihoods = _posterior(_log_joint(comparisons, differences, coefficients, shares))
        return memberships, float(likelihoods[comparisons.counts > 0].sum())

    def _maximised(
        self, comparisons: Comparisons, differences: Values, coefficients: Values, memberships: Values
    ) -> Values:
        """Return each type's reward on records weighted by membership; an empty type keeps its own."""
        found = coefficients.copy()
        for k in range(self.types):
            weights = comparisons.record_weights * memberships[comparisons.users, k]
            if weights.sum() > 0:
                problem = LogisticProblem(differences, weights=weights, ridge=self.ridge)
                found[k] = problem.solve(coefficients[k], tolerance=self.tolerance).coefficients
        return found


def _log_joint(comparisons: Comparisons, differences: Values, coefficients: Values, shares: Values | None) -> Values:
    """Return log ρ_k + Σ_r w_r log σ(D_r^k), without the shares if there are none, shape (user, type)."""
    losses = log_loss(differences @ coefficients.T) * comparisons.record_weights[:, None]
    logs = np.stack([-np.bincount(comparisons.users, row, minlength=comparisons.n_users) for row in losses.T], axis=1)
    if shares is None:
        return logs
    with np.errstate(divide="ignore"):
        return np.asarray(logs + np.log(shares))


def _posterior(logs: Values) -> tuple[Values, Values]:
    """Return memberships, shape (user, type), and log Σ_k exp of each row, shape (user,)."""
    top = logs.max(axis=1, keepdims=True)
    raised = np.exp(logs - top)
    total = raised.sum(axis=1, keepdims=True)
    return raised / total, np.asarray(top[:, 0] + np.log(total[:, 0]))


def few_records(comparisons: Comparisons) -> tuple[str, ...]:
    """Return the warning that types are not identified, if users have too few comparisons; else nothing."""
    counts = comparisons.counts[comparisons.counts > 0]
    few = int((counts < FEW_RECORDS).sum())
    if not few:
        return ()
    said = (
        f"{few} of {len(counts)} users have fewer than {FEW_RECORDS} comparisons: so few do not identify hidden types; "
    )
    return (said + "rankings of three or more items would",)
