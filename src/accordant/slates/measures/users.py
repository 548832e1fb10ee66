"""Measures about users: whether lists hold what they took, how far it is, and how narrow lists are.

Relevance to the user: whether lists hold what was really consumed afterwards.

Requests of which nothing was consumed do not count; where nobody knows, a measure is not defined. A target that no rule
may show, such as a closed item, still counts as missed: the numbers say what users lose, not whose fault it is.

Categories in each list: how concentrated they are, how diverse, and whether the user knows them already.

A list that shows the same again and again closes an echo chamber. Items without a category do not count.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.slates.measures.measure import SHARE, Goal, MeanMeasure, Range, ratio, register
from accordant.slates.serving import Served
from accordant.slates.slates import NOTHING, attention


@dataclass(frozen=True)
class Relevance(MeanMeasure):
    """A function of which places hold a target, averaged over requests with targets."""

    @abstractmethod
    def score(self, hits: Values, wanted: Values) -> Values:
        """Return the score of each request, shape (request,); what it is without a target does not matter.

        Parameters
        ----------
        hits
            1 where a place holds a target, else 0, shape (request, k).
        wanted
            Number of targets, shape (request,).
        """

    def of_requests(self, served: Served) -> Values:
        """Return the score of each request."""
        targets, items = served.targets, served.slates.items
        if targets is None:
            return np.full(len(items), np.nan)
        hits = (items != NOTHING) & targets[np.maximum(items, 0), np.arange(len(items))[:, None]]
        wanted = targets.sum(axis=0).astype(np.float64)
        return np.where(wanted > 0, self.score(hits.astype(np.float64), wanted), np.nan)


@register("ndcg")
class Ndcg(Relevance):
    """Σ_r hit_r / log2(1 + r), over that of a list with as many targets as fit on top (Järvelin and Kekäläinen 2002).

    Gains are 0 or 1, and the best list has min(k, number of targets) hits.
    """

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "normalised discounted cumulative gain of what was really consumed, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def score(self, hits: Values, wanted: Values) -> Values:
        """Return the NDCG of each request."""
        discounts = attention(hits.shape[1])
        best = np.concatenate([[0.0], np.cumsum(discounts)])
        return ratio(hits @ discounts, best[np.minimum(wanted.astype(np.intp), hits.shape[1])])


@register("recall")
class Recall(Relevance):
    """Targets shown over targets; below 1 for whoever consumed more than k items."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "share of what was really consumed that the list holds, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def score(self, hits: Values, wanted: Values) -> Values:
        """Return the recall of each request."""
        return ratio(hits.sum(axis=1), wanted)


@register("hit_rate")
class HitRate(Relevance):
    """Share of requests whose list holds at least one target."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "share of requests whose list holds something that was really consumed, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def score(self, hits: Values, wanted: Values) -> Values:
        """Return 1 for a request with a hit, else 0."""
        del wanted
        return np.asarray(hits.max(axis=1))


EARTH = 6371.0088  # mean radius in kilometres (IUGG)


@register("distance")
@dataclass(frozen=True)
class Distance(MeanMeasure):
    """Mean over lists of the mean great-circle distance from the user to an item, in kilometres.

    Items and users with unknown positions do not count.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "kilometres from the user to what is shown, as the crow flies, at least 0"

    def of_requests(self, served: Served) -> Values:
        """Return the mean distance of each list; NaN without a known position."""
        catalogue, items, batches = served.market.catalogue, served.slates.items, served.market.batches
        here = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("latitude", "longitude"))
        latitude, longitude = (each[:, None] for each in here)
        away = kilometres(latitude, longitude, catalogue.latitude[items], catalogue.longitude[items])
        known = (items != NOTHING) & ~np.isnan(away)
        return ratio(np.where(known, away, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))


def kilometres(latitude: Values, longitude: Values, to_latitude: Values, to_longitude: Values) -> Values:
    """Return great-circle distances by the haversine formula (Sinnott 1984), from degrees."""
    a, b, c, d = (np.radians(each) for each in (latitude, to_latitude, longitude, to_longitude))
    half = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin((d - c) / 2) ** 2
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0))))


@register("category_concentration")
@dataclass(frozen=True)
class CategoryConcentration(MeanMeasure):
    """Mean over lists of Σ_g (n_g / n)², n_g of the n items being of category g (Simpson 1949; Herfindahl 1950)."""

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "chance that two draws from a list are of one category, in (0, 1]; 1 is one category only"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the concentration of each list; NaN for a list without categories."""
        counts = in_categories(served, served.slates.shown())
        return ratio((counts**2).sum(axis=0), counts.sum(axis=0) ** 2)


@register("intra_list_diversity")
@dataclass(frozen=True)
class IntraListDiversity(MeanMeasure):
    """Mean over lists of the share of pairs of different items that are of different categories.

    Intra-list diversity (Smyth and McClave 2001; Ziegler et al. 2005) with distance 1 between categories, else 0.
    """

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "share of pairs of items in a list that are of different categories, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the diversity of each list; NaN for fewer than two items with a category."""
        counts = in_categories(served, served.slates.shown())
        n = counts.sum(axis=0)
        return 1.0 - ratio((counts * (counts - 1)).sum(axis=0), n * (n - 1))


@register("history_overlap")
@dataclass(frozen=True)
class HistoryOverlap(MeanMeasure):
    """Mean over lists of the share of items whose category the user consumed before; cold users do not count."""

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "share of a list in categories that the user knows already, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the share in each list; NaN for a user without history, or a list without categories."""
        shown, history = in_categories(served, served.slates.shown()), in_categories(served, served.history)
        overlap = ratio((shown * (history > 0)).sum(axis=0), shown.sum(axis=0))
        return np.where(history.any(axis=0), overlap, np.nan)


def in_categories(served: Served, counts: NDArray[np.bool_] | Values) -> Values:
    """Return how often each category occurs, shape (category, request), from counts of items, (item, request)."""
    catalogue = served.market.catalogue
    members = np.equal.outer(np.arange(len(catalogue.categories)), catalogue.category_codes)
    return np.asarray(members.astype(np.float64) @ counts)
