"""What a mixture of linear rewards knows of users: rewards of types, and how likely each user is of each type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.preferences.learners.learner import RewardModel, checked_features
from accordant.preferences.learners.mixture.evidence import Evidence, evidence
from accordant.preferences.records import Comparisons, Rankings

Assignment = Literal["soft", "hard"]

FEW_RECORDS = 10  # of a user: with fewer binary comparisons types are not told apart
UNSURE = 0.8  # a user whose largest probability is below this is not clearly of one type


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
        q_uk, shape (user, type); the shares for users without records of weight above 0.
    heard
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
    heard: Mask
    log_likelihood: float
    rounds: int
    assignment: Assignment = "soft"
    warnings: tuple[str, ...] = ()

    def of_user(self, user: int | None) -> Values:
        """Return a user's coefficients: the types' mean by membership, shape (feature,)."""
        known = user is not None and 0 <= user < len(self.memberships)
        return np.asarray((self.memberships[user] if known else self.shares) @ self.coefficients)

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        return np.asarray(checked_features(features, self.coefficients.shape[1]) @ self.of_user(user))

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
        memberships, likelihood = expected(read, self.coefficients, self.shares, self.assignment)
        heard = read.counts > 0
        return replace(
            self, memberships=np.where(heard[:, None], memberships, self.shares), heard=heard,
            log_likelihood=likelihood, rounds=0, warnings=few_records(records),
        )  # fmt: skip

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many users who are heard are most likely of each type, shape (type,)."""
        return np.bincount(self.memberships[self.heard].argmax(axis=1), minlength=len(self.shares))

    @property
    def unsure(self) -> float:
        """Share of the users who are heard whose largest membership is below 0.8; NaN if nobody is."""
        if not self.heard.any():
            return float("nan")
        return float((self.memberships[self.heard].max(axis=1) < UNSURE).mean())


def expected(read: Evidence, coefficients: Values, shares: Values, assignment: Assignment) -> tuple[Values, float]:
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
