"""`Candidates`: what each item is worth to each stakeholder for each user, and which items may be shown to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.block import BLOCK_SIZE
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE, TIE_TOLERANCE
from accordant.strategies.strategy import stakeholder_weights
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class Candidates:
    """E with items as actions and users as contexts, the weights of stakeholders, and what may be shown.

    Parameters
    ----------
    expected
        E, shape (stakeholder, item, user).
    available
        Whether an item may be shown to a user, shape (item, user) or (item,); None for all.
    weights
        One number of at least 0 for each stakeholder, not all 0; None means 1 for everybody.
    categories
        Category of each item as a code of at least 0, −1 if it has none, shape (item,); None if nobody declared any.
    user
        The stakeholder who is the user, for rules that put the user's own wishes apart; None if nobody said.

    Raises
    ------
    InputError
        If a shape does not fit E, a weight is wrong, or a code is below −1.
    UnknownNameError
        If the user is no stakeholder.
    """

    expected: ExpectedRewards
    available: Mask
    weights: Values
    categories: NDArray[np.intp]
    user: str | None

    def __init__(
        self,
        expected: ExpectedRewards,
        available: ArrayLike | None = None,
        weights: Sequence[float] | Values | None = None,
        categories: ArrayLike | None = None,
        user: str | None = None,
    ) -> None:
        _, n_items, n_users = expected.values.shape
        given = None if weights is None else tuple(np.asarray(weights, dtype=np.float64).tolist())
        object.__setattr__(self, "expected", expected)
        object.__setattr__(self, "available", _mask(available, n_items, n_users))
        object.__setattr__(self, "weights", stakeholder_weights(given, len(expected.stakeholders)))
        object.__setattr__(self, "categories", _codes(categories, n_items))
        if user is not None and user not in expected.stakeholders:
            raise UnknownNameError("stakeholder named as user:", user, expected.stakeholders)
        object.__setattr__(self, "user", user)

    @property
    def stakeholders(self) -> tuple[str, ...]:
        """Names of stakeholders."""
        return self.expected.stakeholders

    @property
    def items(self) -> tuple[str, ...]:
        """Names of items."""
        return self.expected.actions

    @property
    def n_users(self) -> int:
        """Number of users."""
        return self.expected.n_contexts

    @cached_property
    def values(self) -> Values:
        """E in float64 and C-contiguous, shape (stakeholder, item, user)."""
        return np.ascontiguousarray(self.expected.values, dtype=np.float64)

    @cached_property
    def totals(self) -> Values:
        """Σ_i E[i, c, u] over stakeholders with weight above 0, shape (item, user): what breaks ties."""
        heard = self.weights > 0
        return np.asarray((self.values if heard.all() else self.values[heard]).sum(axis=0))

    @property
    def tolerance(self) -> float:
        """Scores this close, relative to max(1, |score|), are equal; wider if E came in single precision."""
        return SINGLE_PRECISION_TOLERANCE if self.expected.values.dtype == np.float32 else TIE_TOLERANCE

    def take(self, users: slice | NDArray[np.intp]) -> Candidates:
        """Return the candidates of some users."""
        return self.but(expected=self.expected.take(users), available=self.available[:, users])

    def but(
        self,
        *,
        expected: ExpectedRewards | None = None,
        available: Mask | None = None,
        weights: Values | None = None,
    ) -> Candidates:
        """Return the candidates with another E, availability, or weights."""
        return Candidates(
            self.expected if expected is None else expected,
            self.available if available is None else available,
            self.weights if weights is None else weights,
            self.categories,
            self.user,
        )

    def slices(self) -> list[slice]:
        """Return users in blocks that stay in cache."""
        n_stakeholders, n_items, n_users = self.expected.values.shape
        size = max(1, BLOCK_SIZE // (n_stakeholders * n_items))
        return [slice(start, min(start + size, n_users)) for start in range(0, n_users, size)]


def _mask(given: ArrayLike | None, n_items: int, n_users: int) -> Mask:
    if given is None:
        return np.broadcast_to(np.True_, (n_items, n_users))
    mask = np.asarray(given)
    mask = mask[:, None] if mask.ndim == 1 else mask
    if mask.dtype != np.bool_ or mask.ndim != 2 or mask.shape[0] != n_items or mask.shape[1] not in (1, n_users):
        raise InputError(
            f"available has shape {np.shape(given)} and type {mask.dtype}; allowed: booleans of shape "
            f"{(n_items, n_users)}, (item, user), or {(n_items,)}"
        )
    return np.broadcast_to(mask, (n_items, n_users))


def _codes(given: ArrayLike | None, n_items: int) -> NDArray[np.intp]:
    if given is None:
        return np.full(n_items, -1, dtype=np.intp)
    codes = np.asarray(given)
    if codes.shape != (n_items,) or not np.issubdtype(codes.dtype, np.integer) or (codes < -1).any():
        raise InputError(f"categories are {given!r:.80}; allowed: {n_items} codes of at least -1, one per item")
    return codes.astype(np.intp)
