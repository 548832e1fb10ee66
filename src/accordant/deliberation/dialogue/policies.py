"""Policies: how a speaker chooses among its legal moves. A policy is a function (state, legal moves) → move, or None.

None leaves the turn out. The built-in policies read their own base, what was said, and the weights that the other
declared for what it said; never what the other has not said. [ours] All of them are rules, not models of persons.

    cooperative    takes in a premise of the other if that costs it nothing, or less than the weight that the other
                   gives it; else argues while it has arguments
    stubborn       the same without concessions
    capitulating   concedes every argument of the other as soon as it is put forward
    weighing       objects first; then concedes the conclusion of an argument, and with it all premises, if what it
                   gives up for it weighs less than what the other puts into the scale: the weights that the other
                   gives those facts of the argument that the speaker does not hold itself
    steadfast      for a decision on record: argues, grants what it holds itself or what costs it nothing, never repeats
                   an argument, and gives up nothing
    random         any legal move, but ends the dialogue only if nothing else is left; for tests of termination

All of them understand, or end the dialogue, only when they have nothing else to do. The explainer leaves ending to the
explainee, unless that one has just left a turn out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from accordant.deliberation.dialogue.arguments import Argument
from accordant.deliberation.dialogue.knowledge import Literal, Rule
from accordant.deliberation.dialogue.revision import revised
from accordant.deliberation.dialogue.state import OTHER, Move, State
from accordant.errors import InputError, UnknownNameError, allowed_names
from accordant.randomness import keyed_uniform

Policy: TypeAlias = Callable[[State, tuple[Move, ...]], Move | None]


def cooperative(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Take in what costs less than it weighs, argue, understand, and end when nothing is left."""
    return _first((_opening, _worth_taking, _answering, _refuting, _ending), state, legal)


def stubborn(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Argue, understand, and end when nothing is left; never concede."""
    return _first((_opening, _answering, _refuting, _ending), state, legal)


def capitulating(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Concede every argument of the other; answer, understand, and end when nothing is left."""
    return _first((_opening, _everything, _answering, _ending), state, legal)


def weighing(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Object once, then concede the latest argument that weighs more than it costs, or object anew; and end."""
    spoken = bool(state.sides[state.turn].claims)
    steps = (_outweighed, _refuting_anew) if spoken else (_refuting_anew, _outweighed)
    return _first((_opening, *steps, _answering, _ending), state, legal)


def steadfast(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Argue with what was not said yet, grant what costs nothing, and end when nothing is left."""
    return _first((_opening, _answering, _refuting_anew, _granting, _ending), state, legal)


def random_mover(seed: int) -> Policy:
    """Return the policy that draws among the legal moves, by the seed, the speaker and the time alone."""

    def random(state: State, legal: tuple[Move, ...]) -> Move | None:
        """Draw a move; one that ends the dialogue only if there is no other."""
        decision = state.setting.decision.atom
        on = [move for move in legal if not _ends(move, decision)] or list(legal)
        drawn = keyed_uniform(seed, [f"{state.turn}:{state.turns}"])[0]
        return on[int(drawn * len(on))] if on else None

    return random


def scripted(lines: Sequence[str]) -> Policy:
    """Return the policy that makes given moves, then leaves its turns out.

    Parameters
    ----------
    lines
        ``"LOCUTION CONTENT"`` each, where an argument is named by its conclusion: ``"refute ¬treatable"``. Several
        moves that fit are told apart by ``" to TARGET"``, else the first is made. ``"skip"`` leaves a turn out.

    Raises
    ------
    InputError
        When a line fits no legal move.
    """

    def script(state: State, legal: tuple[Move, ...]) -> Move | None:
        """Make the move of the next line; lines are counted by turns, so the same script can be used again."""
        number = state.turns // 2
        if number >= len(lines) or lines[number] == "skip":
            return None
        for move in legal:
            said = f"{move.locution} {_named(move)}"
            if lines[number] in (said, f"{said} to {move.target}"):
                return move
        fitting = sorted({f"{move.locution} {_named(move)}" for move in legal})
        raise InputError(f"line {lines[number]!r} fits no legal move; {allowed_names(fitting, lines[number])}")

    return script


def policy_named(policy: str | Policy, seed: int) -> Policy:
    """Return a policy by its name, or as it is.

    Raises UnknownNameError if there is no policy of that name.
    """
    if not isinstance(policy, str):
        return policy
    if policy not in POLICIES:
        raise UnknownNameError("dialogue policy", policy, POLICIES)
    return POLICIES[policy](seed)


POLICIES: dict[str, Callable[[int], Policy]] = {
    "cooperative": lambda _: cooperative,
    "stubborn": lambda _: stubborn,
    "capitulating": lambda _: capitulating,
    "weighing": lambda _: weighing,
    "steadfast": lambda _: steadfast,
    "random": random_mover,
}


def _named(move: Move) -> Literal | Rule:
    """Return what a move is about."""
    return move.content.conclusion if isinstance(move.content, Argument) else move.content


def _ends(move: Move, atom: str) -> bool:
    """Return whether a move ends the dialogue about an atom."""
    return move.locution == "understand" or (move.locution == "agree_to_disagree" and _named(move).head.atom == atom)


def _first(steps: tuple[Policy, ...], state: State, legal: tuple[Move, ...]) -> Move | None:
    """Return the move of the first step that has one."""
    return next((move for step in steps if (move := step(state, legal)) is not None), None)


def _opening(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Make the first move: there is only one."""
    return None if state.moves else legal[0]


def _worth_taking(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Concede a premise that the other still holds, if that drops nothing or less than the other's weight for it."""
    side, other = state.sides[state.turn], state.sides[OTHER[state.turn]].base
    for move in legal:
        premise = move.content
        if move.locution != "concede" or isinstance(premise, Argument):
            continue
        if premise in other.held and premise not in side.base.held:
            revision = revised(side.base, (premise,), kept=side.accepted)
            if not revision.dropped or revision.cost < other.weight(premise):
                return move
    return None


def _everything(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Concede the conclusion of an argument, and with it all its premises; else the premises that it can."""
    side = state.sides[state.turn]
    known = side.base.held | side.accepted
    conceding = [(move, _replied_to(state, move)) for move in legal if move.locution == "concede"]
    whole = [move for move, said in conceding if move.content == said.conclusion and not said.held <= known]
    single = [move for move, said in conceding if move.content in said.held - known]
    return next(iter(whole or single), None)


def _refuting(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Refute what oneself neither derives nor conceded, with a new argument or where it was not denied yet."""
    side = state.sides[state.turn]
    for move in legal:
        if move.locution == "refute" and isinstance(move.content, Argument):
            denied = move.content.conclusion.complement
            new = (state.turn, move.content) not in state.table or denied not in side.attacked
            if new and denied not in side.base.closure | side.agreed:
                return move
    return None


def _refuting_anew(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Refute with an argument that the speaker did not put forward yet, where it neither derives nor conceded that."""
    new = tuple(move for move in legal if move.locution == "refute" and (state.turn, move.content) not in state.table)
    return _refuting(state, new)


def _outweighed(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Concede the conclusion of the latest argument whose facts weigh more to the other than their price to oneself."""
    side, other = state.sides[state.turn], state.sides[OTHER[state.turn]].base
    conceding = [(move, _replied_to(state, move)) for move in legal if move.locution == "concede"]
    for move, said in sorted(conceding, key=lambda pair: -(pair[0].target or 0)):
        if move.content == said.conclusion:
            revision = revised(side.base, said.held, kept=side.accepted)
            worth = sum(other.weight(fact) for fact in said.facts if fact not in side.base.held)
            if not revision.dropped or revision.cost < worth:
                return move
    return None


def _granting(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Concede a premise that one holds oneself or takes in at no cost: the one that the other holds least firmly."""
    side, other = state.sides[state.turn], state.sides[OTHER[state.turn]].base
    free = [
        move
        for move in legal
        if move.locution == "concede"
        and isinstance(move.content, Literal)
        and move.content in other.held
        and not revised(side.base, (move.content,), kept=side.accepted).dropped
    ]
    return min(free, key=lambda move: other.weight(move.content), default=None)  # type: ignore[arg-type]


def _answering(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Answer a query to which no own answer stands, with the smallest argument that uses nothing denied."""
    other = state.sides[OTHER[state.turn]]
    denied = other.attacked - other.agreed - other.accepted
    standing = {
        argument.conclusion
        for speaker, argument in state.table
        if speaker == state.turn and argument.said.isdisjoint(denied)
    }
    for move in legal:
        if move.locution == "support" and isinstance(move.content, Argument):
            asked = move.content.conclusion in state.queries and state.turn == "explainer"
            if asked and move.content.conclusion not in standing and move.content.said.isdisjoint(denied):
                return move
    return None


def _ending(state: State, legal: tuple[Move, ...]) -> Move | None:
    """Understand, else agree to disagree on the decision; the explainer only after a turn was left out."""
    if state.turn == "explainer" and not state.skipped:
        return None
    ends = [move for move in legal if _ends(move, state.setting.decision.atom)]
    return ends[-1] if ends else None  # understanding comes last in the table


def _replied_to(state: State, move: Move) -> Argument:
    """Return the argument that a concession replies to."""
    content = state.moves[(move.target or 0) - 1].content
    assert isinstance(content, Argument)
    return content
