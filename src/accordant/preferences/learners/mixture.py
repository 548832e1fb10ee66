"""Hidden types of users: a mixture of K linear rewards, found by expectation maximisation.

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

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.errors import DataError, InputError
from accordant.preferences.checks import check_positive, check_whole
from accordant.preferences.learners.learner import PreferenceLearner, UserRewards, checked_features, register
from accordant.preferences.learners.logistic import ConvexProblem, LogisticProblem, log_loss
from accordant.preferences.learners.plackett_luce import RankingProblem
from accordant.preferences.records import Comparisons, Rankings

Assignment = Literal["soft", "hard"]

FEW_RECORDS = 10  # of a user: with fewer binary comparisons types are not told apart
UNSURE = 0.8  # a user whose largest probability is below this is not clearly of one type
EMPTY = 1e-12  # share of the records' weight: a type with less is empty, its ridge would drown all that records say
SHORT = 8  # rounds of every start before the best goes on alone (Biernacki, Celeux and Govaert 2003)
NEWTON_STEPS = 2  # of a reward per round: raising it is enough (generalised EM, Dempster et al. 1977)
SPREAD = 1.0  # of the starting rewards around the pooled one, relative to its length


@dataclass(frozen=True, eq=False)
class Evidence:
    """What records of users say of linear rewards, whether comparisons or rankings.

    Attributes
    ----------
    users, n_users
        Position of each record's user, shape (record,), and number of users, with and without records.
    weights
        Of each record, shape (record,).
    of_three_or_more
        Which records rank three items or more, shape (record,).
    losses
        From several rewards (type, feature) to −log P of each record, shape (record, type).
    problem
        From other weights, shape (record,), not all 0, and a ridge to the problem of fitting one reward.
    """

    users: Codes
    n_users: int
    weights: Values
    of_three_or_more: Mask
    losses: Callable[[Values], Values]
    problem: Callable[[Values, float], ConvexProblem]

    def by_user(self, of_record: Values) -> Values:
        """Return sums over each user's records, shape (user,)."""
        return np.bincount(self.users, of_record, minlength=self.n_users).astype(np.float64, copy=False)

    @cached_property
    def counts(self) -> Codes:
        """Number of records with weight of each user, shape (user,)."""
        return np.bincount(self.users[self.weights > 0], minlength=self.n_users)


def evidence(records: Comparisons | Rankings) -> Evidence:
    """Return what records say: P = σ(D) of a comparison, that of Plackett and Luce of a ranking."""
    if isinstance(records, Rankings):
        plain = RankingProblem(records)
        return Evidence(
            records.users, len(records.user_names or ()), np.ones(len(records)), np.asarray(records.lengths > 2),
            lambda rewards: np.stack([plain.losses(plain.predictions(theta)) for theta in rewards], axis=1),
            lambda weights, ridge: RankingProblem(records, ridge, weights),
        )  # fmt: skip
    differences = cache(records.differences)
    return Evidence(
        records.users, records.n_users, records.record_weights, np.zeros(len(records), dtype=bool),
        lambda rewards: log_loss(differences() @ rewards.T),
        lambda weights, ridge: LogisticProblem(differences(), weights=weights, ridge=ridge),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class MixtureReward(UserRewards):
    """Rewards of hidden types, and how likely each user is of each type.

    Attributes
    ----------
    coefficients
        θ_k, shape (type, feature).
    shares
        ρ_k, shape (type,).
    memberships
        q_uk, shape (user, type); the shares for users without records of weight above 0.
    has_weight
        Which users have such a record, shape (user,).
    log_likelihood
        Σ_u log Σ_k ρ_k exp(…), or for hard assignments the sum over each user's own type.
    rounds
        Of expectation and maximisation.
    assignment
        ``"soft"``, or ``"hard"`` if each user who is heard is of one type alone.
    warnings
        Sentences that a reader of the result must see.
    """

    coefficients: Values
    shares: Values
    memberships: Values
    has_weight: Mask
    log_likelihood: float
    rounds: int
    assignment: Assignment = "soft"
    warnings: tuple[str, ...] = ()

    def of_user(self, user: int | None) -> Values:
        """Return a user's coefficients: the types' mean by membership, shape (feature,)."""
        known = user is not None and 0 <= user < len(self.memberships)
        return np.asarray((self.memberships[user] if known else self.shares) @ self.coefficients)

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        checked_features(comparisons.features, self.coefficients.shape[1])
        by_type = comparisons.differences() @ self.coefficients.T
        known = comparisons.users < len(self.memberships)
        weights = np.tile(self.shares, (len(comparisons), 1))
        weights[known] = self.memberships[comparisons.users[known]]
        return np.asarray((weights * by_type).sum(axis=1))

    def log_likelihoods(self, records: Comparisons | Rankings) -> Values:
        """Return log Σ_k ρ_k exp(Σ_r w_r log P_k(r)) of each user, taken as new, shape (user,); 0 without records.

        Nothing but the types and their shares is read: the users need not be those of the fit, and those of the fit are
        not recognised. Hard assignments make no difference here.
        """
        return _posterior(_log_joint(evidence(records), self.coefficients, self.shares))[1]

    def adapted(self, records: Comparisons | Rankings) -> MixtureReward:
        """Return the same types for other users: memberships are those that their records give.

        Parameters
        ----------
        records
            Of the new users, whose positions count from 0 again. A user without records gets the shares.
        """
        read = evidence(records)
        memberships, likelihood = expectation(read, self.coefficients, self.shares, self.assignment)
        has_weight = read.counts > 0
        return replace(
            self, memberships=np.where(has_weight[:, None], memberships, self.shares), has_weight=has_weight,
            log_likelihood=likelihood, rounds=0, warnings=few_records(records),
        )  # fmt: skip

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many users who are heard are most likely of each type, shape (type,)."""
        return np.bincount(self.memberships[self.has_weight].argmax(axis=1), minlength=len(self.shares))

    @property
    def unsure(self) -> float:
        """Share of the users who are heard whose largest membership is below 0.8; NaN if nobody is."""
        if not self.has_weight.any():
            return float("nan")
        return float((self.memberships[self.has_weight].max(axis=1) < UNSURE).mean())


def expectation(read: Evidence, coefficients: Values, shares: Values, assignment: Assignment) -> tuple[Values, float]:
    """Return memberships, shape (user, type), and the log-likelihood."""
    if assignment == "hard":
        logs = _log_joint(read, coefficients, None)
        return np.eye(len(coefficients))[logs.argmax(axis=1)], float(logs.max(axis=1).sum())
    memberships, likelihoods = _posterior(_log_joint(read, coefficients, shares))
    return memberships, float(likelihoods[read.counts > 0].sum())


def _log_joint(read: Evidence, coefficients: Values, shares: Values | None) -> Values:
    """Return log ρ_k + Σ_r w_r log P_k(r), without the shares if there are none, shape (user, type)."""
    losses = read.losses(coefficients) * read.weights[:, None]
    logs = np.stack([-read.by_user(of_type) for of_type in losses.T], axis=1)
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


def few_records(records: Comparisons | Rankings) -> tuple[str, ...]:
    """Return the warning that types are not identified, if users have too few comparisons of two; else nothing.

    A user with a ranking of three items or more is not one of them.
    """
    read = evidence(records)
    counts = read.counts
    asked = int((counts > 0).sum())
    longer = read.by_user((read.of_three_or_more & (read.weights > 0)).astype(np.float64)) > 0
    few = int(((counts > 0) & (counts < FEW_RECORDS) & ~longer).sum())
    if not few:
        return ()
    said = f"{few} of {asked} users have fewer than {FEW_RECORDS} comparisons: so few do not identify hidden types; "
    return (said + "rankings of three or more items are reported to",)


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
        check_whole(types=self.types, restarts=self.restarts, rounds=self.rounds)
        check_positive(ridge=self.ridge, tolerance=self.tolerance)
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
        model = self._climbed(read, first.coefficients, first.shares, first.rounds, self.rounds)
        return replace(model, warnings=few_records(comparisons))

    def _start(self, pooled: Values, generator: np.random.Generator) -> Values:
        """Return starting rewards around the pooled one, shape (type, feature)."""
        length = max(float(np.linalg.norm(pooled)), 1.0) / np.sqrt(len(pooled))
        return np.asarray(pooled + SPREAD * length * generator.normal(size=(self.types, len(pooled))))

    def _climbed(self, read: Evidence, coefficients: Values, shares: Values, done: int, most: int) -> MixtureReward:
        """Return where rounds of expectation and maximisation lead, after `most` rounds in all at the latest."""
        reached, has_weight, rounds = -np.inf, read.counts > 0, done
        least = self.change * float(read.weights.sum())
        memberships, likelihood = expectation(read, coefficients, shares, self.assignment)
        raised = self._raised(read, coefficients, likelihood)
        while rounds < most and raised - reached >= least:
            rounds, reached = rounds + 1, raised
            shares = memberships[has_weight].mean(axis=0)
            coefficients = self._maximised(read, coefficients, memberships)
            memberships, likelihood = expectation(read, coefficients, shares, self.assignment)
            raised = self._raised(read, coefficients, likelihood)
        memberships = np.where(has_weight[:, None], memberships, shares)
        return MixtureReward(coefficients, shares, memberships, has_weight, likelihood, rounds, self.assignment)

    def _raised(self, read: Evidence, coefficients: Values, likelihood: float) -> float:
        """Return what rounds raise: the log-likelihood less the ridge on all types."""
        return likelihood - 0.5 * self.ridge * float(read.weights.sum()) * float((coefficients**2).sum())

    def _maximised(self, read: Evidence, coefficients: Values, memberships: Values) -> Values:
        """Return better rewards of the types on records weighted by membership; an empty type keeps its own.

        A problem is a mean over its weights W_k, so that its ridge is W / W_k of the mixture's.
        """
        rewards, total = coefficients.copy(), float(read.weights.sum())
        for k in range(self.types):
            weights = read.weights * memberships[read.users, k]
            if weights.sum() > EMPTY * total:
                problem = read.problem(weights, self.ridge * total / weights.sum())
                rewards[k] = problem.solve(coefficients[k], tolerance=self.tolerance, steps=NEWTON_STEPS).coefficients
        return rewards
