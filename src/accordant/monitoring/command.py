"""The command ``accordant monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accordant.terminal import Json, On, PartRows, RunFolder


def monitor(
    run: RunFolder,
    log: Annotated[
        str,
        typer.Argument(
            metavar="LOG|DATASET",
            help="Log that `accordant recommend --log` appends to; or file, folder or pattern of rows with actions.",
        ),
    ],
    outcomes: Annotated[
        str | None,
        typer.Argument(
            metavar="[OUTCOMES]",
            help="Of a log, a CSV file: row, outcome and, where observed, a column of rewards per stakeholder.",
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Probability of any false alarm, ever, at most; above 0 and below 1.")
    ] = 0.05,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Of a dataset: when each decision was taken; none for the order of rows."),
    ] = None,
    on: On = None,
    part_rows: PartRows = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Page to write, .html, or a new folder for page and JSON; of a dataset also for its parts."),
    ] = None,
    json: Json = False,
) -> None:
    """Watch decisions in use: drift, calibration and kept promises, with alarms that may be looked at every day."""
    from accordant.monitoring.terminal import conduct

    conduct(run, log, outcomes, alpha=alpha, time=time, on=on, part_rows=part_rows, out=out, json=json)


COMMANDS = (monitor,)
