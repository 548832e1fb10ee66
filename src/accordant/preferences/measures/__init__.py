"""Measures of reward models on held-out comparisons: pure functions on arrays, a typed result each.

per_user.py            accuracy and log-loss of each user
spread.py              how evenly values are spread over users
support_relation.py    whether users with rarer preferences are served worse
noise.py               how much of the spread is more than chance
intervals.py           bootstrap over users, several methods on the same resamples
paired_differences.py  paired differences of a group's users: intervals, one-sided tests, power
pareto.py              whether a model improves on a reference without costing a group more than a tolerance
disagreement.py        how much of the loss no single reward can remove
echo.py                how often people are shown what other groups prefer
"""

from __future__ import annotations

from accordant.preferences.measures.disagreement import (
    Disagreement,
    LabelCounts,
    disagreement,
    entropy_floor,
    label_counts,
)
from accordant.preferences.measures.echo import Exposure, exposure
from accordant.preferences.measures.intervals import UserIntervals, bootstrap_users
from accordant.preferences.measures.noise import CorrectedSpread, binomial_noise, corrected_spread
from accordant.preferences.measures.pareto import GroupChange, ParetoTest, Power, pareto_test, pareto_tests
from accordant.preferences.measures.per_user import PerUser, log_sigmoid, per_user
from accordant.preferences.measures.spread import (
    Spread,
    atkinson,
    gini,
    group_gap,
    jain,
    spread,
    theil,
    worst_mean,
)
from accordant.preferences.measures.support_relation import SupportRelation, ranks, support_relation

__all__ = [
    "CorrectedSpread",
    "Disagreement",
    "Exposure",
    "GroupChange",
    "LabelCounts",
    "ParetoTest",
    "PerUser",
    "Power",
    "Spread",
    "SupportRelation",
    "UserIntervals",
    "atkinson",
    "binomial_noise",
    "bootstrap_users",
    "corrected_spread",
    "disagreement",
    "entropy_floor",
    "exposure",
    "gini",
    "group_gap",
    "jain",
    "label_counts",
    "log_sigmoid",
    "pareto_test",
    "pareto_tests",
    "per_user",
    "ranks",
    "spread",
    "support_relation",
    "theil",
    "worst_mean",
]
