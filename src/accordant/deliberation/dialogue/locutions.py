"""The six locutions: who may use them, when, and what they change.

[ours] The table is `LOCUTIONS`; `play` makes one move and says which precondition fails, `legal_moves` lists what can
be done, `skip` leaves a turn out. Everything after the first move replies to an earlier one that is open; moves on an
atom on which the speakers agreed to disagree are closed. Older open moves may be taken up again at any time.

Termination: a move is one of six locutions with a content and a target. The contents are the arguments of either
speaker, all of them from the finite pool of `Setting`, literals, and rules. A target is the move in which a speaker
first put an argument forward, or the query of a literal, of which there is one each; so there are at most
`Bound.targets` of them, or none is named. No such triple is played twice. So there are at most `Bound.moves` moves, the
number of triples; and between two moves at most one turn is left out, because two in a row end the dialogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from accordant.deliberation.dialogue.arguments import Argument
from accordant.deliberation.dialogue.knowledge import Formula, Literal, Rule, in_order, is_consistent
from accordant.deliberation.dialogue.revision import revised
from accordant.deliberation.dialogue.state import OTHER, Ending, Move, Named, Speaker, State
from accordant.errors import InputError, UnknownNameError

BOTH: tuple[Speaker, ...] = ("explainer", "explainee")


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
    known = argument in state.setting.by_conclusion.get(argument.conclusion, ())
    return None if known else "it is not among the arguments found within the limit of the search"


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


@dataclass(frozen=True)
class Locution:
    """One row of the table.

    `speakers`: who may use it; `content`: types of what it says; `precondition`, `effect`: in words; `objection`:
    returns which precondition a move fails, None if it is legal; `candidates`: yields every move that could be legal
    for whoever is to move.
    """

    speakers: tuple[Speaker, ...]
    content: tuple[type, ...]
    precondition: str
    effect: str
    objection: Callable[[State, Move], str | None]
    candidates: Callable[[State], Iterator[Move]]


def objection(state: State, move: Move) -> str | None:
    """Return why a move is illegal, None if it is legal."""
    if state.ending is not None:
        return f"the dialogue has ended: {state.ending}"
    if move.locution not in LOCUTIONS:
        return str(UnknownNameError("locution", move.locution, LOCUTIONS))
    row = LOCUTIONS[move.locution]
    if move.speaker != state.turn:
        return f"it is the turn of the {state.turn}"
    if move.speaker not in row.speakers:
        return f"{move.locution} is for the {' and the '.join(row.speakers)}"
    if not isinstance(move.content, row.content):
        return f"the content must be {' or '.join(kind.__name__ for kind in row.content)}"
    if (move.speaker, move.locution, move.content, move.target) in state.done:
        return "the same move was made before"
    return row.objection(state, move)


def legal_moves(state: State) -> tuple[Move, ...]:
    """Return the legal moves of whoever is to move, in a fixed order; empty if the dialogue has ended."""
    if state.ending is not None:
        return ()
    return tuple(
        move
        for row in LOCUTIONS.values()
        if state.turn in row.speakers
        for move in row.candidates(state)
        if objection(state, move) is None
    )


def play(state: State, move: Move) -> State:
    """Return the state after a move.

    Raises
    ------
    InputError
        If the move is illegal; the message says which precondition fails.
    """
    why = objection(state, move)
    if why is not None:
        raise InputError(f"{move.speaker}: {move} is not legal: {why}")
    after = replace(state, moves=(*state.moves, move), turn=OTHER[move.speaker], skipped=0, turns=state.turns + 1)
    if isinstance(move.content, Argument):
        return _argued(after, move, move.content)
    if move.locution == "concede":
        return _conceded(after, move)
    if move.locution == "agree_to_disagree":
        declined = state.declined | ({len(after.moves)} if _arguments_left(state, move) else set())
        return _disagreed(replace(after, declined=declined), move)
    return replace(after, ending="understood") if move.locution == "understand" else after


def skip(state: State) -> State:
    """Return the state after a turn without a move; the second in a row ends the dialogue as ``exhausted``.

    Raises `InputError` if the dialogue has ended.
    """
    if state.ending is not None:
        raise InputError(f"the dialogue has ended: {state.ending}")
    ending: Ending | None = "exhausted" if state.skipped else None
    return replace(state, turn=OTHER[state.turn], skipped=state.skipped + 1, turns=state.turns + 1, ending=ending)


def _argued(state: State, move: Move, argument: Argument) -> State:
    """Commit a speaker to an argument, and note what a refutation denies."""
    side = state.sides[move.speaker]
    denied = frozenset({argument.conclusion.complement} if move.locution == "refute" else ())
    premises, claims = side.premises | argument.held, side.claims | {argument.conclusion}
    side = replace(side, premises=premises, claims=claims, attacked=side.attacked | denied)
    return replace(state, sides={**state.sides, move.speaker: side})


def _conceded(state: State, move: Move) -> State:
    """Commit a speaker to what it concedes, and revise its base."""
    side, accepted = state.sides[move.speaker], behind(state, move)
    conceded: Any = move.content
    revisions = dict(state.revisions)
    base = side.base
    if move.revises:
        revision = revised(base, accepted, kept=side.accepted)
        base = revision.base
        if revision.added or revision.dropped:
            revisions[len(state.moves)] = revision
    side = replace(side, base=base, agreed=side.agreed | {conceded}, accepted=side.accepted | accepted)
    return replace(state, sides={**state.sides, move.speaker: side}, revisions=revisions)


def _disagreed(state: State, move: Move) -> State:
    """Close an atom; closing that of the decision ends the dialogue."""
    atom = move.content.head.atom if not isinstance(move.content, Argument) else move.content.conclusion.atom
    ending: Ending | None = "agree_to_disagree" if atom == state.setting.decision.atom else None
    return replace(state, closed=state.closed | {atom}, ending=ending)


def _arguments_left(state: State, move: Move) -> bool:
    """Return whether whoever closes an atom has a new argument left on it.

    That is one for or against the atom, or against an argument about it. For the decision any new refutation counts.
    """
    content: Any = move.content
    final = content.atom == state.setting.decision.atom
    for reply in (*supports(state), *refutations(state)):
        argument: Any = reply.content
        if (state.turn, argument) in state.table or objection(state, reply) is not None:
            continue
        replied_to = state.moves[(reply.target or 0) - 1].content
        against = isinstance(replied_to, Argument) and (final or replied_to.conclusion.atom == content.atom)
        if against or argument.conclusion.atom == content.atom:
            return True
    return False


LOCUTIONS: dict[Named, Locution] = {
    "query": Locution(
        ("explainee",), (Literal,),
        "first the decision, unless it follows from one's own base; then premises of open supports; not queried before",
        "none", query_objection, queries,
    ),
    "support": Locution(
        BOTH, (Argument,),
        "answers a query, or makes a claim (then it replies to the first move); new; premises from one's own base",
        "one's own commitments grow by premises and conclusion", support_objection, supports,
    ),
    "refute": Locution(
        BOTH, (Argument,),
        "attacks an open argument of the other; premises from one's own base or the premises the other committed to",
        "one's own commitments grow by premises and conclusion", refute_objection, refutations,
    ),
    "concede": Locution(
        BOTH, (Literal, Rule),
        "a premise or the conclusion of an open argument of the other; consistent with earlier concessions",
        "one's commitments grow by it; one's base takes it in, or all premises of a conclusion, and drops the least",
        concede_objection, concessions,
    ),
    "agree_to_disagree": Locution(
        BOTH, (Literal,), "an open issue: the speaker has no argument left on it, or declines to go on",
        "its atom is closed; the atom of the decision ends the dialogue", disagree_objection, issues,
    ),
    "understand": Locution(
        ("explainee",), (Literal,),
        "the decision follows from one's own base and the premises of the other that one conceded or never attacked",
        "ends the dialogue", understand_objection, understandings,
    ),
}  # fmt: skip
