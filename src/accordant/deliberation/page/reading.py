"""What the page says of one deliberation: agents with letters, allocations side by side, and patients in order."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from accordant.deliberation.decision.result import DecisionDebate
from accordant.deliberation.result import AgentResult, DeliberationResult, PatientResult, RecordResult
from accordant.report.scale import MINUS, NOT_DEFINED, Cell, interval, number, percent
from accordant.statistics import Estimate

JOINT, DISAGREEMENT = "joint", "disagreement"
EQUAL = 1e-9  # shares this close are the same: they are quotients of whole numbers
FORMS = {"solo": "alone", "revised": "revised"}  # an allocation of an agent: how its name begins, and what it is called
MARKS = {"solo": "circle", "revised": "open-circle", JOINT: "star", DISAGREEMENT: "cross", "strategy": "diamond",
         "random": "open-triangle", "search": "triangle"}  # fmt: skip
STANDINGS = {"met": "circle", "not met": "open-circle", NOT_DEFINED: "cross", "no threshold": "cross"}


@dataclass(frozen=True)
class Taker:
    """An agent as the page names it.

    `name`, `letter`: its name, and the letter that stands for it in the drawing; `content`: what the record says of it.
    """

    name: str
    letter: str
    content: AgentResult

    @property
    def adversarial(self) -> bool:
        """Whether it is made to do wrong."""
        return self.content.adversarial

    @property
    def head(self) -> str:
        """Its letter, with a dagger if it is adversarial."""
        return self.letter + ("†" if self.adversarial else "")


@dataclass(frozen=True)
class Column:
    """One allocation beside the others.

    Attributes
    ----------
    key
        ``solo NAME``, ``revised NAME``, ``joint`` or ``disagreement``.
    form
        ``solo``, ``revised``, ``joint`` or ``disagreement``.
    taker
        Whose it is; None for nobody's.
    shares
        Patient to the share of the demand that is granted.
    """

    key: str
    form: str
    taker: Taker | None
    shares: Mapping[str, float]


@dataclass(frozen=True)
class RecordReading:
    """A result with one transcript, and what is asked of it."""

    content: DeliberationResult | DecisionDebate

    @property
    def record(self) -> RecordResult:
        """The deliberation itself."""
        return self.content.deliberation

    @cached_property
    def takers(self) -> tuple[Taker, ...]:
        """Agents in their order."""
        return tuple(Taker(agent.name, letter(place), agent) for place, agent in enumerate(self.record.agents))

    @cached_property
    def named(self) -> dict[str, Taker]:
        """Agents by name."""
        return {taker.name: taker for taker in self.takers}

    @cached_property
    def patients(self) -> dict[str, PatientResult]:
        """Patients by id."""
        return {patient.id: patient for patient in self.record.scenario.patients}

    @property
    def adversaries(self) -> list[str]:
        """Names of the adversarial agents."""
        return list(self.record.adversarial)


@dataclass(frozen=True)
class OneReading(RecordReading):
    """One deliberation and the questions that several sections ask of it."""

    content: DeliberationResult

    @property
    def facts(self) -> list[str]:
        """Names of the facts, in the order of the first patient."""
        return list(self.record.scenario.patients[0].facts) if self.patients else []

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All allocations: first wishes, last proposals, the joint one, and what no agreement would have brought."""
        record, columns = self.record, []
        for form, allocations in zip(FORMS, (record.solo, record.revised), strict=True):
            columns += [
                Column(f"{form} {taker.name}", form, taker, self._shares(allocations[taker.name]))
                for taker in self.takers
            ]
        columns.append(Column(JOINT, JOINT, None, self._shares(record.settled.allocation)))
        if record.disagreement is not None:
            columns.append(Column(DISAGREEMENT, DISAGREEMENT, None, self._shares(record.disagreement)))
        return tuple(columns)

    @property
    def joint(self) -> Column:
        """The joint allocation."""
        return next(column for column in self.columns if column.form == JOINT)

    @cached_property
    def watched(self) -> frozenset[str]:
        """Ids of the patients of the watched group."""
        group = self.content.marginal
        if group is None:
            return frozenset()
        return frozenset(
            name for name, patient in self.patients.items() if patient.facts.get(group.fact) == group.value
        )

    @cached_property
    def moved(self) -> dict[str, str]:
        """Patient to the letters of the agents whose first wish was not granted as it was, none for most."""
        first = [column for column in self.columns if column.form == "solo" and column.taker is not None]
        return {
            patient: "".join(
                column.taker.letter for column in first if column.taker and apart(column.shares[patient], decided)
            )
            for patient, decided in self.joint.shares.items()
        }  # fmt: skip

    @cached_property
    def ordered(self) -> tuple[list[str], list[str]]:
        """Ids of the patients whom some allocation of an agent or the joint one treats otherwise, and of the rest."""
        asked = [column for column in self.columns if column.form != DISAGREEMENT]
        differs = {
            patient: any(apart(column.shares[patient], asked[0].shares[patient]) for column in asked)
            for patient in self.patients
        }
        return [name for name in differs if differs[name]], [name for name in differs if not differs[name]]

    @cached_property
    def in_part(self) -> bool:
        """Whether some allocation meets a part of somebody's demand."""
        return any(0 < share < 1 for column in self.columns for share in column.shares.values())

    def units(self, resource: str) -> float:
        """Return how many units of a resource the joint allocation grants."""
        granted = self.record.settled.allocation.values()
        return float(sum(grant.get(resource, 0.0) for grant in granted))

    def called(self, key: str) -> str:
        """Return an allocation in words."""
        return called(key)

    def _shares(self, allocation: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        return {name: self._share(patient, allocation.get(name, {})) for name, patient in self.patients.items()}

    def _share(self, patient: PatientResult, granted: Mapping[str, float]) -> float:
        """Return the mean over the resources demanded of granted over demanded; who demands nothing has all of it."""
        names, demand = [resource.name for resource in self.record.scenario.resources], patient.demand
        wanted = {name: 1.0 if demand is None else demand.get(name, 0.0) for name in names}
        met = [granted.get(name, 0.0) / units for name, units in wanted.items() if units]
        return sum(met) / len(met) if met else 1.0


def called(key: str) -> str:
    """Return an allocation in words: ``rawlsian alone``, ``rawlsian revised``, ``joint``, ``without agreement``."""
    form, _, name = key.partition(" ")
    if form in FORMS and name:
        return f"{name} {FORMS[form]}"
    if form == "strategy" and name:
        return f"strategy {name}"
    return "without agreement" if key == DISAGREEMENT else key


def letter(place: int) -> str:
    """Return A to Z, then A1, B1 and so on."""
    turn, rest = divmod(place, len(string.ascii_uppercase))
    return string.ascii_uppercase[rest] + (str(turn) if turn else "")


def apart(one: float, other: float) -> bool:
    """Return whether two shares differ."""
    return abs(one - other) > EQUAL


def share(value: float) -> str:
    """Return a share of a demand: whole numbers without decimals."""
    return number(value, 0) if float(value).is_integer() else number(value, 2)


def signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign, zero without one."""
    text = number(value, digits)
    return text if text.startswith(MINUS) or text == number(0.0, digits) else f"+{text}"


def granted_otherwise(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the patients who are not granted the same by two allocations, by id."""
    return sorted(patient for patient in {*one, *other} if one.get(patient) != other.get(patient))


def rate(estimate: Estimate | None) -> Cell:
    """Return a share over scenarios with its interval in per cent."""
    if estimate is None or estimate.value is None:
        return Cell(NOT_DEFINED)
    return Cell(percent(estimate.value), f"[{percent(estimate.low)}, {percent(estimate.high)}]")


def mean(estimate: Estimate | None) -> Cell:
    """Return a mean over scenarios with its interval."""
    if estimate is None or estimate.value is None:
        return Cell(NOT_DEFINED)
    return Cell(number(estimate.value), interval(estimate.low, estimate.high))


def said(value: object) -> str:
    """Return a fact, a parameter or a detail as text."""
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not value.is_integer():
        return number(value)
    if isinstance(value, int | float):
        return number(value, 0)
    return str(value)
