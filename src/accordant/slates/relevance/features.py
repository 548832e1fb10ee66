"""`Features`: what is known of a user, a start and an item together, as numbers for an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Codes, Values
from accordant.slates.catalogue import Catalogue
from accordant.slates.objectives.positions import kilometres
from accordant.slates.relevance.counts import Rows
from accordant.slates.relevance.factorisation import Factorisation
from accordant.slates.relevance.interactions import NOBODY, NOWHERE, Interactions
from accordant.slates.relevance.neighbours import Neighbours
from accordant.slates.relevance.popular import Popular
from accordant.slates.relevance.recommender import Fitted, relative
from accordant.slates.relevance.transitions import Transitions


@dataclass(frozen=True, eq=False)
class Features:
    """Numbers about (user, start, item), from some interactions.

    Attributes
    ----------
    catalogue
        Categories and positions.
    history
        Counts, one row per user.
    learned
        Recommenders that were fitted on the same interactions: popular, transitions, neighbours, factorisation.
    """

    catalogue: Catalogue
    history: Rows
    learned: tuple[Fitted, ...]

    names: ClassVar[tuple[str, ...]] = (
        "popularity",  # the scores of the four recommenders, relative to the best item of the request
        "transition",
        "neighbour",
        "factors",
        "same category",  # as the start
        "category share",  # of the item's category in the history
        "closeness",  # 1 / (1 + kilometres from the start), 0 where a position is unknown
        "had before",  # log(1 + times that the user consumed it)
        "is start",
    )

    @classmethod
    def learned_from(cls, interactions: Interactions, catalogue: Catalogue, seed: int) -> Features:
        """Return features that know these interactions and nothing else."""
        models = (Popular(), Transitions(), Neighbours(), Factorisation(seed=seed))
        return cls(catalogue, Rows.of(interactions), tuple(each.fit(interactions, catalogue) for each in models))

    def of(self, users: Codes, starts: Codes) -> Values:
        """Return features of every item for each request, shape (item, request, feature)."""
        codes, somewhere = self.catalogue.category_codes, starts != NOWHERE
        had = np.zeros((self.catalogue.n_items, len(users)))
        for request, user in enumerate(users):
            if user != NOBODY:
                items, counts = self.history.row(int(user))
                had[items, request] = counts
        same = (codes[:, None] == codes[starts]) & (codes[:, None] >= 0) & somewhere
        itself = (np.arange(self.catalogue.n_items)[:, None] == starts).astype(np.float64)
        columns = [
            *(relative(each.rate(users, starts)) for each in self.learned),
            same.astype(np.float64), self._category_shares(had), self._closeness(starts), np.log1p(had), itself,
        ]  # fmt: skip
        return np.stack(columns, axis=2)

    def _category_shares(self, had: Values) -> Values:
        """Return the share of each item's category in the history, shape (item, request); 0 where unknown."""
        codes = self.catalogue.category_codes
        member = (codes == np.arange(len(self.catalogue.categories))[:, None]).astype(np.float64)
        amounts = member @ had
        totals = amounts.sum(axis=0)
        shares = np.divide(amounts, totals, out=np.zeros_like(amounts), where=totals > 0)
        return np.asarray(member.T @ shares)

    def _closeness(self, starts: Codes) -> Values:
        """Return 1 / (1 + kilometres), shape (item, request); 0 without a start or a position."""
        latitude, longitude = self.catalogue.latitude, self.catalogue.longitude
        far = kilometres(latitude[starts], longitude[starts], latitude[:, None], longitude[:, None])
        known = ~np.isnan(far) & (starts != NOWHERE)
        return np.where(known, 1.0 / (1.0 + np.where(known, far, 0.0)), 0.0)
