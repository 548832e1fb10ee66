"""Preferences that change: follow rewards through time, tell when they changed, replay ratings in their order.

belief.py           what is believed of a linear reward, what records teach, what time takes away
steps.py            the arithmetic of beliefs, for many streams at once
sequential.py       follow users or groups: predict each block of records, then learn it
drift.py            alarms when somebody's preferences change, with a bound on false ones
agreement.py        the e-process against "the agreement with a reference is constant"
maxima.py           the largest likelihood of one slope for all answers so far, never understated
exchangeability.py  the conformal test martingale against "early and late scores are exchangeable"
pairs.py            comparisons of ratings with earlier ones
rating_stream.py    the comparisons of a replay, and who is replayed
replay.py           what would have been predicted, and which alarms raised

Words used here: a *stream* is the records of one user, or of one group, in order of time; the *wealth* of a detector is
what betting against "nothing changes" would have made of 1.
"""

from __future__ import annotations

from accordant.preferences.drift.belief import Belief, TasteChange, updated
from accordant.preferences.drift.drift import DriftAlarms, DriftTrace, watch_agreement, watch_exchangeability
from accordant.preferences.drift.pairs import RatingPairs, disjoint_pairs, pairs_with_earlier
from accordant.preferences.drift.replay import Prequential, Replay, ReplaySettings, replay_ratings
from accordant.preferences.drift.sequential import Followed, follow

__all__ = [
    "Belief",
    "DriftAlarms",
    "DriftTrace",
    "Followed",
    "Prequential",
    "RatingPairs",
    "Replay",
    "ReplaySettings",
    "TasteChange",
    "disjoint_pairs",
    "follow",
    "pairs_with_earlier",
    "replay_ratings",
    "updated",
    "watch_agreement",
    "watch_exchangeability",
]
