"""Tours, and what was known before the first of the latest ones began."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.errors import DataError, InputError
from accordant.slates.cases.tourism.tables import Visits, date_of

SHORTEST = 2  # attractions of a tour from which something is left to predict after the first


@dataclass(frozen=True)
class Tour:
    """What one user visited on one tour.

    Attributes
    ----------
    user, name
        Ids.
    start
        Seconds since 1970 at which the first visit began.
    items
        Different attractions in the order of their first visit, by position.
    """

    user: str
    name: str
    start: float
    items: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Tours to predict, and visits to learn from.

    Attributes
    ----------
    tests
        The latest tours of at least two attractions, in the order of time.
    training
        Whether a visit was over before the first of them began, shape (visit,).
    time
        Seconds since 1970 at which it began.
    tours
        How many tours of at least two attractions there are in all.
    """

    tests: tuple[Tour, ...]
    training: NDArray[np.bool_]
    time: float
    tours: int


def tours_of(visits: Visits) -> list[Tour]:
    """Return all tours in the order of their first visits; ties by user, then by name."""
    found: dict[tuple[str, str], list[int]] = {}
    for row, tour in enumerate(visits.tours):
        found.setdefault(tour, []).append(row)
    tours = [
        Tour(user, name, float(visits.starts[rows[0]]), tuple(dict.fromkeys(visits.items[rows].tolist())))
        for (user, name), rows in found.items()
    ]
    return sorted(tours, key=lambda tour: (tour.start, tour.user, tour.name))


def split_by_time(visits: Visits, test_share: float) -> Split:
    """Split at the start of the first of the latest tours of at least two attractions.

    A visit that is not over by then is not learned from, whoever made it and whatever tour it belongs to.

    Parameters
    ----------
    visits
        In the order of time.
    test_share
        Share of these tours that are tests, above 0 and below 1; at least one is.

    Raises
    ------
    InputError
        If the share is out of range.
    DataError
        If no tour has two attractions, or nothing happened before the first test.
    """
    if not 0 < test_share < 1:
        raise InputError(f"test_share is {test_share:g}; allowed: above 0 and below 1")
    every = tours_of(visits)
    long_enough = [tour for tour in every if len(tour.items) >= SHORTEST]
    if not long_enough:
        raise DataError(
            f"no tour has {SHORTEST} different attractions: {len(every)} tours were found, none with anything to "
            "predict after its first attraction"
        )
    tests = long_enough[-math.ceil(test_share * len(long_enough)) :]
    training = visits.ends < tests[0].start
    if not training.any():
        raise DataError(
            f"nothing to learn from: no visit was over before the first test tour began on {date_of(tests[0].start)}; "
            "allowed: a smaller test_share, or more tours"
        )
    return Split(tuple(tests), training, tests[0].start, len(long_enough))


def counts_by_user(
    users: Sequence[str], visits: Visits, training: NDArray[np.bool_], n_items: int
) -> NDArray[np.float64]:
    """Return how often each user visited each attraction in training, shape (item, user)."""
    column = {user: place for place, user in enumerate(dict.fromkeys(users))}
    found = np.zeros((n_items, len(column)))
    for row in np.flatnonzero(training):
        place = column.get(visits.users[row])
        if place is not None:
            found[visits.items[row], place] += 1
    return found[:, [column[user] for user in users]]
