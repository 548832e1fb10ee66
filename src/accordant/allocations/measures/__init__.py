"""Measures of allocations: access of groups, need, benefit, outcomes, envy.

    access_gap, access_ratio, group_access, equal_opportunity_gap      shares of demand met, by group
    need_capture, benefit_ratio                                        what the most severe get; benefit over the best
    worst_off_outcome, outcome_gini, outcome_atkinson, outcome_nash    chances of a good outcome
    justified_envy                                                     pairs in which the stronger claim got less

What is not defined is NaN, never 0: a group without anybody to count has no access, and no gap to others.
Beside the registered measures stand functions that say more about one allocation or scenario: `cell_counts`,
`conditional_disparity`, `envy_pairs`, `leximin_vector`.
"""

from __future__ import annotations

from accordant.allocations.measures.access import Cell, ConditionalDisparity, Urgent, cell_counts, conditional_disparity
from accordant.allocations.measures.measure import Goal, Measure, measures
from accordant.allocations.measures.outcomes import EnvyPair, envy_pairs, leximin_vector

__all__ = [
    "Cell", "ConditionalDisparity", "EnvyPair", "Goal", "Measure", "Urgent", "cell_counts", "conditional_disparity",
    "envy_pairs", "leximin_vector", "measures",
]  # fmt: skip
