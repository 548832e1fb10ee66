"""Relevance to the user: whether lists hold what was really consumed afterwards.

Requests of which nothing was consumed do not count; where nobody knows, a measure is not defined. A target that no rule
may show, such as a closed item, still counts as missed: the numbers say what users lose, not whose fault it is.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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
