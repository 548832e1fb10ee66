"""Metrics: numbers about decisions.

Words used here, in the sense of the literature on group criteria:

    overall      a rate over all contexts
    by group     the same rate in each group; a group is a value of a column or a combination of values
    difference   largest minus smallest rate over groups, or protected group minus everybody else
    ratio        smallest divided by largest rate over groups
    realised     given what really followed, not what was expected
    undefined    nobody counts: the value is None and the reason says which group is empty; never 0

A metric is an object that knows its parameters::

    gap = metrics.create("demographic_parity", {"attributes": ["sex"]})
    gap.evaluate(decisions, evidence).value

Own metrics subclass `CountMetric` or `SumMetric`, need no more than `value` or `theta`, and are registered
with `register`.
"""

from __future__ import annotations

from accordant.metrics.group_comparison import GroupComparison, by_group
from accordant.metrics.metric import (
    SHARE,
    CountMetric,
    Goal,
    GroupValue,
    Metric,
    MetricResult,
    Range,
    RatioMetric,
    SumMetric,
    metrics,
    register,
    weighted_metrics,
)
from accordant.metrics.statistics import Cells, Contingency, Sums, cell_values, divide

create = metrics.create
names = metrics.names

__all__ = [
    "SHARE",
    "Cells",
    "Contingency",
    "CountMetric",
    "Goal",
    "GroupComparison",
    "GroupValue",
    "Metric",
    "MetricResult",
    "Range",
    "RatioMetric",
    "SumMetric",
    "Sums",
    "by_group",
    "cell_values",
    "create",
    "divide",
    "metrics",
    "names",
    "register",
    "weighted_metrics",
]
