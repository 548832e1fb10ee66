"""Diversified lists: maximal marginal relevance and xQuAD, and the types that they diversify over.

`MaximalMarginalRelevance`: an item that is like one already in the list is worth less (Carbonell, Goldstein 1998).

    next item = argmax λ worth(c) − (1 − λ) max_{s in the list} similarity(c, s)

Similarity is 1 for items of one category, else 0; an item without a category is like no other.

`ExplicitQueryAspects` (xQuAD): items of wanted categories that the list does not cover yet (Santos, Macdonald and Ounis
2010).

    next item = argmax λ worth(c) + (1 − λ) Σ_t p_t worth(c | t) Π_{s in the list} (1 − worth(s | t))

A category is an aspect of the query; worth(c | t) is the worth of c if it is of category t, else 0 [ours], and p_t the
share of the user's relevance that is of category t [ours]. An item without a category is one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.slates.candidates import BestItems, Candidates, take_best, user_values, weighted_means
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.slates import NOTHING, Slates

TINY = 1e-300  # a user without any item has no chances to share


def types_of(categories: Codes) -> Codes:
    """Return a type for each item, 0, 1, …, shape (item,): its category, or one of its own if it has none.

    Parameters
    ----------
    categories
        Codes, −1 for items without one, shape (item,).
    """
    known = np.unique(categories[categories >= 0])
    types = np.searchsorted(known, categories)
    alone = categories < 0
    types[alone] = len(known) + np.arange(alone.sum())
    return types.astype(np.intp)


def wanted_types(
    relevance: Values, available: NDArray[np.bool_], types: Codes, temperature: float = 1.0, smoothing: float = 0.0
) -> Values:
    """Return p_t, how likely each user wants each type, shape (type, user) [ours].

        p_t ∝ (Σ_{c of type t} relevance of c)^(1 / temperature),  then mixed with equal shares by `smoothing`

    Only available items count; a type without any has p_t = 0. Where nothing is relevant, types with items are alike.
    Relevance of at least 0 and what is available are of shape (item, user), types of shape (item,); a large
    temperature, above 0, makes types alike, and smoothing is in [0, 1].
    """
    n_types = int(types.max()) + 1
    mass, some = np.zeros((n_types, relevance.shape[1])), np.zeros((n_types, relevance.shape[1]), dtype=bool)
    np.add.at(mass, types, np.where(available, relevance, 0.0))
    np.logical_or.at(some, types, available)
    largest = mass.max(axis=0)
    relative = np.where(
        largest > 0, mass / np.where(largest > 0, largest, 1.0), 1.0
    )  # powers of large sums stay finite
    powers = np.where(some, relative ** (1.0 / temperature), 0.0)
    alike = some / np.maximum(some.sum(axis=0), 1)
    return np.asarray((1.0 - smoothing) * powers / np.maximum(powers.sum(axis=0), TINY) + smoothing * alike)


def of_categories(wanted: Values, categories: Codes) -> Values:
    """Return p_t of the types that are categories, shape (category, user): what a rule keeps of every user.

    Items without a category are left out, for there may be thousands of them.
    """
    return np.asarray(wanted[: len(np.unique(categories[categories >= 0]))])


def check_wanted(temperature: float, smoothing: float) -> None:
    """Raise `InputError` if a parameter of `wanted_types` is outside its range."""
    if not (np.isfinite(temperature) and temperature > 0):
        raise InputError(f"temperature is {temperature}; allowed: a finite number above 0")
    if not 0 <= smoothing <= 1:
        raise InputError(f"smoothing is {smoothing}; allowed: from 0 to 1")


def check_balance(balance: float) -> None:
    """Raise `InputError` unless a balance between worth and diversity is in [0, 1]."""
    if not 0 <= balance <= 1:
        raise InputError(f"balance is {balance}; allowed: from 0 to 1")


@register("mmr")
@dataclass(frozen=True)
class MaximalMarginalRelevance(SlateRule):
    """Take items one by one: λ times the weighted mean of E, less 1 − λ if the category is in the list already.

    Parameters
    ----------
    balance
        λ in [0, 1]; 1 reads worth alone, 0 categories alone (worth then never breaks ties, sums of E do).

    Raises `InputError` if the balance is outside its range.
    """

    kind: ClassVar[Kind] = "consumption"
    note: ClassVar[str] = "Diverse whether or not everything that is shown is consumed."

    balance: float = 0.7

    def __post_init__(self) -> None:
        check_balance(self.balance)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block."""
        types = types_of(candidates.categories)
        n_items, n_users = candidates.values.shape[1:]
        left = np.where(candidates.available, self.balance * weighted_means(candidates), -np.inf)
        shown = np.zeros((int(types.max()) + 1, n_users), dtype=bool)
        lists = BestItems.none(n_users, k)
        for place in range(min(k, n_items)):
            items = take_best(left, candidates.totals, lists, place, candidates.tolerance)
            users = np.flatnonzero(items != NOTHING)
            users = users[~shown[types[items[users]], users]]
            new = types[items[users]]
            shown[new, users] = True
            left[:, users] -= (1.0 - self.balance) * (types[:, None] == new)
        return Slates(self.label, candidates.items, lists.items, lists.tied)


@register("xquad")
@dataclass(frozen=True)
class ExplicitQueryAspects(SlateRule):
    """Take items one by one: λ times the weighted mean of E, and what is left of the wish for their category.

    Parameters
    ----------
    balance
        λ in [0, 1]; 1 reads worth alone. (Santos and others write 1 − λ for it.)
    user
        The stakeholder whose relevance says which categories are wanted; None for the first who has a say.
    temperature, smoothing
        See `accordant.slates.rules.diversity.wanted_types`.

    Raises `InputError` if a parameter is outside its range.
    """

    kind: ClassVar[Kind] = "consumption"
    note: ClassVar[str] = (
        "Aspects are categories; how likely each is wanted is estimated from relevance, which is ours."
    )

    balance: float = 0.5
    user: str | None = None
    temperature: float = 1.0
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        check_balance(self.balance)
        check_wanted(self.temperature, self.smoothing)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block; quantity ``wanted``, shape (category, user)."""
        types, available = types_of(candidates.categories), candidates.available
        wanted = wanted_types(user_values(candidates, self.user), available, types, self.temperature, self.smoothing)
        worth = weighted_means(candidates)
        uncovered = wanted.copy()
        allowed = available.copy()
        n_items, n_users = worth.shape
        lists = BestItems.none(n_users, k)
        for place in range(min(k, n_items)):
            scores = self.balance * worth + (1.0 - self.balance) * uncovered[types] * worth
            items = take_best(np.where(allowed, scores, -np.inf), candidates.totals, lists, place, candidates.tolerance)
            users = np.flatnonzero(items != NOTHING)
            taken = items[users]
            allowed[taken, users] = False
            uncovered[types[taken], users] *= 1.0 - worth[taken, users]
        return Slates(
            self.label,
            candidates.items,
            lists.items,
            lists.tied,
            {},
            {"wanted": of_categories(wanted, candidates.categories)},
        )
