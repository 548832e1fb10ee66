"""Which measures stand on a board if nobody says otherwise."""

from __future__ import annotations

from accordant.slates.measures import SlateMeasure, measures
from accordant.slates.serving import Market

USER, WORST_OFF = "user attained", "worst off"
"""Labels of the two measures that a front compares by default."""


def default_measures(market: Market) -> dict[str, SlateMeasure]:
    """Return the columns of a board for a market: label to measure.

    What nobody can know in this market is left out: relevance without targets, shares without floors, crowds without
    limits, popularity without any, providers without names. None of them adds up what all others say.
    """
    catalogue = market.catalogue
    known_targets = all(batch.targets is not None for batch in market.batches)
    between = "provider" if len(catalogue.providers) > 1 else "category"
    columns: list[tuple[str, bool, str, dict[str, object]]] = [
        (WORST_OFF, True, "worst_off", {}),
        (USER, market.user_stakeholder is not None, "attained", {"stakeholder": market.user_stakeholder}),
        ("nash", True, "nash_attained", {}),
        ("floor violations", bool(market.floors), "floor_violations", {}),
        ("ndcg", known_targets, "ndcg", {}),
        ("overload", bool((catalogue.capacity[catalogue.open] < float("inf")).any()), "overload", {}),
        ("exposure gini", True, "exposure_gini", {}),
        (
            f"{between} exposure gap",
            max(len(catalogue.providers), len(catalogue.categories)) > 1,
            "provider_exposure_gap",
            {"between": between},
        ),
        ("long tail", bool(catalogue.popularity.any()), "long_tail_share", {}),
        ("diversity", len(catalogue.categories) > 1, "intra_list_diversity", {}),
    ]
    return {label: measures.create(name, parameters) for label, known, name, parameters in columns if known}
