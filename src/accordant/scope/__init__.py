"""The scope card: what this use is for, whom it touches, which criteria were chosen and why.

Vocabulary
----------
criterion
    A metric with a threshold, and who chose it for which reason.
finding
    What `lint` says about a card: a code and a sentence.
verdict
    Whether one criterion of one card, in one version, is met. There is none about everything at once.
"""

from __future__ import annotations

from accordant.scope.card import (
    AffectedParty,
    Applicability,
    AttributeUse,
    Component,
    Conflict,
    Criterion,
    FrameworkConsidered,
    Iteration,
    Permission,
    RejectedCriterion,
    ScopeCard,
    from_markdown,
    to_markdown,
)
from accordant.scope.lint import Finding, lint
from accordant.scope.verdict import Goal, Verdict, judge

__all__ = [
    "AffectedParty",
    "Applicability",
    "AttributeUse",
    "Component",
    "Conflict",
    "Criterion",
    "Finding",
    "FrameworkConsidered",
    "Goal",
    "Iteration",
    "Permission",
    "RejectedCriterion",
    "ScopeCard",
    "Verdict",
    "from_markdown",
    "judge",
    "lint",
    "to_markdown",
]
