"""Measures about users: whether lists hold what they took, how far it is, and how narrow lists are.

`ndcg`, `recall` and `hit_rate` say whether lists hold what was really consumed afterwards. Requests of which nothing
was consumed do not count; where nobody knows, a measure is not defined. A target that no rule may show, such as a
closed item, still counts as missed: the numbers say what users lose, not whose fault it is.

`category_concentration`, `intra_list_diversity` and `history_overlap` say how concentrated the categories of a list
are, how diverse, and whether the user knows them already: a list that shows the same again and again closes an echo
chamber. Items without a category do not count.

`consumed_value` says what lists are worth to a user who takes only the best few items of the one type that is wanted.
"""

from __future__ import annotations

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.slates.candidates import user_values, weighted_means
from accordant.slates.market import Served
from accordant.slates.measures.measure import mean_of, ratio
from accordant.slates.objectives.travel import kilometres
from accordant.slates.rules.diversity import types_of, wanted_types
from accordant.slates.slates import NOTHING, attention
from accordant.slates.tradeoff.verdicts import ModelledOutcomes


def hits(served: Served) -> tuple[Values, Values]:
    """Return 1 where a place holds a target, else 0, shape (request, k), and numbers of targets, shape (request,).

    Numbers of targets are NaN where there are none, and for all requests if nobody knows.
    """
    targets, items = served.targets, served.slates.items
    if targets is None:
        return np.zeros(items.shape), np.full(len(items), np.nan)
    hit = (items != NOTHING) & targets[np.maximum(items, 0), np.arange(len(items))[:, None]]
    wanted = targets.sum(axis=0).astype(np.float64)
    return hit.astype(np.float64), np.where(wanted > 0, wanted, np.nan)


@mean_of("ndcg", "max", "normalised discounted cumulative gain of what was really consumed, in [0, 1]")
def ndcg(served: Served) -> Values:
    """Σ_r hit_r / log2(1 + r), over that of a list with as many targets as fit on top (Järvelin and Kekäläinen 2002).

    Gains are 0 or 1, and the best list has min(k, number of targets) hits.
    """
    hit, wanted = hits(served)
    k = hit.shape[1]
    discounts = attention(k)
    best = np.concatenate([[np.nan], np.cumsum(discounts)])
    return ratio(hit @ discounts, best[np.minimum(np.nan_to_num(wanted).astype(np.intp), k)])


@mean_of("recall", "max", "share of what was really consumed that the list holds, in [0, 1]")
def recall(served: Served) -> Values:
    """Targets shown over targets; below 1 for whoever consumed more than k items."""
    hit, wanted = hits(served)
    return np.asarray(hit.sum(axis=1) / wanted)


@mean_of("hit_rate", "max", "share of requests whose list holds something that was really consumed, in [0, 1]")
def hit_rate(served: Served) -> Values:
    """Share of requests whose list holds at least one target."""
    hit, wanted = hits(served)
    return np.where(np.isnan(wanted), np.nan, hit.max(axis=1))


@mean_of("distance", "min", "kilometres from the user to what is shown, as the crow flies, at least 0", bounds=None)
def distance(served: Served) -> Values:
    """Mean over lists of the mean great-circle distance from the user to an item, in kilometres.

    Items and users with unknown positions do not count.
    """
    catalogue, items, batches = served.market.catalogue, served.slates.items, served.market.batches
    here = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("latitude", "longitude"))
    latitude, longitude = (degrees[:, None] for degrees in here)
    away = kilometres(latitude, longitude, catalogue.latitude[items], catalogue.longitude[items])
    known = (items != NOTHING) & ~np.isnan(away)
    return ratio(np.where(known, away, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))


@mean_of("closed_places", "min", "share of what is shown that was full and closed meanwhile, in [0, 1]")
def closed_places(served: Served) -> Values:
    """Mean over lists of the share of items that could not be shown any more; empty lists do not count.

    It is 0 unless the market is served with staleness and full items close; see `accordant.slates.market`.
    """
    closed = (served.slates.shown() & ~served.candidates.available).sum(axis=0)
    return ratio(closed.astype(np.float64), served.slates.lengths.astype(np.float64))


@mean_of("category_concentration", "min",
         "chance that two draws from a list are of one category, in (0, 1]; 1 is one category only")  # fmt: skip
def category_concentration(served: Served) -> Values:
    """Mean over lists of Σ_g (n_g / n)², n_g of the n items being of category g (Simpson 1949; Herfindahl 1950)."""
    counts = served.market.catalogue.by_category(served.slates.shown())
    return ratio((counts**2).sum(axis=0), counts.sum(axis=0) ** 2)


@mean_of("intra_list_diversity", "max",
         "share of pairs of items in a list that are of different categories, in [0, 1]")  # fmt: skip
def intra_list_diversity(served: Served) -> Values:
    """Mean over lists of the share of pairs of different items that are of different categories.

    Intra-list diversity (Smyth and McClave 2001; Ziegler et al. 2005) with distance 1 between categories, else 0. A
    list with fewer than two items with a category does not count.
    """
    counts = served.market.catalogue.by_category(served.slates.shown())
    n = counts.sum(axis=0)
    return 1.0 - ratio((counts * (counts - 1)).sum(axis=0), n * (n - 1))


@mean_of("history_overlap", "min", "share of a list in categories that the user knows already, in [0, 1]")
def history_overlap(served: Served) -> Values:
    """Mean over lists of the share of items whose category the user consumed before; cold users do not count."""
    shown, history = (
        served.market.catalogue.by_category(served.slates.shown()),
        served.market.catalogue.by_category(served.history),
    )
    overlap = ratio((shown * (history > 0)).sum(axis=0), shown.sum(axis=0))
    return np.where(history.any(axis=0), overlap, np.nan)


@mean_of("consumed_value", "max",
         "expected share of what a user takes that pleases, if one category is wanted, in [0, 1]")  # fmt: skip
def consumed_value(served: Served, consumed: int = 1) -> Values:
    """Σ_t p_t E min(k_c, number of items of type t that please) / k_c, with k_c = `consumed` (Peng and others 2024).

    Empty lists do not count. What is wanted, and the chance with which an item pleases, are those of the rule
    ``consumption_aware`` [ours].
    """
    if consumed < 1:
        raise InputError(f"consumed is {consumed}; allowed: at least 1")
    value = outcomes_of(served).accuracies(served.slates, consumed)[1]
    return np.where((served.slates.items != NOTHING).any(axis=1), value, np.nan)


def outcomes_of(served: Served) -> ModelledOutcomes:
    """Return what users would consume if each wants one type and its items please with the chance of their worth."""
    candidates = served.candidates
    types = types_of(candidates.categories)
    wanted = wanted_types(user_values(candidates, None), candidates.available, types)
    wanted[0] += wanted.sum(axis=0) == 0  # a request for which nothing may be shown: any type will do
    return ModelledOutcomes(wanted, np.clip(weighted_means(candidates), 0.0, 1.0), types)
