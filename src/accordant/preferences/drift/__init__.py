"""Preferences that change: follow rewards through time, tell when they changed, replay ratings in their order.

belief.py        what is believed of a linear reward, what records teach, what time takes away; many streams at once
sequential.py    follow users or groups: predict each block of records, then learn it
alarms.py        alarms when somebody's preferences change, with a bound on false ones
group_alarms.py  the same for groups whose users differ
e_processes.py   betting against "the agreement is constant" and "early and late answers are exchangeable"
rating_pairs.py  comparisons of ratings with earlier ones, and who is replayed
replay.py        what would have been predicted, and which alarms raised

``accordant preferences --over-time`` watches files with times, and replays ratings by `replay_ratings`.

Words used here: a *stream* is the records of one user, or of one group, in order of time; the *wealth* of a detector is
what betting against "nothing changes" would have made of 1.
"""

from __future__ import annotations

from accordant.preferences.drift.alarms import DriftAlarms, DriftTrace, watch_agreement, watch_exchangeability
from accordant.preferences.drift.belief import Belief, TasteChange, update
from accordant.preferences.drift.group_alarms import GroupAlarms, watch_groups
from accordant.preferences.drift.rating_pairs import RatingPairs, disjoint_pairs, pairs_with_earlier
from accordant.preferences.drift.replay import Prequential, Replay, ReplaySettings, replay_ratings
from accordant.preferences.drift.sequential import Followed, follow

__all__ = [
    "Belief", "DriftAlarms", "DriftTrace", "Followed", "GroupAlarms", "Prequential", "RatingPairs", "Replay",
    "ReplaySettings", "TasteChange", "disjoint_pairs", "follow", "pairs_with_earlier", "replay_ratings", "update",
    "watch_agreement", "watch_exchangeability", "watch_groups",
]  # fmt: skip
