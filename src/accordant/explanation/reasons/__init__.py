"""The reason for a decision in one sentence, made of the structure of the rule, and the unit in which it compares.

    reason(rule, expected, decisions, t) ──► Reason ──► Reason.sentence(language, labels)
    measure(rule, scores)                ──► Measure

`comparisons` holds what each family of rules compares, `sentences` the words. A reason carries the two numbers that it
says are in order, so whoever doubts it can compute them again from E.
"""

from __future__ import annotations

from accordant.explanation.reasons.contrast import Contrast
from accordant.explanation.reasons.measures import Measure, measure
from accordant.explanation.reasons.reason import reason
from accordant.explanation.reasons.sentences import Reason

__all__ = ["Contrast", "Measure", "Reason", "measure", "reason"]
