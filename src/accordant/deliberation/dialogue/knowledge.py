"""Literals and definite rules, knowledge bases of them with how firmly they are held, and what follows from them.

[standard] Forward chaining with a counter of open conditions per rule is linear in the size of the base (Dowling and
Gallier 1984). A base is consistent if its closure holds no literal together with its complement.

Formulas as people write them, `parse_formula`:

    severe                          a literal
    ¬treatable                      its negation; also "not treatable" and "-treatable"
    severe & treatable -> grant     a rule; also with "∧" and "→"

[standard] Definite (Horn) rules over literals. An atom and its negation are two symbols that exclude each other: rules
are read forward only, so that ``a -> b`` together with ``¬b`` says nothing about ``a``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from accordant.errors import InputError

NAME = re.compile(r"\w+")
NEGATED = re.compile(r"(?:¬\s*|-\s*|not\s+)(\w+)")
ARROW = re.compile(r"->|→")
AND = re.compile(r"[&∧]")
RESERVED = ("not", "and", "or")
WEIGHT = 1.0  # of a formula that says nothing else, and of one that was taken over from the other speaker


@dataclass(frozen=True)
class Literal:
    """An atom or its negation.

    Parameters
    ----------
    atom
        A name of letters, digits and underscores; not ``not``, ``and`` or ``or``.
    negated
        Whether the atom is denied.

    Raises
    ------
    InputError
        If the atom is not such a name.
    """

    atom: str
    negated: bool = False

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.atom) or self.atom in RESERVED:
            raise InputError(
                f"atom {self.atom!r}; allowed: letters, digits and underscores, and none of the words "
                f"{', '.join(RESERVED)}"
            )

    @classmethod
    def parse(cls, text: str) -> Literal:
        """Read a literal, such as ``"severe"``, ``"¬severe"``, ``"not severe"`` or ``"-severe"``."""
        stripped = text.strip()
        negated = NEGATED.fullmatch(stripped)
        if negated is None and not NAME.fullmatch(stripped):
            raise InputError(f"literal {text!r}; allowed: a name, or a name after '¬', '-' or 'not'")
        return cls(stripped if negated is None else negated[1], negated is not None)

    @cached_property
    def complement(self) -> Literal:
        """The literal that excludes this one."""
        return Literal(self.atom, not self.negated)

    @property
    def head(self) -> Literal:
        """What a literal says: itself."""
        return self

    @property
    def body(self) -> tuple[Literal, ...]:
        """What must hold before: nothing."""
        return ()

    @cached_property
    def _text(self) -> str:
        """As people write it; computed once, because everything is kept in text order."""
        return f"¬{self.atom}" if self.negated else self.atom

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class Rule:
    """If all literals of the body hold, so does the head.

    Parameters
    ----------
    body
        At least one literal; order and repetitions are dropped.
    head
        What follows.

    Raises
    ------
    InputError
        If the body is empty: a rule without conditions is a literal.
    """

    body: tuple[Literal, ...]
    head: Literal

    def __post_init__(self) -> None:
        if not self.body:
            raise InputError(
                f"the rule for {self.head} has no body; allowed: a body, or the literal {self.head} itself"
            )
        object.__setattr__(self, "body", tuple(sorted(set(self.body), key=str)))

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule, such as ``"severe & treatable -> grant"``."""
        sides = ARROW.split(text)
        if len(sides) != 2:
            raise InputError(f"rule {text!r} has {len(sides) - 1} arrows; allowed: one, as in 'a & b -> c'")
        return cls(tuple(map(Literal.parse, AND.split(sides[0]))), Literal.parse(sides[1]))

    @cached_property
    def _text(self) -> str:
        """As people write it; computed once."""
        return f"{' & '.join(map(str, self.body))} -> {self.head}"

    def __str__(self) -> str:
        return self._text


Formula: TypeAlias = Literal | Rule


def parse_formula(text: str) -> Formula:
    """Read a literal, or a rule if there is an arrow."""
    return Rule.parse(text) if ARROW.search(text) else Literal.parse(text)


def derivations(formulas: Iterable[Formula], blocked: frozenset[Literal] = frozenset()) -> dict[Literal, Formula]:
    """Return each literal that follows, with the formula that gave it first, in the order in which they came.

    Parameters
    ----------
    formulas
        Facts and rules; their order decides which formula comes first, not what follows.
    blocked
        Literals that must not be derived.
    """
    origins: dict[Literal, Formula] = {}
    waiting: dict[Literal, list[int]] = {}
    rules: list[Formula] = []
    open_conditions: list[int] = []
    agenda: list[Literal] = []

    def derive(formula: Formula) -> None:
        """Note the head of a formula whose conditions all hold."""
        if formula.head not in origins and formula.head not in blocked:
            origins[formula.head] = formula
            agenda.append(formula.head)

    for formula in formulas:
        if not formula.body:
            derive(formula)
            continue
        for literal in formula.body:
            waiting.setdefault(literal, []).append(len(rules))
        open_conditions.append(len(formula.body))
        rules.append(formula)
    for literal in agenda:  # grows while it is read
        for number in waiting.get(literal, ()):
            open_conditions[number] -= 1
            if open_conditions[number] == 0:
                derive(rules[number])
    return origins


def closure(formulas: Iterable[Formula], blocked: frozenset[Literal] = frozenset()) -> frozenset[Literal]:
    """Return the literals that follow; see `derivations`."""
    return frozenset(derivations(formulas, blocked))


def is_consistent(formulas: Iterable[Formula]) -> bool:
    """Return whether no literal follows together with its complement."""
    origins = derivations(formulas)
    return not any(literal.negated and literal.complement in origins for literal in origins)


def used(origins: Mapping[Literal, Formula], goal: Literal) -> frozenset[Formula]:
    """Return the formulas by which `derivations` came to a literal."""
    needed, agenda = {goal}, [goal]
    for literal in agenda:  # grows while it is read
        for condition in origins[literal].body:
            if condition not in needed:
                needed.add(condition)
                agenda.append(condition)
    return frozenset(origins[literal] for literal in needed)


def conflict(formulas: Iterable[Formula]) -> frozenset[Formula] | None:
    """Return formulas that derive a literal and its complement, the first such literal by text; None if consistent."""
    origins = derivations(formulas)
    clashing = [literal for literal in origins if literal.negated and literal.complement in origins]
    if not clashing:
        return None
    first = min(clashing, key=str)
    return used(origins, first) | used(origins, first.complement)


def in_order(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """Return formulas in text order, each once."""
    return tuple(sorted(set(formulas), key=str))


@dataclass(frozen=True)
class KnowledgeBase:
    """A finite set of facts and rules, each with its entrenchment.

    Parameters
    ----------
    formulas
        Facts and rules; kept in text order, each once.
    weights
        How firmly some of them are held, above 0: what it costs to give one up. The others weigh 1.

    Raises
    ------
    InputError
        If a weight is not a number above 0, or is that of a formula outside the base.
    """

    formulas: tuple[Formula, ...]
    weights: Mapping[Formula, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        formulas = in_order(self.formulas)
        held = frozenset(formulas)
        for formula, weight in self.weights.items():
            if formula not in held:
                raise InputError(f"weight of {str(formula)!r}, which is not in the base")
            if not 0 < weight < math.inf:
                raise InputError(f"weight of {str(formula)!r} is {weight}; allowed: above 0 and finite")
        object.__setattr__(self, "formulas", formulas)
        kept = {formula: float(self.weights[formula]) for formula in formulas if formula in self.weights}
        object.__setattr__(self, "weights", {formula: weight for formula, weight in kept.items() if weight != WEIGHT})

    @classmethod
    def parse(cls, text: str | Iterable[str]) -> KnowledgeBase:
        """Read a base: a fact or a rule a line, then ``@ weight`` if it is not 1.

        Parameters
        ----------
        text
            Lines, or one string of lines. Blank lines and what follows a ``#`` are skipped.

        Raises
        ------
        InputError
            If a line cannot be read or repeats an earlier one; the message says which line.
        """
        formulas: dict[Formula, int] = {}
        weights: dict[Formula, float] = {}
        for number, line in enumerate(text.splitlines() if isinstance(text, str) else text, start=1):
            said, at, weight = line.partition("#")[0].partition("@")
            if not said.strip() and not at:
                continue
            try:
                formula = parse_formula(said)
                weights[formula] = _weight(weight) if at else WEIGHT
            except InputError as error:
                raise InputError(f"line {number}: {error}") from None
            if formula in formulas:
                raise InputError(f"line {number}: {str(formula)!r} stands already in line {formulas[formula]}")
            formulas[formula] = number
        return cls(tuple(formulas), weights)

    def weight(self, formula: Formula) -> float:
        """Return how firmly a formula is held, above 0; 1 if nothing else was said."""
        return self.weights.get(formula, WEIGHT)

    def changed(self, added: Iterable[Formula], dropped: Iterable[Formula]) -> KnowledgeBase:
        """Return the base with formulas added, at weight 1 if they are new, and others dropped."""
        kept = in_order((*(self.held - set(dropped)), *added))
        return KnowledgeBase(kept, {formula: self.weights[formula] for formula in kept if formula in self.weights})

    @cached_property
    def held(self) -> frozenset[Formula]:
        """The formulas, as a set."""
        return frozenset(self.formulas)

    @cached_property
    def closure(self) -> frozenset[Literal]:
        """The literals that follow."""
        return closure(self.formulas)

    @property
    def consistent(self) -> bool:
        """Whether no literal follows together with its complement."""
        return is_consistent(self.formulas)

    def lines(self) -> list[str]:
        """Return the base as text; `parse` reads it back."""
        return [
            f"{formula} @ {self.weights[formula]!r}" if formula in self.weights else str(formula)
            for formula in self.formulas
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """Return each formula with its weight."""
        return [{"formula": str(formula), "weight": self.weight(formula)} for formula in self.formulas]


def _weight(text: str) -> float:
    """Read a weight."""
    try:
        weight = float(text)
    except ValueError:
        raise InputError(f"weight {text.strip()!r}; allowed: a number above 0") from None
    if not 0 < weight < math.inf:
        raise InputError(f"weight {text.strip()!r}; allowed: above 0 and finite")
    return weight
