"""Preconditions of the six locutions, and for each the moves that are worth checking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accordant.deliberation.dialogue.arguments import Argument
from accordant.deliberation.dialogue.knowledge import in_order, is_consistent
from accordant.deliberation.dialogue.language import Formula, Literal
from accordant.deliberation.dialogue.state import OTHER, Move, Speaker, State


def behind(state: State, move: Move) -> frozenset[Formula]:
    """Return what a concession accepts: all premises of a conceded conclusion, else the premise itself."""
    argument: Any = state.moves[(move.target or 0) - 1].content
    content: Any = move.content
    return argument.held if content == argument.conclusion else frozenset({content})


def _open_argument(state: State, move: Move) -> Argument | str:
    """Return the argument of the other speaker that a move replies to, or what is wrong with the target."""
    if move.target is None or not 1 <= move.target <= len(state.moves):
        return f"the target {move.target} is no earlier move"
    content = state.moves[move.target - 1].content
    if not isinstance(content, Argument) or state.table.get((OTHER[move.speaker], content)) != move.target:
        return f"the target {move.target} is not where the {OTHER[move.speaker]} first put forward an argument"
    if content.conclusion.atom in state.closed:
        return f"the speakers agreed to disagree on {content.conclusion.atom!r}"
    return content


def query_objection(state: State, move: Move) -> str | None:
    """Check a query: the decision first, then premises of supports."""
    literal: Any = move.content
    if not state.moves:
        if literal != state.setting.decision or move.target is not None:
            return f"the first move queries the decision, {str(state.setting.decision)!r}, without a target"
        known = literal in state.sides["explainee"].base.closure
        return f"{str(literal)!r} follows from the explainee's own base" if known else None
    if literal in state.queries:
        return f"{str(literal)!r} was queried before"
    if literal.atom in state.closed:
        return f"the speakers agreed to disagree on {literal.atom!r}"
    argument = _open_argument(state, move)
    if isinstance(argument, str):
        return argument
    if state.moves[(move.target or 0) - 1].locution != "support":
        return f"the target {move.target} is not a support"
    return None if literal in argument.held else f"{str(literal)!r} is no premise of the target"


def support_objection(state: State, move: Move) -> str | None:
    """Check a support: a new argument from the speaker's own base, to a query or for a claim of its own."""
    argument: Any = move.content
    if not state.moves:
        return "nothing was queried yet"
    if (move.speaker, argument) in state.table:
        return "the speaker put this argument forward before"
    if argument.conclusion.atom in state.closed:
        return f"the speakers agreed to disagree on {argument.conclusion.atom!r}"
    missing = argument.held - state.sides[move.speaker].base.held
    if missing:
        return f"not in the speaker's own base: {', '.join(map(str, in_order(missing)))}"
    target = _support_target(state, move.speaker, argument)
    if move.target != target:
        return f"the target must be {target}: the query of it, or else the first move"
    return _unknown(state, argument)


def _unknown(state: State, argument: Argument) -> str | None:
    """Refuse an argument that the search missed: the bound on moves counts what was found beforehand."""
    found = argument in state.setting.by_conclusion.get(argument.conclusion, ())
    return None if found else "it is not among the arguments found within the limit of the search"


def _support_target(state: State, speaker: Speaker, argument: Argument) -> int:
    """Return the query that a support answers; the first move if it is a claim of the speaker's own."""
    return state.queries.get(argument.conclusion, 1) if speaker == "explainer" else 1


def refute_objection(state: State, move: Move) -> str | None:
    """Check a refutation: an attack from the speaker's own base and the other's commitments."""
    argument: Any = move.content
    attacked = _open_argument(state, move)
    if isinstance(attacked, str):
        return attacked
    if argument.conclusion.atom in state.closed:
        return f"the speakers agreed to disagree on {argument.conclusion.atom!r}"
    if argument.attack_on(attacked) is None:
        return "the argument does not attack the target"
    missing = argument.held - state.sides[move.speaker].base.held - state.sides[OTHER[move.speaker]].premises
    if missing:
        return f"neither held nor committed to by the other: {', '.join(map(str, in_order(missing)))}"
    return _unknown(state, argument)


def concede_objection(state: State, move: Move) -> str | None:
    """Check a concession: something the other is committed to, consistent with earlier concessions."""
    argument = _open_argument(state, move)
    if isinstance(argument, str):
        return argument
    content: Any = move.content
    side = state.sides[move.speaker]
    if content not in argument.said:
        return f"{str(content)!r} is neither a premise nor the conclusion of the target"
    if content in side.commitments:
        return "the speaker is committed to it already"
    if isinstance(content, Literal) and content.atom in state.closed:
        return f"the speakers agreed to disagree on {content.atom!r}"
    if not is_consistent(in_order(side.accepted | behind(state, move))):
        return "it is inconsistent with what the speaker conceded before"
    return None


def disagree_objection(state: State, move: Move) -> str | None:
    """Check that an open issue is closed where it was raised."""
    literal: Any = move.content
    raised = state.issues.get(literal.atom)
    if raised is None:
        return f"{str(literal)!r} is no open issue"
    return None if (literal, move.target) == raised else f"the issue is {str(raised[0])!r}, raised in move {raised[1]}"


def understand_objection(state: State, move: Move) -> str | None:
    """Check that the decision follows from what the explainee holds or does not deny."""
    decision = state.setting.decision
    if move.content != decision or move.target != (1 if state.moves else None):
        return f"it says {str(decision)!r} and replies to the first move"
    if decision not in state.understood:
        return f"{str(decision)!r} does not follow from the explainee's base and what it accepts"
    return None


def queries(state: State) -> Iterator[Move]:
    """Yield the first query, or one for each literal premise of the explainer's arguments."""
    if not state.moves:
        yield Move("explainee", "query", state.setting.decision)
    for (speaker, argument), time in state.table.items():
        if speaker == "explainer":
            yield from (Move("explainee", "query", premise, time) for premise in argument.facts)


def supports(state: State) -> Iterator[Move]:
    """Yield every argument from the speaker's own base."""
    held = state.sides[state.turn].base.held
    for argument in state.setting.arguments:
        if argument.held <= held:
            yield Move(state.turn, "support", argument, _support_target(state, state.turn, argument))


def refutations(state: State) -> Iterator[Move]:
    """Yield every attack on an argument of the other speaker."""
    for (speaker, target), time in state.table.items():
        if speaker != state.turn:
            for literal in sorted({*target.facts, target.conclusion}, key=str):
                for argument in state.setting.by_conclusion.get(literal.complement, ()):
                    yield Move(state.turn, "refute", argument, time)


def concessions(state: State) -> Iterator[Move]:
    """Yield every premise and conclusion of the other speaker's arguments."""
    for (speaker, argument), time in state.table.items():
        if speaker != state.turn:
            yield from (Move(state.turn, "concede", said, time) for said in in_order(argument.said))


def issues(state: State) -> Iterator[Move]:
    """Yield every open issue."""
    for literal, time in state.issues.values():
        yield Move(state.turn, "agree_to_disagree", literal, time)


def understandings(state: State) -> Iterator[Move]:
    """Yield the end of the explainee."""
    yield Move("explainee", "understand", state.setting.decision, 1 if state.moves else None)
