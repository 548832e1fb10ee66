"""Curves for charts: attention by popularity, its Lorenz curve, and load over capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.json_values import finite, json_value
from accordant.slates.measures.measure import ratio
from accordant.slates.serving import Served
from accordant.statistics import gini


@dataclass(frozen=True, eq=False)
class PopularityCurve:
    """Attention of open items, the most popular item first.

    Attributes
    ----------
    items
        Names, shape (open item,); equals in declared order.
    popularity, exposure
        Shares of each item, shape (open item,); NaN if all are 0.
    lorenz
        Share of attention of the 0, 1, 2, … items that get least, shape (open item + 1,): the diagonal is equality.
    gini
        Of the attention; None if nothing was shown.
    """

    items: tuple[str, ...]
    popularity: Values
    exposure: Values
    lorenz: Values
    gini: float | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; undefined ones are None."""
        return {
            "items": list(self.items),
            "popularity": json_value(self.popularity),
            "exposure": json_value(self.exposure),
            "lorenz": json_value(self.lorenz),
            "gini": self.gini,
        }


@dataclass(frozen=True, eq=False)
class CrowdingCurve:
    """Load of items with a limit, the most crowded one first.

    Attributes
    ----------
    items
        Names of open items with a finite capacity, sorted by peak load.
    capacity
        Visits per day, shape (item,).
    mean, peak
        Visits over capacity on an average day and on the worst day, shape (item,): above 1 is too much.
    days_over
        Share of days with more visits than capacity, shape (item,).
    """

    items: tuple[str, ...]
    capacity: Values
    mean: Values
    peak: Values
    days_over: Values

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        columns = ("capacity", "mean", "peak", "days_over")
        return {"items": list(self.items)} | {name: getattr(self, name).tolist() for name in columns}


def popularity_curve(served: Served) -> PopularityCurve:
    """Return how attention follows popularity."""
    catalogue = served.market.catalogue
    places = np.flatnonzero(catalogue.open)
    places = places[np.argsort(-catalogue.popularity[places], kind="stable")]
    popularity, exposure = catalogue.popularity[places], served.slates.exposure().sum(axis=1)[places]
    upward = np.concatenate([[0.0], np.cumsum(np.sort(exposure))])
    inequality = float(gini(exposure))
    return PopularityCurve(
        tuple(catalogue.items[c] for c in places),
        ratio(popularity, popularity.sum()),
        ratio(exposure, exposure.sum()),
        ratio(upward, upward[-1]),
        finite(inequality),
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
    return CrowdingCurve(
        tuple(catalogue.items[c] for c in places[order]), catalogue.capacity[places][order],
        (full.sum(axis=1) / max(1, len(days)))[order], peak[order], over[order],
    )  # fmt: skip
