"""Provider share: how far the provider of an item is behind the attention that it should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError, UnknownNameError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.exposure_claims import behind, check_power, item_claims, shares
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State

Per = Literal["provider", "item"]


@register("provider_share")
@dataclass(frozen=True)
class ProviderShare(Objective):
    """claim / (claim + share of attention so far) of the item's provider [ours].

    Shares are among items whose provider is known; see `accordant.slates.objectives.exposure_claims`.

    Parameters
    ----------
    per
        ``provider``: every provider with an open item claims the same. ``item``: a provider claims what its open items
        claim together.
    power
        Of ``item``: items claim in proportion to popularity^power; 0 is the same for every open item.
    """

    about: ClassVar[str] = "an item of a provider that had no attention so far, though it has a claim"
    per: Per = "provider"
    power: float = 0.0

    def __post_init__(self) -> None:
        if self.per not in get_args(Per):
            raise UnknownNameError("per", self.per, get_args(Per))
        check_power(self.power)
        if self.per == "provider" and self.power > 0:
            raise InputError(f"power is {self.power}, but every provider claims the same; allowed: per 'item'")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return how far each item's provider is behind, shape (item, 1); NaN where the provider is unknown."""
        del requests
        codes, n_providers = catalogue.provider_codes, len(catalogue.providers)
        known = codes >= 0
        claims = np.bincount(codes[known], item_claims(catalogue, self.power)[known], n_providers).astype(np.float64)
        if self.per == "provider":
            claims = (np.bincount(codes[known], catalogue.open[known], n_providers) > 0).astype(np.float64)
        attention = np.bincount(codes[known], state.exposure[known], n_providers).astype(np.float64)
        found = np.full(catalogue.n_items, np.nan)
        found[known] = behind(shares(claims), attention)[codes[known]]
        return found[:, None]
