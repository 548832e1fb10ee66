"""The commands and what they have in common: options, progress on stderr, exit codes.

Exit codes: 0 done; 2 the input is wrong; 1 our fault.
"""

from __future__ import annotations

import errno
import importlib
import io
import logging
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from accordant import __version__
from accordant.cli.library_warnings import LibraryWarnings
from accordant.errors import InputError
from accordant.naming import plain_lines
from accordant.tables.output import is_standard_output, output_file, write_output
from accordant.terminal import (
    Add,
    CaseName,
    Data,
    Json,
    Out,
    RunFolder,
    RunOrCase,
    Seed,
    check_out,
    comma_names,
    named_values,
    print_json,
    row_numbers,
    say,
)
from accordant.threads import free_cores

app = typer.Typer(
    name="accordant",
    help="Decisions that several stakeholders with conflicting goals can live with, and why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a system says that has no room for more
WINGS = ("accordant.preferences", "accordant.deliberation", "accordant.slates")


@app.callback(invoke_without_command=True)
def options(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Decisions that several stakeholders with conflicting goals can live with, and why."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
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
    preferences: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STAKEHOLDER=FILE",
            help="Learn a stakeholder's reward from comparisons instead, such as `elicit` writes; repeatable.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Learn, choose a strategy, evaluate it on untouched rows, and write a run folder."""
    from accordant.cli.run_tables import print_run
    from accordant.runs import RunOptions, carry_out, write_run
    from accordant.runs.folder import free_folder
    from accordant.runs.manifest import Manifest
    from accordant.tables.output import MANIFEST

    free_folder("run", out)  # refuse a place before the work, not after it
    files = named_values("--preferences", preferences or (), "STAKEHOLDER=FILE")
    outcome = carry_out(case, RunOptions(seed, data, rows, folds, resamples, jobs or free_cores(), files))
    folder = write_run(outcome, out)
    sha256 = Manifest.of(folder).sha256
    if json:
        print_json(outcome.record.summary(str(folder)) | {"manifest_sha256": sha256})
    else:
        print_run(outcome.record, folder)
    say(f"sha256 of {folder / MANIFEST}: {sha256}", err=True)


@app.command()
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV file with one row per past decision.")],
    action: Annotated[str | None, typer.Option(help="Column with the action taken; guessed by default.")] = None,
    outcome: Annotated[str | None, typer.Option(help="Column with what followed; guessed by default.")] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="Columns of sensitive attributes, separated by commas; guessed by default.")
    ] = None,
    stakeholders: Annotated[
        str, typer.Option(help="Who is concerned, separated by commas; the last one takes the decision.")
    ] = "Person,Institution",
    favourable: Annotated[
        str | None, typer.Option(help="Actions that benefit whoever is decided about, separated by commas.")
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
    """Write a first case file from a table of past decisions, with a reason for every guess, to be filled in."""
    from accordant.cases.proposal import Told
    from accordant.cli.new_case import can_ask, new_case, print_new_case

    told = Told(action, outcome, None if sensitive is None else comma_names("--sensitive", sensitive))
    written = new_case(
        file, told,
        stakeholders=comma_names("--stakeholders", stakeholders),
        favourable=() if favourable is None else comma_names("--favourable", favourable),
        scarce=named_values("--scarce", scarce or (), "ACTION=SHARE"),
        out=out, ask=can_ask() and not (yes or json),
    )  # fmt: skip
    print_json(written.to_json()) if json else print_new_case(written)


@app.command()
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
    limit: Annotated[int | None, typer.Option(min=1, help="Carry out only the first so many runs.")] = None,
    json: Json = False,
) -> None:
    """Repeat a case over seeds, sizes, models and rewards: each run once, means over seeds, one page."""
    from accordant.studies.execution import StudyOptions
    from accordant.studies.folder import Overrides, carry_out_study
    from accordant.studies.terminal import print_study

    overrides = Overrides(None if rows is None else tuple(rows), folds, resamples)
    options = StudyOptions(data, jobs or free_cores(), limit)
    result, folder = carry_out_study(study, out, options, overrides, lambda line: say(line, err=True))
    print_json(result.to_json() | {"folder": str(folder)}) if json else print_study(result, folder)
    if result.failures:
        raise typer.Exit(2 if all(each.wrong_input for each in result.failures) else 1)


@app.command()
def recommend(
    run: RunFolder,
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV file with new rows; - for standard input.")],
    strategy: Annotated[str | None, typer.Option(help="Another strategy than the selected one.")] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Recommend an action for every row of a file, with E, the runner-up and the margin."""
    from accordant.runs import read_run
    from accordant.runs.recommendation import recommendations_as_json, write_recommendations

    check_out(out, [file], json=json)
    finished = read_run(run)
    source = sys.stdin if file == "-" else file
    if json:
        rows, counts = recommendations_as_json(finished, source, strategy)
        print_json(rows)
    else:
        counts = write_recommendations(finished, source, strategy, out or Path("-"))
        if not (out is None or is_standard_output(out)):
            say(f"{counts.rows} recommendations: {out}")
    if counts.unusual:
        say(counts.sentence(), err=True)


@app.command()
def certify(
    run: RunOrCase,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="CSV file with new rows; none for the run's untouched rows.")
    ] = None,
    delta: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="By how much expected rewards may be misreported.")
    ] = 0.05,
    coalition: Annotated[
        str | None, typer.Option(help="Who may misreport: names separated by commas; everybody by default.")
    ] = None,
    strategy: Annotated[str | None, typer.Option(help="Another strategy than the selected one.")] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Reference points stay where honest reports put them (a weaker threat).")
    ] = False,
    schema: Annotated[
        str | None, typer.Option(help="paper: the bound of Vineis, Perelli and Tolomei (2025) beside the exact one.")
    ] = None,
    data: Annotated[str | None, typer.Option(help="Data file or folder of the run.")] = None,
    add: Add = True,
    out: Out = None,
    json: Json = False,
) -> None:
    """Certify decisions: how far rewards may be misreported, and by whom, before an action changes."""
    from accordant.cli.asked_rows import asked_rows
    from accordant.cli.run_tables import members_of, print_certified
    from accordant.runs.certificates_section import certificates_section
    from accordant.runs.certification import certify_rows, write_certified
    from accordant.runs.paper_certificate import check_schema

    members = members_of(coalition)
    check_schema(schema)
    asked = asked_rows(run, file, data, out, add=add, json=json)
    found = certify_rows(
        asked.run, asked.source, delta=delta, coalition=members, strategy=strategy, frozen=frozen, data=asked.data,
        schema=schema,
    )  # fmt: skip
    if out is not None:
        write_certified(found, out)
    if not is_standard_output(out):
        print_json(found.to_json()) if json else print_certified(found, out)
    if add:
        rows = asked.rows(found.origin, found.certificate.expected.n_contexts)
        asked.add(certificates_section(asked.run, rows, found))


@app.command()
def explain(
    run: RunOrCase,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="CSV file with new rows; none for the run's untouched rows.")
    ] = None,
    row: Annotated[str, typer.Option(help="Which rows to explain, from 0: numbers separated by commas.")] = "0",
    strategy: Annotated[str | None, typer.Option(help="Another strategy than the selected one.")] = None,
    data: Annotated[str | None, typer.Option(help="Data file or folder of the run.")] = None,
    add: Add = True,
    out: Out = None,
    json: Json = False,
) -> None:
    """Explain decisions: what was traded off, who moved them, what would have changed them; as text, JSON or HTML."""
    from accordant.cli.asked_rows import asked_rows
    from accordant.cli.run_tables import print_explanations
    from accordant.runs.explanation import explain_rows, write_explanation
    from accordant.runs.explanations_section import explanations_section

    numbers = row_numbers(row)
    asked = asked_rows(run, file, data, out, add=add, json=json)
    found = explain_rows(asked.run, asked.source, rows=numbers, strategy=strategy, data=asked.data)
    if out is not None:
        write_explanation(found, out)
    if not is_standard_output(out):
        print_json(found) if json else print_explanations(found, out)
    if add:
        asked.add(explanations_section(found, asked.rows(found["source"], found["pivotal"]["contexts"])))


@app.command()
def reweigh(
    run: RunOrCase,
    weights: Annotated[
        str, typer.Option(metavar="METRIC=WEIGHT,…", help="Other weights; metrics that are not named get none.")
    ],
    data: Annotated[str | None, typer.Option(help="Data file or folder of the run, to tell noise.")] = None,
    add: Add = True,
    out: Out = None,
    json: Json = False,
) -> None:
    """Show who would lead at other weights of the metrics, by how much, and how far from turning; fits nothing."""
    from accordant.cli.asked_rows import asked_rows
    from accordant.cli.reweighed_table import metric_weights, print_reweighed, write_reweighed
    from accordant.runs.reweighing import reweigh as reweighed

    given = metric_weights(weights)
    asked = asked_rows(run, None, data, out, add=add, json=json)
    found = reweighed(asked.run, given, asked.data)
    if out is not None:
        write_reweighed(found, out)
    if not is_standard_output(out):
        print_json(found.to_json()) if json else print_reweighed(found, out)
    if add:
        asked.add(found)


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="RUN|CASE", help="A run folder, a case, or a scope card (.md).")],
    second: Annotated[str, typer.Argument(metavar="RUN|CASE", help="The same, later or otherwise.")],
    data: Annotated[str | None, typer.Option(help="Data file or folder of both runs, to compare row by row.")] = None,
    add: Annotated[bool, typer.Option("--add", help="Add the comparison to the first run as a section.")] = False,
    json: Json = False,
) -> None:
    """Show what differs between two runs, and whether it is more than noise; of cases, what they declare."""
    from accordant.cli.comparison_table import compare_declared, compare_folders, print_comparison, print_declared
    from accordant.tables.output import is_run

    if not (is_run(first) and is_run(second)):
        idle = [option for option, given in (("--data", data), ("--add", add)) if given]
        if idle:
            raise InputError(f"{', '.join(idle)} has no effect unless both are finished runs: {first}, {second}")
        declared = compare_declared(first, second)
        print_json(declared.model_dump(mode="json")) if json else print_declared(declared)
        return
    found, receipt = compare_folders(Path(first), Path(second), data, add=add)
    print_json(found.to_json()) if json else print_comparison(found)
    if receipt:
        say(receipt, err=json)


@app.command()
def report(run: RunFolder, out: Out = None, json: Json = False) -> None:
    """Check a run folder and write its report as one HTML file."""
    from accordant.runs import read_run

    path = out or Path("report.html")
    check_out(path, (), json=json)
    write_output(path, read_run(run).page())
    if not is_standard_output(path):
        print_json({"report": str(path)}) if json else say(f"report: {path}")


@app.command()
def sign(
    run: RunFolder,
    key: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Ed25519 private key, PEM (PKCS 8) or OpenSSH; password in ACCORDANT_KEY_PASSWORD."
        ),
    ],
    json: Json = False,
) -> None:
    """Sign a run: writes manifest.sig into its folder."""
    from accordant.runs.signature import sign_run

    path = sign_run(run, key)
    print_json({"signature": str(path)}) if json else say(f"signature: {path}")


@app.command()
def verify(
    run: RunFolder,
    by: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ed25519 public key of whoever signed, PEM or OpenSSH.")
    ] = None,
    json: Json = False,
) -> None:
    """Check that every file of a run is as it was listed and, with a key, who listed them."""
    from accordant.report.page import counted
    from accordant.runs.signature import verify_run
    from accordant.tables.output import MANIFEST

    finished = verify_run(run, by)
    manifest, links = finished.manifest, finished.links
    if json:
        print_json({
            "files": len(manifest.hashes), "manifest_sha256": manifest.sha256, "signed": by is not None,
            "sections": len(links), "head_sha256": finished.head,
        })  # fmt: skip
        return
    say(f"{len(manifest.hashes)} files are as {MANIFEST} lists them; its sha256 is {manifest.sha256}")
    if links:
        say(f"{counted(len(links), 'section')} added since, in one chain; sha256 of {links[-1].file}: {finished.head}")
        say("Sections that were taken off its end are not noticed, unless this hash was kept elsewhere.")
    if by is not None:
        say(f"it was signed with the key that belongs to {by}")
    else:
        say(
            "This does not prove who made the run: whoever changes a file can list it anew. "
            "Compare the hash with one kept elsewhere, or check a signature with --by."
        )


@app.command()
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


@app.command()
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


@app.command()
def data(json: Json = False) -> None:
    """Show which data file each built-in case needs and where it was found."""
    from accordant.cli.catalogue import data_files
    from accordant.terminal import print_records

    print_records("Data", data_files(), json)


@app.command()
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
        found = axiom_table.findings(ground, rules, seed, axioms=axioms, agree=agreement)
        print_json(axiom_table.as_json(ground, found)) if json else axiom_table.show(ground, found)
        return
    given = {"--run": run, "--data": data, "--rules": rules, "--contexts": contexts}
    idle = [option for option, value in given.items() if value is not None]
    if idle:
        raise InputError(f"{', '.join(idle)} has no effect without --axioms or --agreement")
    from accordant.cli.catalogue import registered_strategies

    print_records("Strategies", registered_strategies(), json)


@app.command()
def metrics(json: Json = False) -> None:
    """List the registered metrics with their goals and parameters."""
    from accordant.cli.catalogue import registered_metrics
    from accordant.terminal import print_records

    print_records("Metrics", registered_metrics(), json)


def add_wings() -> None:
    """Add the commands of wings, and those that others bring through the entry points ``accordant.commands``.

    The value of an entry point is a function, or a tuple of them such as ``COMMANDS``. One that cannot be imported, or
    whose name is taken, is told on stderr and left out: it must not take the other commands away.
    """
    for wing in WINGS:
        for command in importlib.import_module(f"{wing}.command").COMMANDS:
            app.command()(command)
    for entry in entry_points(group="accordant.commands"):
        try:
            loaded = entry.load()
            for command in loaded if isinstance(loaded, tuple) else (loaded,):
                _add_new(command)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with somebody else's command
            say(f"accordant: the command {entry.name!r} of {entry.value} is left out: {error}", err=True)


def _add_new(command: Callable[..., None]) -> None:
    """Add a command whose name is free."""
    if command.__name__ in {each.callback.__name__ for each in app.registered_commands if each.callback is not None}:
        raise InputError(f"there is a command {command.__name__!r} already")
    app.command()(command)


add_wings()


def main() -> None:
    """Run the command line with its exit codes."""
    _show_progress()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may hold half a character
    try:
        try:
            with LibraryWarnings():
                app()
        finally:
            sys.stdout.flush()
    except InputError as error:
        say(f"accordant: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        _give_up_output()
        sys.exit(0)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            _give_up_output()
            say(f"accordant: standard output cannot be written: {error.strerror}", err=True)
            sys.exit(2)
        if os.environ.get("ACCORDANT_TRACEBACK"):
            raise
        say(
            f"accordant: {type(error).__name__}: {error}\nThis is a fault of accordant, not of your input. "
            "Set ACCORDANT_TRACEBACK=1 to see where it happened.",
            err=True,
        )
        sys.exit(1)


def _give_up_output() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Progress(logging.Formatter):
    """Seconds since the start before every message."""

    started = time.perf_counter()

    def format(self, record: logging.LogRecord) -> str:
        return f"[{time.perf_counter() - self.started:6.1f} s] {plain_lines(record.getMessage())}"


def _show_progress() -> None:
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Progress())
    logger = logging.getLogger("accordant")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
