"""The command ``accordant deliberate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from accordant.terminal import Data, Json, On, Out, SeedFromZero, refuse_idle, with_model, working


@with_model(
    speaks_for="Agents that the model speaks for; by default all frameworks among them.",
    fallback="Let a rule stand in where the model makes no valid move; counted.",
)
def deliberate(
    case: Annotated[
        str, typer.Argument(metavar="CASE|RUN", help="A built-in case, a path to a YAML file, or a finished run.")
    ],
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="With a run: CSV file with new rows; none for untouched rows."),
    ] = None,
    *,
    agents: Annotated[
        str | None,
        typer.Option(
            help="Who deliberates: names with commas, such as rawlsian,biased[strength=0.3]; of a run, stakeholders."
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="debate (three rounds), offers (alternating), vote; of a run also dialogue: why this action."
        ),
    ] = "debate",
    settle: Annotated[
        str | None, typer.Option(help="Settlement rule of a debate, such as bargain[steps=30]; voting rule of a vote.")
    ] = None,
    guard: Annotated[
        str, typer.Option(help="What an inadmissible reason brings: log, or strike the claim that rests on it.")
    ] = "log",
    repeat: Annotated[int, typer.Option(min=1, help="How many scenarios; above 1 gives a table with intervals.")] = 1,
    patients: Annotated[int | None, typer.Option(min=1, help="How many patients instead of the case's.")] = None,
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RESOURCE=UNITS", help="Capacity instead of the case's; repeatable. With --grant: number of rows."
        ),
    ] = None,
    row: Annotated[str | None, typer.Option(help="With a run: whose decision is debated, from 0.")] = None,
    rows: Annotated[str | None, typer.Option(help="With a run: rows that compete for --grant, with commas.")] = None,
    grant: Annotated[str | None, typer.Option(help="With --rows: the action that only --capacity of them get.")] = None,
    otherwise: Annotated[
        str | None, typer.Option(help="With --grant: the action of the others, where there are more than two.")
    ] = None,
    add: Annotated[bool, typer.Option("--add/--no-add", help="With a run: add the result to it as a section.")] = True,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="With --row: let the result decide rows with the same features."),
    ] = False,
    by: Annotated[str | None, typer.Option(metavar="WHO", help="With --adopt: who adopts it.")] = None,
    why: Annotated[str | None, typer.Option(metavar="TEXT", help="With --adopt: why.")] = None,
    data: Data = None,
    corpus: Annotated[
        str | None, typer.Option(help="Folder of passages in Markdown instead of the built-in ones, or none.")
    ] = None,
    model: Mapping[str, Any],
    jobs: Annotated[int | None, typer.Option(min=0, help="Processes of --repeat; 0 for one per core.")] = None,
    on: On = None,
    seed: SeedFromZero = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Let agents argue, bargain or vote: on a case of scarce resources, or on a decision of a finished run."""
    from accordant.cases.files import declares_part
    from accordant.deliberation.terminal import conduct, deliberation_options
    from accordant.tables.output import is_run

    of_runs = {"FILE": file, "--row": row, "--rows": rows, "--grant": grant, "--otherwise": otherwise,
               "--no-add": None if add else True, "--adopt": adopt or None, "--by": by, "--why": why,
               "--protocol dialogue": protocol if protocol == "dialogue" else None}  # fmt: skip
    of_cases = {"--guard": None if guard == "log" else guard, "--repeat": None if repeat == 1 else repeat,
                "--patients": patients, "--corpus": corpus, "--jobs": jobs, "--on": on}  # fmt: skip
    if is_run(case) or not declares_part(case, "deliberation"):
        from accordant.deliberation.decision.terminal import (  # imports models
            adoption_options,
            conduct_decision,
            decision_options,
        )  # fmt: skip

        refuse_idle(of_cases, f"the run {case}" if is_run(case) else f"{case}, whose run is made first")
        choices = decision_options(
            row=row, rows=rows, grant=grant, otherwise=otherwise, capacity=capacity or [], agents=agents,
            protocol=protocol, settle=settle, data=data, seed=seed or 0, model=model,
        )  # fmt: skip
        adopted = adoption_options(choices, by, why, adopt=adopt, add=add)
        conduct_decision(case, file, choices, out, run_seed=seed, adopted=adopted, add=add, json=json)
        return
    refuse_idle(of_runs, f"{case}, which is no finished run")
    options = deliberation_options(
        agents=agents, protocol=protocol, settle=settle, guard=guard, repeat=repeat, patients=patients,
        capacity=capacity or [], data=data, corpus=corpus, seed=seed or 0, jobs=jobs, on=on, model=model,
    )  # fmt: skip
    with working(on, jobs):
        conduct(case, options, out, json=json)


COMMANDS = (deliberate,)
