"""Objectives about attention: what share items and providers should have, who is behind, where it is full.

How far an item or provider p is behind what it should have:

    claim(p)   the share of attention that p should have; claims sum to 1
    got(p)     the share of attention that p had so far
    behind     claim / (claim + got)                                        [ours]

`behind` is 1 for whoever had nothing, ½ for whoever had its claim, 1/3 for whoever had twice its claim. It needs no
scale, and unlike min(1, got / claim), the proportional measure of SCRUF-D, it tells those beyond their claim apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.slates import State

EVEN = 0.5  # before anybody had attention nobody is ahead or behind
Per = Literal["provider", "item"]


def check_power(power: float) -> None:
    """Raise `InputError` unless a power is finite and at least 0."""
    if not 0 <= power < np.inf:
        raise InputError(f"power is {power}; allowed: a number of at least 0")


def item_claims(catalogue: Catalogue, power: float) -> Values:
    """Return popularity^power of open items over its sum, shape (item,); 0 for closed ones, which are never shown.

    A power of 0 claims the same for all open items; so does a catalogue in which no open item was ever consumed.
    """
    wanted = np.where(catalogue.open, catalogue.popularity**power, 0.0)
    return shares(wanted) if wanted.sum() > 0 else shares(catalogue.open.astype(np.float64))


def shares(amounts: Values) -> Values:
    """Return amounts over their sum; 0 for all if there is nothing to share."""
    total = amounts.sum()
    return amounts / total if total > 0 else np.zeros_like(amounts)


def behind(claims: Values, attention: Values) -> Values:
    """Return claim / (claim + got), shape of the arguments.

    Parameters
    ----------
    claims
        Shares that should be; a claim of 0 is behind by 0.
    attention
        Amounts that were, at least 0; if all are 0, everybody is even.
    """
    if attention.sum() <= 0:
        return np.full(len(claims), EVEN)
    both = claims + shares(attention)
    return np.divide(claims, both, out=np.zeros_like(both), where=both > 0)


@register("exposure_share")
@dataclass(frozen=True)
class ExposureShare(Objective):
    """claim / (claim + share of attention so far) of an item [ours]; see `accordant.slates.objectives.exposure`.

    Parameters
    ----------
    power
        Claims are in proportion to popularity^power: 0 is the same for every open item, 1 is merit by popularity.
    """

    about: ClassVar[str] = "an item that had no attention so far, though it has a claim; one half is on target"
    power: float = 0.0

    def __post_init__(self) -> None:
        check_power(self.power)

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return how far each item is behind, shape (item, 1)."""
        del requests
        return behind(item_claims(catalogue, self.power), state.exposure)[:, None]


@register("provider_share")
@dataclass(frozen=True)
class ProviderShare(Objective):
    """claim / (claim + share of attention so far) of the item's provider [ours].

    Shares are among items whose provider is known; see `accordant.slates.objectives.exposure`.

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
        scores = np.full(catalogue.n_items, np.nan)
        scores[known] = behind(shares(claims), attention)[codes[known]]
        return scores[:, None]


@register("crowding")
@dataclass(frozen=True)
class Crowding(Objective):
    """min(1, (visits of today + visits of others) / capacity) [ours].

    Parameters
    ----------
    others
        Visits per day to all items by people who see no list, spread in proportion to popularity; at least 0.
    """

    about: ClassVar[str] = "visits of today reach the capacity, or the item is closed"
    others: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.others < np.inf:
            raise InputError(f"others is {self.others}; allowed: visits per day, at least 0")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return load over capacity, shape (item, 1): 0 without a limit, 1 without any capacity."""
        del requests
        known = catalogue.popularity.sum() > 0
        load = state.load + self.others * shares(catalogue.popularity if known else np.ones(catalogue.n_items))
        full = np.divide(load, catalogue.capacity, out=np.ones(catalogue.n_items), where=catalogue.open)
        return np.asarray(np.minimum(1.0, full))[:, None]
