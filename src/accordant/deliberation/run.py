"""What deliberations of a case found, before it becomes a result: `accordant.deliberation.result`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from accordant import __version__
from accordant.allocations.measures.measure import Criterion, criteria_of
from accordant.deliberation.adapters import Choices
from accordant.deliberation.assessment import Emergence, FlipTest, Movement, Process, RegretMatrix, Satisfaction, Sides
from accordant.deliberation.assessment import Verdict as AllocationVerdict
from accordant.deliberation.assessment.reruns import OrderEffects
from accordant.deliberation.case import DeliberationCase
from accordant.deliberation.options import DeliberationOptions
from accordant.deliberation.record import Deliberation
from accordant.deliberation.repetition import Repeated
from accordant.deliberation.result import FORMAT, DeliberationResult, FoundIn, RepeatedDeliberation
from accordant.deliberation.sources import PatientSource
from accordant.deliberation.usage import Usage, fallbacks


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

    def header(self) -> dict[str, Any]:
        """Return what every result of it begins with."""
        source = self.source
        return {
            "accordant": __version__,
            "result": FORMAT,
            "case": self.case,
            "notes": self.case.notes,
            "source": {"label": source.label, "sha256": source.sha256, "simulated": source.simulated,
                       "found_in": self.found_in},
            "seed": self.options.seed,
            "options": self.options,
            "marginal": self.case.deliberation.marginal,
        }  # fmt: skip


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
    usage: Usage
    warnings: tuple[str, ...]

    @cached_property
    def section(self) -> DeliberationResult:
        """The result as the terminal and the page read it."""
        record = self.deliberation
        return DeliberationResult.read({
            **self.opened.header(),
            "kind": "one",
            "hash": record.hash,
            "deliberation": record.to_json(),
            "verdict": self.verdict,
            "emergence": self.emergence,
            "ledger": self.ledger,
            "process": self.process,
            "satisfaction": self.satisfaction,
            "sides": self.sides.to_json(),
            "regrets": self.regrets,
            "flips": self.flips,
            "order": self.order,
            "choices": self.choices.to_json(),
            "access": self.access,
            "restored": self.restored,
            "conversion": self.conversion,
            "approach": self.approach,
            "usage": self.usage,
            "warnings": self.warnings,
        })  # fmt: skip


@dataclass(frozen=True, eq=False)
class DeliberatedOften:
    """Many deliberations of one case.

    `opened`: case, options and source; `repeated`: the table with intervals and null hypotheses; `usage`: agent to the
    moves, fallbacks, calls, tokens and repairs of its language model, over all scenarios; `warnings`: sentences that a
    reader must see.
    """

    opened: Opened
    repeated: Repeated
    usage: Usage
    warnings: tuple[str, ...]

    @cached_property
    def section(self) -> RepeatedDeliberation:
        """The result as the terminal and the page read it."""
        return RepeatedDeliberation.read({
            **self.opened.header(),
            "kind": "many",
            "fallbacks": fallbacks(self.usage),
            "repeated": self.repeated,
            "usage": self.usage,
            "warnings": self.warnings,
        })  # fmt: skip
