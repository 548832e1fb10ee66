"""Rules on grades.

approval            most voters who approve (Brams and Fishburn 1978)
range               the largest sum of grades: score voting (Smith 2000)
majority_judgment   the highest median grade (Balinski and Laraki 2007, 2011)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.errors import InputError
from accordant.kernels import compiled
from accordant.strategies.compromise import Scored
from accordant.strategies.reductions import weighted_sum
from accordant.strategies.strategy import Structure, register
from accordant.voting import Profile
from accordant.voting.rules.rule import VotingRule
from accordant.voting.rules.sums import half_of, settle, whole
from accordant.voting.rules.tally import MANY_CONTEXTS, Tally, suited


def approval_scores(approvals: Mask, weights: Values) -> Values:
    """Return the weight that approves each alternative, shape (alternative, context)."""
    marks = approvals.reshape(len(approvals), -1).astype(np.float64)
    return settle((weights @ marks).reshape(approvals.shape[1:]), weights)


def approved_grades(grades: Values, threshold: float | None, tolerance: float) -> Mask:
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


def range_scores(grades: Values, weights: Values) -> Values:
    """Return Σ_i w_i grade(i, a), shape (alternative, context)."""
    if grades.shape[2] < MANY_CONTEXTS:
        return np.asarray((weights @ grades.reshape(len(grades), -1)).reshape(grades.shape[1:]))
    sums = np.empty(grades.shape[1:])
    weighted_sum(np.ascontiguousarray(grades), weights, sums)
    return sums


def full_range(grades: Values, tolerance: float) -> Values:
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


USUAL_GRADES = 6  # from reject to excellent, as in the experiments of Balinski and Laraki


def weight_up_to(levels: Integers, n_levels: int, weights: Values) -> Values:
    """Return the weight that grades each alternative with at most each level but the highest.

    Parameters
    ----------
    levels
        Grades as 0 to n_levels − 1, higher is better, shape (voter, alternative, context).
    n_levels
        Number of levels.
    weights
        Shape (voter,).

    Returns
    -------
    Shape (level, alternative, context), with n_levels − 1 levels.
    """
    n_voters, n_alternatives, n_contexts = levels.shape
    n_cells = n_alternatives * n_contexts
    cells = levels.reshape(n_voters, n_cells).astype(np.int64) * n_cells + np.arange(n_cells)
    sums = np.bincount(cells.ravel(), np.repeat(weights, n_cells), n_levels * n_cells)
    up_to = sums.reshape(n_levels, n_alternatives, n_contexts).cumsum(axis=0)[:-1]
    return up_to if whole(weights) else settle(up_to, weights)


def majority_judgment_scores(up_to: Values, half: float) -> Values:
    """Return minus how many alternatives have a higher majority value, shape (alternative, context).

    An alternative's majority value is the sequence of its (lower) median grades, each taken out before the next is
    looked for; sequences are compared grade by grade (Balinski and Laraki 2011). Taking
    medians out walks from the middle of the sorted grades outwards, at each distance first down, then up. So for each
    level we note at which distance from the middle grades fall to it on the way down, and rise above it on the way up;
    the first event that two alternatives do not share decides. Distances are weights: no grade is counted one by
    one, and any weights will do.

    Parameters
    ----------
    up_to
        Weight that grades each alternative with at most each level but the highest, shape (level, alternative,
        context).
    half
        Half of all weight.
    """
    scores = np.zeros(up_to.shape[1:])
    suited(places_of_majority_values, up_to.shape[2])(up_to, half, scores)
    return scores


@compiled
def places_of_majority_values(up_to: Values, half: float, scores: Values) -> None:
    """Subtract from `scores` how many majority values are higher than each."""
    n_events, n_alternatives, n_contexts = up_to.shape
    nearest, sign = np.empty(n_contexts), np.empty(n_contexts)
    for a in range(n_alternatives):
        for b in range(a + 1, n_alternatives):
            nearest[:] = np.inf
            sign[:] = 0.0
            for way in range(2):  # falls first: where both happen at one distance they decide
                good = -1.0 if way == 0 else 1.0
                for level in range(n_events):
                    first, second = up_to[level, a], up_to[level, b]
                    for t in range(n_contexts):
                        one, other = good * (first[t] - half), good * (second[t] - half)
                        one, other = (one if one > 0.0 else 0.0), (other if other > 0.0 else 0.0)
                        sooner = one if one < other else other
                        decides = one != other and sooner < nearest[t]
                        sign[t] = (good if one < other else -good) if decides else sign[t]
                        nearest[t] = sooner if decides else nearest[t]
            for t in range(n_contexts):
                scores[a, t] -= 1.0 if sign[t] < 0.0 else 0.0
                scores[b, t] -= 1.0 if sign[t] > 0.0 else 0.0


def median_levels(up_to: Values, half: float) -> Values:
    """Return the lower median level of each alternative, shape (alternative, context)."""
    return np.asarray((up_to < half).sum(axis=0), dtype=np.float64)


@register("majority_judgment")
@dataclass(frozen=True)
class MajorityJudgment(VotingRule):
    """Choose the highest median grade; among equals, the highest after medians are taken out one by one.

    No number per alternative expresses this order: scores are places, minus the number of better alternatives.

    Parameters
    ----------
    grades
        Into how many grades of equal width expected rewards are cut, at least 2. Ballots that state grades keep theirs.
    """

    dependence: ClassVar[Structure] = "column_order"

    grades: int = USUAL_GRADES

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.grades, bool) or not isinstance(self.grades, int) or not 2 <= self.grades <= 1000:
            raise InputError(f"majority judgment with {self.grades} grades; allowed: a whole number from 2 to 1000")

    @property
    def label(self) -> str:
        """Name, and the number of grades if it is not 6."""
        return self.name if self.grades == USUAL_GRADES else f"{self.name}[{self.grades} grades]"

    def refusal(self, profile: Profile) -> str | None:
        """Return that ballots need grades."""
        return None if profile.grades is not None else "it needs grades, and they carry none"

    def score(self, tally: Tally) -> Scored:
        """Return places, and the median grades as levels from 0."""
        assert tally.grades is not None
        if tally.rewards:
            cut = np.floor(tally.grades * self.grades + tally.tolerance * self.grades)
            levels, n_levels = np.minimum(cut, self.grades - 1).astype(np.int16), self.grades
        else:
            stated, inverse = np.unique(tally.grades, return_inverse=True)
            levels, n_levels = inverse.reshape(tally.grades.shape), len(stated)
        up_to, half = weight_up_to(levels, n_levels, tally.weights), half_of(tally.weights)
        scores = majority_judgment_scores(up_to, half)
        return Scored(scores, quantities={"median_grade": median_levels(up_to, half)})
