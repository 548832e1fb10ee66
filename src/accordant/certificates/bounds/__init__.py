"""Bounds of metrics under attack: what misreports within a threat can make of any number about decisions.

    bounds(rule, E, metric, delta=…)       the smallest and largest value of a metric
    composite_bounds(rule, E, metrics, …)  the same for a composite score on frozen scales
    live_composite(rules, E, metrics, …)   the same for several strategies while misreports move the scales too
    ranking(rules, E, metrics, …)          whether the order of strategies, and the choice of the best, holds

A bound is *exact* if it comes with misreports that attain it (`Bounds.witness_low`, `Bounds.witness_high`), and *sound*
if no misreport gets past it but the true end may be nearer.
"""

from __future__ import annotations

from accordant.certificates.bounds.bound import Bounds, bounds
from accordant.certificates.bounds.composite import (
    LiveComposite,
    Scale,
    composite_bounds,
    honest_scales,
    live_composite,
)
from accordant.certificates.bounds.ranking import Ranking, ranking, ranking_by_own_scores

__all__ = [
    "Bounds", "LiveComposite", "Ranking", "Scale", "bounds", "composite_bounds", "honest_scales", "live_composite",
    "ranking", "ranking_by_own_scores",
]  # fmt: skip
