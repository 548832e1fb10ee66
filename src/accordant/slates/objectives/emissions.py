"""Emissions: what going to the item emits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError, UnknownNameError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.objectives.positions import ways
from accordant.slates.state import State

GRAMS_PER_KM: Mapping[str, float] = {"bicycle": 0.0, "tram": 30.0, "bus": 100.0, "car": 170.0}
"""CO₂ equivalent of one person and kilometre [ours]: round numbers of a plausible order. Declare those of your city."""

SHARES: Mapping[str, float] = {"bus": 0.5, "car": 0.5}
"""Which part of ways beyond walking goes by what [ours]."""


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
