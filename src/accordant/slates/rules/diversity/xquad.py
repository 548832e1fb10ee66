"""xQuAD: items of wanted categories that the list does not cover yet (Santos, Macdonald and Ounis 2010).

    next item = argmax λ worth(c) + (1 − λ) Σ_t p_t worth(c | t) Π_{s in the list} (1 − worth(s | t))

A category is an aspect of the query; worth(c | t) is the worth of c if it is of category t, else 0 [ours], and p_t the
share of the user's relevance that is of category t [ours]. An item without a category is one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.slates.candidates import Candidates
from accordant.slates.moderation.offers import BestItems, take_best
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.rules.diversity.types import check_balance, check_wanted, of_categories, types_of, wanted_types
from accordant.slates.rules.user import user_values, weighted_means
from accordant.slates.slates import NOTHING, Slates


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
        See `accordant.slates.rules.diversity.types.wanted_types`.

    Raises
    ------
    InputError
        If a parameter is outside its range.
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
        found = BestItems(np.full((n_users, k), NOTHING, dtype=np.intp), np.zeros(n_users, dtype=bool))
        for place in range(min(k, n_items)):
            scores = self.balance * worth + (1.0 - self.balance) * uncovered[types] * worth
            items = take_best(np.where(allowed, scores, -np.inf), candidates.totals, found, place, candidates.tolerance)
            users = np.flatnonzero(items != NOTHING)
            taken = items[users]
            allowed[taken, users] = False
            uncovered[types[taken], users] *= 1.0 - worth[taken, users]
        return Slates(
            self.label,
            candidates.items,
            found.items,
            found.tied,
            {},
            {"wanted": of_categories(wanted, candidates.categories)},
        )
