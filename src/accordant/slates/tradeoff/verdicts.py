"""What a path of lists from accurate to diverse shows: effects of single points, and the verdict on all [ours].

Over the points that are more diverse than the most accurate list, with `margin` the loss that does not matter:

    none       at all of them both readings lose at most the margin
    artefact   at some point reading ``all`` loses more than the margin, and reading ``best`` at most the margin
    real       at some point reading ``best`` loses more than the margin, and at none is the loss an artefact
    undecided  anything else: intervals too wide, no point is more diverse, or too few users or resamples

An artefact up to some point may be real beyond it: `real_from` says from where.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.slates.slates import NOTHING, Slates

ALIKE = 1e-3  # a mean square of centred log probabilities below it (3 %) is too little to fit a slope to
Effect = Literal["costs", "holds", "unclear"]
Verdict = Literal["artefact", "real", "none", "undecided"]
"""What the points of a path show together, by the rules at the head of this module."""
# By tests/long/test_tradeoff_errors.py a loss that is not there is found in up to 47 % of the samples of 1 user, 3 % of
# 5 and 1 % of 20; a loss of half for one user in twenty is ruled out in up to 66 %, 16 % and 0 % [measured].
LEAST_USERS = 20
WHOLE = 1e-9  # relative; what rounding adds to a whole number of resamples
MORE = 1e-9  # categories; a list with less above the first is not more diverse


@dataclass(frozen=True)
class PooledGamma:
    """One slope through the types of all lists, each list with its own level; NaN where nothing tells it.

    `left_out` is the share of wanted types that a list shows no item of: they have no log share, and a line that
    counted them would be steeper. Near 1 for short lists, whose γ then says little.
    """

    gamma: float
    left_out: float


def pooled_gamma(wanted: Values, counts: NDArray[np.intp]) -> PooledGamma:
    """Return the slope of log(a_t / n) over log p_t, by least squares within lists [ours].

    Counts a_t and chances p_t are of shape (type, request).
    """
    used = (wanted > 0) & (counts > 0)
    some = np.maximum(used.sum(axis=0), 1)
    x = np.where(used, np.log(np.where(used, wanted, 1.0)), 0.0)
    y = np.where(used, np.log(np.where(used, counts, 1)), 0.0)
    x = np.where(used, x - x.sum(axis=0) / some, 0.0)
    y = np.where(used, y - y.sum(axis=0) / some, 0.0)
    squares = float((x * x).sum())
    slope = float((x * y).sum()) / squares if squares > ALIKE * int(used.sum()) else math.nan
    n_wanted = int((wanted > 0).sum())
    left_out = ((wanted > 0) & (counts == 0)).sum() / n_wanted if n_wanted else math.nan
    return PooledGamma(slope, float(left_out))


@dataclass(frozen=True)
class Change:
    """A difference to the most accurate list, with its simultaneous interval over users, and what it shows."""

    value: float
    low: float
    high: float
    effect: Effect


@dataclass(frozen=True)
class PathPoint:
    """Lists of one balance.

    Attributes
    ----------
    balance
        λ of maximal marginal relevance.
    categories
        Mean number of different categories in a list.
    entropy
        Mean entropy of categories in a list, in nats.
    all_consumed, best_consumed
        Accuracy under each reading, in [0, 1].
    all_change, best_change
        Differences to the first point; None for the first point itself.
    gamma
        How shares of categories follow what users want; see `pooled_gamma`.
    """

    balance: float
    categories: float
    entropy: float
    all_consumed: float
    best_consumed: float
    all_change: Change | None
    best_change: Change | None
    gamma: PooledGamma


def too_few(n_users: int, resamples: int, tail: float) -> str | None:
    """Return why nothing can be decided, or None.

    `n_users` who all agree by chance do so with probability 2^−n, which must not be above the tail (as in a sign test);
    and a quantile needs at least one resample beyond it. `tail` is the probability beyond each end of an interval,
    above 0.
    """
    users, draws = max(LEAST_USERS, math.ceil(-math.log2(tail))), math.ceil(1.0 / tail * (1.0 - WHOLE))
    if n_users < users:
        return f"the users with an outcome are {n_users}; a verdict needs at least {users}"
    if resamples < draws:
        return f"the resamples are {resamples}; intervals of this level need at least {draws}"
    return None


def more_diverse(points: Sequence[PathPoint]) -> list[tuple[PathPoint, Change, Change]]:
    """Return the points that are more diverse than the first, each with its changes under both readings."""
    return [
        (point, point.all_change, point.best_change)
        for point in points
        if point.categories > points[0].categories + MORE and point.all_change and point.best_change
    ]


def real_from(points: Sequence[PathPoint]) -> float | None:
    """Return the mean number of categories from which on reading ``best`` loses more than the margin, if it does."""
    costly = [point.categories for point, _, best in more_diverse(points) if best.effect == "costs"]
    return min(costly, default=None)


def verdict_of(points: Sequence[PathPoint], consumed: int, margin: float) -> tuple[Verdict, str]:
    """Return the verdict by the rules of `Verdict`, and the numbers that decide."""
    least, more = points[0].categories, more_diverse(points)
    if not more:
        return "undecided", f"no list of the path has more than {least:.2f} categories on average"
    if all(every.effect == "holds" and best.effect == "holds" for _, every, best in more):
        most = max(point.categories for point, _, _ in more)
        return "none", f"up to {most:.2f} categories neither reading loses more than {margin:g}"
    seeming = [triple for triple in more if triple[1].effect == "costs" and triple[2].effect == "holds"]
    if seeming:
        point, every, best = max(seeming, key=lambda triple: triple[2].value)
        return "artefact", (
            f"with {point.categories:.2f} categories instead of {least:.2f} accuracy changes by {_words(every)} if all "
            f"is consumed, but by {_words(best)} if the best {consumed} are"
        )
    costly = [triple for triple in more if triple[2].effect == "costs"]
    if costly:
        point, _, best = min(costly, key=lambda triple: triple[0].categories)
        return "real", (
            f"with {point.categories:.2f} categories instead of {least:.2f} accuracy changes by {_words(best)} if the "
            f"best {consumed} are consumed"
        )
    point, every, best = max(more, key=lambda triple: triple[0].categories)
    return "undecided", (
        f"the intervals neither show a loss nor rule one out: with {point.categories:.2f} categories instead of "
        f"{least:.2f} accuracy changes by {_words(every)} if all is consumed, and by {_words(best)} if the best "
        f"{consumed} are"
    )


def _words(change: Change) -> str:
    return f"{change.value:+.4f} [{change.low:+.4f}, {change.high:+.4f}]"


class Outcomes(Protocol):
    """Accuracy of lists under two readings."""

    @property
    def judged(self) -> Mask:
        """Requests that a list can be judged by, shape (request,)."""

    def accuracies(self, slates: Slates, consumed: int) -> tuple[Values, Values]:
        """Return the accuracy if all is consumed, and if the best k_c are, each in [0, 1], shape (request,).

        The first is the mean over the list, the second the mean over its best k_c items, missing ones counting 0.
        """


@dataclass(frozen=True, eq=False)
class LoggedOutcomes:
    """What each user really consumed.

    Parameters
    ----------
    targets
        Shape (item, request); requests without any are not judged.
    """

    targets: Mask

    @property
    def judged(self) -> Mask:
        """Requests with a target."""
        return np.asarray(self.targets.any(axis=0))

    def accuracies(self, slates: Slates, consumed: int) -> tuple[Values, Values]:
        """Return hits over the length of the list, and hits up to k_c over k_c."""
        shown = slates.items != NOTHING
        requests = np.arange(slates.n_users)[:, None]
        hits = (self.targets[np.maximum(slates.items, 0), requests] & shown).sum(axis=1)
        return hits / np.maximum(slates.lengths, 1), np.minimum(hits, consumed) / consumed


@dataclass(frozen=True, eq=False)
class ModelledOutcomes:
    """A user wants one type; items of that type please independently, others do not (Peng and others 2024).

    Parameters
    ----------
    wanted
        p_t, shape (type, request), with sum 1 for each request.
    chances
        With which an item pleases if its type is wanted, in [0, 1], shape (item, request).
    types
        Of items, shape (item,).

    Raises `InputError` if shapes or numbers do not fit.
    """

    wanted: Values
    chances: Values
    types: NDArray[np.intp]

    def __post_init__(self) -> None:
        if self.chances.shape != (len(self.types), self.wanted.shape[1]):
            allowed = (len(self.types), self.wanted.shape[1])
            raise InputError(f"chances have shape {self.chances.shape}; allowed: (item, request), {allowed}")
        if not ((self.chances >= 0) & (self.chances <= 1)).all() or not np.allclose(self.wanted.sum(axis=0), 1.0):
            raise InputError("chances are outside [0, 1], or the chances of types do not sum to 1")

    @property
    def judged(self) -> Mask:
        """All requests."""
        return np.ones(self.wanted.shape[1], dtype=bool)

    def accuracies(self, slates: Slates, consumed: int) -> tuple[Values, Values]:
        """Return Σ_t p_t (expected number that pleases) / length, and Σ_t p_t E min(k_c, number) / k_c."""
        every, best = np.zeros(slates.n_users), np.zeros(slates.n_users)
        requests = np.arange(slates.n_users)
        exactly = np.zeros((*self.wanted.shape, consumed))  # chances of 0, 1, …, k_c − 1 that please
        exactly[:, :, 0] = 1.0
        for items in slates.items.T:
            there = items != NOTHING
            item, request = items[there], requests[there]
            t = self.types[item]
            q, p = self.chances[item, request], self.wanted[t, request]
            every[request] += p * q
            fewer = exactly[t, request]
            best[request] += p * q * fewer.sum(axis=1)
            after = fewer * (1.0 - q[:, None])
            after[:, 1:] += fewer[:, :-1] * q[:, None]
            exactly[t, request] = after
        return every / np.maximum(slates.lengths, 1), best / consumed
