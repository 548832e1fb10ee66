"""The result of deliberations of a case: typed, as JSON, and written as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from accordant import __version__
from accordant.allocations.measures.measure import Criterion, criteria_of
from accordant.deliberation.adapters import Choices
from accordant.deliberation.assessment import Emergence, FlipTest, Movement, Process, RegretMatrix, Satisfaction, Sides
from accordant.deliberation.assessment import Verdict as AllocationVerdict
from accordant.deliberation.assessment.reruns import OrderEffects
from accordant.deliberation.case import DeliberationCase
from accordant.deliberation.options import DeliberationOptions
from accordant.deliberation.page import FORMAT, render_deliberated
from accordant.deliberation.record import Deliberation
from accordant.deliberation.repetition import Repeated
from accordant.deliberation.sources import PatientSource
from accordant.json_values import field_values
from accordant.runs.pages import write_page

RECORD = "deliberation.json"
FoundIn = Literal["--data", "beside the case", "$ACCORDANT_DATA", "cache"]


@dataclass(frozen=True, eq=False)
class Opened:
    """A deliberation that is about to begin.

    Attributes
    ----------
    case, options, source
        As given, and where the patients come from.
    found_in
        Where the file with the patients was found: ``--data``, ``beside the case``, ``$ACCORDANT_DATA`` or ``cache``;
        None if they are simulated.
    """

    case: DeliberationCase
    options: DeliberationOptions
    source: PatientSource
    found_in: FoundIn | None = None

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What the case's scope card asks for; none without one."""
        card = self.case.deliberation.scope
        return () if card is None else criteria_of(card)

    @property
    def marginal(self) -> dict[str, Any] | None:
        """The watched group as JSON values; None without one."""
        found = self.case.deliberation.marginal
        return None if found is None else {"fact": found.fact, "value": found.value}

    def header(self) -> dict[str, Any]:
        """Return what every result of it begins with."""
        return {
            "accordant": __version__,
            "result": FORMAT,
            "case": {"name": self.case.name, "title": self.case.title, "description": self.case.description},
            "notes": list(self.case.notes),
            "source": field_values(self.source, without=("draw",)) | {"found_in": self.found_in},
            "seed": self.options.seed,
            "options": field_values(self.options),
        }


@dataclass(frozen=True, eq=False)
class Deliberated:
    """One deliberation with everything that is measured about it.

    Attributes
    ----------
    opened
        Case, options and source.
    deliberation
        The record.
    verdict
        Against the case's scope card; None without one.
    emergence
        With both null hypotheses; None without criteria.
    ledger, process, satisfaction, sides, regrets, flips, order, choices
        See `accordant.deliberation`; ``flips`` is None without protected facts. Both ``flips`` and ``order`` take the
        deliberation again and again, and are None where anybody but rules and fixtures takes part.
    access
        Access of the watched group by allocation; None without one.
    restored
        See `accordant.deliberation.assessment`; None without a watched group or exactly one adversarial agent.
    conversion, approach
        Other agent to how far the adversarial one went, in any direction, and to how much nearer it came; empty where
        `restored` is None.
    usage
        Agent to the moves, fallbacks, calls, tokens and repairs of its language model.
    warnings
        Sentences that a reader must see.
    """

    opened: Opened
    deliberation: Deliberation
    verdict: AllocationVerdict | None
    emergence: Emergence | None
    ledger: tuple[Movement, ...]
    process: Process
    satisfaction: Satisfaction
    sides: Sides
    regrets: RegretMatrix
    flips: FlipTest | None
    order: OrderEffects | None
    choices: Choices
    access: Mapping[str, float | None] | None
    restored: float | None
    conversion: Mapping[str, float | None]
    approach: Mapping[str, float | None]
    usage: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]

    @property
    def silent(self) -> bool:
        """Whether a language model was to speak and rules made every move."""
        return silent(self.usage)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        opened = {
            **self.opened.header(),
            "kind": "one",
            "hash": self.deliberation.hash,
            "marginal": self.opened.marginal,
        }
        return opened | field_values(self, without=("opened",))


@dataclass(frozen=True, eq=False)
class DeliberatedOften:
    """Many deliberations of one case.

    `opened`: case, options and source; `repeated`: the table with intervals and null hypotheses; `usage`: agent to the
    moves, fallbacks, calls, tokens and repairs of its language model, over all scenarios; `warnings`: sentences that a
    reader must see.
    """

    opened: Opened
    repeated: Repeated
    usage: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]

    @property
    def fallbacks(self) -> int:
        """How many moves a rule made in place of a language model, over all scenarios."""
        return fallbacks(self.usage)

    @property
    def silent(self) -> bool:
        """Whether a language model was to speak and rules made every move."""
        return silent(self.usage)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        about = {"kind": "many", "marginal": self.opened.marginal, "fallbacks": self.fallbacks}
        return self.opened.header() | about | field_values(self, without=("opened",))


def moves(usage: Mapping[str, Mapping[str, Any]]) -> int:
    """Return how many moves language models were asked for."""
    return sum(each.get("moves", 0) for each in usage.values())


def fallbacks(usage: Mapping[str, Mapping[str, Any]]) -> int:
    """Return how many moves of language models a rule made."""
    return sum(each.get("fallbacks", 0) for each in usage.values())


def silent(usage: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether rules made all moves that language models were asked for; False where none was asked for any."""
    return 0 < moves(usage) == fallbacks(usage)


def write_deliberated(found: Deliberated | DeliberatedOften, out: Path) -> Path:
    """Write a page, or a new folder with the page and the JSON; return the path of the page.

    `found`: the result; `out`: a file that ends with ``.html``, or a folder that does not exist.
    """
    content = found.to_json()
    return write_page(render_deliberated(content), content, RECORD, out)
