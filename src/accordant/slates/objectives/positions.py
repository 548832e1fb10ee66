"""How far it is from where users are to where items are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from accordant.arrays import Values
from accordant.slates.catalogue import Catalogue, Requests

EARTH_KM = 6371.0088  # mean radius of the Earth (Moritz 2000, Geodetic Reference System 1980)


def kilometres(latitude: ArrayLike, longitude: ArrayLike, to_latitude: ArrayLike, to_longitude: ArrayLike) -> Values:
    """Return great-circle distances by the haversine formula (Sinnott 1984), of the arguments' common shape.

    2 R asin √(sin²(Δφ/2) + cos φ₁ cos φ₂ sin²(Δλ/2))

    Parameters
    ----------
    latitude, longitude, to_latitude, to_longitude
        Degrees; NaN gives NaN. The Earth is taken for a sphere, which is wrong by at most 0.6 %.
    """
    south, west, north, east = (
        np.radians(np.asarray(each, dtype=np.float64)) for each in (latitude, longitude, to_latitude, to_longitude)
    )
    half = np.sin((north - south) / 2) ** 2 + np.cos(south) * np.cos(north) * np.sin((east - west) / 2) ** 2
    return np.asarray(2.0 * EARTH_KM * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0))))


def ways(catalogue: Catalogue, requests: Requests) -> Values:
    """Return kilometres from each request to each item, shape (item, user); NaN where a position is unknown."""
    return kilometres(requests.latitude, requests.longitude, catalogue.latitude[:, None], catalogue.longitude[:, None])
