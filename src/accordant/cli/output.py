"""What commands print: JSON for machines, tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from accordant.errors import InputError

SHOWN_METRICS = 5  # weighted metrics that fit beside the score; all of them are in the report


def print_json(value: Any) -> None:
    """Print one JSON value and a newline."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def refuse_overwriting(file: str | None, out: Path | None) -> None:
    """Refuse to write a result over the rows that it is about."""
    if file is not None and out is not None and Path(file).exists() and out.exists() and out.samefile(file):
        raise InputError(f"--out {out} is the file with the rows; name another one")


def print_records(title: str, records: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Print records as JSON or as a table."""
    if as_json:
        print_json(list(records))
        return
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in records[0]:
        table.add_column(name.replace("_", " "), overflow="fold")
    for record in records:
        table.add_row(*(_text(value) for value in record.values()))
    _console().print(table)


def print_run(content: Mapping[str, Any], folder: Path) -> None:
    """Print where the data came from, the leaderboard, what to mind, and where the report is."""
    console, data, test = _console(), content["data"], content["test"]
    origin = "SIMULATED DATA" if data["simulated"] else "data"
    console.print(f"{origin}: {data['source']}, {data['train']} training and {data['test']} untouched test rows")
    selection = content["selection"]
    console.print(f"selected on held-out folds: {content['selected']}. {selection['consults']}".strip())
    if selection["score"] is not None:
        console.print(f"its score there, corrected for having been chosen there: {_estimate(selection['score'])}")
    console.print()
    console.print(leaderboard_table(test, content["selected"]))
    console.print("> selected   * no candidate: on the candidates' scale, but never chosen\n")
    notes = [f"{label}: {rule['note']}." for label, rule in content["strategies"].items() if rule["note"]]
    hidden = (content["scrutiny"].get("sensitivity") or {}).get("sentences", ())
    for sentence in [*test["remarks"], *hidden, *notes, *content["warnings"]]:
        console.print(f"- {sentence}")
    console.print(f"\noutcome model: {_outcome_model(content['outcome_model'])}")
    console.print(f"\nrun: {folder}\nreport: {folder / 'report.html'}")


def leaderboard_table(test: Mapping[str, Any], selected: str) -> Table:
    """Return the leaderboard with the metrics that carry weight."""
    weighted = [metric for metric in test["metrics"] if metric["weight"] > 0][:SHOWN_METRICS]
    table = Table(title=f"Leaderboard on {test['n']} untouched rows", title_justify="left", box=None, pad_edge=False)
    table.add_column("strategy", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column(f"{test['level']:.0%} interval", justify="right", no_wrap=True)
    table.add_column("among best", justify="right")
    table.add_column("tied", justify="right")
    for metric in weighted:
        table.add_column(f"{metric['label'].replace('_', ' ')} ({metric['weight']:g})", justify="right")
    for row in test["leaderboard"]:
        mark = ">" if row["strategy"] == selected else " " if row["candidate"] else "*"
        score = row["score"]
        limits = "" if score["low"] is None else f"{score['low']:.3f}–{score['high']:.3f}"
        table.add_row(
            f"{mark} {row['strategy']}",
            _number(score["value"]),
            limits,
            {True: "yes", False: "no", None: ""}[row["among_best"]],
            f"{row['tied']:.0%}",
            *(_number(row["metrics"][metric["label"]]["value"]) for metric in weighted),
        )
    return table


def _outcome_model(found: Mapping[str, Any]) -> str:
    """Return what f is and how good it is on the test rows; calibration per outcome is left to the report."""
    overall = [measure for measure in found["quality"] if not measure["name"].startswith("mean probability of")]
    return f"{found['name']}; " + ", ".join(f"{measure['name']} {_number(measure['value'])}" for measure in overall)


def _console() -> Console:
    # wide enough for a leaderboard when stdout is a pipe or a file
    return Console(width=None if sys.stdout.isatty() else 140, markup=False, highlight=False)


def _estimate(found: Mapping[str, Any]) -> str:
    limits = "" if found["low"] is None else f" [{found['low']:.3f}, {found['high']:.3f}]"
    return f"{_number(found['value'])}{limits}"


def _number(value: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={default}" for name, default in value.items())
    return "" if value is None else str(value)
