"""The commands of finished runs: a few lines each over a room below."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from accordant.cli.dataset_commands import certify_parts, in_parts, recommend_parts
from accordant.errors import InputError
from accordant.naming import counted
from accordant.tables.output import is_standard_output, write_output
from accordant.terminal import (
    Add,
    Json,
    On,
    Out,
    PartRows,
    RowId,
    RunFolder,
    RunOrCase,
    check_out,
    print_json,
    row_numbers,
    say,
)


def recommend(
    run: RunFolder,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|DATASET",
            help="CSV, Parquet or Arrow file with new rows; - for CSV from standard input; folder or pattern of many.",
        ),
    ],
    strategy: Annotated[str | None, typer.Option(help="Another strategy than the selected one.")] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add one JSON line per decision to this file, to monitor it.")
    ] = None,
    row_id: RowId = None,
    population: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Decide as `accordant population` fitted on this DATASET, not as the run."),
    ] = None,
    on: On = None,
    part_rows: PartRows = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Recommend an action for every row of a file, with E, the runner-up and the margin."""
    if in_parts(file, on, part_rows) or population is not None:
        if log is not None:
            raise InputError("--log adds lines to one file; it has no place where many parts are written at a time")
        from accordant.runs.datasets.parts import job_of

        recommend_parts(job_of(run, file, out, on, part_rows), strategy, row_id, population, json=json)
        return
    from accordant.runs import read_run
    from accordant.runs.decision_log import check_log
    from accordant.runs.recommendation import recommendations_as_json, write_recommendations

    check_out(out, [file, log], json=json)
    if log is not None:
        check_log(log, [file, out])
    finished = read_run(run)
    source = sys.stdin if file == "-" else file
    if json:
        rows, counts = recommendations_as_json(finished, source, strategy, log=log, row_id=row_id)
        print_json(rows)
    else:
        counts = write_recommendations(finished, source, strategy, out or Path("-"), log=log, row_id=row_id)
        if not (out is None or is_standard_output(out)):
            say(f"{counted(counts.rows, 'recommendation')}: {out}")
    if counts.unusual:
        say(counts.sentence(), err=True)


def certify(
    run: RunOrCase,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="CSV file with new rows; none for the run's untouched rows.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="By how much expected rewards may be misreported; 0.05.")
    ] = None,
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
    on: On = None,
    part_rows: PartRows = None,
    add: Add = True,
    out: Out = None,
    json: Json = False,
) -> None:
    """Certify decisions: how far rewards may be misreported, and by whom, before an action changes."""
    from accordant.cli.certificate_tables import members_of, print_certified
    from accordant.cli.row_query import row_query
    from accordant.runs.sections.certification import DELTA, certify_rows, write_certified
    from accordant.runs.sections.certification_record import certificates_section
    from accordant.runs.sections.paper_certificate import check_schema

    members, delta = members_of(coalition), DELTA if delta is None else delta
    check_schema(schema)
    if in_parts(file, on, part_rows):
        from accordant.runs.datasets.parts import job_of

        if schema is not None or data is not None:
            raise InputError("--schema and --data have no effect on parts; leave them out")
        job = job_of(Path(run), file, out, on, part_rows)
        certify_parts(job, delta=delta, coalition=members, strategy=strategy, frozen=frozen, json=json)
        return
    asked = row_query(run, file, data, out, add=add, json=json)
    certified = certify_rows(
        asked.run, asked.source, delta=delta, coalition=members, strategy=strategy, frozen=frozen, data=asked.data,
        schema=schema,
    )  # fmt: skip
    if out is not None:
        write_certified(certified, out)
    if not is_standard_output(out):
        print_json(certified.to_json()) if json else print_certified(certified, out)
    if add:
        rows = asked.rows(certified.origin, certified.certificate.expected.n_contexts)
        asked.add(certificates_section(asked.run, rows, certified))


def explain(
    run: RunOrCase,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="CSV file with new rows; none for the run's untouched rows.")
    ] = None,
    row: Annotated[str, typer.Option(help="Which rows to explain, from 0: numbers separated by commas.")] = "0",
    strategy: Annotated[str | None, typer.Option(help="Another strategy than the selected one.")] = None,
    data: Annotated[
        str | None, typer.Option(help="Data file or folder of the run; changes are looked for among its training rows.")
    ] = None,
    for_person: Annotated[
        bool, typer.Option("--for-person", help="In plain words for the person concerned, on one page when printed.")
    ] = False,
    language: Annotated[str | None, typer.Option(help="Of --for-person: en or de; en by default.")] = None,
    add: Add = True,
    out: Out = None,
    json: Json = False,
) -> None:
    """Explain decisions: the reason in one sentence, who gains and who loses, and what would have changed them."""
    from accordant.cli.explanation_text import check_language, print_explanations, print_letters
    from accordant.cli.row_query import row_query
    from accordant.runs.sections.explanation import document_of, explained_rows, write_explanation, write_letters
    from accordant.runs.sections.explanation_record import explanations_section

    numbers = row_numbers(row)
    code = check_language(language, for_person=for_person)
    asked = row_query(run, file, data, out, add=add, json=json)
    explained = explained_rows(asked.run, asked.source, rows=numbers, strategy=strategy, data=asked.data)
    document = document_of(explained)
    letters = explained.letters(code) if for_person else ()
    if out is not None:
        write_letters(letters, out) if letters else write_explanation(document, asked.run.record, out)
    if not is_standard_output(out):
        if json:
            print_json([letter.model_dump(mode="json") for letter in letters] if letters else document)
        else:
            print_letters(letters, out) if letters else print_explanations(document, out)
    if add:
        asked.add(explanations_section(document, asked.rows(document["source"], document["pivotal"]["contexts"])))


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
    from accordant.cli.row_query import row_query
    from accordant.cli.weight_change_table import metric_weights, print_reweighed, write_reweighed
    from accordant.runs.sections.weight_change import reweigh as reweighed

    given = metric_weights(weights)
    asked = row_query(run, None, data, out, add=add, json=json)
    change = reweighed(asked.run, given, asked.data)
    if out is not None:
        write_reweighed(change, out)
    if not is_standard_output(out):
        print_json(change.to_json()) if json else print_reweighed(change, out)
    if add:
        asked.add(change)


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
    comparison, receipt = compare_folders(Path(first), Path(second), data, add=add)
    print_json(comparison.to_json()) if json else print_comparison(comparison)
    if receipt:
        say(receipt, err=json)


def report(run: RunFolder, out: Out = None, json: Json = False) -> None:
    """Check a run folder and write its report as one HTML file."""
    from accordant.runs import read_run

    path = out or Path("report.html")
    check_out(path, (), json=json)
    write_output(path, read_run(run).page())
    if not is_standard_output(path):
        print_json({"report": str(path)}) if json else say(f"report: {path}")


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


def verify(
    run: Annotated[Path, typer.Argument(metavar="RUN|RECEIPT", help="Folder of a run, or a receipt of a decision.")],
    by: Annotated[
        str | None,
        typer.Option(
            "--by", "--key", metavar="FILE|HEX",
            help="Ed25519 public key of whoever signed: a file, PEM or OpenSSH, or for a receipt its 64 digits.",
        ),
    ] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Check that a run is as it was listed, or that a decision is in the log, and with a key who signed that."""
    from accordant.runs.signature import verify_run
    from accordant.tables.output import MANIFEST

    if run.is_file():
        _verify_receipt(run, by, json=json)
        return
    finished = verify_run(run, None if by is None else Path(by))
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


def _verify_receipt(file: Path, by: str | None, *, json: bool) -> None:
    """Check a receipt without the service; one that does not hold ends with 1."""
    from accordant.errors import NotInLogError
    from accordant.runs.signature import public_key_bytes
    from accordant.service.command import needs_extra

    needs_extra()
    from accordant.service.record.receipt import read_receipt_file, verify_receipt

    receipt = read_receipt_file(file)
    try:
        shown = verify_receipt(receipt, None if by is None else public_key_bytes(by).hex())
    except NotInLogError as error:
        if json:
            print_json({"holds": False, "fault": str(error)})
        else:
            say(f"{file} does not hold: {error}", err=True)
        raise typer.Exit(1) from None
    if json:
        print_json({"holds": True, "fault": None, "pinned": by is not None, **shown.to_json()})
        return
    say(shown.words())
    if by is None:
        say(
            "The key that signed is the one in the receipt: compare it with the one that the service publishes, "
            "or give that with --key. Whoever makes a receipt can make a key."
        )


COMMANDS = (recommend, certify, explain, reweigh, compare, report, sign, verify)
