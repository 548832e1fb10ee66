"""Diversity: how rare the category of an item is in what the user had and in what everybody was shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.slates import NOTHING
from accordant.slates.state import State


@register("diversity")
@dataclass(frozen=True)
class Diversity(Objective):
    """1 − share of the item's category, in the user's history and in the last slates [ours].

    The share is (1 − shown) × that in the history + shown × that in the slates that the state remembers, of all users;
    where one of the two is empty, the other counts alone, and where both are, the share is 0. Only items with a
    category count in shares.

    Parameters
    ----------
    shown
        Weight of what was shown against the history, in [0, 1].
    """

    about: ClassVar[str] = "a category that the user never had, and that nobody was shown lately"
    shown: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.shown <= 1:
            raise InputError(f"shown is {self.shown}; allowed: a weight in [0, 1]")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> Values:
        """Return 1 − share, shape (item, user); NaN where the category is unknown."""
        codes, n_categories = catalogue.category_codes, len(catalogue.categories)
        member = (codes == np.arange(n_categories)[:, None]).astype(np.float64)
        seen = np.bincount(state.slates[state.slates != NOTHING], minlength=catalogue.n_items)
        had, lately = member @ requests.history, np.broadcast_to((member @ seen)[:, None], (n_categories, 1))
        weights = [(1.0 - self.shown) * (had.sum(axis=0) > 0), self.shown * (lately.sum(axis=0) > 0)]
        total = weights[0] + weights[1]
        mixed = weights[0] * _shares(had) + weights[1] * _shares(lately)
        shares = np.divide(mixed, total, out=np.zeros_like(mixed), where=total > 0)
        found = np.full((catalogue.n_items, requests.n_users), np.nan)
        found[codes >= 0] = 1.0 - shares[codes[codes >= 0]]
        return found


def _shares(amounts: Values) -> Values:
    """Return amounts over the sum of each column; 0 where it is 0."""
    totals = amounts.sum(axis=0)
    return np.asarray(np.divide(amounts, totals, out=np.zeros_like(amounts), where=totals > 0))
