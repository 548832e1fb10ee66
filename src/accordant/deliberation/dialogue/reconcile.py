"""`reconcile`: one dialogue from two knowledge bases and two policies."""

from __future__ import annotations

from dataclasses import replace

from accordant.deliberation.dialogue.arguments import LIMIT
from accordant.deliberation.dialogue.knowledge import KnowledgeBase
from accordant.deliberation.dialogue.language import Literal
from accordant.deliberation.dialogue.locutions import legal_moves, play, skip
from accordant.deliberation.dialogue.outcome import Dialogue, understanding
from accordant.deliberation.dialogue.policies import Policy, policy_named
from accordant.deliberation.dialogue.state import Setting, State
from accordant.errors import InputError


def reconcile(
    explainer: KnowledgeBase,
    explainee: KnowledgeBase,
    decision: str | Literal,
    *,
    policies: tuple[str | Policy, str | Policy] = ("cooperative", "cooperative"),
    seed: int = 0,
    max_turns: int | None = None,
    limit: int = LIMIT,
) -> Dialogue:
    """Let an explainer give its reasons for a decision to an explainee that may know and hold otherwise.

    Parameters
    ----------
    explainer, explainee
        What they hold; each consistent.
    decision
        A literal that the explainer's base derives.
    policies
        Of the explainer and the explainee: ``"cooperative"``, ``"stubborn"``, ``"capitulating"``, ``"random"``, or a
        function (state, legal moves) → move, or None to leave the turn out.
    seed
        Of random policies.
    max_turns
        Turns after which the dialogue is ``truncated``, at least 1; None for no such end: it ends by itself, within
        ``Bound.moves`` moves.
    limit
        Most arguments for one literal in one base, at least 1. If there are more, `Dialogue.complete` is False.

    Raises
    ------
    InputError
        If a base is inconsistent, the explainer's does not derive the decision, a parameter is out of range, a policy
        is unknown, or a policy makes an illegal move.
    """
    literal = Literal.parse(decision) if isinstance(decision, str) else decision
    if max_turns is not None and max_turns < 1:
        raise InputError(f"max_turns is {max_turns}; allowed: at least 1, or None")
    if len(policies) != 2:
        raise InputError(f"{len(policies)} policies; allowed: 2, of the explainer and the explainee")
    speaking = {
        "explainer": policy_named(policies[0], seed),
        "explainee": policy_named(policies[1], seed),
    }
    state = State.opening(Setting(explainer, explainee, literal, limit))
    before = understanding(state)
    while state.ending is None:
        if state.turns == max_turns:
            state = replace(state, ending="truncated")
            break
        move = speaking[state.turn](state, legal_moves(state))
        state = skip(state) if move is None else play(state, move)
    names = (_label(policies[0]), _label(policies[1]))
    return Dialogue(state, names, seed, before, understanding(state))


def _label(policy: str | Policy) -> str:
    """Return the name of a policy, for the record."""
    return policy if isinstance(policy, str) else getattr(policy, "__name__", type(policy).__name__)
