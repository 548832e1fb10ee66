"""What ``accordant deliberate`` takes and does."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from accordant.agents.language.options import model_options
from accordant.deliberation.options import DeliberationOptions, Guard, Protocol
from accordant.deliberation.participants import Cast
from accordant.deliberation.result import Deliberated, Opened, write_deliberated
from accordant.deliberation.section import cast_for, deliberate, deliberate_often, open_deliberation
from accordant.deliberation.terminal_tables import print_many, print_one
from accordant.deliberation.transcript import Teller
from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names
from accordant.runs.pages import refuse_place
from accordant.terminal.escaping import plain
from accordant.terminal.options import capacities
from accordant.terminal.output import print_json, refuse_overwriting
from accordant.threads import free_cores

UNITS = "RESOURCE=UNITS with 0 or more units, such as bed=5"


def deliberation_options(
    *,
    agents: str | None,
    protocol: str,
    guard: str,
    repeat: int,
    jobs: int | None,
    capacity: Sequence[str],
    model: Mapping[str, Any],
    **others: Any,
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
    if jobs is not None and repeat == 1:
        raise InputError("--jobs has no effect without --repeat: one deliberation is one piece of work")
    return DeliberationOptions(
        agents=() if agents is None else read_names(agents, "--agents"),
        protocol=protocol,  # type: ignore[arg-type]
        guard=guard,  # type: ignore[arg-type]
        repeat=repeat,
        jobs=1 if jobs is None else jobs or free_cores(),
        capacity=capacities(capacity, UNITS),
        model=model_options(model),
        **others,
    )


def conduct(case: str, options: DeliberationOptions, out: Path | None, *, json: bool) -> None:
    """Deliberate, tell it as it happens, and print and write what was found.

    Whatever can be refused is refused before the first line is printed.
    """
    if out is not None:
        refuse_overwriting(case, out)
        refuse_place(out)
    opened = open_deliberation(case, options)
    _refuse_silence(opened)
    cast = cast_for(opened)
    for agent in cast.agents:
        if agent.adversarial:
            _warn(f"{agent.name} is an adversarial fixture, admitted because it was named")
    teller = Teller(sys.stderr if json else sys.stdout, "offer" if options.protocol == "offers" else "round")
    teller.opening(_opening(opened, cast))
    found = deliberate_often(opened, cast) if options.repeat > 1 else _told(opened, cast, teller)
    page = None if out is None else write_deliberated(found, out)
    content = found.to_json()
    if found.silent:
        _warn(content["warnings"][0])
    if json:
        print_json(content)
    elif isinstance(found, Deliberated):
        print_one(content, page)
    else:
        print_many(content, page)


def _told(opened: Opened, cast: Cast, teller: Teller) -> Deliberated:
    found = deliberate(opened, cast, teller.turn)
    teller.closing(found.deliberation)
    return found


def _warn(sentence: str) -> None:
    sys.stderr.write(f"accordant: {plain(sentence)}\n")


def _refuse_silence(opened: Opened) -> None:
    """Refuse a deliberation of one agent."""
    named = opened.options.agents or opened.case.deliberation.agents
    if len(named) < 2:
        raise InputError(
            f"--agents: {named[0].name!r} has nobody to debate with; allowed: at least 2 agents, with commas between"
        )


def _opening(opened: Opened, cast: Cast) -> list[str]:
    options, declared = opened.options, opened.case.deliberation
    scarce = ", ".join(f"{each.capacity:g} {each.name}" for each in declared.resources)
    scenarios = f"{options.repeat} scenarios" if options.repeat > 1 else f"seed {options.seed}"
    who = [f"  {agent.name}: {agent.about}" for agent in cast.agents]
    return [f"{opened.case.title}: {scarce}; patients: {opened.source.label}; {scenarios}", "agents:", *who]
