"""The evaluation of a deliberation as a system: what happened, what came of it, and what chance would have done.

Vocabulary
----------
ledger, concession
    Who moved on which claimant; an agent's own move towards another, see `Movement`.
alternatives
    What else could have been decided: all feasible allocations, or those that a search found.
emergence
    The joint decision meets criteria that no agent alone meets; gains and losses, beside null hypotheses.
null hypothesis
    A random allocation at the same concession level, or one agent that searches. No result is without them.
verdict
    Which criteria of one version of one scope card are met. There is no other verdict.
"""

from __future__ import annotations

from accordant.deliberation.assessment.alternatives import Alternatives, alternatives
from accordant.deliberation.assessment.emergence import Emergence, RandomNull, SearchNull, emergence
from accordant.deliberation.assessment.ledger import Movement, last_own, ledger
from accordant.deliberation.assessment.process import (
    Group,
    Process,
    access,
    approach,
    conversion,
    process,
    restored_access,
)
from accordant.deliberation.assessment.regrets import RegretMatrix, Satisfaction, recorded, regrets, satisfaction
from accordant.deliberation.assessment.reruns import PERMUTATIONS, FlipTest, OrderEffects, flip_test, order_effects
from accordant.deliberation.assessment.verdict import Sides, Standing, Verdict, side_by_side, standing, verdict

__all__ = [
    "PERMUTATIONS", "Alternatives", "Emergence", "FlipTest", "Group", "Movement", "OrderEffects", "Process",
    "RandomNull", "RegretMatrix", "Satisfaction", "SearchNull", "Sides", "Standing", "Verdict", "access",
    "alternatives", "approach", "conversion", "emergence", "flip_test", "last_own", "ledger", "order_effects",
    "process", "recorded", "regrets", "restored_access", "satisfaction", "side_by_side", "standing", "verdict",
]  # fmt: skip
