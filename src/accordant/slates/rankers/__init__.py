"""Rankers: whoever puts items into an order for a stakeholder, one request after the other.

ranker          what may be seen: one's own objectives, items with facts and scores, where and when; from a view to a
                ranking, and the registry; the declared utility (a rule), and with seeded noise (a fixture)
ranking_file    what people or other systems said before, from a file
language_model  what a language model says, checked; from a view to messages, from an answer to a ranking
"""

from __future__ import annotations

from accordant.slates.rankers.language_model import LanguageModelRanker
from accordant.slates.rankers.ranker import (
    Aim,
    NoisyRanker,
    ObjectiveRanker,
    Ranker,
    RankingView,
    SeenItem,
    SpeaksFor,
    create_ranker,
    rankers,
)
from accordant.slates.rankers.ranking_file import RecordedRanker

__all__ = [
    "Aim", "LanguageModelRanker", "NoisyRanker", "ObjectiveRanker", "Ranker", "RankingView", "RecordedRanker",
    "SeenItem", "SpeaksFor", "create_ranker", "rankers",
]  # fmt: skip
