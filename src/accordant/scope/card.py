"""`ScopeCard`: the card as people write it down, its hash, its JSON form, and the uses it admits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Literal

from pydantic import Field

from accordant.declaration import Declared
from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.json_values import read_json_value

Permission = Literal["forbidden", "audit_only", "required"]
Applicability = Literal["applicable", "not", "unknown"]


class AffectedParty(Declared):
    """A stakeholder as the card names it, and whether anybody asked."""

    name: str
    role: Literal["affected", "deciding", "providing"]
    consulted: bool = False
    how: str = ""
    date: str = ""


class AttributeUse(Declared):
    """What a sensitive attribute may be used for, and why."""

    name: str
    permitted_use: Permission
    why: str = ""


class Criterion(Declared):
    """A criterion with its threshold: which metric, how far, chosen by whom, and why."""

    metric: str
    threshold: float | None = Field(default=None, allow_inf_nan=False)
    params: dict[str, Any] = Field(default_factory=dict)
    rationale: str = ""
    chosen_by: str = ""


class RejectedCriterion(Declared):
    """A criterion that was considered and not chosen."""

    metric: str
    reason: str


class Conflict(Declared):
    """Two criteria that cannot both be met in general."""

    a: str
    b: str
    why: str


class FrameworkConsidered(Declared):
    """Whether a fairness framework applies here, and why."""

    verdict: Applicability
    reason: str


class Component(Declared):
    """A part of the system and what about it was tested."""

    component: str
    what_was_tested: str


class Iteration(Declared):
    """One change of the card."""

    date: str
    change: str
    who: str


class ScopeCard(Declared):
    """A declaration that every result refers to; results hold for this card's version only.

    The card certifies nothing. It records which criteria were chosen, at which thresholds, by whom, and
    who was asked. Motivated by Anthis, Lum, Ekstrand, Feller and Tan (arXiv 2406.03198, ACL 2025).

    Raises
    ------
    SpecError
        If a key is unknown or missing.
    """

    id: str
    version: str
    title: str
    decision: str
    decision_unit: str = ""
    deployment_context: str = ""
    in_scope_uses: tuple[str, ...] = ()
    out_of_scope_uses: tuple[str, ...] = ()
    stakeholders: tuple[AffectedParty, ...] = ()
    populations: tuple[str, ...] = ()
    sensitive_attributes: tuple[AttributeUse, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    criteria_rejected: tuple[RejectedCriterion, ...] = ()
    known_conflicts: tuple[Conflict, ...] = ()
    frameworks_considered: dict[str, FrameworkConsidered] = Field(default_factory=dict)
    composition: tuple[Component, ...] = ()
    data_provenance: str = ""
    disagreement_rule: str = ""
    appeal_route: str = ""
    responsible_party: str = ""
    review_by: date | None = None
    iterations: tuple[Iteration, ...] = ()
    limits: str = ""

    @property
    def hash(self) -> str:
        """Content hash (sha256, hexadecimal): part of every result that refers to the card."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def check_use(self, use: str) -> None:
        """Refuse a use that the card does not admit; capitals and extra blanks do not matter.

        Raises
        ------
        InputError
            If the card declares the use out of scope.
        UnknownNameError
            If the card does not declare it in scope; the nearest declared use is named.
        """
        if folded(use) in map(folded, self.out_of_scope_uses):
            raise InputError(f"card {self.id}, version {self.version}, declares the use {use!r} out of scope")
        if folded(use) not in map(folded, self.in_scope_uses):
            raise UnknownNameError(f"use under card {self.id}, version {self.version}:", use, self.in_scope_uses)

    def to_json(self) -> str:
        """Return canonical JSON; `from_json` reads exactly the same card back."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str) -> ScopeCard:
        """Read a card that `to_json` wrote.

        Raises
        ------
        SpecError
            If the text is not a JSON object, or a key is unknown or missing.
        """
        try:
            content = read_json_value(text)
        except ValueError as error:
            raise SpecError(f"scope card is not JSON: {error}") from None
        if not isinstance(content, dict):
            raise SpecError(f"scope card must be a JSON object; found {content!r:.80}")
        return cls(**content)


def folded(text: str) -> str:
    """Return a phrase without what does not matter when uses are compared: capitals and extra blanks."""
    return " ".join(text.split()).casefold()


OPENING, CLOSING = "\n```json\n", "\n```"


def to_markdown(card: ScopeCard) -> str:
    """Return the card as Markdown; what is empty on the card is left out, except in the data at the end."""
    parts = [
        f"# Scope card: {_line(card.title)}",
        f"Card {_line(card.id)}, version {_line(card.version)}. Results refer to this version.",
        "The card certifies nothing.",
        *_paragraphs(card),
        *_people(card),
        *_criteria(card),
        *_considered(card),
        *_section("Changes", _table(("date", "change", "who"), [(i.date, i.change, i.who) for i in card.iterations])),
        f"## The card as data\n\nHash {card.hash}.",
    ]
    return "\n\n".join(parts) + "\n" + OPENING + card.to_json() + CLOSING + "\n"


def from_markdown(text: str) -> ScopeCard:
    """Read a card that `to_markdown` wrote.

    Raises
    ------
    SpecError
        If there is no card as data at the end, or the text before it says something else than the data do.
    """
    text = text.replace("\r\n", "\n")
    start = text.rfind(OPENING)
    end = text.find(CLOSING, start + len(OPENING))
    if start < 0 or end < 0:
        raise SpecError("no scope card as data: the Markdown must end with a block ```json … ``` that holds the card")
    card = ScopeCard.from_json(text[start + len(OPENING) : end])
    if to_markdown(card).split() != text.split():
        raise SpecError(
            f"the text of card {card.id!r} says something else than its data: change the data and write the text anew"
        )
    return card


def _paragraphs(card: ScopeCard) -> list[str]:
    said = {
        "Decision": card.decision,
        "One decision is about": card.decision_unit,
        "Where it is used": card.deployment_context,
        "Where the data come from": card.data_provenance,
        "If there is no agreement": card.disagreement_rule,
        "How to appeal": card.appeal_route,
        "Who answers for it": card.responsible_party,
        "To be reviewed by": card.review_by.isoformat() if card.review_by else "",
        "Limits": card.limits,
    }
    return [
        *(f"**{name}:** {_line(words)}" for name, words in said.items() if words.strip()),
        *_section("What it is for", _items(card.in_scope_uses)),
        *_section("What it is not for", _items(card.out_of_scope_uses)),
    ]


def _people(card: ScopeCard) -> list[str]:
    parties = [(p.name, p.role, "yes" if p.consulted else "no", p.how, p.date) for p in card.stakeholders]
    uses = [(use.name, use.permitted_use.replace("_", " "), use.why) for use in card.sensitive_attributes]
    return [
        *_section("Stakeholders", _table(("name", "role", "consulted", "how", "date"), parties)),
        *_section("Populations", _items(card.populations)),
        *_section("Sensitive attributes", _table(("name", "permitted use", "why"), uses)),
    ]


def _criteria(card: ScopeCard) -> list[str]:
    chosen = [
        (
            criterion.metric,
            "none" if criterion.threshold is None else f"{criterion.threshold:g}",
            ", ".join(f"{key}: {_value(value)}" for key, value in sorted(criterion.params.items())),
            criterion.rationale,
            criterion.chosen_by,
        )
        for criterion in card.criteria
    ]
    rejected = [(criterion.metric, criterion.reason) for criterion in card.criteria_rejected]
    conflicts = [(criterion.a, criterion.b, criterion.why) for criterion in card.known_conflicts]
    return [
        *_section("Criteria", _table(("metric", "threshold", "parameters", "why", "chosen by"), chosen)),
        *_section("Criteria considered and not chosen", _table(("metric", "reason"), rejected)),
        *_section("Known conflicts", _table(("criterion", "with", "why"), conflicts)),
    ]


def _considered(card: ScopeCard) -> list[str]:
    frameworks = [
        (name, {"not": "not applicable"}.get(framework.verdict, framework.verdict), framework.reason)
        for name, framework in sorted(card.frameworks_considered.items())
    ]
    parts = [(part.component, part.what_was_tested) for part in card.composition]
    return [
        *_section("Frameworks considered", _table(("framework", "applicable", "reason"), frameworks)),
        *_section("Parts, and what about them was tested", _table(("part", "tested"), parts)),
    ]


def _section(title: str, body: str) -> list[str]:
    return [f"## {title}", body] if body else []


def _items(items: Iterable[str]) -> str:
    return "\n".join(f"- {_line(item)}" for item in items)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_line(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _value(value: Any) -> str:
    """Return a parameter as text that does not depend on the order of its keys."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _line(text: str) -> str:
    """Return a text on one line: a line of its own could start a heading, a table or a block."""
    return " ".join(text.split())
