"""Resamples of users for measures of slates: all requests of a user are drawn together.

A user who asks often gives many lists that are alike, so lists are no independent draws, but users may be. This is the
cluster bootstrap (Davison and Hinkley 1997, Section 3.8) with users as clusters; a resample may therefore hold more or
fewer requests than the data.

Measures of what comes together on a day, such as crowds, are no sums over users: drawing users with replacement would
make some days fuller than any that was, and a crowd grows with them, so that an interval could lie above its own value.
For these measures whole days are drawn instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.measures import DailyMeasure, SlateMeasure
from accordant.slates.serving import Served
from accordant.statistics import cluster_codes, resample_counts

BLOCK = 4_000_000  # weights held at a time (32 MB)


@dataclass(frozen=True, eq=False)
class Users:
    """Who sent which request.

    Attributes
    ----------
    codes
        Number of the user of each request, in the order in which users first ask, shape (request,).
    n
        Number of users.
    """

    codes: NDArray[np.intp]
    n: int

    @classmethod
    def of(cls, users: Sequence[str]) -> Users:
        """Return users from a name per request."""
        codes = cluster_codes(np.array(users))
        return cls(codes, int(codes.max(initial=-1)) + 1)

    def sums(self, columns: Values) -> Values:
        """Return sums over each user's requests, shape (user, column), from shape (column, request)."""
        order = np.argsort(self.codes, kind="stable")
        starts = np.searchsorted(self.codes[order], np.arange(self.n))
        if self.n == 0:
            return np.zeros((0, len(columns)))
        return np.add.reduceat(np.ascontiguousarray(columns.T)[order], starts, axis=0)

    def weights(self, resamples: int, generator: np.random.Generator) -> Iterator[Values]:
        """Yield blocks of how often each user is drawn with replacement, shape (some resamples, user).

        As many users are drawn for a resample as there are.

        Raises
        ------
        InputError
            If there is no user.
        """
        if self.n == 0:
            raise InputError("nobody asked for a list, so there is nobody to resample")
        step = max(1, BLOCK // self.n)
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            drawn = generator.integers(0, self.n, size=(size, self.n)) + self.n * np.arange(size)[:, None]
            yield np.bincount(drawn.ravel(), minlength=size * self.n).reshape(size, self.n).astype(np.float64)


def resampled(
    served: Served, measures: Mapping[str, SlateMeasure], users: Users, resamples: int, generator: np.random.Generator
) -> Values:
    """Return measures of what one rule showed, on resamples of users, shape (resample, measure).

    Measures that add up over requests cost one matrix product together; for those of days, days are drawn.

    Parameters
    ----------
    served
        What the rule showed.
    measures
        Label to measure.
    users
        Of the requests.
    resamples
        How many, at least 0.
    generator
        Source of randomness: the same state draws the same users and the same days, whatever the rule and the measures.
    """
    of_days = generator.spawn(1)[0]
    plain = {m: each for m, each in enumerate(measures.values()) if not isinstance(each, DailyMeasure)}
    by_day = {m: each for m, each in enumerate(measures.values()) if isinstance(each, DailyMeasure)}
    columns = {m: each.columns(served) for m, each in plain.items()}
    ends = np.cumsum([0, *(len(each) for each in columns.values())])
    totals = users.sums(np.concatenate([np.zeros((0, len(users.codes))), *columns.values()]))
    found = [np.empty((0, len(measures)))]
    for weights in users.weights(resamples, generator):
        values = np.full((len(weights), len(measures)), np.nan)
        sums = weights @ totals
        for place, (m, each) in enumerate(plain.items()):
            values[:, m] = each.value(sums[:, ends[place] : ends[place + 1]], served)
        found.append(values)
    every = np.concatenate(found)
    drawn = _drawn_days(served, resamples, of_days)
    for m, each in by_day.items():
        every[:, m] = each.whole(drawn @ each.by_day(served))
    return every


def _drawn_days(served: Served, resamples: int, generator: np.random.Generator) -> Values:
    """Return how often each day is drawn with replacement, shape (resample, day)."""
    n_days = len(np.unique(served.days))
    return resample_counts(n_days, resamples, generator).astype(np.float64)
