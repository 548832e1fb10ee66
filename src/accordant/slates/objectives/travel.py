"""Objectives about the way from users to items: how far, and what it emits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.slates import State

EARTH_KM = 6371.0088  # mean radius of the Earth (Moritz 2000, Geodetic Reference System 1980)
GRAMS_PER_KM: Mapping[str, float] = {"bicycle": 0.0, "tram": 30.0, "bus": 100.0, "car": 170.0}
"""CO₂ equivalent of one person and kilometre [ours]: round numbers of a plausible order. Declare those of your city."""
SHARES: Mapping[str, float] = {"bus": 0.5, "car": 0.5}
"""Which part of ways beyond walking goes by what [ours]."""


def kilometres(latitude: ArrayLike, longitude: ArrayLike, to_latitude: ArrayLike, to_longitude: ArrayLike) -> Values:
    """Return great-circle distances by the haversine formula (Sinnott 1984), of the arguments' common shape.

    2 R asin √(sin²(Δφ/2) + cos φ₁ cos φ₂ sin²(Δλ/2))

    Parameters
    ----------
    latitude, longitude, to_latitude, to_longitude
        Degrees; NaN gives NaN. The Earth is taken for a sphere, which is wrong by at most 0.6 %.
    """
    south, west, north, east = (
        np.radians(np.asarray(angle, dtype=np.float64)) for angle in (latitude, longitude, to_latitude, to_longitude)
    )
    half = np.sin((north - south) / 2) ** 2 + np.cos(south) * np.cos(north) * np.sin((east - west) / 2) ** 2
    return np.asarray(2.0 * EARTH_KM * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0))))


def ways(catalogue: Catalogue, requests: Requests) -> Values:
    """Return kilometres from each request to each item, shape (item, user); NaN where a position is unknown."""
    return kilometres(requests.latitude, requests.longitude, catalogue.latitude[:, None], catalogue.longitude[:, None])


@register("distance")
@dataclass(frozen=True)
class Distance(Objective):
    """min(1, kilometres / reach) along a great circle [ours].

    Parameters
    ----------
    reach_km
        From here on everything is equally far, above 0. The default is what one walks in an hour.
    """

    about: ClassVar[str] = "as far as the reach, or further"
    reach_km: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.reach_km < np.inf:
            raise InputError(f"reach_km is {self.reach_km}; allowed: kilometres above 0")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return distance over reach, shape (item, user); NaN where a position is unknown."""
        del state
        return np.minimum(1.0, ways(catalogue, requests) / self.reach_km)


@register("emissions")
@dataclass(frozen=True)
class Emissions(Objective):
    """min(1, kilometres × grams per kilometre / reference) beyond walking distance, 0 within it [ours].

    Whoever goes further than walking distance rides all the way.

    Parameters
    ----------
    walking_km
        Ways up to here are walked, at least 0.
    grams_per_km
        Mode to CO₂ equivalent per person and kilometre; stands in place of `GRAMS_PER_KM`.
    shares
        Mode to its part of ways beyond walking; over their sum.
    reference_grams
        From here on everything emits equally much, above 0.
    """

    about: ClassVar[str] = "going there emits the reference or more"
    walking_km: float = 1.5
    grams_per_km: Mapping[str, float] = field(default_factory=lambda: dict(GRAMS_PER_KM))
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    reference_grams: float = 1000.0

    def __post_init__(self) -> None:
        if not 0 <= self.walking_km < np.inf:
            raise InputError(f"walking_km is {self.walking_km}; allowed: kilometres of at least 0")
        if not 0 < self.reference_grams < np.inf:
            raise InputError(f"reference_grams is {self.reference_grams}; allowed: grams above 0")
        for name in ("grams_per_km", "shares"):
            for mode, number in getattr(self, name).items():
                if not 0 <= number < np.inf:
                    raise InputError(f"{name} of {mode!r} is {number}; allowed: a number of at least 0")
        for mode in self.shares:
            if mode not in self.grams_per_km:
                raise UnknownNameError("mode in shares:", mode, self.grams_per_km)
        if not any(self.shares.values()):
            raise InputError("shares sum to 0; allowed: at least one mode with a share above 0")

    @property
    def mean_grams(self) -> float:
        """Grams per kilometre of the mean ride: Σ share × grams / Σ share."""
        total = sum(self.shares.values())
        return sum(share * self.grams_per_km[mode] for mode, share in self.shares.items()) / total

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return emissions over the reference, shape (item, user); NaN where a position is unknown."""
        del state
        far = ways(catalogue, requests)
        ridden = np.where(far <= self.walking_km, 0.0, far)
        return np.minimum(1.0, ridden * self.mean_grams / self.reference_grams)
