"""What a ranker may see of a request: views made of a market, with nothing in them that is not its business."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.json_values import finite
from accordant.randomness import keyed_seed, keyed_uniform
from accordant.slates.candidates import Candidates
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives import SlateStakeholder
from accordant.slates.objectives.positions import ways
from accordant.slates.rankers import Aim, RankingView, SeenItem, SpeaksFor
from accordant.slates.state import State

REWARD = "expected_reward"  # the only aim of a stakeholder of whom nothing but E is known


@dataclass(frozen=True, eq=False)
class Shown:
    """What one stakeholder's ranker may see of some requests.

    Attributes
    ----------
    catalogue, requests
        Of which only facts are shown.
    available
        Which items are shown, shape (item, request).
    distances
        Kilometres, NaN where unknown, shape (item, request).
    party
        The stakeholder.
    scores
        Of each aim, in [0, 1], 1 is best, shape (aim, item, request).
    """

    catalogue: Catalogue
    requests: Requests
    available: NDArray[np.bool_]
    distances: Values
    party: SpeaksFor
    scores: Values

    def view(self, position: int, voter: str, name: str, number: int, k: int, seed: int) -> RankingView:
        """Return the view of one request.

        Parameters
        ----------
        position
            Of the request.
        voter
            Name of the ranker.
        name
            Under which the view knows the request.
        number
            Of the request in the whole market: all that draws depend on beside the seed and the stakeholder.
        k
            Places.
        seed
            Of everything drawn.
        """
        requests = self.requests
        drawn = keyed_seed(seed, f"{self.party.name}:{number}")
        shown = np.flatnonzero(self.available[:, position])
        uniform = keyed_uniform(drawn, (self.catalogue.items[c] for c in shown))
        moment = {
            "day": float(requests.day),
            "latitude": finite(requests.latitude[position]),
            "longitude": finite(requests.longitude[position]),
        }
        items = tuple(self._item(int(c), position) for c in shown[np.argsort(uniform, kind="stable")])
        return RankingView(voter, self.party, name, moment, items, k, drawn)

    def _item(self, c: int, position: int) -> SeenItem:
        catalogue = self.catalogue
        return SeenItem(
            catalogue.items[c],
            {
                "category": catalogue.category[c],
                "popularity": finite(catalogue.popularity[c]),
                "price": finite(catalogue.price[c]),
                "distance_km": finite(self.distances[c, position]),
            },
            {aim.name: float(score) for aim, score in zip(self.party.aims, self.scores[:, c, position], strict=True)},
        )


def shown_to(
    stakeholder: str, declared: SlateStakeholder | None, catalogue: Catalogue, requests: Requests, state: State,
    candidates: Candidates,
) -> Shown:  # fmt: skip
    """Return what the ranker of one stakeholder may see.

    Parameters
    ----------
    stakeholder
        Name.
    declared
        Its objectives; None if nothing but E is known of it, which then is its only aim.
    catalogue, requests, state
        What objectives are read from.
    candidates
        E of the same requests at the same state, and what may be shown.
    """
    if declared is None:
        meaning = "as much as can be expected"
        aims: Sequence[Aim] = [
            Aim(REWARD, "what is expected of an item", "max", 1.0, meaning, "no objective is stated")
        ]
        scores = candidates.values[[candidates.stakeholders.index(stakeholder)]]
        party = SpeaksFor(stakeholder, "", tuple(aims))
    else:
        party = SpeaksFor(stakeholder, declared.role, _aims(declared))
        scores = np.stack([each.scores(catalogue, requests, state) for each in declared.objectives])
    return Shown(catalogue, requests, candidates.available, ways(catalogue, requests), party, np.clip(scores, 0.0, 1.0))


def _aims(declared: SlateStakeholder) -> tuple[Aim, ...]:
    """Return the objectives of a stakeholder; one whose metric came before gets a number."""
    total = sum(each.weight for each in declared.objectives)
    found: list[Aim] = []
    for value in declared.values:
        for each in value.objectives:
            before = sum(aim.name.partition(" ")[0] == each.metric for aim in found)
            name = f"{each.metric} {before + 1}" if before else each.metric
            about = each.objective().about
            found.append(Aim(name, value.value, each.direction, each.weight / total, about, each.because))
    return tuple(found)
