"""Candidates: E with items as actions, who has what weight, what may be shown, and what a list gives to whom.

`Gains` are utilities of a slate, and where they lie between the worst and the ideal list of each stakeholder:

    u_i(S)      mean of E[i, c, u] over the items c in S
    ideal       the largest u_i over lists of the same length: the best items for i
    worst       the smallest
    attained    (u_i − worst) / (ideal − worst), in [0, 1]: 1 is i's ideal list; NaN where all lists are alike for i

A stakeholder to whom every list is alike can neither gain nor lose, so it counts neither as served nor as behind.

Where E or availability depends on what was shown before, rules face different moments: the ideal of a rule that fills
places is lower than that of one that does not. `accordant.slates.market.on_one_scale` therefore measures all rules
of a comparison between the best ideal and the worst worst that any of them faced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accordant.arrays import Codes, Floats, Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.slates import NOTHING, Slates
from accordant.strategies.block import BLOCK_SIZE
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE, TIE_TOLERANCE, select_best
from accordant.strategies.strategy import stakeholder_weights
from accordant.utilities import ExpectedRewards

ALIKE = 1e-9  # a stakeholder whose ideal and worst lists differ by less is indifferent
LEAST = -1e300  # stands for −∞ of an item that may be shown, so that one that may not is still below


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

    Raises `InputError` if a shape does not fit E, a weight is wrong, or a code is below −1; `UnknownNameError` if the
    user is no stakeholder.
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
        has_weight = self.weights > 0
        return np.asarray((self.values if has_weight.all() else self.values[has_weight]).sum(axis=0))

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


@dataclass(frozen=True, eq=False)
class Gains:
    """What slates give to each stakeholder.

    Attributes
    ----------
    utilities
        Mean expected rewards of lists in [0, 1], shape (stakeholder, user); NaN for an empty list.
    ideal, worst
        The same of the best and the worst list for each stakeholder; NaN where nothing may be shown.
    """

    utilities: Values
    ideal: Values
    worst: Values

    @property
    def attained(self) -> Values:
        """Normalised utilities in [0, 1], shape (stakeholder, user); NaN for whom all lists are alike."""
        span = self.ideal - self.worst
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = (self.utilities - self.worst) / span
        return np.where(span > ALIKE, np.clip(shares, 0.0, 1.0), np.nan)

    @property
    def regret(self) -> Values:
        """Ideal minus utility, in [0, 1], shape (stakeholder, user)."""
        return np.asarray(self.ideal - self.utilities)


def gains_of(slates: Slates, candidates: Candidates) -> Gains:
    """Return what slates give to each stakeholder.

    Lists with more items than may be shown any more are measured against lists of all that may.
    """
    values, items = candidates.values, slates.items
    users = np.arange(slates.n_users)[:, None]
    taken = np.where(items != NOTHING, values[:, np.maximum(items, 0), users], 0.0)
    lengths = slates.lengths
    with np.errstate(invalid="ignore", divide="ignore"):
        utilities = taken.sum(axis=2) / lengths
    ideal, worst = extremes(candidates, np.minimum(lengths, candidates.available.sum(axis=0)))
    return Gains(utilities, ideal, worst)


def extremes(candidates: Candidates, lengths: NDArray[np.intp]) -> tuple[Values, Values]:
    """Return the best and the worst mean over lists of given lengths, each of shape (stakeholder, user).

    Parameters
    ----------
    candidates
        E and what may be shown.
    lengths
        Items in the list of each user, at most as many as are available, shape (user,).
    """
    values, available = candidates.values, candidates.available
    n_users = candidates.n_users
    places = np.arange(values.shape[1])[:, None] < lengths
    means = []
    for sign in (1.0, -1.0):
        ordered = -np.sort(np.where(available, -sign * values, np.inf), axis=1)
        summed = np.where(places, ordered, 0.0).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append(sign * summed / lengths.reshape(1, n_users))
    return means[0], means[1]


def user_position(candidates: Candidates, name: str | None) -> int | None:
    """Return the position of the user among stakeholders; None if the user has no say (weight 0).

    The user is the stakeholder of a name, else of the candidates, else the first who has a say; `UnknownNameError` if
    there is no such stakeholder.
    """
    name = candidates.user if name is None else name
    if name is None:
        return int(np.flatnonzero(candidates.weights > 0)[0])
    if name not in candidates.stakeholders:
        raise UnknownNameError("stakeholder named as user:", name, candidates.stakeholders)
    position = candidates.stakeholders.index(name)
    return position if candidates.weights[position] > 0 else None


def user_values(candidates: Candidates, name: str | None) -> NDArray[np.float64]:
    """Return E of the user, shape (item, user); 0 throughout if the user has no say, as if nobody knew the wishes.

    Raises `UnknownNameError` if there is no such stakeholder.
    """
    position = user_position(candidates, name)
    return np.zeros_like(candidates.values[0]) if position is None else candidates.values[position]


def weighted_means(candidates: Candidates) -> NDArray[np.float64]:
    """Return Σ_i w_i E[i, c, u] / Σ_i w_i, what an item is worth to all, in [0, 1], shape (item, user)."""
    return np.asarray(np.tensordot(candidates.weights / candidates.weights.sum(), candidates.values, axes=1))


def even_weights(weights: Values) -> Values:
    """Return weights whose mean over those who have a say is 1, shape (stakeholder,).

    Rules compare scores within a tolerance that is absolute below 1: in other units it would count for more or less.
    """
    return np.asarray(weights / weights[weights > 0].mean())


@dataclass(frozen=True, eq=False)
class BestItems:
    """Lists of at most k items.

    Attributes
    ----------
    items
        Positions of items, best first, `NOTHING` where none is left, shape (user, k).
    tied
        Whether a place was decided by a tie-break, shape (user,).
    """

    items: Codes
    tied: Mask

    @classmethod
    def none(cls, n_users: int, k: int) -> BestItems:
        """Return lists without items, to be filled."""
        return cls(np.full((n_users, k), NOTHING, dtype=np.intp), np.zeros(n_users, dtype=bool))


def best_items(scores: Floats, totals: Values, available: Mask, k: int, tolerance: float = TIE_TOLERANCE) -> BestItems:
    """Return the k available items with the highest scores.

    Each place goes to the highest score that is left; ties go to the higher total, then to the item declared first.

    Parameters
    ----------
    scores, totals
        Shape (item, user); a score of −∞ is allowed, NaN and +∞ are not.
    available
        Shape (item, user).
    k
        At least 1.
    tolerance
        Scores this close, relative to max(1, |best|), tie.

    Raises `InputError` if a score is NaN or +∞.
    """
    left = np.where(available, np.maximum(scores, LEAST), -np.inf)
    if left.shape[1] == 1 and (left < np.inf).all():
        return _of_one_user(left[:, 0], totals[:, 0], np.flatnonzero(available[:, 0]), k, tolerance)
    lists = BestItems.none(left.shape[1], k)
    for place in range(min(k, len(left))):
        take_best(left, totals, lists, place, tolerance)
    return lists


def best_item(scores: Floats, totals: Values, tolerance: float) -> tuple[Codes, Mask]:
    """Return the best single item for each user, `NOTHING` for whom all scores are −∞, and whether it was tied."""
    chosen = select_best(scores, totals, tolerance)
    codes = chosen.codes.astype(np.intp)
    some = scores[codes, np.arange(len(codes))] > -np.inf
    return np.where(some, codes, NOTHING), chosen.tied & some


def take_best(left: Values, totals: Values, found: BestItems, place: int, tolerance: float) -> Codes:
    """Write the best item that is left for each user into a list, take it out of `left`, and return it, shape (user,).

    Parameters
    ----------
    left
        Scores, −∞ for items that may not be shown or already are, shape (item, user); changed.
    totals
        What breaks ties, shape (item, user).
    found
        Where the item is written, and whether it was tied.
    place
        Counted from 0.
    tolerance
        As in `best_items`.
    """
    codes, tied = best_item(left, totals, tolerance)
    found.items[:, place] = codes
    found.tied[:] |= tied
    users = np.flatnonzero(codes != NOTHING)
    left[codes[users], users] = -np.inf
    return codes


def _of_one_user(scores: Values, totals: Values, allowed: Codes, k: int, tolerance: float) -> BestItems:
    """Return the same for one user, from the few items that can be among the best: one pass instead of k."""
    lists, own = BestItems.none(1, k), scores[allowed]
    if len(own) > k:
        last = np.partition(own, len(own) - k)[len(own) - k]
        allowed = allowed[own >= last - tolerance * max(1.0, abs(last))]
        own = scores[allowed]
    sums = totals[allowed]
    for place in range(min(k, len(allowed))):
        best = own.max()
        level = np.flatnonzero(own >= best - tolerance * max(1.0, abs(best)))
        if len(level) > 1:
            lists.tied[0] = True
            most = sums[level].max()
            level = level[sums[level] >= most - tolerance * max(1.0, abs(most))]
        lists.items[0, place] = allowed[level[0]]
        own[level[0]] = -np.inf
    return lists
