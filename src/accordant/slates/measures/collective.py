"""Normalised utilities of all stakeholders together, list by list or on average over lists.

    of each list, then averaged     min_attained  mean_attained  nash_attained  gini_attained
    of stakeholders' averages       worst_off     mean_of_means  nash_of_means  gini_of_means

The two differ: who is behind in one list can be ahead in the next. `worst_off` is the smallest average, so it shows who
is behind again and again; `min_attained` also counts those who are behind by turns. Stakeholders with weight 0 do not
count, the others count once each, and whoever is indifferent between all lists of a request is left out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.slates.measures.measure import SHARE, Goal, MeanMeasure, Range, SlateMeasure, counted, ratio, register
from accordant.slates.measures.stakeholder import heard
from accordant.slates.serving import Served
from accordant.statistics import gini


def least(values: Values) -> Values:
    """Return the smallest along the first axis; NaN is left out, and stands where nothing else does."""
    known = ~np.isnan(values)
    return np.where(known.any(axis=0), np.where(known, values, np.inf).min(axis=0, initial=np.inf), np.nan)


def average(values: Values) -> Values:
    """Return the mean along the first axis; NaN as in `least`."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def geometric(values: Values) -> Values:
    """Return the geometric mean along the first axis, 0 if one is 0; NaN as in `least` (Kaneko and Nakamura 1979)."""
    known = ~np.isnan(values)
    logs = average(np.where(known, np.log(np.where(known & (values > 0), values, 1.0)), np.nan))
    return np.where((known & (values <= 0)).any(axis=0), 0.0, np.exp(logs))


def inequality(values: Values) -> Values:
    """Return the Gini coefficient along the first axis; see `accordant.statistics.gini`."""
    return gini(np.moveaxis(values, 0, -1))


@dataclass(frozen=True)
class OfLists(MeanMeasure):
    """A function of the normalised utilities of each list, averaged over lists.

    Class attributes
    ----------------
    together
        From utilities of shape (stakeholder, ...) to numbers of shape (...).
    """

    together: ClassVar[staticmethod[[Values], Values]]

    def of_requests(self, served: Served) -> Values:
        """Return the number of each list."""
        return self.together(heard(served))


@dataclass(frozen=True)
class OfMeans(SlateMeasure):
    """A function of the stakeholders' mean normalised utilities.

    Class attributes
    ----------------
    together
        From means of shape (stakeholder, ...) to numbers of shape (...).
    """

    together: ClassVar[staticmethod[[Values], Values]]

    def columns(self, served: Served) -> Values:
        """Return utilities, and for which requests they are defined, shape (2 × stakeholder, request)."""
        values = heard(served)
        return counted(values).reshape(2 * len(values), -1)

    def value(self, sums: Values, served: Served) -> Values:
        """Return the number of the means."""
        del served
        n = sums.shape[-1] // 2
        return self.together(np.moveaxis(ratio(sums[..., :n], sums[..., n:]), -1, 0))


@register("min_attained")
class MinAttained(OfLists):
    """Mean over lists of min_i attained_i (Rawls 1971; Sen 1970)."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "normalised utility of whoever is worst off in a list, averaged over lists, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(least)


@register("mean_attained")
class MeanAttained(OfLists):
    """Mean over lists of the mean of attained_i."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "normalised utility of all stakeholders, averaged over lists, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(average)


@register("nash_attained")
class NashAttained(OfLists):
    """Mean over lists of the geometric mean of attained_i."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "geometric mean of normalised utilities in a list, averaged over lists, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(geometric)


@register("gini_attained")
class GiniAttained(OfLists):
    """Mean over lists of the Gini coefficient of attained_i; lists that give nobody anything do not count."""

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "inequality of normalised utilities in a list, averaged over lists; 0 is equal, below 1"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(inequality)


@register("worst_off")
class WorstOff(OfMeans):
    """min_i of the mean over lists of attained_i."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "average normalised utility of the stakeholder with the smallest one, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(least)


@register("mean_of_means")
class MeanOfMeans(OfMeans):
    """Mean over i of the mean over lists of attained_i."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "mean of the stakeholders' average normalised utilities, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(average)


@register("nash_of_means")
class NashOfMeans(OfMeans):
    """Geometric mean over i of the mean over lists of attained_i."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "geometric mean of the stakeholders' average normalised utilities, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(geometric)


@register("gini_of_means")
class GiniOfMeans(OfMeans):
    """Gini coefficient over i of the mean over lists of attained_i."""

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "inequality of the stakeholders' average normalised utilities; 0 is equal, below 1"
    range: ClassVar[Range | None] = SHARE

    together: ClassVar[staticmethod[[Values], Values]] = staticmethod(inequality)
