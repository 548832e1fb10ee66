"""Measures of reward models on held-out comparisons: pure functions on arrays, a typed result each.

per_user.py            accuracy and log-loss of each user, and whether users with rarer preferences are served worse
spread.py              how evenly values are spread over users, and how much of the spread is more than chance
intervals.py           bootstrap over users, several methods on the same resamples
paired_differences.py  paired differences of a group's users: intervals, one-sided tests, power
pareto.py              whether a model improves on a reference without costing a group more than a tolerance
disagreement.py        how much of the loss no single reward can remove; how often people see what other groups prefer

``accordant preferences`` reports users, intervals and Pareto tests, and the measures of spread on resamples; with
``--agreement`` also `disagreement` where users label the same pairs, and `exposure` where there are groups.
"""

from __future__ import annotations

from accordant.preferences.measures.disagreement import (
    Disagreement,
    Exposure,
    LabelCounts,
    disagreement,
    entropy_floor,
    exposure,
    label_counts,
)
from accordant.preferences.measures.intervals import UserIntervals, bootstrap_users
from accordant.preferences.measures.pareto import GroupChange, ParetoTest, Power, pareto_test, pareto_tests
from accordant.preferences.measures.per_user import (
    PerUser,
    SupportRelation,
    log_sigmoid,
    per_user,
    ranks,
    support_relation,
)
from accordant.preferences.measures.spread import (
    CorrectedSpread,
    Spread,
    atkinson,
    binomial_noise,
    corrected_spread,
    gini,
    group_gap,
    jain,
    spread,
    theil,
    worst_mean,
)

__all__ = [
    "CorrectedSpread", "Disagreement", "Exposure", "GroupChange", "LabelCounts", "ParetoTest", "PerUser", "Power",
    "Spread", "SupportRelation", "UserIntervals", "atkinson", "binomial_noise", "bootstrap_users", "corrected_spread",
    "disagreement", "entropy_floor", "exposure", "gini", "group_gap", "jain", "label_counts", "log_sigmoid",
    "pareto_test", "pareto_tests", "per_user", "ranks", "spread", "support_relation", "theil", "worst_mean",
]  # fmt: skip
