"""`check`: every number and name in a justification is read from its text and computed again.

The text must be the one that the numbers computed again give, so a word, a name or a digit that does not belong there
is found as well as a wrong number. If it is another, it is read by the templates of
`accordant.slates.evaluation.justification` with the names of the market, to say what is wrong in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from string import Formatter
from typing import Any

from accordant.slates.evaluation.justification import (
    AFTER,
    BETWEEN,
    DIGITS,
    END,
    OPENING,
    TEMPLATES,
    Justification,
    Kind,
    ListFacts,
    Statement,
    reasons,
    sentence,
)
from accordant.slates.serving import Served

NUMBER = rf"-?\d+\.\d{{{DIGITS}}}"
OF_ITEMS: tuple[Kind, ...] = ("serves", "alike")
OF_GAIN: tuple[Kind, ...] = ("gains", "no gain")
OF_LOSS: tuple[Kind, ...] = ("gives up", "no loss")


@dataclass(frozen=True)
class Check:
    """Whether a justification says what the numbers say.

    Attributes
    ----------
    faithful
        Whether nothing is wrong.
    numbers
        How many numbers of the text were computed again; 0 if it cannot be read.
    problems
        What is wrong, one sentence each.
    """

    faithful: bool
    numbers: int
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"faithful": self.faithful, "numbers": self.numbers, "problems": list(self.problems)}


def check(justification: Justification, served: Served) -> Check:
    """Compute again what a justification says: the text first, then its record and reasons.

    Parameters
    ----------
    justification
        Of any origin; its text and record need not agree.
    served
        What the rule showed.

    Raises
    ------
    InputError
        If there is no such request.
    """
    right = ListFacts.of(served, justification.request).statements()
    problems: list[str] = []
    if justification.text != sentence(right):
        said = _read(justification.text, served)
        if said is None:
            return Check(False, 0, (f"the sentence cannot be read: {justification.text!r:.200}",))
        problems = _wrong(said, right)
    if justification.statements != right:
        problems.append("the record holds other numbers than E and the list give")
    if justification.reasons != tuple(reasons(right)):
        problems.append(f"the reasons are {justification.reasons}; right: {tuple(reasons(right))}")
    if justification.rule != served.slates.rule:
        problems.append(f"the rule is {justification.rule!r}; right: {served.slates.rule!r}")
    return Check(not problems, sum(len(each.numbers) for each in right), tuple(problems))


def _wrong(said: list[str], right: tuple[Statement, ...]) -> list[str]:
    """Return what is wrong in a sentence that is not the right one; where names hide it, that it is another."""
    problems = []
    if len(said) != len(right):
        problems.append(f"the sentence makes {len(said)} statements; right: {len(right)}")
    for words, statement in zip(said, right, strict=False):
        if words != statement.text:
            problems.append(f"the sentence says {words!r}; right: {statement.text!r}")
    return problems or [f"the sentence is another; right: {sentence(right)!r}"]


def _read(text: str, served: Served) -> list[str] | None:
    """Return the statements of a sentence; None if it does not follow the templates with names of the market."""
    if text == TEMPLATES["nothing"] + END:
        return [TEMPLATES["nothing"]]
    item, gain, loss = (_pattern(kinds, served) for kinds in (OF_ITEMS, OF_GAIN, OF_LOSS))
    before, between, after, end = map(re.escape, (OPENING, BETWEEN, AFTER, END))
    whole = re.fullmatch(f"{before}({item}(?:{between}{item})*){after}({gain}){after}({loss}){end}", text)
    return None if whole is None else [*re.findall(item, whole[1]), whole[2], whole[3]]


def _pattern(kinds: Iterable[Kind], served: Served) -> str:
    """Return a pattern without groups for statements of some kinds."""
    allowed = {
        "item": _one_of(served.candidates.items),
        "stakeholder": _one_of(served.candidates.stakeholders),
        "0": NUMBER,
        "1": NUMBER,
    }
    made = (
        "".join(
            re.escape(words) + ("" if place is None else allowed[place])
            for words, place, _, _ in Formatter().parse(TEMPLATES[kind])
        )
        for kind in kinds
    )
    return f"(?:{'|'.join(made)})"


def _one_of(names: Iterable[str]) -> str:
    return f"(?:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})"
