"""What ``accordant deliberate RUN`` takes, does and prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from accordant.agents.language.options import model_options
from accordant.deliberation.decision.adoption import adoption_of
from accordant.deliberation.decision.dialogue_terminal import conduct_dialogue, print_closing
from accordant.deliberation.decision.opened_decision import OpenedDecision, cast_for, open_decision, run_of
from accordant.deliberation.decision.options import AdoptionOptions, DecisionOptions, DecisionProtocol
from accordant.deliberation.decision.result import DISCLAIMER, DebatedRow, DecisionDebate
from accordant.deliberation.decision.section import debate_decision
from accordant.deliberation.page import write_decision
from accordant.deliberation.participants import Cast
from accordant.deliberation.terminal import Teller
from accordant.deliberation.usage import silent
from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names
from accordant.runs.chain import Link, add_section
from accordant.tables.output import is_standard_output
from accordant.terminal import PlainConsole, print_json, row_numbers, say
from accordant.terminal_table import FittedTable

WIDTH = 120  # columns of what is piped somewhere
TASK = "debated"


def decision_options(
    *,
    row: str | None,
    rows: str | None,
    capacity: Sequence[str],
    agents: str | None,
    protocol: str,
    model: Mapping[str, Any],
    **others: Any,
) -> DecisionOptions:
    """Return what the options of the command say.

    Raises InputError if a name is unknown, or options do not go together.
    """
    if protocol not in get_args(DecisionProtocol):
        raise UnknownNameError("protocol", protocol, get_args(DecisionProtocol))
    if row is not None and rows is not None:
        raise InputError("--row debates one decision, --rows who gets an action that is scarce; allowed: one of them")
    numbers = (
        row_numbers("0" if row is None else row, "--row", TASK) if rows is None else row_numbers(rows, "--rows", TASK)
    )
    return DecisionOptions(
        rows=tuple(numbers),
        capacity=_units(capacity),
        agents=() if agents is None else read_names(agents, "--agents"),
        protocol=protocol,  # type: ignore[arg-type]
        model=model_options(model),
        **others,
    )


def _units(given: Sequence[str]) -> int | None:
    """Return how many rows get what is scarce."""
    if not given:
        return None
    if len(given) > 1 or not given[0].isdecimal():
        raise InputError(f"--capacity is {', '.join(given)}; allowed with a run: how many rows get it, such as 2")
    return int(given[0][:9])


def adoption_options(
    options: DecisionOptions, by: str | None, why: str | None, *, adopt: bool, add: bool
) -> AdoptionOptions | None:
    """Return who adopts what is settled on, and why; None if nobody does.

    Raises InputError if something is missing, or options do not go together.
    """
    given = {"--by": (by or "").strip(), "--why": (why or "").strip()}
    if not adopt:
        idle = [name for name, value in (("--by", by), ("--why", why)) if value is not None]
        if idle:
            raise InputError(f"{', '.join(idle)} has no effect without --adopt")
        return None
    missing = [name for name, value in given.items() if not value]
    if missing:
        raise InputError(f"--adopt needs {' and '.join(missing)}: who adopts what is settled on, and why")
    if not add:
        raise InputError("--adopt adds two sections to the run, and --no-add none; allowed: one of them")
    if options.protocol == "dialogue":
        raise InputError("--adopt with --protocol dialogue, which settles nothing; allowed: debate, offers, vote")
    if options.grant is not None or len(options.rows) > 1:
        raise InputError(f"--adopt with {len(options.rows)} rows; allowed: the debate of one row, --row N")
    return AdoptionOptions(given["--by"], given["--why"])


def conduct_decision(
    case: str, file: str | None, options: DecisionOptions, out: Path | None, *, run_seed: int | None,
    adopted: AdoptionOptions | None = None, add: bool, json: bool,
) -> None:  # fmt: skip
    """Debate, tell it as it happens, add the section to the run, and print and write what was found.

    Whatever can be refused is refused before the first line is printed. `case`: a run folder, or a case whose run is
    made first, with `run_seed`; `adopted`: who adopts what is settled on.
    """
    if options.protocol == "dialogue":
        conduct_dialogue(case, file, options, out, run_seed=run_seed, add=add, json=json)
        return
    model = options.model
    kept = () if model is None else (model.record, model.replay)
    run, options = run_of(case, file, options, out, kept=kept, run_seed=run_seed, add=add, json=json)
    opened = open_decision(run, sys.stdin if file == "-" else file, options)
    cast = cast_for(opened)
    quiet = json or is_standard_output(out)
    teller = Teller(sys.stderr if quiet else sys.stdout, "offer" if options.protocol == "offers" else "round")
    teller.opening(_opening(opened, cast))
    result = debate_decision(opened, cast, teller.turn)
    page = None if out is None else write_decision(result, out)
    link = add_section(run.manifest, result) if add else None
    if silent(result.usage):
        say(f"accordant: {result.warnings[0]}", err=True)
    if json:
        print_json(result.to_json())
    elif not quiet:
        print_decision(result, link, page)
    if adopted is not None and link is not None:
        section = adoption_of(run, result, link, adopted.by, adopted.why)
        receipt = add_section(run.manifest, section).receipt
        say(f"{section.words}\n{receipt}", err=quiet)


def _opening(opened: OpenedDecision, cast: Cast) -> list[str]:
    options = opened.options
    asked = "which action" if options.grant is None else f"who gets {options.grant}, {options.capacity} of them"
    rows = f"row{'' if len(options.rows) == 1 else 's'} {', '.join(map(str, options.rows))} of {opened.source}"
    who = [f"  {agent.name}: {agent.about}" for agent in cast.agents]
    return [f"{opened.run.case.title}: {asked}; {rows}; seed {options.seed}", "agents:", *who]


def print_decision(content: DecisionDebate, link: Link | None, page: Path | None) -> None:
    """Print E, what was settled, what strategies decide, and what each stakeholder gets."""
    console = PlainConsole(width=WIDTH)
    console.print()
    console.print(f"settled on {content.outcome}, {content.manner}")
    for row in content.rows if content.scarce is None else ():
        console.print()
        console.print(_rewards(content, row))
    for row in content.rows:
        console.print()
        for line in _strategies(content, row):
            console.print(line)
    console.print()
    console.print(_standings(content))
    print_closing(console, content.warnings, (DISCLAIMER, f"hash of the transcript: {content.hash}"), link, page)


def _rewards(content: DecisionDebate, row: DebatedRow) -> FittedTable:
    """Return E of one row, with what was settled on."""
    table = FittedTable(f"E of row {row.row}")
    table.add("stakeholder", name=True)
    for action in content.actions:
        table.add(f"{action} (settled)" if action == row.settled else action, number=True)
    for who in content.stakeholders:
        table.add_row(who, *(f"{row.expected[who][action]:.3f}" for action in content.actions))
    return table


def _strategies(content: DecisionDebate, row: DebatedRow) -> list[str]:
    """Return what D* recommends for a row, and which strategies decide for which action."""
    said = row.recommended or "a person decides"
    lines = [f"row {row.row}: settled on {row.settled}; D* ({content.run.selected}): {said}"]
    for action in content.actions:
        deciding = [label for label, decision in row.decisions.items() if decision.action == action]
        if deciding:
            lines.append(f"  {action}: {', '.join(deciding)}")
    return lines


def _standings(content: DecisionDebate) -> FittedTable:
    """Return what each stakeholder gets."""
    mean = "" if len(content.rows) == 1 else f", mean of {len(content.rows)} rows"
    table = FittedTable(f"Expected reward{mean}")
    for name in ("stakeholder", "settled", "D*", "best", "worst"):
        table.add(name, number=name != "stakeholder")
    for who, standing in content.standings.items():
        table.add_row(
            who, *(f"{value:.3f}" for value in (standing.settled, standing.selected, standing.best, standing.worst))
        )
    return table
