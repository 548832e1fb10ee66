"""Is the conflict real? Pairs of metrics, what stands between them, and what bounds on group gaps cost.

Words used here:

    front        the policies that no other one beats in both metrics
    mixture      a lottery between two compared strategies, drawn anew in each context
    concession   the share of what lies between the two best candidates that must be given up in the worse metric
    hindsight    knowing what followed in each context; not to be had for new people
    verdict      one of a closed set of words, see pairs.py

conflicts(...)     every pair of weighted metrics, and the price of every bound on a group gap
"""

from __future__ import annotations

from accordant.evaluation.conflict.conflicts import Conflicts, conflicts
from accordant.evaluation.conflict.pairs import (
    VERDICTS,
    Concessions,
    Grounds,
    Improvement,
    PairConflict,
    Point,
    Verdict,
    verdict,
)
from accordant.evaluation.conflict.parity_price import ParityPrice, PricePoint

__all__ = [
    "VERDICTS",
    "Concessions",
    "Conflicts",
    "Grounds",
    "Improvement",
    "PairConflict",
    "ParityPrice",
    "Point",
    "PricePoint",
    "Verdict",
    "conflicts",
    "verdict",
]
