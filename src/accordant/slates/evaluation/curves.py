"""What happens over requests and items: who got how much so far, attention by popularity, crowding."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.sections import Number
from accordant.slates.candidates import ALIKE
from accordant.slates.market import Served
from accordant.slates.measures.measure import ratio
from accordant.slates.measures.stakeholder import least
from accordant.slates.slates import WINDOW
from accordant.statistics import gini

NOBODY = -1  # before any list made a difference to anybody


class PopularityCurve(BaseModel, frozen=True, extra="forbid"):
    """Attention of open items, the most popular item first.

    Attributes
    ----------
    items
        Names, one for each open item; equals in declared order.
    popularity, exposure
        Shares of each item; None if all are 0.
    lorenz
        Share of attention of the 0, 1, 2, … items that get least, one more than items: the diagonal is equality.
    gini
        Of the attention; None if nothing was shown.
    """

    items: tuple[str, ...]
    popularity: tuple[Number, ...]
    exposure: tuple[Number, ...]
    lorenz: tuple[Number, ...]
    gini: Number


class CrowdingCurve(BaseModel, frozen=True, extra="forbid"):
    """Load of items with a limit, the most crowded one first.

    Attributes
    ----------
    items
        Names of open items with a finite capacity, sorted by peak load.
    capacity
        Visits per day.
    mean, peak
        Visits over capacity on an average day and on the worst day: above 1 is too much.
    days_over
        Share of days with more visits than capacity.
    """

    items: tuple[str, ...]
    capacity: tuple[float, ...]
    mean: tuple[float, ...]
    peak: tuple[float, ...]
    days_over: tuple[float, ...]


def popularity_curve(served: Served) -> PopularityCurve:
    """Return how attention follows popularity."""
    catalogue = served.market.catalogue
    places = np.flatnonzero(catalogue.open)
    places = places[np.argsort(-catalogue.popularity[places], kind="stable")]
    popularity, exposure = catalogue.popularity[places], served.slates.exposure().sum(axis=1)[places]
    upward = np.concatenate([[0.0], np.cumsum(np.sort(exposure))])
    return PopularityCurve(
        items=tuple(catalogue.items[c] for c in places),
        popularity=tuple(ratio(popularity, popularity.sum()).tolist()),
        exposure=tuple(ratio(exposure, exposure.sum()).tolist()),
        lorenz=tuple(ratio(upward, upward[-1]).tolist()),
        gini=float(gini(exposure)),
    )


def crowding_curve(served: Served) -> CrowdingCurve:
    """Return how full items are: expected visits of all requests of a day over capacity."""
    catalogue = served.market.catalogue
    places = np.flatnonzero(catalogue.open & np.isfinite(catalogue.capacity))
    days = np.unique(served.days)
    load = np.zeros((len(places), len(days)))
    for column, day in enumerate(days):
        load[:, column] = served.visits[np.ix_(places, served.days == day)].sum(axis=1)
    full = load / catalogue.capacity[places, None]
    peak = full.max(axis=1, initial=0.0)
    order = np.argsort(-peak, kind="stable")
    over = (load > catalogue.capacity[places, None]).sum(axis=1) / max(1, len(days))
    mean = full.sum(axis=1) / max(1, len(days))
    return CrowdingCurve(
        items=tuple(catalogue.items[c] for c in places[order]),
        capacity=tuple(catalogue.capacity[places][order].tolist()),
        mean=tuple(mean[order].tolist()),
        peak=tuple(peak[order].tolist()),
        days_over=tuple(over[order].tolist()),
    )


@dataclass(frozen=True, eq=False)
class OverTime:
    """What a rule gave to stakeholders as requests came in, one column per request.

    Attributes
    ----------
    stakeholders
        Those with a weight above 0.
    days
        Shape (request,).
    attained
        Mean normalised utility over this request and all before, shape (stakeholder, request); NaN until a list makes a
        difference to the stakeholder.
    gap
        Largest minus smallest of these means, in [0, 1], shape (request,).
    shortfall
        Mean of these means minus the smallest, in [0, 1], shape (request,).
    behind
        Position of the stakeholder with the smallest mean over the last `window` requests; `NOBODY` at first. Who is
        behind stays so until somebody else falls below by more than rounding.
    changes
        How often this changed so far, shape (request,).
    """

    stakeholders: tuple[str, ...]
    days: NDArray[np.intp]
    attained: Values
    gap: Values
    shortfall: Values
    behind: NDArray[np.intp]
    changes: NDArray[np.intp]
    window: int

    @property
    def churn(self) -> float | None:
        """Changes per request that could bring one: those after the first with anybody behind; None without such."""
        known = int((self.behind != NOBODY).sum())
        return float(self.changes[-1]) / (known - 1) if known > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; undefined ones are None."""
        behind = [None if i == NOBODY else self.stakeholders[i] for i in self.behind.tolist()]
        values: dict[str, Any] = json_value(asdict(self))
        return values | {"behind": behind, "churn": self.churn}


def over_time(served: Served, window: int = WINDOW) -> OverTime:
    """Follow what stakeholders attain from request to request.

    Parameters
    ----------
    served
        What a rule showed, batches in the order of time; within a batch, requests in their order.
    window
        Requests over which it is asked who is behind, at least 1.

    Raises
    ------
    InputError
        If the window is wrong.
    """
    if window < 1:
        raise InputError(f"the window is {window} requests; allowed: at least 1")
    has_weight = served.candidates.weights > 0
    values = served.gains.attained[has_weight]
    attained, recent = _running_means(values, values.shape[1]), _running_means(values, window)
    behind = _behind(recent)
    known = behind != NOBODY
    changed = known[1:] & known[:-1] & (behind[1:] != behind[:-1])
    names = tuple(name for name, has in zip(served.market.stakeholders, has_weight, strict=True) if has)
    smallest = least(attained)
    counts = (~np.isnan(attained)).sum(axis=0).astype(np.float64)
    return OverTime(
        names, served.days, attained,
        gap=-least(-attained) - smallest,
        shortfall=np.maximum(ratio(np.nansum(attained, axis=0), counts) - smallest, 0.0),
        behind=behind,
        changes=np.concatenate([[0], np.cumsum(changed)])[: len(behind)].astype(np.intp),
        window=window,
    )  # fmt: skip


def _running_means(values: Values, window: int) -> Values:
    """Return the mean of the last `window` values up to each, NaN left out, shape (stakeholder, request)."""
    known = ~np.isnan(values)
    sums = []
    for part in (np.where(known, values, 0.0), known.astype(np.float64)):
        total = np.cumsum(part, axis=1)
        earlier = np.zeros_like(total)
        earlier[:, window:] = total[:, :-window] if window < total.shape[1] else 0.0
        sums.append(total - earlier)
    return ratio(sums[0], sums[1])


def _behind(means: Values) -> NDArray[np.intp]:
    """Return who has the smallest mean; whoever had it keeps it among equals, then the one declared first."""
    smallest = least(means)
    behind = np.full(means.shape[1], NOBODY, dtype=np.intp)
    before = NOBODY
    for t, lowest in enumerate(smallest.tolist()):
        if np.isfinite(lowest) and not (before != NOBODY and means[before, t] <= lowest + ALIKE):
            before = int(np.flatnonzero(means[:, t] <= lowest + ALIKE)[0])
        behind[t] = before
    return behind
