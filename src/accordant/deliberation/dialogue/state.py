"""The state of a dialogue: who holds what, what was said, what is attacked, closed and conceded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias
from typing import Literal as OneOf

from accordant.deliberation.dialogue.arguments import LIMIT, Argument, Arguments, arguments_for, by_size
from accordant.deliberation.dialogue.knowledge import Formula, KnowledgeBase, Literal, Rule, closure, conflict, in_order
from accordant.deliberation.dialogue.revision import Revision
from accordant.errors import InputError
from accordant.json_values import field_values

Speaker: TypeAlias = OneOf["explainer", "explainee"]
Ending: TypeAlias = OneOf["understood", "agree_to_disagree", "exhausted", "truncated"]
Content: TypeAlias = Literal | Rule | Argument
Named: TypeAlias = OneOf["query", "support", "refute", "concede", "agree_to_disagree", "understand"]

OTHER: Mapping[Speaker, Speaker] = {"explainer": "explainee", "explainee": "explainer"}


@dataclass(frozen=True)
class Move:
    """One move; its time is its place in ``state.moves``, from 1.

    Parameters
    ----------
    speaker
        Who makes it.
    locution
        What kind of move it is.
    content
        A literal, a rule, or an argument.
    target
        Time of the move that it replies to; None for the first.
    revises
        Concessions only: whether the speaker also changes its base, or concedes for the sake of argument.
    """

    speaker: Speaker
    locution: Named
    content: Content
    target: int | None = None
    revises: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        content = self.content.to_json() if isinstance(self.content, Argument) else str(self.content)
        values = {"speaker": self.speaker, "locution": self.locution, "content": content, "target": self.target}
        return values | ({"revises": self.revises} if self.locution == "concede" else {})

    def __str__(self) -> str:
        reply = "" if self.target is None else f" to {self.target}"
        note = "" if self.revises else ", for the sake of argument"
        return f"{self.locution}({self.content}){reply}{note}"


@dataclass(frozen=True)
class Side:
    """What one speaker holds and has said.

    Attributes
    ----------
    base
        The present knowledge base.
    premises
        Formulas that stood as premises in its arguments.
    claims
        Conclusions of its arguments.
    agreed
        What it conceded, as said.
    accepted
        The formulas behind what it conceded: the formula itself, or all premises of a conceded conclusion.
    attacked
        Literals of the other speaker that its refutations deny.
    """

    base: KnowledgeBase
    premises: frozenset[Formula] = frozenset()
    claims: frozenset[Literal] = frozenset()
    agreed: frozenset[Formula] = frozenset()
    accepted: frozenset[Formula] = frozenset()
    attacked: frozenset[Literal] = frozenset()

    @property
    def commitments(self) -> frozenset[Formula]:
        """The commitment store: premises, claims and concessions."""
        return self.premises | self.claims | self.agreed


@dataclass(frozen=True)
class Bound:
    """An upper bound on the number of moves, known before the first.

    Attributes
    ----------
    arguments
        Of the explainer and of the explainee: as many as the two bases together give, for either.
    statements
        Literals that follow or occur, and rules: what is said without an argument.
    """

    arguments: tuple[int, int]
    statements: int

    @property
    def targets(self) -> int:
        """Most things to reply to: each argument of each speaker once, and each queried literal once."""
        return sum(self.arguments) + self.statements

    @property
    def moves(self) -> int:
        """Locutions × (arguments + statements) × (targets + 1)."""
        locutions = len(Named.__args__)  # type: ignore[attr-defined]
        return int(locutions * (sum(self.arguments) + self.statements) * (self.targets + 1))

    def to_json(self) -> dict[str, Any]:
        """Return the numbers that make the bound, and the bound."""
        return field_values(self) | {"targets": self.targets, "moves": self.moves}


@dataclass(frozen=True, eq=False)
class Setting:
    """What does not change during a dialogue.

    Parameters
    ----------
    explainer, explainee
        The bases before; consistent.
    decision
        What is to be understood; the explainer's base derives it.
    limit
        Most arguments searched for one literal in one base.

    Raises
    ------
    InputError
        If a base is inconsistent or the explainer's does not derive the decision.
    """

    explainer: KnowledgeBase
    explainee: KnowledgeBase
    decision: Literal
    limit: int = LIMIT

    def __post_init__(self) -> None:
        for name, base in (("explainer", self.explainer), ("explainee", self.explainee)):
            clash = conflict(base.formulas)
            if clash is not None:
                raise InputError(f"the {name}'s base is inconsistent: {', '.join(map(str, in_order(clash)))}")
        if self.decision not in self.explainer.closure:
            raise InputError(
                f"the explainer's base does not derive {str(self.decision)!r}: there is nothing to explain"
            )

    @cached_property
    def everything(self) -> tuple[Formula, ...]:
        """The formulas of both bases; nothing else can ever be said as a premise."""
        return in_order((*self.explainer.formulas, *self.explainee.formulas))

    @cached_property
    def _searches(self) -> dict[Literal, tuple[Arguments, ...]]:
        """Literal, in text order, to the searches for arguments in both bases together and in each of them."""
        bases = (self.everything, self.explainer.formulas, self.explainee.formulas)
        return {
            literal: tuple(arguments_for(formulas, literal, limit=self.limit) for formulas in bases)
            for literal in sorted(closure(self.everything), key=str)
        }

    @cached_property
    def by_conclusion(self) -> dict[Literal, tuple[Argument, ...]]:
        """Literal, in text order, to its arguments from either base or both together, few premises first."""
        return {
            literal: tuple(sorted({argument for search in searches for argument in search.found}, key=by_size))
            for literal, searches in self._searches.items()
        }

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments that can ever be put forward, by conclusion."""
        return tuple(argument for arguments in self.by_conclusion.values() for argument in arguments)

    @property
    def complete(self) -> bool:
        """Whether no search for arguments stopped at its limit."""
        return not any(search.truncated for searches in self._searches.values() for search in searches)

    @cached_property
    def bound(self) -> Bound:
        """Most moves that a dialogue can have."""
        literals = {literal for formula in self.everything for literal in (*formula.body, formula.head)}
        rules = sum(isinstance(formula, Rule) for formula in self.everything)
        return Bound((len(self.arguments), len(self.arguments)), len(literals | {self.decision}) + rules)


@dataclass(frozen=True, eq=False)
class State:
    """A dialogue so far.

    Attributes
    ----------
    setting
        What does not change.
    sides
        Speaker to what it holds and has said.
    moves
        In order.
    turn
        Who is to move.
    skipped
        Turns in a row without a move; two end the dialogue.
    turns
        Turns so far, with and without a move.
    closed
        Atoms on which the speakers agreed to disagree.
    declined
        Times of moves that closed an atom although their speaker had a new argument left on it.
    revisions
        Time of a concession to what it changed in the speaker's base.
    ending
        How the dialogue ended; None while it goes on.
    """

    setting: Setting
    sides: Mapping[Speaker, Side]
    moves: tuple[Move, ...] = ()
    turn: Speaker = "explainee"
    skipped: int = 0
    turns: int = 0
    closed: frozenset[str] = frozenset()
    declined: frozenset[int] = frozenset()
    revisions: Mapping[int, Revision] = field(default_factory=dict)
    ending: Ending | None = None

    @classmethod
    def opening(cls, setting: Setting) -> State:
        """Return the state before the first move: nothing is said, the explainee is to move."""
        return cls(setting, {"explainer": Side(setting.explainer), "explainee": Side(setting.explainee)})

    @cached_property
    def queries(self) -> dict[Literal, int]:
        """Queried literal to the time of the query."""
        return {
            move.content: time
            for time, move in enumerate(self.moves, start=1)
            if move.locution == "query" and isinstance(move.content, Literal)
        }

    @cached_property
    def table(self) -> dict[tuple[Speaker, Argument], int]:
        """Arguments put forward, by speaker, to the time when it was first: what replies name as their target."""
        times: dict[tuple[Speaker, Argument], int] = {}
        for time, move in enumerate(self.moves, start=1):
            if isinstance(move.content, Argument):
                times.setdefault((move.speaker, move.content), time)
        return times

    @cached_property
    def issues(self) -> dict[str, tuple[Literal, int]]:
        """Open atom to the literal and time with which a query or an argument's conclusion raised it."""
        issues: dict[str, tuple[Literal, int]] = {}
        for time, move in enumerate(self.moves, start=1):
            content = move.content.conclusion if isinstance(move.content, Argument) else move.content
            if move.locution in ("query", "support", "refute") and isinstance(content, Literal):
                issues.setdefault(content.atom, (content, time))
        return {atom: raised for atom, raised in issues.items() if atom not in self.closed}

    @cached_property
    def done(self) -> frozenset[tuple[Speaker, Named, Content, int | None]]:
        """Moves so far, without their wording: none of them is made twice."""
        return frozenset((move.speaker, move.locution, move.content, move.target) for move in self.moves)

    @property
    def understanding_base(self) -> frozenset[Formula]:
        """K' of the explainee: its base, what it conceded, and premises of the explainer that it does not deny."""
        listener = self.sides["explainee"]
        return listener.base.held | listener.accepted | (self.sides["explainer"].premises - self.denied)

    @property
    def denied(self) -> frozenset[Literal]:
        """Literals that the explainee attacked and has not conceded since."""
        listener = self.sides["explainee"]
        return listener.attacked - listener.accepted - listener.agreed

    @property
    def understood(self) -> frozenset[Literal]:
        """What follows for the explainee from its own base, and from K' without deriving what it denies."""
        listener = self.sides["explainee"]
        return listener.base.closure | closure(in_order(self.understanding_base), self.denied)
