"""`DailyMeasure`: a measure of what comes together on one day, such as crowds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.slates.measures.measure import SlateMeasure
from accordant.slates.serving import Served


@dataclass(frozen=True)
class DailyMeasure(SlateMeasure):
    """A measure that adds up parts over days, where a part is no sum over the requests of its day.

    As for any measure, sums over requests are enough: there is one column for each day and each column of `daily`.
    With many days that is a large array of zeros, so whoever resamples draws days instead: the sum over days of
    `by_day` is what `whole` reads, and gives the same number.
    """

    @abstractmethod
    def daily(self, served: Served) -> Values:
        """Return what each request adds to the sums of its day, shape (column, request)."""

    @abstractmethod
    def parts(self, sums: Values, served: Served) -> Values:
        """Return what a day adds to the parts, shape (..., part), from its sums, shape (..., column)."""

    @abstractmethod
    def whole(self, parts: Values) -> Values:
        """Return the measure from parts summed over days, shape (...) from (..., part); NaN where not defined."""

    def columns(self, served: Served) -> Values:
        """Return `daily` in the columns of each request's day and 0 in others, shape (day × column, request)."""
        of_request = np.equal.outer(np.unique(served.days), served.days)
        daily = self.daily(served)
        return (of_request[:, None, :] * daily).reshape(-1, daily.shape[1])

    def value(self, sums: Values, served: Served) -> Values:
        """Return the measure from sums for all days."""
        n_days = len(np.unique(served.days))
        by_day = sums.reshape(*sums.shape[:-1], n_days, sums.shape[-1] // n_days)
        return self.whole(self.parts(by_day, served).sum(axis=-2))

    def by_day(self, served: Served) -> Values:
        """Return what each day adds to the parts, shape (day, part)."""
        daily = self.daily(served)
        days = [daily[:, served.days == day].sum(axis=1) for day in np.unique(served.days)]
        return np.stack([self.parts(each, served) for each in days])

    def of(self, served: Served) -> float:
        """Return the measure over all requests; NaN where it is not defined."""
        return float(self.whole(self.by_day(served).sum(axis=0))) if len(served.days) else float("nan")
