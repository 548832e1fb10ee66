"""Evaluation of lists: how good for whom, how sure, at whose expense, and what would change them.

scores(...)            a `Board`: measures of rules with intervals over users, the same resamples for all rules
default_measures(...)  the columns of a board if nobody says otherwise
price(...)             what every rule gives up, and wins, against one of them
staleness_price(...)   what it costs every rule that it sees an old state
front(...)             which rules are dominated by which, and in what share of resamples
over_time(...)         who got how much up to each request, and who is behind
popularity_curve(...), crowding_curve(...)   data for charts
drop_one(...)          what changes for whom if one stakeholder is not heard, list by list
manipulability(...)    what a stakeholder can gain by misreporting, list by list
drop_one_in_market(...), manipulability_in_market(...)   the same with all that follows for later lists
state_matters(...)     whether anything follows
condorcet(...)         whether lists hold what majorities prefer
why(...), check(...)   a sentence about a list, and whether every number in it is right
"""

from __future__ import annotations

from accordant.slates.evaluation.board import Board, BoardCell, BoardColumn, BoardRow, default_measures
from accordant.slates.evaluation.curves import (
    CrowdingCurve,
    OverTime,
    PopularityCurve,
    crowding_curve,
    over_time,
    popularity_curve,
)
from accordant.slates.evaluation.front import Difference, Front, FrontRow, Prices, front, price
from accordant.slates.evaluation.justification import Check, Justification, Statement, check, why
from accordant.slates.evaluation.manipulation import (
    Manipulability,
    manipulability,
    manipulability_in_market,
    state_matters,
)
from accordant.slates.evaluation.scores import scores
from accordant.slates.evaluation.stability import (
    Condorcet,
    Dropped,
    condorcet,
    condorcet_winners,
    drop_one,
    drop_one_in_market,
)
from accordant.slates.evaluation.staleness import StalenessPrice, staleness_price

__all__ = [
    "Board", "BoardCell", "BoardColumn", "BoardRow", "Check", "Condorcet", "CrowdingCurve", "Difference", "Dropped",
    "Front", "FrontRow", "Justification", "Manipulability", "OverTime", "PopularityCurve", "Prices", "StalenessPrice",
    "Statement",
    "check", "condorcet", "condorcet_winners", "crowding_curve", "default_measures", "drop_one", "drop_one_in_market",
    "front", "manipulability", "manipulability_in_market", "over_time", "popularity_curve", "price", "scores",
    "staleness_price", "state_matters", "why",
]  # fmt: skip
