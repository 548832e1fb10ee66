"""Consumption-aware lists: how many items of each type, for a user who takes only the best k_c of the wanted type.

    maximise Σ_t p_t h_t(a_t),   Σ_t a_t = k                                    (Peng and others 2024, arXiv 2307.15142)

The greedy rule is exactly optimal; see `accordant.slates.consumption`. Estimates are ours:

    t      a category, or an item without one by itself
    p_t    the share of the user's relevance that is of type t
    worth  the weighted mean of E over all stakeholders, by which items of a type are taken in turn
    h_t    from worth as the chance with which an item of the wanted type pleases, unless another distribution of
           values is declared
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.kernels import compiled
from accordant.slates.candidates import Candidates, user_values, weighted_means
from accordant.slates.consumption import Exponential, Uniform
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.rules.diversity import check_wanted, of_categories, types_of, wanted_types
from accordant.slates.slates import NOTHING, Slates

ItemValues = Literal["chances", "uniform", "exponential"]
ITEM_VALUES: tuple[ItemValues, ...] = get_args(ItemValues)

DIGITS = 12  # of the worth of items of one type: what differs by less is a tie, whatever rounding made of it

DENSITIES: dict[str, Callable[[int, int], Values]] = {
    "uniform": Uniform().log_gains,
    "exponential": Exponential().log_gains,
}


@register("consumption_aware")
@dataclass(frozen=True)
class ConsumptionAware(SlateRule):
    """Show the list that is worth most to a user who takes the best k_c items of the one type that is wanted.

    Parameters
    ----------
    consumed
        k_c at least 1, how many items a user takes; None for all of the list.
    values
        ``chances``: an item of the wanted type pleases with the chance of its worth. ``uniform``, ``exponential``: the
        values of all items of a type are drawn from that density; worth then only says which item comes first.
    user
        The stakeholder whose relevance says which types are wanted; None for the first who has a say.
    temperature, smoothing
        See `accordant.slates.rules.diversity.wanted_types`.

    Raises `InputError` if a parameter is outside its range, or the name of the values is unknown.
    """

    kind: ClassVar[Kind] = "consumption"
    note: ClassVar[str] = "Exact for the declared values; that users want one type and take k_c items is an assumption."

    consumed: int | None = 1
    values: ItemValues = "chances"
    user: str | None = None
    temperature: float = 1.0
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if self.consumed is not None and (not isinstance(self.consumed, int) or self.consumed < 1):
            raise InputError(f"consumed is {self.consumed!r}; allowed: a whole number of at least 1, or None")
        if self.values not in ITEM_VALUES:
            raise UnknownNameError("values of items", self.values, ITEM_VALUES)
        check_wanted(self.temperature, self.smoothing)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block; quantities ``wanted``, (category, user), and ``value``, Σ_t p_t h_t(a_t)."""
        types, available = types_of(candidates.categories), candidates.available
        wanted = wanted_types(user_values(candidates, self.user), available, types, self.temperature, self.smoothing)
        worth = np.asarray(np.round(np.clip(weighted_means(candidates), 0.0, 1.0), DIGITS), dtype=np.float64)
        order = _in_types(worth, candidates.totals, types)
        n_items, n_users = worth.shape
        items = np.full((n_users, k), NOTHING, dtype=np.intp)
        tied, value = np.zeros(n_users, dtype=bool), np.zeros(n_users)
        consumed = k if self.consumed is None else self.consumed
        drawn = np.empty(0) if self.values == "chances" else np.exp(DENSITIES[self.values](consumed, min(k, n_items)))
        _fill(
            order, types, np.ascontiguousarray(wanted.T), np.ascontiguousarray(worth.T),
            np.ascontiguousarray(candidates.totals.T), np.ascontiguousarray(available.T), consumed, drawn,
            candidates.tolerance, items, tied, value,
        )  # fmt: skip
        return Slates(
            self.label,
            candidates.items,
            items,
            tied,
            {},
            {"wanted": of_categories(wanted, candidates.categories), "value": value},
        )


def _in_types(worth: Values, totals: Values, types: Codes) -> Codes:
    """Return items by type, and within a type by worth, then total, then declared order, shape (user, item)."""
    n_items, n_users = worth.shape
    order = np.broadcast_to(np.arange(n_items)[:, None], (n_items, n_users))
    for key in (-np.round(totals, DIGITS), -worth, np.broadcast_to(types[:, None], worth.shape)):
        order = np.take_along_axis(order, np.argsort(np.take_along_axis(key, order, 0), axis=0, kind="stable"), 0)
    return np.ascontiguousarray(order.T, dtype=np.intp)


@compiled
def _fill(
    order: Codes,
    types: Codes,
    wanted: Values,
    worth: Values,
    totals: Values,
    available: NDArray[np.bool_],
    consumed: int,
    drawn: Values,
    tolerance: float,
    items: Codes,
    tied: NDArray[np.bool_],
    value: Values,
) -> None:
    """Write the best list of each user: at each place, the type whose next item adds most to Σ_t p_t h_t(a_t).

    Without `drawn` gains, the next item of chance q adds q P(fewer than k_c of those shown please), and `exactly`
    keeps the chances of 0, 1, …, k_c − 1 of them. Everything is by user in the first axis.
    """
    n_users, k = items.shape
    n_items, n_types = order.shape[1], wanted.shape[1]
    exactly, shown, place_of = np.empty((n_types, consumed)), np.empty(n_types, np.intp), np.empty(n_types, np.intp)
    stop = np.empty(n_types, np.intp)
    listed = np.empty(n_items, np.intp)
    for u in range(n_users):
        n_listed = _list_available(order[u], types, available[u], listed, place_of, stop)
        exactly[:] = 0.0
        exactly[:, 0] = 1.0
        shown[:] = 0
        for place in range(min(k, n_listed)):
            best, best_total, chosen, rivals = -1.0, 0.0, -1, 0
            for t in range(n_types):
                if stop[t] == 0 or place_of[t] == stop[t]:
                    continue
                item = listed[place_of[t]]
                gain = worth[u, item] * exactly[t].sum() if len(drawn) == 0 else drawn[shown[t]]
                gain *= wanted[u, t]
                total = totals[u, item]
                if chosen < 0 or gain > best + tolerance:
                    best, best_total, chosen, rivals = gain, total, t, 0
                elif gain >= best - tolerance:
                    rivals += 1
                    other = listed[place_of[chosen]]
                    close = tolerance * max(1.0, abs(best_total))
                    if total > best_total + close or (total >= best_total - close and item < other):
                        best, best_total, chosen = max(best, gain), total, t
            item = listed[place_of[chosen]]
            place_of[chosen] += 1
            if rivals > 0 or (place_of[chosen] < stop[chosen] and worth[u, listed[place_of[chosen]]] == worth[u, item]):
                tied[u] = True
            items[u, place] = item
            value[u] += best
            shown[chosen] += 1
            q = worth[u, item]
            for won in range(consumed - 1, 0, -1):
                exactly[chosen, won] = exactly[chosen, won] * (1.0 - q) + exactly[chosen, won - 1] * q
            exactly[chosen, 0] *= 1.0 - q


def _list_available(
    order: Codes, types: Codes, available: NDArray[np.bool_], listed: Codes, first: Codes, stop: Codes
) -> int:  # fmt: skip
    """Write the available items of one user, type by type, and where each type begins and stops; return how many.

    `order` holds all items, those of a type side by side. Of a type without items, `stop` is 0.
    """
    n_listed = 0
    first[:] = 0
    stop[:] = 0
    for item in order:
        if available[item]:
            t = types[item]
            if stop[t] == 0:
                first[t] = n_listed
            listed[n_listed] = item
            n_listed += 1
            stop[t] = n_listed
    return n_listed
