"""Categories in each list: how concentrated they are, how diverse, and whether the user knows them already.

A list that shows the same again and again closes an echo chamber. Items without a category do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.slates.measures.measure import SHARE, Goal, MeanMeasure, Range, ratio, register
from accordant.slates.serving import Served


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
