"""Rankers: whoever puts items into an order for a stakeholder, one request after the other.

view.py              what may be seen: one's own objectives, items with facts and scores, where and when
ranker.py            from a view to a ranking, and the registry
objective_ranker.py  the declared utility: a rule
noisy_ranker.py      the declared utility with seeded noise: a fixture
recorded_ranker.py   what people or other systems said before, from a file
language_model.py    what a language model says, checked; never registered
recorded.py          files of rankings
prompt.py, wire.py   from a view to messages, and from an answer to a ranking
"""

from __future__ import annotations

from accordant.slates.rankers.language_model import LanguageModelRanker
from accordant.slates.rankers.noisy_ranker import NoisyRanker
from accordant.slates.rankers.objective_ranker import ObjectiveRanker
from accordant.slates.rankers.ranker import Ranker, create_ranker, rankers
from accordant.slates.rankers.recorded_ranker import RecordedRanker
from accordant.slates.rankers.view import Aim, RankingView, SeenItem, SpeaksFor

__all__ = [
    "Aim",
    "LanguageModelRanker",
    "NoisyRanker",
    "ObjectiveRanker",
    "Ranker",
    "RankingView",
    "RecordedRanker",
    "SeenItem",
    "SpeaksFor",
    "create_ranker",
    "rankers",
]
