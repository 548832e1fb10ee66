"""Types of items, and how likely a user wants each, from what is known of the user's wishes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError


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

    Parameters
    ----------
    relevance
        Of items for users, at least 0, shape (item, user).
    available
        Shape (item, user).
    types
        Of items, shape (item,); see `types_of`.
    temperature
        Above 0: large makes types alike, small prefers the most relevant.
    smoothing
        Share of equal chances, in [0, 1].
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


TINY = 1e-300  # a user without any item has no chances to share


def of_categories(wanted: Values, categories: Codes) -> Values:
    """Return p_t of the types that are categories, shape (category, user): what a rule keeps of every user.

    Items without a category are left out, for there may be thousands of them.
    """
    return np.asarray(wanted[: len(np.unique(categories[categories >= 0]))])


def check_wanted(temperature: float, smoothing: float) -> None:
    """Stop if a parameter of `wanted_types` is outside its range.

    Raises
    ------
    InputError
        Names the parameter.
    """
    if not (np.isfinite(temperature) and temperature > 0):
        raise InputError(f"temperature is {temperature}; allowed: a finite number above 0")
    if not 0 <= smoothing <= 1:
        raise InputError(f"smoothing is {smoothing}; allowed: from 0 to 1")


def check_balance(balance: float) -> None:
    """Stop unless a balance between worth and diversity is in [0, 1].

    Raises
    ------
    InputError
        If it is not.
    """
    if not 0 <= balance <= 1:
        raise InputError(f"balance is {balance}; allowed: from 0 to 1")
