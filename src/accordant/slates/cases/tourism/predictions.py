"""Relevance of attractions for the requests of test tours, by a recommender that saw training visits alone."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.slates.cases.tourism.split import Split
from accordant.slates.cases.tourism.tables import Visits
from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance import NOBODY, Interactions, Recommender, relative


def predicted(visits: Visits, split: Split, catalogue: Catalogue, recommender: Recommender) -> Values:
    """Return relevance in [0, 1], shape (item, request): scores over the best of each request.

    The first attraction of a tour is where its request starts from; it is no candidate, so it has 0.
    """
    column = training_users(visits, split)
    fitted = recommender.fit(learned_from(visits, split, catalogue.n_items), catalogue)
    users = np.array([column.get(tour.user, NOBODY) for tour in split.tests])
    starts = np.array([tour.items[0] for tour in split.tests])
    scores = np.array(fitted.scores(users, starts), dtype=np.float64)
    scores[starts, np.arange(len(starts))] = 0.0
    return relative(scores)


def learned_from(visits: Visits, split: Split, n_items: int) -> Interactions:
    """Return training visits as interactions; each starts from the one before it on its tour.

    On tours of training alone this predicts better than starting from the first one; see ``docs/methods/tourism.md``.
    """
    column = training_users(visits, split)
    rows = np.flatnonzero(split.training)
    position = {tour: place for place, tour in enumerate(dict.fromkeys(visits.tours[row] for row in rows))}
    found = Interactions.of(
        len(column), n_items, [column[visits.users[row]] for row in rows], visits.items[rows], times=visits.starts[rows]
    )
    return found.within([position[visits.tours[row]] for row in rows], "previous")


def training_users(visits: Visits, split: Split) -> dict[str, int]:
    """Return the position of each user of training, in the order of first visits."""
    users = dict.fromkeys(visits.users[row] for row in np.flatnonzero(split.training))
    return {user: place for place, user in enumerate(users)}
