"""Evaluation: how good, how fair by which criterion, and how sure.

evaluate(...)            a `Leaderboard`: metrics, composite score, intervals, the set of the best, plain remarks
composite_score(...)     every metric on its scale, and the weighted mean
bootstrap_metrics(...)   the metrics of many strategies on the same resamples of contexts
group_table(...)         what each group received under each strategy
sensitivity(...)         what hidden reasons behind past decisions could do to welfare and to comparisons
"""

from __future__ import annotations

from accordant.evaluation.bootstrap import Resampled, bootstrap_metrics
from accordant.evaluation.comparison import evaluate
from accordant.evaluation.composite import Composite, Normalisation, composite_score
from accordant.evaluation.leaderboard import (
    GroupEstimate,
    GroupRow,
    GroupTable,
    Leaderboard,
    LeaderboardRow,
    MetricCell,
    MetricColumn,
    group_table,
)
from accordant.evaluation.sensitivity import Sensitivity, sensitivity
from accordant.statistics import Estimate

__all__ = [
    "Composite",
    "Estimate",
    "GroupEstimate",
    "GroupRow",
    "GroupTable",
    "Leaderboard",
    "LeaderboardRow",
    "MetricCell",
    "MetricColumn",
    "Normalisation",
    "Resampled",
    "Sensitivity",
    "bootstrap_metrics",
    "composite_score",
    "evaluate",
    "group_table",
    "sensitivity",
]
