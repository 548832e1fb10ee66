"""What a simulated visitor takes of what is shown: multinomial choice on true taste, place in the list and crowding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.randomness import keyed_uniform
from accordant.slates.catalogue import Requests
from accordant.slates.slates import NOTHING, Slates, attention

SMALLEST = 2.0**-53  # keeps logarithms of draws finite


@dataclass(frozen=True, eq=False)
class Choice:
    """Every visitor visits one item of the list: the one of highest utility [ours].

        utility = sharpness · taste + position_bias · ln(attention) − crowding_aversion · crowd + shock

    attention is 1 / log2(1 + rank). crowd is the number of earlier visitors of the same batch at the item over the
    item's room. Shocks are standard Gumbel, so each choice is multinomial (McFadden 1974). A shock depends on the seed,
    the request and the item alone: rules that show the same item to the same visitor meet the same mood.

    Parameters
    ----------
    seed
        Of the shocks.
    items
        Names.
    taste
        Of each request, known to nobody else, in [0, 1], shape (item, request).
    column
        Request to its column of `taste`.
    room
        Visitors of one batch that an item takes at ease, above 0, shape (item,).
    sharpness, position_bias, crowding_aversion
        At least 0; at 0 the part has no influence.
    """

    seed: int
    items: tuple[str, ...]
    taste: Values
    column: Mapping[str, int]
    room: Values
    sharpness: float = 6.0
    position_bias: float = 1.0
    crowding_aversion: float = 1.0

    def __call__(self, requests: Requests, slates: Slates) -> Values:
        """Return visits, 0 or 1, shape (item, request): one for each list that holds anything."""
        came = np.zeros(len(self.items))
        found = np.zeros((len(self.items), requests.n_users))
        prominence = self.position_bias * np.log(attention(slates.k))
        for user, request in enumerate(requests.ids):
            shown = slates.items[user]
            places = np.flatnonzero(shown != NOTHING)
            if not len(places):
                continue
            items = shown[places]
            liking = self.sharpness * self.taste[items, self.column[request]] + prominence[places]
            crowd = self.crowding_aversion * came[items] / self.room[items]
            taken = items[np.argmax(liking - crowd + self.shocks(request, items))]
            found[taken, user] = 1.0
            came[taken] += 1.0
        return found

    def shocks(self, request: str, items: NDArray[np.intp]) -> Values:
        """Return standard Gumbel draws, shape (item,)."""
        draws = keyed_uniform(self.seed, (f"mood:{request}:{self.items[item]}" for item in items))
        return np.asarray(-np.log(-np.log(np.clip(draws, SMALLEST, 1.0 - SMALLEST))))
