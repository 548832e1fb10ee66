"""Approval: most voters who approve (Brams and Fishburn 1978)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import Structure, register
from accordant.voting import Profile
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.sums import settled
from accordant.voting.rules.tally import Tally


def approval_scores(approvals: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight that approves each alternative, shape (alternative, context).

    Parameters
    ----------
    approvals
        Shape (voter, alternative, context).
    weights
        Shape (voter,).
    """
    marks = approvals.reshape(len(approvals), -1).astype(np.float64)
    return settled((weights @ marks).reshape(approvals.shape[1:]), weights)


def approved_grades(grades: NDArray[np.float64], threshold: float | None, tolerance: float) -> NDArray[np.bool_]:
    """Return which grades reach the threshold, or the mean of the voter's grades if it is None, same shape."""
    bar = grades.mean(axis=1, keepdims=True) if threshold is None else threshold
    return np.asarray(grades >= bar - tolerance * np.maximum(1.0, np.abs(bar)))


@register("approval")
@dataclass(frozen=True)
class Approval(VotingRule):
    """Choose what most voters approve: on E, what is worth at least the mean over actions to them.

    Approving what is above the mean is the best reply of a voter who expects every outcome alike (Weber 1978).

    Parameters
    ----------
    weights
        See `VotingRule`.
    threshold
        A number replaces the mean; it also replaces the approvals of ballots that carry grades.
    """

    threshold: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None and not np.isfinite(self.threshold):
            raise InputError(f"approval threshold is {self.threshold}; allowed: a finite number, or None for the mean")

    @property
    def label(self) -> str:
        """Name, and the threshold if there is one."""
        return self.name if self.threshold is None else f"{self.name}[at least {self.threshold:g}]"

    def structure(self, *, frozen: bool = False) -> Structure:
        """Grades of an action are counted by themselves, unless compared with their mean."""
        del frozen
        return "other" if self.threshold is None else "column_score"

    def refusal(self, profile: Profile) -> str | None:
        """Return that ballots need approvals or grades."""
        if profile.grades is not None or (profile.approvals is not None and self.threshold is None):
            return None
        return "it needs approvals or grades, and they are rankings"

    def score(self, tally: Tally) -> Scored:
        """Return the weight of approvals."""
        approvals = tally.approvals if self.threshold is None else None
        if approvals is None:
            assert tally.grades is not None
            approvals = approved_grades(tally.grades, self.threshold, max(tally.tolerance, np.finfo(float).eps))
        return Scored(tally.unit * approval_scores(approvals, tally.weights))
