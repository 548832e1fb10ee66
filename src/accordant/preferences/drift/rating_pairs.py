"""Comparisons from ratings that come in one after the other: nothing is compared with a rating that is yet to come.

[ours] `pairs_with_earlier` compares each new rating with several earlier ones of its user; the comparisons of one
rating share it, and share earlier ratings with those of others. `disjoint_pairs` uses every rating once at most: what a
test needs whose null hypothesis is about independent or exchangeable answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Codes, Mask, Values
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
    comparisons = Comparisons(
        ratings.features, ratings.items[chosen], ratings.items[rejected], ratings.users[newer], ratings.names,
        ratings.groups,
        1.0 / sharing, np.abs(ratings.ratings[newer] - ratings.ratings[older]),
    )  # fmt: skip
    return RatingPairs(comparisons, newer, older, place)


@dataclass(frozen=True)
class ReplayStart:
    """Who is replayed.

    Attributes
    ----------
    time
        T, the time at which the replay begins.
    past_users
        Number of users who begin before T.
    straddling
        Number of those among them who rate on at T or later; they are not replayed.
    replayed
        Number of users who begin at T or later.
    """

    time: float
    past_users: int
    straddling: int
    replayed: int


def split_users(ratings: Ratings, share: float) -> tuple[Ratings, Ratings, ReplayStart]:
    """Return all ratings before T, all ratings of users who begin at T or later, and the counts.

    Parameters
    ----------
    ratings
        With times.
    share
        T is the time by when this share of the users has begun, in (0, 1).

    Raises
    ------
    DataError
        If there are no ratings or no times.
    """
    if ratings.times is None or not len(ratings):
        raise DataError("a replay needs at least one rating, and a time for each; found none")
    present = np.unique(ratings.users)
    begins, ends = np.full(present.max() + 1, np.inf), np.full(present.max() + 1, -np.inf)
    np.minimum.at(begins, ratings.users, ratings.times)
    np.maximum.at(ends, ratings.users, ratings.times)
    time = float(np.quantile(begins[present], share, method="higher"))
    replayed, earlier = present[begins[present] >= time], present[begins[present] < time]
    past = _of_users(ratings, np.flatnonzero(ratings.times < time), present)
    later = _of_users(ratings, np.flatnonzero(np.isin(ratings.users, replayed)), replayed)
    start = ReplayStart(time, len(earlier), int((ends[earlier] >= time).sum()), len(replayed))
    return past, later, start


def _of_users(ratings: Ratings, rows: Codes, users: Codes) -> Ratings:
    """Return some ratings, with the users renumbered to the given ones."""
    assert ratings.times is not None
    names = tuple(str(user) if ratings.user_names is None else ratings.user_names[user] for user in users)
    groups = None if ratings.groups is None else tuple(ratings.groups[user] for user in users)
    return replace(
        ratings, items=ratings.items[rows], users=np.searchsorted(users, ratings.users[rows]),
        ratings=ratings.ratings[rows], times=ratings.times[rows], user_names=names, groups=groups,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class RatingStream:
    """Comparisons of new ratings with earlier ones, and fresh pairs of two new ones.

    Attributes
    ----------
    comparisons
        Those with earlier ratings weigh 1 for each new rating in sum; fresh pairs weigh 0: predicted, not learned.
    fresh
        Which are fresh pairs, shape (record,).
    first
        Which belong to the user's first part, shape (record,).
    blocks
        0 for what the user's first two ratings bring, 1 for the next two, …, shape (record,).
    times
        Time of the first rating of the block, shape (record,).
    """

    comparisons: Comparisons
    fresh: Mask
    first: Mask
    blocks: Codes
    times: Values

    @classmethod
    def made(
        cls, ratings: Ratings, *, gap: float, most: int, first: float, generator: np.random.Generator
    ) -> RatingStream:
        """Return the comparisons of ratings.

        Parameters
        ----------
        ratings
            With times and names of users.
        gap, most, generator
            See `pairs_with_earlier`.
        first
            Share of each user's ratings in the first part, in (0, 1), rounded down to whole blocks.
        """
        assert ratings.times is not None
        earlier = pairs_with_earlier(ratings, gap=gap, most=most, generator=generator)
        fresh = disjoint_pairs(ratings, gap=gap)
        one, two = earlier.comparisons, fresh.comparisons
        users, place = (np.concatenate([one.users, two.users]), np.concatenate([earlier.place, fresh.place]))
        comparisons = Comparisons(
            ratings.features, np.concatenate([one.chosen, two.chosen]), np.concatenate([one.rejected, two.rejected]),
            users, one.user_names, ratings.groups, np.concatenate([one.record_weights, np.zeros(len(two))]),
        )  # fmt: skip
        counts = np.bincount(ratings.users, minlength=comparisons.n_users)
        order = np.lexsort((np.arange(len(ratings)), ratings.times, ratings.users))
        begins = np.cumsum(counts) - counts
        blocks = place // 2
        return cls(
            comparisons, np.arange(len(users)) >= len(one), blocks < np.floor(first * counts[users] / 2), blocks,
            ratings.times[order[begins[users] + 2 * blocks]],
        )  # fmt: skip
