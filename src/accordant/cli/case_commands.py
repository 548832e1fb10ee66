"""The commands of cases: from a table to a case, from a case to a run, and runs over and over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accordant.tables.output import is_standard_output, output_file
from accordant.terminal import (
    CaseName,
    Data,
    Json,
    On,
    Out,
    Seed,
    check_out,
    comma_names,
    named_values,
    print_json,
    say,
    working,
)
from accordant.threads import free_cores

if TYPE_CHECKING:
    from accordant.learning.effort import Effort


def run(
    case: CaseName,
    data: Data = None,
    seed: Seed = 42,
    out: Out = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Learn from a random subset of this many training rows.")
    ] = None,
    folds: Annotated[int | None, typer.Option(min=3, help="Cross-validation folds instead of the case's.")] = None,
    resamples: Annotated[int | None, typer.Option(min=100, help="Bootstrap resamples instead of the case's.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Fits side by side; 0 for one per core.")] = 0,
    on: On = None,
    preferences: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STAKEHOLDER=FILE",
            help="Learn a stakeholder's reward from comparisons instead, such as `elicit` writes; repeatable.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: simple models, few folds and resamples, less scrutiny.")
    ] = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="The last per cent: every candidate on every pair of folds.")
    ] = False,
    decisions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column with somebody's decisions, compared as one more strategy; repeatable.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Learn, choose a strategy, evaluate it on untouched rows, and write a run folder."""
    from accordant.cli.run_tables import print_run
    from accordant.errors import InputError
    from accordant.runs import RunOptions, carry_out, write_run
    from accordant.runs.folder import free_folder
    from accordant.runs.manifest import Manifest
    from accordant.tables.output import MANIFEST

    free_folder("run", out)  # refuse a place before the work, not after it
    files = named_values("--preferences", preferences or (), "STAKEHOLDER=FILE")
    if quick and thorough:
        raise InputError("--quick and --thorough were both given; allowed: one of them")
    effort: Effort = "quick" if quick else "thorough" if thorough else "standard"
    options = RunOptions(
        seed, data, rows, folds, resamples, jobs or free_cores(), files, effort, tuple(decisions or ())
    )
    with working(on, jobs):
        outcome = carry_out(case, options)
    folder = write_run(outcome, out)
    sha256 = Manifest.of(folder).sha256
    if json:
        print_json(outcome.record.summary(str(folder)) | {"manifest_sha256": sha256})
    else:
        print_run(outcome.record, folder)
    say(f"sha256 of {folder / MANIFEST}: {sha256}", err=True)


def init(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="One row per past decision: CSV, Parquet, Arrow, FILE.xlsx#SHEET, or a query in a .sql file.",
        ),
    ],
    action: Annotated[str | None, typer.Option(help="Column with the action taken; guessed by default.")] = None,
    outcome: Annotated[str | None, typer.Option(help="Column with what followed; guessed by default.")] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="Columns of sensitive attributes, separated by commas; guessed by default.")
    ] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns that models may read, separated by commas; guessed by default.")
    ] = None,
    stakeholders: Annotated[
        str, typer.Option(help="Who is concerned, separated by commas; the last one takes the decision.")
    ] = "Person,Institution",
    favourable: Annotated[
        str | None, typer.Option(help="Actions that benefit whoever is decided about, separated by commas.")
    ] = None,
    best_first: Annotated[
        str | None, typer.Option(help="Outcomes with commas between, the best first; guessed by default.")
    ] = None,
    scarce: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ACTION=SHARE", help="An action of which there is enough for a share of people; repeatable."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take every guess, and ask nothing.")] = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Write a first case file from a table of past decisions; it runs at once, and gives a reason for every guess."""
    from accordant.cases.proposal import Told
    from accordant.cli.new_case import Said, can_ask, new_case, print_new_case

    def names(flag: str, given: str | None) -> tuple[str, ...] | None:
        """Return the names that an option lists; None where it was not given."""
        return None if given is None else comma_names(flag, given)

    told = Told(action, outcome, names("--sensitive", sensitive), names("--features", features))
    said = Said(
        comma_names("--stakeholders", stakeholders), names("--favourable", favourable),
        names("--best-first", best_first), named_values("--scarce", scarce or (), "ACTION=SHARE"),
    )  # fmt: skip
    written = new_case(file, told, said, out=out, ask=can_ask() and not (yes or json))
    print_json(written.to_json()) if json else print_new_case(written)


def study(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A built-in study or a path to a YAML file.")],
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder, new or of the same study; accordant-studies/NAME by default.")
    ] = None,
    rows: Annotated[list[int] | None, typer.Option(min=1, help="Training rows instead; repeatable.")] = None,
    folds: Annotated[int | None, typer.Option(min=3, help="Cross-validation folds of every run.")] = None,
    resamples: Annotated[int | None, typer.Option(min=100, help="Bootstrap resamples of every run.")] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Runs side by side; 0 for one per core.")] = 0,
    on: On = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Carry out only the first so many runs.")] = None,
    json: Json = False,
) -> None:
    """Repeat a case over seeds, sizes, models and rewards: each run once, means over seeds, one page."""
    from accordant.studies.execution import StudyOptions
    from accordant.studies.folder import Overrides, carry_out_study
    from accordant.studies.terminal import print_study

    overrides = Overrides(None if rows is None else tuple(rows), folds, resamples)
    options = StudyOptions(data, jobs or free_cores(), limit)
    with working(on, jobs):
        result, folder = carry_out_study(study, out, options, overrides)
    print_json(result.to_json() | {"folder": str(folder)}) if json else print_study(result, folder)
    if result.failures:
        raise typer.Exit(2 if all(failure.wrong_input for failure in result.failures) else 1)


def simulate(
    case: CaseName,
    rows: Annotated[int | None, typer.Option(min=50, help="Number of rows instead of the case's.")] = None,
    seed: Seed = 42,
    out: Out = None,
    json: Json = False,
) -> None:
    """Write a case's simulated data as CSV."""
    from accordant.cases.files import read_case
    from accordant.cases.loaders import simulated_table

    check_out(out, [case], json=json)
    table = simulated_table(read_case(case)[0], seed, rows)
    if json:
        print_json(table.to_dict(orient="records"))
        return
    with output_file(out or "-", [case]) as stream:
        table.to_csv(stream, index=False)
    if not (out is None or is_standard_output(out)):
        say(f"{len(table)} simulated rows: {out}")


def data(json: Json = False) -> None:
    """Show which data file each built-in case needs and where it was found."""
    from accordant.cli.catalogue import data_files
    from accordant.terminal import print_records

    print_records("Data", data_files(), json)


def cases(
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of case files, for editors, and nothing else.")
    ] = False,
    json: Json = False,
) -> None:
    """List the built-in cases: what each is about, its command, the data that it wants, and its simulator."""
    if schema:
        from accordant.cases.schema import case_schema

        print_json(case_schema())
        return
    from accordant.cli.catalogue import built_in
    from accordant.terminal import print_records

    print_records("Built-in cases", built_in(), json)


def doctor(json: Json = False) -> None:
    """Say what is installed, what is missing and would bring, and whether folders, caches and a small decision work."""
    from accordant.cli.doctor import as_json, examination, print_examination

    checks = examination()
    print_json(as_json(checks)) if json else print_examination(checks)
    if any(check.status == "failed" for check in checks):
        raise typer.Exit(1)


COMMANDS = (run, init, study, simulate, data, cases, doctor)
