"""The comparisons of a replay, in blocks of two ratings, and who is replayed. [ours], see `replay.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.errors import DataError
from accordant.preferences.drift.pairs import disjoint_pairs, pairs_with_earlier
from accordant.preferences.records import Comparisons, Ratings


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
