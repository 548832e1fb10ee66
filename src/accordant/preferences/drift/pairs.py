"""Comparisons from ratings that come in one after the other: nothing is compared with a rating that is yet to come.

[ours] `pairs_with_earlier` compares each new rating with several earlier ones of its user; the comparisons of one
rating share it, and share earlier ratings with those of others. `disjoint_pairs` uses every rating once at most: what a
test needs whose null hypothesis is about independent or exchangeable answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes
from accordant.errors import DataError, InputError
from accordant.preferences.records import Comparisons, Ratings


@dataclass(frozen=True, eq=False)
class RatingPairs:
    """Comparisons of ratings with earlier ones.

    Attributes
    ----------
    comparisons
        In the order of `newer`; those of one rating weigh 1 in sum.
    newer, older
        Position of the newer and of the older rating in `Ratings`, shape (record,).
    place
        How many ratings of the user came before the newer one, shape (record,).
    """

    comparisons: Comparisons
    newer: Codes
    older: Codes
    place: Codes


def pairs_with_earlier(
    ratings: Ratings, *, gap: float = 1.0, most: int = 4, generator: np.random.Generator
) -> RatingPairs:
    """Compare each rating with earlier ratings of the same user.

    Parameters
    ----------
    ratings
        With times; ties in the given order.
    gap
        Smallest difference of two ratings, above 0.
    most
        Most earlier ratings for each new one, drawn at random among those that differ by the gap, at least 1.
    generator
        Source of the draw.

    Raises
    ------
    DataError
        If there are no times.
    InputError
        If a parameter is out of range.
    """
    if most < 1:
        raise InputError(f"most is {most}; allowed: at least 1")
    newer: list[int] = []
    older: list[int] = []
    place: list[int] = []
    for rows in _rows_of_users(ratings, gap):
        stars = ratings.ratings[rows]
        for step in range(1, len(rows)):
            others = np.flatnonzero(np.abs(stars[:step] - stars[step]) >= gap)
            if len(others) > most:
                others = np.sort(generator.choice(others, most, replace=False))
            newer.extend([int(rows[step])] * len(others))
            older.extend(rows[others].tolist())
            place.extend([step] * len(others))
    return _compared(ratings, np.array(newer, np.intp), np.array(older, np.intp), np.array(place, np.intp))


def disjoint_pairs(ratings: Ratings, *, gap: float = 1.0) -> RatingPairs:
    """Compare the first two ratings of each user, the next two, and so on; leave out pairs closer than the gap.

    If a user's ratings are independent draws from one distribution of (item, rating), so are the comparisons.

    Parameters
    ----------
    ratings, gap
        As for `pairs_with_earlier`.
    """
    newer: list[Codes] = []
    older: list[Codes] = []
    place: list[Codes] = []
    for rows in _rows_of_users(ratings, gap):
        early, late = rows[0 : len(rows) - 1 : 2], rows[1::2]
        apart = np.abs(ratings.ratings[early] - ratings.ratings[late]) >= gap
        older.append(early[apart])
        newer.append(late[apart])
        place.append(2 * np.flatnonzero(apart) + 1)
    none = [np.empty(0, dtype=np.intp)]
    return _compared(ratings, np.concatenate(none + newer), np.concatenate(none + older), np.concatenate(none + place))


def _rows_of_users(ratings: Ratings, gap: float) -> list[Codes]:
    """Return the ratings of each user who has any, in order of time."""
    if not 0 < gap < np.inf:
        raise InputError(f"gap is {gap}; allowed: above 0")
    if ratings.times is None:
        raise DataError("ratings have no times; allowed: a time for each, to say which came first")
    order = np.lexsort((np.arange(len(ratings)), ratings.times, ratings.users))
    return np.split(order, np.flatnonzero(np.diff(ratings.users[order])) + 1) if len(ratings) else []


def _compared(ratings: Ratings, newer: Codes, older: Codes, place: Codes) -> RatingPairs:
    """Return comparisons of given pairs, in order of users and then of time."""
    better = ratings.ratings[newer] > ratings.ratings[older]
    chosen, rejected = np.where(better, newer, older), np.where(better, older, newer)
    sharing = np.bincount(newer, minlength=len(ratings))[newer]
    names = ratings.user_names or tuple(map(str, range(int(ratings.users.max(initial=-1)) + 1)))
    comparisons = Comparisons(
        ratings.features, ratings.items[chosen], ratings.items[rejected], ratings.users[newer], names, ratings.groups,
        1.0 / sharing, np.abs(ratings.ratings[newer] - ratings.ratings[older]),
    )  # fmt: skip
    return RatingPairs(comparisons, newer, older, place)
