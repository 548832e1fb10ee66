"""The command ``accordant monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accordant.terminal import Json, RunFolder


def monitor(
    run: RunFolder,
    log: Annotated[
        str, typer.Argument(metavar="LOG", help="Log of decisions that `accordant recommend --log` appends to.")
    ],
    outcomes: Annotated[
        str | None,
        typer.Argument(
            metavar="[OUTCOMES]",
            help="CSV file: row, outcome and, where observed, a column of rewards per stakeholder.",
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Probability of any false alarm, ever, at most; above 0 and below 1.")
    ] = 0.05,
    out: Annotated[Path | None, typer.Option(help="Page to write, .html, or a new folder for page and JSON.")] = None,
    json: Json = False,
) -> None:
    """Watch decisions in use: drift, calibration and kept promises, with alarms that may be looked at every day."""
    from accordant.monitoring.terminal import conduct

    conduct(run, log, outcomes, alpha=alpha, out=out, json=json)


COMMANDS = (monitor,)
