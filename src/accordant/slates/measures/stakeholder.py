"""Measures of what lists give to stakeholders: to one, to all together, to whoever is below a line.

Normalised utilities of all stakeholders together, list by list or on average over lists.

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
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import ALIKE
from accordant.slates.measures.measure import SHARE, Goal, MeanMeasure, Range, SlateMeasure, counted, ratio, register
from accordant.slates.serving import Served
from accordant.statistics import gini


@dataclass(frozen=True)
class StakeholderMeasure(MeanMeasure):
    """A mean over requests for one stakeholder; empty lists do not count.

    Parameters
    ----------
    stakeholder
        Its name.
    """

    stakeholder: str


@register("utility")
class Utility(StakeholderMeasure):
    """u_i(S), the mean of E over the list."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "what a list gives to one stakeholder: the mean expected reward of its items, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the utility of each list."""
        return np.asarray(served.gains.utilities[position(self.stakeholder, served)])


@register("regret")
class Regret(StakeholderMeasure):
    """ideal_i − u_i(S), the ideal being i's own best list of the same length."""

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "what its own best list of that length would give one stakeholder more, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the regret of each list."""
        return np.asarray(served.gains.regret[position(self.stakeholder, served)])


@register("attained")
class Attained(StakeholderMeasure):
    """(u_i − worst_i) / (ideal_i − worst_i); requests where all lists are alike for i do not count."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "where a list lies for one stakeholder between its worst, 0, and its best, 1"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the normalised utility of each list."""
        return np.asarray(served.gains.attained[position(self.stakeholder, served)])


def position(stakeholder: str, served: Served) -> int:
    """Return the number of a stakeholder.

    Raises
    ------
    UnknownNameError
        If nobody has this name.
    """
    if stakeholder not in served.market.stakeholders:
        raise UnknownNameError("stakeholder", stakeholder, served.market.stakeholders)
    return served.market.stakeholders.index(stakeholder)


def heard(served: Served) -> Values:
    """Return normalised utilities of the stakeholders with a weight above 0, shape (stakeholder, request).

    Each of them counts once in measures of all together: weights are for rules [ours].
    """
    return np.asarray(served.gains.attained[served.candidates.weights > 0])


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


@register("floor_violations")
@dataclass(frozen=True)
class FloorViolations(MeanMeasure):
    """Share of requests in which normalised utility is below the floor of the market by more than rounding.

    A request counts if at least one of those asked about has a floor and is not indifferent between all lists.

    Parameters
    ----------
    stakeholder
        Whose floor; None for anybody's, with or without a weight.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "share of requests in which somebody gets less than its declared floor, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    stakeholder: str | None = None

    def of_requests(self, served: Served) -> Values:
        """Return 1 for a request with a violation, else 0."""
        if self.stakeholder is not None:
            position(self.stakeholder, served)
        asked = [name for name in served.market.floors if self.stakeholder in (None, name)]
        rows = [served.market.stakeholders.index(name) for name in asked]
        floors = np.array([served.market.floors[name] for name in asked])
        attained = served.moment.attained[rows]
        known = ~np.isnan(attained)
        broken = (known & (attained < floors[:, None] - ALIKE)).any(axis=0)
        return np.where(known.any(axis=0), broken, np.nan)


@register("misery")
@dataclass(frozen=True)
class Misery(MeanMeasure):
    """Share of requests with min_i attained_i below a line, over stakeholders with a weight above 0.

    Unlike a floor, the line is the same for everybody (after "least misery" of group recommendation, O'Connor et al.
    2001).

    Parameters
    ----------
    line
        Normalised utility, in [0, 1]; there is no default, because where misery begins is a judgement.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "share of requests whose worst-off stakeholder gets less than the declared line, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    line: float

    def __post_init__(self) -> None:
        if not 0 <= self.line <= 1:
            raise InputError(f"the line of misery is {self.line}; allowed: in [0, 1]")

    def of_requests(self, served: Served) -> NDArray[np.float64]:
        """Return 1 for a request below the line, else 0."""
        lowest = least(heard(served))
        return np.where(np.isnan(lowest), np.nan, lowest < self.line - ALIKE)
