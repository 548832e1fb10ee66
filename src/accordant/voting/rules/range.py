"""Range voting, or score voting: the largest sum of grades (Smith 2000)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.strategies.compromise import Scored
from accordant.strategies.reductions import weighted_sum
from accordant.strategies.strategy import Structure, register
from accordant.voting import Profile
from accordant.voting.rules.layout import MANY_CONTEXTS
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.tally import Tally


def range_scores(grades: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_i w_i grade(i, a), shape (alternative, context).

    Parameters
    ----------
    grades
        Shape (voter, alternative, context).
    weights
        Shape (voter,).
    """
    if grades.shape[2] < MANY_CONTEXTS:
        return np.asarray((weights @ grades.reshape(len(grades), -1)).reshape(grades.shape[1:]))
    sums = np.empty(grades.shape[1:])
    weighted_sum(np.ascontiguousarray(grades), weights, sums)
    return sums


def full_range(grades: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """Return grades stretched so that each voter's lowest is 0 and highest 1; 0 where all are level, same shape."""
    low = grades.min(axis=1, keepdims=True)
    span = grades.max(axis=1, keepdims=True) - low
    level = span <= tolerance
    return np.asarray(np.where(level, 0.0, (grades - low) / np.where(level, 1.0, span)))


@register("range", aliases=("score_voting",))
@dataclass(frozen=True)
class Range(VotingRule):
    """Choose the largest weighted sum of grades; on E this is the utilitarian rule.

    Parameters
    ----------
    weights
        See `VotingRule`.
    normalised
        Whether each voter's grades are stretched to the whole range from 0 to 1 first; a voter who grades all alike
        then has no say. On E this is relative utilitarianism (Dhillon and Mertens 1999).
    """

    normalised: bool = False

    @property
    def label(self) -> str:
        """Name, and whether grades are normalised."""
        return f"{self.name}[normalised]" if self.normalised else self.name

    def structure(self, *, frozen: bool = False) -> Structure:
        """Grades of an action are counted by themselves, unless they are stretched."""
        del frozen
        return "other" if self.normalised else "column_score"

    def refusal(self, profile: Profile) -> str | None:
        """Return that ballots need grades."""
        return None if profile.grades is not None else "it needs grades, and they carry none"

    def score(self, tally: Tally) -> Scored:
        """Return the sums of grades."""
        assert tally.grades is not None
        grades = full_range(tally.grades, tally.tolerance) if self.normalised else tally.grades
        return Scored(tally.unit * range_scores(grades, tally.weights))
