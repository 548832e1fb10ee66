"""What ``accordant deliberate`` takes, tells while it happens, and does."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, get_args

from accordant.agents import Answer, Ballot, Contestation, Proposal, Reason, Turn
from accordant.agents.language.options import model_options
from accordant.agents.moves import proposal_in
from accordant.allocations import Allocation
from accordant.deliberation.options import DeliberationOptions, Guard, Protocol
from accordant.deliberation.page import write_deliberated
from accordant.deliberation.participants import Cast
from accordant.deliberation.record import Deliberation
from accordant.deliberation.result import DeliberationResult
from accordant.deliberation.run import Deliberated, Opened
from accordant.deliberation.section import cast_for, deliberate, deliberate_often, open_deliberation
from accordant.deliberation.terminal_tables import print_many, print_one
from accordant.deliberation.usage import silent
from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names
from accordant.runs.pages import check_page
from accordant.tables.output import is_standard_output
from accordant.terminal import PlainConsole, capacities, check_out, print_json, say
from accordant.threads import free_cores

MOST_REASONS = 6  # of a proposal that the terminal shows; all are in the JSON and on the page
MOST_VOID = 6  # sentences on what is void in a turn that the terminal shows; all are in the JSON and on the page
UNITS = "RESOURCE=UNITS with 0 or more units, such as bed=5"


class Teller:
    """Prints a transcript.

    Ballots are printed at the end, after the candidates that they rank: a turn does not hold these.

    Parameters
    ----------
    stream
        Where to; standard error if standard output carries JSON.
    unit
        What a step is called: ``round`` of a debate, or ``offer``.
    """

    def __init__(self, stream: TextIO, unit: str = "round") -> None:
        self._unit = unit
        self._console = PlainConsole(stream, soft_wrap=True)
        self._step = 0
        self._standing: dict[str, Allocation] = {}
        self._ballots: list[Turn] = []

    def opening(self, lines: Sequence[str]) -> None:
        """Print who deliberates about what."""
        for line in lines:
            self._console.print(line)

    def turn(self, turn: Turn) -> None:
        """Print one turn, or keep a ballot for the end."""
        if isinstance(turn.move, Ballot):
            self._ballots.append(turn)
            return
        self._begin(turn.step)
        self._console.print(f"  {_by(turn)} {self._headline(turn)}")
        for line in _details(turn):
            self._console.print(f"      {line}")
        for line in capped(list(dict.fromkeys(turn.void)), MOST_VOID):
            self._console.print(f"      void: {line}")

    def closing(self, held: Deliberation) -> None:
        """Print what no turn holds: proposals that were asked for again, and candidates with the ballots on them."""
        if held.struck:
            self._console.print()
            self._console.print("struck after round 2")
        for name, proposal in held.struck.items():
            self._console.print(f"  {name}, asked again without the protected facts, proposes {_granted(proposal)}")
        if not self._ballots:
            return
        self._begin(self._ballots[0].step)
        for number, candidate in enumerate(held.settled.details["candidates"], 1):
            self._console.print(f"  candidate {number}: {', '.join(candidate) or 'nobody'}")
        for turn in self._ballots:
            if isinstance(turn.move, Ballot):
                ranked = ", ".join(str(position + 1) for position in turn.move.ranking)
                self._console.print(f"  {_by(turn)} ranks the candidates {ranked}")

    def _begin(self, step: int) -> None:
        """Print the heading of a step once."""
        if step != self._step:
            self._step = step
            self._console.print()
            self._console.print(f"{self._unit} {step}")

    def _headline(self, turn: Turn) -> str:
        """Return what a turn does in a few words, and remember what the agent stands by."""
        move = turn.move
        if isinstance(move, Answer) and move.accepts is not None:
            return f"accepts the proposal of {move.accepts}"
        proposal = proposal_in(move)
        assert proposal is not None  # ballots are kept for the end
        same = self._standing.get(turn.agent) == proposal.allocation
        self._standing[turn.agent] = proposal.allocation
        if isinstance(move, Contestation):
            return f"{'keeps' if same else 'revises to'} {_granted(proposal)}"
        if isinstance(move, Answer):
            return f"{'stands by' if same else 'offers'} {_granted(proposal)}"
        return f"proposes {_granted(proposal)}"


def capped(lines: Sequence[str], most: int) -> list[str]:
    """Return at most so many lines, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], f"and {more} more"] if more > 0 else list(lines)


def _by(turn: Turn) -> str:
    """Return who moved, and who wrote the texts where no template did."""
    by = "" if turn.generated_by == "template" else f" ({turn.generated_by})"
    return f"{turn.agent}{by}{' (a rule stood in)' if turn.fallback else ''}"


def _details(turn: Turn) -> list[str]:
    if isinstance(turn.move, Proposal):
        return _reasons(turn.move)
    if isinstance(turn.move, Contestation):
        replies = [
            f"{reply.kind} {reply.patient}" + ("" if reply.reason is None else f": {_said(reply.reason)}")
            for reply in turn.move.replies
        ]
        return [*replies, *_reasons(turn.move.revised)]
    return []


def _reasons(proposal: Proposal) -> list[str]:
    return capped([f"{reason.patient}: {_said(reason)}" for reason in proposal.reasons], MOST_REASONS)


def _said(reason: Reason) -> str:
    cited = f" [{', '.join(reason.passages)}]" if reason.passages else ""
    return f"{reason.text or reason.code}{cited}"


def _granted(proposal: Proposal) -> str:
    return ", ".join(proposal.allocation.claimants) or "nobody"


def deliberation_options(
    *,
    agents: str | None,
    protocol: str,
    guard: str,
    repeat: int,
    jobs: int | None,
    on: str | None,
    capacity: Sequence[str],
    model: Mapping[str, Any],
    **others: Any,
) -> DeliberationOptions:
    """Return what the options of the command say.

    Raises InputError if a name is unknown, or options do not go together.
    """
    for kind, given, allowed in (("protocol", protocol, get_args(Protocol)), ("guard", guard, get_args(Guard))):
        if given not in allowed:
            raise UnknownNameError(kind, given, allowed)
    for name, place in (("--jobs", jobs), ("--on", on)):
        if place is not None and repeat == 1:
            raise InputError(f"{name} has no effect without --repeat: one deliberation is one piece of work")
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
    model = options.model
    kept = () if model is None else (model.record, model.replay)
    check_out(out, (case, options.data, options.corpus, *kept), json=json, check=check_page)
    opened = open_deliberation(case, options)
    _refuse_silence(opened)
    cast = cast_for(opened)
    for agent in cast.agents:
        if agent.adversarial:
            _warn(f"{agent.name} is an adversarial fixture, admitted because it was named")
    quiet = json or is_standard_output(out)
    teller = Teller(sys.stderr if quiet else sys.stdout, "offer" if options.protocol == "offers" else "round")
    teller.opening(_opening(opened, cast))
    result = (deliberate_often(opened, cast) if options.repeat > 1 else _told(opened, cast, teller)).section
    page = None if out is None else write_deliberated(result, out)
    if silent(result.usage):
        _warn(result.warnings[0])
    if json:
        print_json(result.to_json())
    elif quiet:
        return
    elif isinstance(result, DeliberationResult):
        print_one(result, page)
    else:
        print_many(result, page)


def _told(opened: Opened, cast: Cast, teller: Teller) -> Deliberated:
    deliberated = deliberate(opened, cast, teller.turn)
    teller.closing(deliberated.deliberation)
    return deliberated


def _warn(sentence: str) -> None:
    say(f"accordant: {sentence}", err=True)


def _refuse_silence(opened: Opened) -> None:
    """Refuse a deliberation of one agent."""
    named = opened.options.agents or opened.case.deliberation.agents
    if len(named) < 2:
        raise InputError(
            f"--agents: {named[0].name!r} has nobody to debate with; allowed: at least 2 agents, with commas between"
        )


def _opening(opened: Opened, cast: Cast) -> list[str]:
    options, declared = opened.options, opened.case.deliberation
    scarce = ", ".join(f"{resource.capacity:g} {resource.name}" for resource in declared.resources)
    scenarios = f"{options.repeat} scenarios" if options.repeat > 1 else f"seed {options.seed}"
    who = [f"  {agent.name}: {agent.about}" for agent in cast.agents]
    return [f"{opened.case.title}: {scarce}; patients: {opened.source.label}; {scenarios}", "agents:", *who]
