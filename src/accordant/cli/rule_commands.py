"""The commands that need no case: what rules and metrics there are, and elections."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accordant.errors import InputError
from accordant.tables.output import is_standard_output
from accordant.terminal import (
    Json,
    Out,
    Seed,
    check_out,
    print_json,
)


def strategies(
    axioms: Annotated[
        bool, typer.Option("--axioms", help="Which axioms each rule has: by theorem, or measured here.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="How often rules disagree, and rank reversal.")
    ] = False,
    run: Annotated[Path | None, typer.Option(help="Look at E of the untouched rows of this run folder.")] = None,
    data: Annotated[str | None, typer.Option(help="Data file or folder of the run.")] = None,
    rules: Annotated[str | None, typer.Option(help="Names or labels of rules, separated by commas.")] = None,
    contexts: Annotated[int | None, typer.Option(min=1, help="Contexts to sample, or to draw from the run.")] = None,
    seed: Seed = 42,
    json: Json = False,
) -> None:
    """List the registered strategies with their parameters, or put them to the test of axioms."""
    from accordant.terminal import print_records

    if data is not None and run is None:
        raise InputError("--data has no effect without --run")
    if axioms or agreement:
        from accordant.cli import axiom_table

        ground = axiom_table.ground(run, data, contexts, seed)
        findings = axiom_table.findings(ground, rules, seed, axioms=axioms, agree=agreement)
        print_json(axiom_table.as_json(ground, findings)) if json else axiom_table.show(ground, findings)
        return
    given = {"--run": run, "--data": data, "--rules": rules, "--contexts": contexts}
    idle = [option for option, value in given.items() if value is not None]
    if idle:
        raise InputError(f"{', '.join(idle)} has no effect without --axioms or --agreement")
    from accordant.cli.catalogue import registered_strategies

    print_records("Strategies", registered_strategies(), json)


def metrics(json: Json = False) -> None:
    """List the registered metrics with their goals and parameters."""
    from accordant.cli.catalogue import registered_metrics
    from accordant.terminal import print_records

    print_records("Metrics", registered_metrics(), json)


def vote(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Ballots: PrefLib's soc, soi, toc, toi, cat; Pabulib's pb with a budget."),
    ],
    rules: Annotated[str, typer.Option(help="Names of voting or budget rules with commas between, or all.")] = "all",
    out: Out = None,
    json: Json = False,
) -> None:
    """Count the ballots of a file by several rules: winners, rankings and ties, or what a budget is spent on."""
    from accordant.cli.votes import count, print_count, write_count

    check_out(out, [file], json=json)
    result = count(file, rules)
    if out is not None:
        write_count(result, out)
    if not is_standard_output(out):
        print_json(result) if json else print_count(result)


COMMANDS = (strategies, metrics, vote)
