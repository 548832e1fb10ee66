"""Maximal marginal relevance: an item that is like one already in the list is worth less (Carbonell, Goldstein 1998).

    next item = argmax λ worth(c) − (1 − λ) max_{s in the list} similarity(c, s)

Similarity is 1 for items of one category, else 0; an item without a category is like no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.slates.candidates import Candidates
from accordant.slates.moderation.offers import BestItems, take_best
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.rules.diversity.types import check_balance, types_of
from accordant.slates.rules.user import weighted_means
from accordant.slates.slates import NOTHING, Slates


@register("mmr")
@dataclass(frozen=True)
class MaximalMarginalRelevance(SlateRule):
    """Take items one by one: λ times the weighted mean of E, less 1 − λ if the category is in the list already.

    Parameters
    ----------
    balance
        λ in [0, 1]; 1 reads worth alone, 0 categories alone (worth then never breaks ties, sums of E do).

    Raises
    ------
    InputError
        If the balance is outside its range.
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
        found = BestItems(np.full((n_users, k), NOTHING, dtype=np.intp), np.zeros(n_users, dtype=bool))
        for place in range(min(k, n_items)):
            items = take_best(left, candidates.totals, found, place, candidates.tolerance)
            users = np.flatnonzero(items != NOTHING)
            users = users[~shown[types[items[users]], users]]
            new = types[items[users]]
            shown[new, users] = True
            left[:, users] -= (1.0 - self.balance) * (types[:, None] == new)
        return Slates(self.label, candidates.items, found.items, found.tied)
