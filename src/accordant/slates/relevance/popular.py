"""Popular: the baseline that any recommender has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance.interactions import Interactions
from accordant.slates.relevance.recommender import Fitted, Recommender, check_fit, register


@dataclass(frozen=True, eq=False)
class FittedPopular(Fitted):
    """How often items were consumed, shape (item,)."""

    popularity: Values

    def rate(self, users: NDArray[np.intp], starts: NDArray[np.intp]) -> Values:
        """Return popularity for everybody."""
        del starts
        return np.repeat(self.popularity[:, None], len(users), axis=1)


@register("popular")
@dataclass(frozen=True)
class Popular(Recommender):
    """How often items were consumed, the same for everybody; 0 for items that nobody consumed."""

    about: ClassVar[str] = "what most consumed"

    def fit(self, interactions: Interactions, catalogue: Catalogue) -> FittedPopular:
        """Return the sum of counts of each item."""
        check_fit(interactions, catalogue)
        return FittedPopular(interactions.n_users, interactions.n_items, interactions.popularity)
