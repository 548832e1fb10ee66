"""The language of dialogues: literals and definite rules, as people write them.

    severe                          a literal
    ¬treatable                      its negation; also "not treatable" and "-treatable"
    severe & treatable -> grant     a rule; also with "∧" and "→"

[standard] Definite (Horn) rules over literals. An atom and its negation are two symbols that exclude each other: rules
are read forward only, so that ``a -> b`` together with ``¬b`` says nothing about ``a``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from accordant.errors import InputError

NAME = re.compile(r"\w+")
NEGATED = re.compile(r"(?:¬\s*|-\s*|not\s+)(\w+)")
ARROW = re.compile(r"->|→")
AND = re.compile(r"[&∧]")
RESERVED = ("not", "and", "or")


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
