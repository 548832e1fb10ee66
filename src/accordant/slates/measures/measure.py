"""What measures of slates share: the registry, means over lists, sums over days."""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from accordant.arrays import Values
from accordant.registry import Registry
from accordant.slates.market import Served

Goal = Literal["max", "min"]
Range = tuple[float, float]

SHARE: Range = (0.0, 1.0)
"""Range of shares and of everything else between 0 and 1."""

measures: Registry[SlateMeasure] = Registry(
    "slate measure", group="accordant.slate_measures", packages=("accordant.slates.measures",)
)


@dataclass(frozen=True)
class SlateMeasure(ABC):
    """A measure with its parameters, a frozen dataclass.

    A measure reads sums over requests only, so that its interval costs one matrix product for all resamples of users.

    Class attributes
    ----------------
    name
        Registered name.
    goal
        Whether more is better, ``max``, or less, ``min``.
    about
        One sentence: what the number says, with its range.
    range
        Smallest and largest possible value, whatever is shown; None where there is no bound that all markets share.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal]
    about: ClassVar[str]
    range: ClassVar[Range | None] = None

    @abstractmethod
    def columns(self, served: Served) -> Values:
        """Return what each request adds to every sum, finite, shape (column, request).

        Where something is not defined for a request, it adds 0, and another column counts for how many it is.
        """

    @abstractmethod
    def value(self, sums: Values, served: Served) -> Values:
        """Return the measure from sums of shape (..., column), shape (...); NaN where it is not defined.

        Parameters
        ----------
        sums
            Over all requests, or over a resample of them.
        served
            For what does not depend on requests: the catalogue, names.
        """

    def of(self, served: Served) -> float:
        """Return the measure over all requests; NaN where it is not defined."""
        return float(self.value(self.columns(served).sum(axis=1), served))

    def requests(self, served: Served) -> int:
        """Return how many requests the measure rests on."""
        return served.slates.n_users


@dataclass(frozen=True)
class MeanMeasure(SlateMeasure):
    """The mean of one number per request, over the requests for which it is defined."""

    @abstractmethod
    def of_requests(self, served: Served) -> Values:
        """Return the number of each request, shape (request,); NaN where it is not defined."""

    def columns(self, served: Served) -> Values:
        """Return the numbers, and for which requests they are defined."""
        return counted(self.of_requests(served))

    def value(self, sums: Values, served: Served) -> Values:
        """Return the mean."""
        del served
        return ratio(sums[..., 0], sums[..., 1])

    def requests(self, served: Served) -> int:
        """Return for how many requests the number is defined."""
        return int((~np.isnan(self.of_requests(served))).sum())


register = measures.named


def mean_of(
    name: str, goal: Goal, about: str, bounds: Range | None = SHARE
) -> Callable[[Callable[..., Values]], type[MeanMeasure]]:
    """Return a decorator that registers the mean over requests of what a function says of each.

    The function takes what was served, and by keyword the parameters of the measure; it returns numbers of shape
    (request,), NaN where there is none. Its docstring is that of the measure; `bounds` are the range of `SlateMeasure`.
    """

    def decorate(numbers: Callable[..., Values]) -> type[MeanMeasure]:
        """Register one function."""

        def of_requests(self: MeanMeasure, served: Served) -> Values:
            """Return the number of every request, with the parameters of the measure."""
            return np.asarray(numbers(served, **dataclasses.asdict(self)))

        fields: list[Any] = [
            (parameter.name, parameter.annotation)
            if parameter.default is inspect.Parameter.empty
            else (parameter.name, parameter.annotation, dataclasses.field(default=parameter.default))
            for parameter in list(inspect.signature(numbers).parameters.values())[1:]
        ]
        own = {"goal": goal, "about": about, "range": bounds, "of_requests": of_requests}
        own |= {"__doc__": numbers.__doc__, "__module__": numbers.__module__}
        return register(name)(
            dataclasses.make_dataclass(numbers.__name__, fields, bases=(MeanMeasure,), namespace=own, frozen=True)
        )

    return decorate


def counted(values: Values) -> Values:
    """Return two columns for a mean over requests for which a value is defined: the values, and whether they are.

    Parameters
    ----------
    values
        Shape (request,); NaN where not defined.
    """
    known = ~np.isnan(values)
    return np.stack([np.where(known, values, 0.0), known.astype(np.float64)])


def ratio(numerator: Values, denominator: Values) -> Values:
    """Return a quotient, NaN where the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator != 0, numerator / denominator, np.nan)


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
        return np.stack([self.parts(day, served) for day in days])

    def of(self, served: Served) -> float:
        """Return the measure over all requests; NaN where it is not defined."""
        return float(self.whole(self.by_day(served).sum(axis=0))) if len(served.days) else float("nan")
