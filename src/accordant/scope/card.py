"""`ScopeCard`: the card as people write it down, its hash, its JSON form, and the uses it admits."""

from __future__ import annotations

import hashlib
import json
from datetime import date
from typing import Any, Literal

from pydantic import Field

from accordant.declared import Declared
from accordant.errors import InputError, SpecError, UnknownNameError

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
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise SpecError(f"scope card is not JSON: {error}") from None
        if not isinstance(content, dict):
            raise SpecError(f"scope card must be a JSON object; found {content!r:.80}")
        return cls(**content)


def folded(text: str) -> str:
    """Return a phrase without what does not matter when uses are compared: capitals and extra blanks."""
    return " ".join(text.split()).casefold()
