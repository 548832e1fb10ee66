"""Numbers about lists: for each stakeholder, for all together, for users, for providers.

    utility regret attained floor_violations misery            one stakeholder, or whoever is below a line
    min_attained mean_attained nash_attained gini_attained     all together in each list, averaged over lists
    worst_off mean_of_means nash_of_means gini_of_means        the stakeholders' averages over lists, together
    ndcg recall hit_rate distance consumed_value closed_places  the user
    exposure_gini provider_exposure_gap coverage overload      items and providers
    long_tail_share popularity_lift                            popularity
    category_concentration intra_list_diversity history_overlap   echo chambers

What is not defined is NaN, never 0.
"""

from __future__ import annotations

from accordant.slates.measures.measure import DailyMeasure, Goal, MeanMeasure, Range, SlateMeasure, measures, register

create = measures.create
names = measures.names

__all__ = ["DailyMeasure", "Goal", "MeanMeasure", "Range", "SlateMeasure", "create", "measures", "names", "register"]
