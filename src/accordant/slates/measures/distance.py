"""Distance: how far what is shown is from where the user is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.slates.measures.measure import Goal, MeanMeasure, ratio, register
from accordant.slates.serving import Served
from accordant.slates.slates import NOTHING

EARTH = 6371.0088  # mean radius in kilometres (IUGG)


@register("distance")
@dataclass(frozen=True)
class Distance(MeanMeasure):
    """Mean over lists of the mean great-circle distance from the user to an item, in kilometres.

    Items and users with unknown positions do not count.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "kilometres from the user to what is shown, as the crow flies, at least 0"

    def of_requests(self, served: Served) -> Values:
        """Return the mean distance of each list; NaN without a known position."""
        catalogue, items, batches = served.market.catalogue, served.slates.items, served.market.batches
        here = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("latitude", "longitude"))
        latitude, longitude = (each[:, None] for each in here)
        away = kilometres(latitude, longitude, catalogue.latitude[items], catalogue.longitude[items])
        known = (items != NOTHING) & ~np.isnan(away)
        return ratio(np.where(known, away, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))


def kilometres(latitude: Values, longitude: Values, to_latitude: Values, to_longitude: Values) -> Values:
    """Return great-circle distances by the haversine formula (Sinnott 1984), from degrees."""
    a, b, c, d = (np.radians(each) for each in (latitude, to_latitude, longitude, to_longitude))
    half = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin((d - c) / 2) ** 2
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0))))
