"""Dialectical reconciliation: two speakers who know different things argue until one understands the other's decision.

``accordant deliberate RUN --protocol dialogue`` asks so why a run decides as it does, with what its explanation found
as the base of the explainer, see `accordant.deliberation.decision.contrast`.

Vocabulary
----------
explainer, explainee
    Who took the decision, and who asks why.
knowledge base
    A finite set of facts and rules, each held more or less firmly (its entrenchment weight).
argument
    Premises that derive a conclusion: consistent, and none of them to spare.
rebut, undercut
    An argument attacks the conclusion of another, or one of its premises.
locution
    A kind of move: query, support, refute, concede, agree_to_disagree, understand.
commitments
    What a speaker said: premises and conclusions of its arguments, and what it conceded.
revision
    What a base takes in and gives up when its owner concedes.
"""

from __future__ import annotations

from accordant.deliberation.dialogue.arguments import Argument, Arguments, arguments_for
from accordant.deliberation.dialogue.knowledge import KnowledgeBase, Literal, Rule, parse_formula
from accordant.deliberation.dialogue.locutions import LOCUTIONS, legal_moves, objection, play, skip
from accordant.deliberation.dialogue.policies import (
    POLICIES,
    capitulating,
    cooperative,
    random_mover,
    scripted,
    stubborn,
)
from accordant.deliberation.dialogue.reconcile import Dialogue, Understanding, reconcile, understanding
from accordant.deliberation.dialogue.revision import Revision, revised
from accordant.deliberation.dialogue.state import Bound, Move, Setting, Side, State

__all__ = [
    "LOCUTIONS", "POLICIES", "Argument", "Arguments", "Bound", "Dialogue", "KnowledgeBase", "Literal", "Move",
    "Revision", "Rule", "Setting", "Side", "State", "Understanding", "arguments_for", "capitulating", "cooperative",
    "legal_moves", "objection", "parse_formula", "play", "random_mover", "reconcile", "revised", "scripted", "skip",
    "stubborn", "understanding",
]  # fmt: skip
