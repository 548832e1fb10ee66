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
from typing import Literal

from accordant.slates.tradeoff.pooled import PooledGamma

Effect = Literal["costs", "holds", "unclear"]
Verdict = Literal["artefact", "real", "none", "undecided"]
"""What the points of a path show together; see above."""

# By tests/long/test_tradeoff_errors.py a loss that is not there is found in up to 47 % of the samples of 1 user, 3 % of
# 5 and 1 % of 20; a loss of half for one user in twenty is ruled out in up to 66 %, 16 % and 0 % [measured].
LEAST_USERS = 20
WHOLE = 1e-9  # relative; what rounding adds to a whole number of resamples
MORE = 1e-9  # categories; a list with less above the first is not more diverse


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
    and a quantile needs at least one resample beyond it.

    Parameters
    ----------
    n_users
        Who can be resampled.
    resamples
        How many there are.
    tail
        Probability beyond each end of an interval, above 0.
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
    seeming = [each for each in more if each[1].effect == "costs" and each[2].effect == "holds"]
    if seeming:
        point, every, best = max(seeming, key=lambda each: each[2].value)
        return "artefact", (
            f"with {point.categories:.2f} categories instead of {least:.2f} accuracy changes by {_words(every)} if all "
            f"is consumed, but by {_words(best)} if the best {consumed} are"
        )
    costly = [each for each in more if each[2].effect == "costs"]
    if costly:
        point, _, best = min(costly, key=lambda each: each[0].categories)
        return "real", (
            f"with {point.categories:.2f} categories instead of {least:.2f} accuracy changes by {_words(best)} if the "
            f"best {consumed} are consumed"
        )
    point, every, best = max(more, key=lambda each: each[0].categories)
    return "undecided", (
        f"the intervals neither show a loss nor rule one out: with {point.categories:.2f} categories instead of "
        f"{least:.2f} accuracy changes by {_words(every)} if all is consumed, and by {_words(best)} if the best "
        f"{consumed} are"
    )


def _words(change: Change) -> str:
    return f"{change.value:+.4f} [{change.low:+.4f}, {change.high:+.4f}]"
