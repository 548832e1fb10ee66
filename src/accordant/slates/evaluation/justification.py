"""`why` and `check`: one sentence about a list, the record of its numbers, and whether each of them is right.

Nothing is taken from what a stakeholder or a language model says about itself. The sentence compares each stakeholder
with two lists of the same length: one drawn at random from what may be shown, and its own best one. It does so on the
scale of each stakeholder, on which its worst list is 0 and its best is 1 (`accordant.slates.candidates`): the
differences of E themselves would name whoever has the widest range.

`check` computes every number of a justification again. The text must be the one that these numbers give, so a word, a
name or a digit that does not belong there is found as well as a wrong number. If it is another, it is read by the
templates with the names of the market, to say what is wrong in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from string import Formatter
from typing import Any, Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.slates.candidates import ALIKE, Gains, gains_of
from accordant.slates.market import Served
from accordant.slates.slates import NOTHING

Kind = Literal["serves", "alike", "gains", "no gain", "gives up", "no loss", "nothing"]

DIGITS = 3
TEMPLATES: dict[Kind, str] = {
    "serves": "{item} (best for {stakeholder}: {0})",
    "alike": "{item} (the same for everybody)",
    "gains": "{stakeholder} gains most over a list drawn at random (attained {0} against {1})",
    "no gain": "nobody gains over a list drawn at random",
    "gives up": "{stakeholder} is furthest from its best list (attained {0} of 1)",
    "no loss": "everybody gets its best list",
    "nothing": "There was nothing to show",
}
OPENING, BETWEEN, AFTER, END = "Shown: ", ", ", "; ", "."
NUMBER = rf"-?\d+\.\d{{{DIGITS}}}"
OF_ITEMS: tuple[Kind, ...] = ("serves", "alike")
OF_GAIN: tuple[Kind, ...] = ("gains", "no gain")
OF_LOSS: tuple[Kind, ...] = ("gives up", "no loss")


@dataclass(frozen=True)
class Statement:
    """One part of the sentence.

    Attributes
    ----------
    kind
        ``serves``: no stakeholder is closer to its best item with this item than this one; the number is where the item
        lies between its worst item, 0, and its best, 1. ``alike``: the item makes no difference to anybody. ``gains``:
        this stakeholder gains most over a list drawn at random; what it attains with the list, and on average with a
        drawn one. ``gives up``: this one attains least, so it is furthest below its best list; what it attains. ``no
        gain``, ``no loss``: there is nobody of that sort. ``nothing``: the list is empty.
    item, stakeholder
        Whom it is about; None where the kind has none.
    """

    kind: Kind
    item: str | None = None
    stakeholder: str | None = None
    numbers: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        """The statement in words, every number with three decimals."""
        shown = [f"{number:.{DIGITS}f}" for number in self.numbers]
        return TEMPLATES[self.kind].format(*shown, item=self.item, stakeholder=self.stakeholder)


@dataclass(frozen=True)
class Justification:
    """Why a list is what it is, or rather what it does.

    Attributes
    ----------
    text
        One sentence; `accordant.slates.evaluation.check` recomputes every number in it.
    reasons
        One plain phrase for each item, in the order of the list.
    """

    rule: str
    request: int
    text: str
    statements: tuple[Statement, ...]
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        values: dict[str, Any] = json_value(asdict(self))
        return values


@dataclass(frozen=True, eq=False)
class ListFacts:
    """The numbers of one list, for stakeholders with a weight above 0.

    `standing` says where each item shown lies between the worst and the best available item, 0 for one that was closed
    meanwhile, shape (stakeholder, item shown). `attained` and `drawn` are what the list attains between the worst list,
    0, and the best, 1, and what lists drawn at random attain on average, shape (stakeholder,). NaN for whom all are
    alike.
    """

    items: tuple[str, ...]
    stakeholders: tuple[str, ...]
    standing: Values
    attained: Values
    drawn: Values

    @classmethod
    def of(cls, served: Served, request: int) -> ListFacts:
        """Compute the numbers from E and the items shown, or raise `InputError` if there is no such request."""
        if not 0 <= request < served.slates.n_users:
            raise InputError(f"request {request} is not there; allowed: 0 to {served.slates.n_users - 1}")
        has_weight = served.candidates.weights > 0
        values = served.candidates.values[has_weight, :, request]
        open_values = values[:, served.candidates.available[:, request]]
        chosen = served.slates.items[request]
        shown = values[:, chosen[chosen != NOTHING]]
        names = tuple(name for name, has in zip(served.candidates.stakeholders, has_weight, strict=True) if has)
        if not shown.size:
            nothing = np.full(len(names), np.nan)
            return cls((), names, shown, nothing, nothing)
        low, high = open_values.min(axis=1, initial=np.inf), open_values.max(axis=1, initial=-np.inf)
        span = np.where(high - low > ALIKE, high - low, np.nan)
        only = slice(request, request + 1)
        gains = gains_of(served.slates.take(only), served.candidates.take(only))
        every = served.candidates.values[:, served.candidates.available[:, request], request]
        mean = every.sum(axis=1, keepdims=True) / max(1, every.shape[1])  # nothing is left where all closed meanwhile
        drawn = Gains(mean, gains.ideal, gains.worst)
        return cls(
            served.slates.names(request), names, np.clip((shown - low[:, None]) / span[:, None], 0.0, 1.0),
            gains.attained[has_weight, 0], drawn.attained[has_weight, 0],
        )  # fmt: skip

    def item(self, place: int) -> Statement:
        """Return whom the item at a place serves best; equals go to the stakeholder declared first."""
        standing = self.standing[:, place]
        if np.isnan(standing).all():
            return Statement("alike", self.items[place])
        i = int(np.nanargmax(standing >= np.nanmax(standing) - ALIKE))
        return Statement("serves", self.items[place], self.stakeholders[i], (float(standing[i]),))

    def gain(self) -> Statement:
        """Return who gains most over a list drawn at random."""
        gains = np.nan_to_num(self.attained - self.drawn)
        i = int(np.argmax(gains >= gains.max() - ALIKE))
        if gains[i] <= ALIKE:
            return Statement("no gain")
        return Statement("gains", None, self.stakeholders[i], (float(self.attained[i]), float(self.drawn[i])))

    def loss(self) -> Statement:
        """Return who is furthest below its own best list."""
        losses = np.nan_to_num(1.0 - self.attained)
        i = int(np.argmax(losses >= losses.max() - ALIKE))
        if losses[i] <= ALIKE:
            return Statement("no loss")
        return Statement("gives up", None, self.stakeholders[i], (float(self.attained[i]),))

    def statements(self) -> tuple[Statement, ...]:
        """Return all that the sentence says, in order."""
        if not self.items:
            return (Statement("nothing"),)
        return (*map(self.item, range(len(self.items))), self.gain(), self.loss())


def why(served: Served, request: int) -> Justification:
    """Say in one sentence what the list of a request, counted from 0, does and for whom.

    Raises `InputError` if there is no such request.
    """
    statements = ListFacts.of(served, request).statements()
    return Justification(served.slates.rule, request, sentence(statements), statements, tuple(reasons(statements)))


def sentence(statements: tuple[Statement, ...]) -> str:
    """Return statements as one sentence."""
    if statements[0].kind == "nothing":
        return statements[0].text + END
    items = BETWEEN.join(statement.text for statement in statements[:-2])
    return OPENING + items + AFTER + AFTER.join(statement.text for statement in statements[-2:]) + END


def reasons(statements: tuple[Statement, ...]) -> list[str]:
    """Return one phrase for each item."""
    return [
        f"best for {statement.stakeholder}: {statement.numbers[0]:.{DIGITS}f} of the way "
        "from its worst item to its best"
        if statement.kind == "serves"
        else "the same for everybody"
        for statement in statements
        if statement.item is not None
    ]


@dataclass(frozen=True)
class Check:
    """Whether a justification says what the numbers say, how many were computed again, and what is wrong."""

    faithful: bool
    numbers: int
    problems: tuple[str, ...]


def check(justification: Justification, served: Served) -> Check:
    """Compute again what a justification says: the text first, then its record and reasons, of any origin.

    Raises `InputError` if there is no such request.
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
    return Check(not problems, sum(len(statement.numbers) for statement in right), tuple(problems))


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
