"""The commands of runs on datasets: many files, or more rows than memory holds, carried out part by part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accordant.naming import counted
from accordant.tables.output import is_standard_output
from accordant.terminal import Json, On, PartRows, RunFolder, RunOrCase, Seed, check_out, print_json, say

if TYPE_CHECKING:
    from accordant.runs.datasets.parts import Job

Dataset = Annotated[
    str,
    typer.Argument(
        metavar="DATASET", help="A file, a folder, a pattern such as 'year=*/*.parquet', or one at s3://… or https://…."
    ),
]
Parts = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="New, or of the same work: it is carried on.")]


def in_parts(file: str | None, on: str | None, part_rows: int | None) -> bool:
    """Return whether a command is asked to work part by part: it was told where, or the rows are many files."""
    from accordant.tables.datasets import is_dataset

    return on is not None or part_rows is not None or (file not in (None, "-") and is_dataset(str(file)))


def recommend_parts(job: Job, strategy: str | None, row_id: str | None, population: Path | None, *, json: bool) -> None:
    """Write recommendations part by part, and say how many there are."""
    from accordant.runs.datasets.recommendation import recommend_dataset

    counts = recommend_dataset(job, strategy, row_id, population)
    if json:
        print_json({"out": str(job.out), "unusual": counts.to_json()})
    else:
        say(f"{counted(counts.rows, 'recommendation')}: {job.out}")
    if counts.unusual:
        say(counts.sentence(), err=True)


def certify_parts(job: Job, *, json: bool, **asked: Any) -> None:
    """Certify part by part, and print what holds of all decisions together."""
    from accordant.cli.certificate_tables import print_certified_dataset
    from accordant.runs.datasets.certification import certify_dataset

    certified = certify_dataset(job, **asked)
    print_json({"out": str(job.out)} | certified.to_json()) if json else print_certified_dataset(certified, job.out)


def evaluate(
    run: RunFolder,
    dataset: Dataset,
    out: Parts,
    resamples: Annotated[int | None, typer.Option(min=100, help="Resamples instead of the run's.")] = None,
    on: On = None,
    part_rows: PartRows = None,
    json: Json = False,
) -> None:
    """Judge every strategy of a run on new rows with logged actions and outcomes, however many; choose nothing anew."""
    from accordant.cli.run_tables import print_board
    from accordant.runs.datasets.evaluation import evaluate_dataset
    from accordant.runs.datasets.parts import job_of
    from accordant.runs.record.parts import board

    job = job_of(run, dataset, out, on, part_rows)
    leaderboard = evaluate_dataset(job, resamples=resamples)
    if json:
        print_json(board(leaderboard).model_dump(mode="json") | {"out": str(out)})
    else:
        print_board(board(leaderboard), job.run.record.selected, out)


def population(
    run: RunFolder,
    dataset: Dataset,
    out: Parts,
    strategy: Annotated[
        str | None, typer.Option(help="Another strategy for the whole policy than the selected one.")
    ] = None,
    on: On = None,
    part_rows: PartRows = None,
    json: Json = False,
) -> None:
    """Fit a strategy for the whole policy on a dataset, however large: how often everybody must count on these rows."""
    from accordant.cli.population_table import print_population
    from accordant.runs.datasets.parts import job_of
    from accordant.runs.datasets.population import fit_population

    fitted = fit_population(job_of(run, dataset, out, on, part_rows), strategy)
    print_json(fitted.to_json() | {"out": str(out)}) if json else print_population(fitted, out)


def plan(
    run: RunOrCase,
    dataset: Annotated[
        str | None,
        typer.Argument(metavar="[DATASET]", help="Rows like those of the job; none for the case's simulator or file."),
    ] = None,
    rows: Annotated[
        float | None,
        typer.Option(metavar="N", help="Rows of the job, such as 1e9; those of DATASET.", show_default=False),
    ] = None,
    kind: Annotated[
        str, typer.Option("--for", metavar="TASK", help="recommend, certify, evaluate, population, slate or monitor.")
    ] = "recommend",
    strategy: Annotated[
        str | None, typer.Option(help="Another strategy than the selected one; of slates the rule.")
    ] = None,
    on: On = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000_000, help="Cores of a cluster of machines like this one, which need not be there."
        ),
    ] = None,
    part_rows: PartRows = None,
    price: Annotated[float | None, typer.Option(help="Of an hour of one core: says what the job costs.")] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Page to write, .html, or a new folder for page and JSON.")] = None,
    json: Json = False,
) -> None:
    """Say before a job on a dataset what it will take: time, cores, memory, bytes, and what limits it."""
    from accordant.cli.plan_table import print_plan, write_plan
    from accordant.runs.datasets.parts import LOCAL
    from accordant.runs.datasets.plan import plan_dataset
    from accordant.runs.opened_run import open_run
    from accordant.runs.pages import check_page
    from accordant.tables.datasets import PART_ROWS

    check_out(out, [dataset], json=json, check=check_page)
    opened = open_run(run).run
    job_plan = plan_dataset(
        opened, kind, on or LOCAL, rows=rows, dataset=dataset, workers=workers, part_rows=part_rows or PART_ROWS,
        strategy=strategy, price=price, seed=seed,
    )  # fmt: skip
    page = None if out is None else write_plan(job_plan, opened, out)
    if json:
        print_json(job_plan.to_json())
    elif not is_standard_output(out):
        print_plan(job_plan)
        if page is not None:
            say(f"\npage: {page}")


COMMANDS = (evaluate, population, plan)
