"""What ``accordant deliberate`` takes and prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, get_args

from rich.console import Console

from accordant.agents import Answer, Ballot, Contestation, Proposal, Reason, Turn
from accordant.allocations import Allocation
from accordant.cli.deliberation_tables import print_many, print_one
from accordant.cli.output import print_json, refuse_overwriting
from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names
from accordant.runs.deliberated import (
    DeliberationOptions,
    Guard,
    ModelOptions,
    Opened,
    Protocol,
    write_deliberated,
)
from accordant.runs.deliberating import cast_for, deliberate, deliberate_often, open_deliberation
from accordant.runs.pages import refuse_place
from accordant.runs.speaking import Cast

WIDTH = 140  # columns of what is piped somewhere
REPLAYED = "http://127.0.0.1/replayed"  # never asked: all answers come from the file
MOST_REASONS = 6  # of a proposal that the terminal shows; all are in the JSON and on the page


def capacities(given: Sequence[str]) -> dict[str, float]:
    """Return resource to units, from options such as ``bed=5``.

    Raises
    ------
    InputError
        If an option has another form, or a resource is named twice.
    """
    found: dict[str, float] = {}
    for text in given:
        name, equals, units = text.partition("=")
        try:
            amount = float(units)
        except ValueError:
            amount = float("nan")
        if not (name.strip() and equals and amount >= 0):
            raise InputError(f"--capacity is {text!r}; allowed: RESOURCE=UNITS, such as bed=5")
        if name.strip() in found:
            raise InputError(f"--capacity names {name.strip()!r} twice")
        found[name.strip()] = amount
    return found


def deliberation_options(
    *, agents: str | None, protocol: str, guard: str, capacity: Sequence[str], model: Mapping[str, Any], **others: Any
) -> DeliberationOptions:
    """Return what the options of the command say.

    Raises
    ------
    InputError
        If a name is unknown, or options do not go together.
    """
    for kind, given, allowed in (("protocol", protocol, get_args(Protocol)), ("guard", guard, get_args(Guard))):
        if given not in allowed:
            raise UnknownNameError(kind, given, allowed)
    return DeliberationOptions(
        agents=() if agents is None else read_names(agents, "--agents"),
        protocol=protocol,  # type: ignore[arg-type]
        guard=guard,  # type: ignore[arg-type]
        capacity=capacities(capacity),
        model=_model(model),
        **others,
    )


def _model(given: Mapping[str, Any]) -> ModelOptions | None:
    """Return which model speaks, or None where neither an endpoint nor a recording is named."""
    if given["base_url"] is None and given["replay"] is None:
        idle = [f"--{name.replace('_', '-')}" for name in ("model", "record") if given[name] is not None]
        if idle or given["agents"] or given["fallback"]:
            raise InputError(f"{', '.join(idle) or 'an option of the language model'} has no effect without --llm")
        return None
    if given["model"] is None:
        raise InputError("--llm needs --model, the name of the model at that endpoint")
    spoken = given["agents"]
    return ModelOptions(
        **{
            **given,
            "base_url": given["base_url"] or REPLAYED,
            "agents": () if spoken is None else tuple(each.name for each in read_names(spoken, "--speaks-for")),
            "record": None if given["record"] is None else str(given["record"]),
            "replay": None if given["replay"] is None else str(given["replay"]),
        }
    )


def conduct(case: str, options: DeliberationOptions, out: Path | None, *, json: bool) -> None:
    """Deliberate, tell it as it happens, and print and write what was found."""
    if out is not None:
        refuse_overwriting(case, out)
        refuse_place(out)  # before the work, not after it
    opened = open_deliberation(case, options)
    cast = cast_for(opened)
    for agent in cast.agents:
        if agent.adversarial:
            sys.stderr.write(f"accordant: {agent.name} is an adversarial fixture, admitted because it was named\n")
    teller = Teller(sys.stderr if json else sys.stdout, "offer" if options.protocol == "offers" else "round")
    teller.opening(_opening(opened, cast))
    found = deliberate_often(opened, cast) if options.repeat > 1 else deliberate(opened, cast, teller.turn)
    page = None if out is None else write_deliberated(found, out)
    content = found.to_json()
    if json:
        print_json(content)
    elif content["kind"] == "one":
        print_one(content, page)
    else:
        print_many(content, page)


def _opening(opened: Opened, cast: Cast) -> list[str]:
    options, declared = opened.options, opened.case.deliberation
    scarce = ", ".join(f"{each.capacity:g} {each.name}" for each in declared.resources)
    scenarios = f"{options.repeat} scenarios" if options.repeat > 1 else f"seed {options.seed}"
    who = [f"  {agent.name}: {agent.about}" for agent in cast.agents]
    return [f"{opened.case.title}: {scarce}; patients: {opened.source.label}; {scenarios}", "agents:", *who]


class Teller:
    """Prints a transcript while it happens.

    Parameters
    ----------
    stream
        Where to; standard error if standard output carries JSON.
    unit
        What a step is called: ``round`` of a debate, or ``offer``.
    """

    def __init__(self, stream: TextIO, unit: str = "round") -> None:
        self._unit = unit
        self._console = Console(
            file=stream, width=None if stream.isatty() else WIDTH, markup=False, highlight=False, soft_wrap=True
        )
        self._step = 0
        self._standing: dict[str, Allocation] = {}

    def opening(self, lines: Sequence[str]) -> None:
        """Print who deliberates about what."""
        for line in lines:
            self._console.print(line)

    def turn(self, turn: Turn) -> None:
        """Print one turn."""
        if turn.step != self._step:
            self._step = turn.step
            self._console.print(f"\n{self._unit} {turn.step}")
        by = "" if turn.generated_by == "template" else f" ({turn.generated_by})"
        stood_in = " (a rule stood in)" if turn.fallback else ""
        self._console.print(f"  {turn.agent}{by}{stood_in} {self._headline(turn)}")
        for line in _details(turn):
            self._console.print(f"      {line}")
        for line in turn.void:
            self._console.print(f"      void: {line}")

    def _headline(self, turn: Turn) -> str:
        """Return what a turn does in a few words, and remember what the agent stands by."""
        move = turn.move
        if isinstance(move, Ballot):
            return f"ranks the candidates {', '.join(str(position + 1) for position in move.ranking)}"
        if isinstance(move, Answer) and move.accepts is not None:
            return f"accepts the proposal of {move.accepts}"
        if isinstance(move, Answer):
            proposal = move.counter
        else:
            proposal = move.revised if isinstance(move, Contestation) else move
        same = self._standing.get(turn.agent) == proposal.allocation
        self._standing[turn.agent] = proposal.allocation
        if isinstance(move, Contestation):
            return f"{'keeps' if same else 'revises to'} {_granted(proposal)}"
        if isinstance(move, Answer):
            return f"{'stands by' if same else 'offers'} {_granted(proposal)}"
        return f"proposes {_granted(proposal)}"


def _details(turn: Turn) -> list[str]:
    move = turn.move
    if isinstance(move, Proposal):
        lines = [_reason(each) for each in move.reasons[:MOST_REASONS]]
        more = len(move.reasons) - len(lines)
        return [*lines, f"and {more} more"] if more > 0 else lines
    if isinstance(move, Contestation):
        return [
            f"{reply.kind} {reply.patient}" + ("" if reply.reason is None else f": {_said(reply.reason)}")
            for reply in move.replies
        ]
    return []


def _reason(reason: Reason) -> str:
    return f"{reason.patient}: {_said(reason)}"


def _said(reason: Reason) -> str:
    cited = f" [{', '.join(reason.passages)}]" if reason.passages else ""
    return f"{reason.text or reason.code}{cited}"


def _granted(proposal: Proposal) -> str:
    return ", ".join(proposal.allocation.patients) or "nobody"
