"""Measures of what lists give to stakeholders: to one, to all together, to whoever is below a line.

Normalised utilities of all stakeholders are put together list by list, or on average over lists:

    of each list, then averaged     min_attained  mean_attained  nash_attained  gini_attained
    of stakeholders' averages       worst_off     mean_of_means  nash_of_means  gini_of_means

The two differ: who is behind in one list can be ahead in the next. `worst_off` is the smallest average, so it shows who
is behind again and again; `min_attained` also counts those who are behind by turns. Stakeholders with weight 0 do not
count, the others count once each, and whoever is indifferent between all lists of a request is left out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import ALIKE
from accordant.slates.market import Served
from accordant.slates.measures.measure import (
    SHARE,
    Goal,
    MeanMeasure,
    Range,
    SlateMeasure,
    counted,
    mean_of,
    measures,
    ratio,
    register,
)
from accordant.statistics import gini


@mean_of("utility", "max", "what a list gives to one stakeholder: the mean expected reward of its items, in [0, 1]")
def utility(served: Served, stakeholder: str) -> Values:
    """u_i(S), the mean of E over the list; empty lists do not count."""
    return np.asarray(served.gains.utilities[position(stakeholder, served)])


@mean_of("regret", "min", "what its own best list of that length would give one stakeholder more, in [0, 1]")
def regret(served: Served, stakeholder: str) -> Values:
    """ideal_i − u_i(S), the ideal being i's own best list of the same length; empty lists do not count."""
    return np.asarray(served.gains.regret[position(stakeholder, served)])


@mean_of("attained", "max", "where a list lies for one stakeholder between its worst, 0, and its best, 1")
def attained(served: Served, stakeholder: str) -> Values:
    """(u_i − worst_i) / (ideal_i − worst_i); requests where all lists are alike for i do not count."""
    return np.asarray(served.gains.attained[position(stakeholder, served)])


def position(stakeholder: str, served: Served) -> int:
    """Return the number of a stakeholder, or raise `UnknownNameError` if nobody has this name."""
    if stakeholder not in served.market.stakeholders:
        raise UnknownNameError("stakeholder", stakeholder, served.market.stakeholders)
    return served.market.stakeholders.index(stakeholder)


def attained_with_weight(served: Served) -> Values:
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

    range: ClassVar[Range | None] = SHARE
    together: ClassVar[staticmethod[[Values], Values]]

    def of_requests(self, served: Served) -> Values:
        """Return the number of each list."""
        return self.together(attained_with_weight(served))


@dataclass(frozen=True)
class OfMeans(SlateMeasure):
    """A function `together`, as in `OfLists`, of the stakeholders' mean normalised utilities.

    It leads from means of shape (stakeholder, ...) to numbers of shape (...).
    """

    range: ClassVar[Range | None] = SHARE
    together: ClassVar[staticmethod[[Values], Values]]

    def columns(self, served: Served) -> Values:
        """Return utilities, and for which requests they are defined, shape (2 × stakeholder, request)."""
        values = attained_with_weight(served)
        return counted(values).reshape(2 * len(values), -1)

    def value(self, sums: Values, served: Served) -> Values:
        """Return the number of the means."""
        del served
        n = sums.shape[-1] // 2
        return self.together(np.moveaxis(ratio(sums[..., :n], sums[..., n:]), -1, 0))


# name, what it is a function of, the function, whether more is better, what the number says, and the formula
COLLECTIVE: tuple[tuple[str, type[OfLists | OfMeans], Callable[[Values], Values], Goal, str, str], ...] = (
    ("min_attained", OfLists, least, "max",
     "normalised utility of whoever is worst off in a list, averaged over lists, in [0, 1]",
     "Mean over lists of min_i attained_i (Rawls 1971; Sen 1970)."),
    ("mean_attained", OfLists, average, "max",
     "normalised utility of all stakeholders, averaged over lists, in [0, 1]",
     "Mean over lists of the mean of attained_i."),
    ("nash_attained", OfLists, geometric, "max",
     "geometric mean of normalised utilities in a list, averaged over lists, in [0, 1]",
     "Mean over lists of the geometric mean of attained_i."),
    ("gini_attained", OfLists, inequality, "min",
     "inequality of normalised utilities in a list, averaged over lists; 0 is equal, below 1",
     "Mean over lists of the Gini coefficient of attained_i; lists that give nobody anything do not count."),
    ("worst_off", OfMeans, least, "max",
     "average normalised utility of the stakeholder with the smallest one, in [0, 1]",
     "min_i of the mean over lists of attained_i."),
    ("mean_of_means", OfMeans, average, "max",
     "mean of the stakeholders' average normalised utilities, in [0, 1]",
     "Mean over i of the mean over lists of attained_i."),
    ("nash_of_means", OfMeans, geometric, "max",
     "geometric mean of the stakeholders' average normalised utilities, in [0, 1]",
     "Geometric mean over i of the mean over lists of attained_i."),
    ("gini_of_means", OfMeans, inequality, "min",
     "inequality of the stakeholders' average normalised utilities; 0 is equal, below 1",
     "Gini coefficient over i of the mean over lists of attained_i."),
)  # fmt: skip

for _name, _base, _together, _goal, _about, _formula in COLLECTIVE:
    measures.define(
        _name, _name, _base, __name__, goal=_goal, about=_about, together=staticmethod(_together), __doc__=_formula
    )


@mean_of("floor_violations", "min", "share of requests in which somebody gets less than its declared floor, in [0, 1]")
def floor_violations(served: Served, stakeholder: str | None = None) -> Values:
    """Share of requests in which normalised utility is below the floor of the market by more than rounding.

    A request counts if at least one of those asked about has a floor and is not indifferent between all lists.

    Parameters
    ----------
    stakeholder
        Whose floor; None for anybody's, with or without a weight.
    """
    if stakeholder is not None:
        position(stakeholder, served)
    asked = [name for name in served.market.floors if stakeholder in (None, name)]
    rows = [served.market.stakeholders.index(name) for name in asked]
    floors = np.array([served.market.floors[name] for name in asked])
    reached = served.moment.attained[rows]
    known = ~np.isnan(reached)
    broken = (known & (reached < floors[:, None] - ALIKE)).any(axis=0)
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
        lowest = least(attained_with_weight(served))
        return np.where(np.isnan(lowest), np.nan, lowest < self.line - ALIKE)
