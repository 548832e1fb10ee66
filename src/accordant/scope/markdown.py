"""A scope card as Markdown that people read, with the card as data at its end, so that it can be read back exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from accordant.errors import SpecError
from accordant.scope.card import ScopeCard

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
            each.metric,
            "none" if each.threshold is None else f"{each.threshold:g}",
            ", ".join(f"{key}: {_value(value)}" for key, value in sorted(each.params.items())),
            each.rationale,
            each.chosen_by,
        )
        for each in card.criteria
    ]
    rejected = [(each.metric, each.reason) for each in card.criteria_rejected]
    conflicts = [(each.a, each.b, each.why) for each in card.known_conflicts]
    return [
        *_section("Criteria", _table(("metric", "threshold", "parameters", "why", "chosen by"), chosen)),
        *_section("Criteria considered and not chosen", _table(("metric", "reason"), rejected)),
        *_section("Known conflicts", _table(("criterion", "with", "why"), conflicts)),
    ]


def _considered(card: ScopeCard) -> list[str]:
    frameworks = [
        (name, {"not": "not applicable"}.get(each.verdict, each.verdict), each.reason)
        for name, each in sorted(card.frameworks_considered.items())
    ]
    parts = [(each.component, each.what_was_tested) for each in card.composition]
    return [
        *_section("Frameworks considered", _table(("framework", "applicable", "reason"), frameworks)),
        *_section("Parts, and what about them was tested", _table(("part", "tested"), parts)),
    ]


def _section(title: str, body: str) -> list[str]:
    return [f"## {title}", body] if body else []


def _items(items: Iterable[str]) -> str:
    return "\n".join(f"- {_line(each)}" for each in items)


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
