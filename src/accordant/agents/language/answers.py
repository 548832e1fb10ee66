"""From the text of an answer to a move: strict JSON, then the wire model, then what only the view can tell."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from pydantic import ValidationError

from accordant.agents.agent import View
from accordant.agents.language.keys import readable
from accordant.agents.language.wire import (
    TEXT_LENGTH,
    WIRES,
    Wire,
    WireAnswer,
    WireBallot,
    WireContestation,
    WireGrant,
    WireGround,
    WireProposal,
    WireReply,
)
from accordant.agents.moves import CODES, WITH_REASON, Answer, Ballot, Contestation, Move, Proposal, Reason, Reply
from accordant.agents.rules.outlook import contradiction
from accordant.allocations import AdditiveUtility, Allocation
from accordant.allocations.search import best
from accordant.errors import InputError, UnknownNameError
from accordant.json_values import read_json_value

MOST_FAULTS = 8  # named in one message; more would not be read
FAULT_LENGTH = 300  # characters of one fault

Form = TypeVar("Form", bound=Wire)

_FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)


class BadAnswerError(Exception):
    """An answer is no valid move.

    `faults`: what is wrong, in words for the model; `is_json`: whether it is one JSON object, which alone a server can
    promise.
    """

    def __init__(self, faults: Sequence[str], *, is_json: bool = True) -> None:
        self.is_json = is_json
        self.faults = tuple(readable(fault, FAULT_LENGTH) for fault in faults[:MOST_FAULTS])
        super().__init__("; ".join(self.faults))


def read_move(
    text: str,
    view: View,
    facts: Iterable[str],
    retrieved: Sequence[str],
    *,
    codes: Sequence[str] = CODES,
    fences: bool = False,
) -> Move:
    """Return the move in an answer.

    Parameters
    ----------
    text
        The whole answer: one JSON object and nothing else.
    view
        What the move is for.
    facts
        Names of the facts that were shown.
    retrieved
        Ids of the passages that were shown.
    codes
        That reasons may have.
    fences
        Whether a Markdown fence around the object is taken off; only where the form was asked for in words.

    Raises BadAnswerError if it is no valid move; nothing is guessed or mended.
    """
    wire = read_wire(text, WIRES[view.phase], fences=fences)
    reader = _Reader(view, frozenset(facts), tuple(retrieved), tuple(codes))
    return reader.move(wire)


def read_wire(text: str, form: type[Form], *, fences: bool = False) -> Form:
    """Return an answer in its declared form.

    Parameters
    ----------
    text
        The whole answer: one JSON object and nothing else.
    form
        What has to be answered.
    fences
        Whether a Markdown fence around the object is taken off; only where the form was asked for in words.

    Raises BadAnswerError if it is not one JSON object alone, or of another form.
    """
    fenced = _FENCED.fullmatch(text) if fences else None
    content = strict_json(fenced[1] if fenced else text)
    try:
        return form.model_validate(content)
    except ValidationError as error:
        raise BadAnswerError([_fault(detail) for detail in error.errors(include_url=False)]) from None


def strict_json(text: str) -> Any:
    """Return the JSON object that a text is.

    Raises BadAnswerError if it is not one JSON object alone, repeats a key, or holds NaN or infinity.
    """
    try:
        content = read_json_value(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        fence = "; without a Markdown fence" if "```" in text else ""
        fault = f"not one JSON object alone: {error.msg} at character {error.pos}{fence}"
        raise BadAnswerError([fault], is_json=False) from None
    except InputError:
        raise BadAnswerError(["JSON that is nested too deeply, or holds a number with too many digits"]) from None
    if not isinstance(content, dict):
        raise BadAnswerError([f"a JSON {type(content).__name__}; allowed: one JSON object"], is_json=False)
    return content


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; a repeated key is a fault, because readers differ in which one counts."""
    repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if repeated:
        raise BadAnswerError([f"the key {repeated[0]!r} is given twice in one object"])
    return dict(pairs)


def _no_number(name: str) -> NoReturn:
    raise BadAnswerError([f"{name} is no number of JSON"])


def _fault(error: Any) -> str:
    """Return one fault that pydantic found, with its place."""
    place = ".".join(str(part) for part in error["loc"])
    given = "" if error["type"] == "missing" else f" (found {error['input']!r:.80})"
    return f"{place or 'answer'}: {error['msg']}{given}"


class _Reader:
    """Turns wire models into moves and collects everything that is wrong with them."""

    def __init__(self, view: View, facts: frozenset[str], retrieved: tuple[str, ...], codes: tuple[str, ...]) -> None:
        self.view, self.facts, self.retrieved, self.codes = view, facts, retrieved, codes
        self.faults: list[str] = []

    def move(self, wire: object) -> Move:
        """Return the move, or raise everything that is wrong."""
        if isinstance(wire, WireContestation):
            replies = self.replies(wire.replies)
            revised = self.proposal(wire.revised)
            if revised is None:
                return self.checked(None)
            self.agreeing(replies, revised)
            return self.checked(Contestation(replies, revised))
        if isinstance(wire, WireAnswer):
            others = self.view.others
            if wire.accepts is not None and wire.accepts not in others:
                self.faults.append(str(UnknownNameError("agent with a standing proposal", wire.accepts, others)))
            counter = self.proposal(wire.counter)
            return self.checked(None if counter is None else Answer(wire.accepts, counter))
        if isinstance(wire, WireBallot):
            self.exactly("ranking", wire.ranking, range(len(self.view.candidates)))
            return self.checked(Ballot(tuple(wire.ranking)))
        assert isinstance(wire, WireProposal)
        return self.checked(self.proposal(wire))

    def agreeing(self, replies: Sequence[Reply], revised: Proposal) -> None:
        """Note replies that the revised proposal contradicts."""
        own = self.view.own
        if own is None:
            return
        for reply in replies:
            if reply.patient in self.view.disputed:
                wrong = contradiction(reply.patient, reply.kind, own.allocation, revised.allocation)
                self.faults += [] if wrong is None else [f"replies: {wrong}"]

    def checked(self, move: Move | None) -> Move:
        """Return the move if nothing is wrong."""
        if self.faults or move is None:
            raise BadAnswerError(self.faults)
        return move

    def proposal(self, wire: WireProposal) -> Proposal | None:
        """Return a proposal, or None if its allocation cannot be made."""
        scenario = self.view.scenario
        self.exactly("priorities", [priority.patient for priority in wire.priorities], scenario.ids)
        self.known_once("reasons", [reason.patient for reason in wire.reasons])
        reasons = tuple(
            self.reason(reason.patient, reason, f"reason for {reason.patient!r}") for reason in wire.reasons
        )
        values = {priority.patient: priority.value for priority in wire.priorities}
        allocation = self.best_for(values) if wire.grants is None else self.allocation(wire.grants)
        if self.faults or allocation is None:
            return None
        utility = AdditiveUtility(np.array([values[patient] for patient in scenario.ids]))
        return Proposal(allocation, utility, reasons, self.retrieved)

    def best_for(self, values: Mapping[str, float]) -> Allocation | None:
        """Return the allocation that is best for priorities, or None if one is missing."""
        scenario = self.view.scenario
        if not values.keys() >= set(scenario.ids):
            return None
        return Allocation(scenario, best(scenario, np.array([values[patient] for patient in scenario.ids])))

    def allocation(self, grants: Sequence[WireGrant]) -> Allocation | None:
        """Return the allocation of grants, or None if it cannot be made."""
        granted: dict[str, dict[str, float]] = {}
        for grant in grants:
            if grant.resource in granted.setdefault(grant.patient, {}):
                self.faults.append(f"grants: {grant.patient!r} is granted {grant.resource!r} twice")
            granted[grant.patient][grant.resource] = grant.units
        try:
            return Allocation.of(self.view.scenario, granted)
        except InputError as error:
            self.faults.append(f"grants: {error}")
            return None

    def replies(self, wires: Sequence[WireReply]) -> tuple[Reply, ...]:
        """Return the replies: one on each disputed patient."""
        self.exactly("replies", [wire.patient for wire in wires], self.view.disputed)
        made = []
        for wire in wires:
            if wire.reason is None and wire.kind in WITH_REASON:
                self.faults.append(f"replies: {wire.kind} of {wire.patient!r} needs a reason")
            where = f"reply on {wire.patient!r}"
            reason = None if wire.reason is None else self.reason(wire.patient, wire.reason, where)
            made.append(Reply(wire.patient, wire.kind, reason))
        return tuple(made)

    def reason(self, patient: str, wire: WireGround, where: str) -> Reason:
        """Return a reason, its text clipped."""
        for kind, cited, allowed in (
            ("code", [wire.code], self.codes),
            ("fact", wire.facts, sorted(self.facts)),
            ("passage", wire.passages, self.retrieved),
        ):
            for name in cited:
                if name not in allowed:
                    self.faults.append(f"{where}: {UnknownNameError(kind, name, allowed)}")
        return Reason(patient, wire.code, tuple(wire.facts), tuple(wire.passages), readable(wire.text, TEXT_LENGTH))

    def known_once(self, what: str, patients: Sequence[str]) -> None:
        """Note patients that do not exist or are named twice."""
        ids = self.view.scenario.ids
        for patient, count in Counter(patients).items():
            if patient not in ids:
                self.faults.append(f"{what}: {UnknownNameError(self.view.scenario.noun, patient, ids)}")
            if count > 1:
                self.faults.append(f"{what}: {patient!r} is named {count} times")

    def exactly(self, what: str, given: Sequence[object], wanted: Iterable[object]) -> None:
        """Note what is missing, unknown or named twice."""
        counts, allowed = Counter(given), list(wanted)
        known = set(allowed)
        missing = [name for name in allowed if name not in counts]
        unknown = [name for name in counts if name not in known]
        twice = [name for name, count in counts.items() if count > 1]
        for fault, names in (("missing", missing), ("unknown", unknown), ("given twice", twice)):
            if names:
                self.faults.append(f"{what}: {fault}: {', '.join(map(repr, names))}; each of {allowed} once")
