"""What ``accordant run`` prints for people: where the data came from, the leaderboard, and what to mind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from accordant.terminal.output import console

SHOWN_METRICS = 5  # weighted metrics that fit beside the score; all of them are in the report


def print_run(content: Mapping[str, Any], folder: Path) -> None:
    """Print where the data came from, the leaderboard, what to mind, and where the report is."""
    screen, data, test = console(), content["data"], content["test"]
    origin = "SIMULATED DATA" if data["simulated"] else "data"
    screen.print(f"{origin}: {data['source']}, {data['train']} training and {data['test']} untouched test rows")
    selection = content["selection"]
    screen.print(f"selected on held-out folds: {content['selected']}. {selection['consults']}".strip())
    if selection["score"] is not None:
        screen.print(f"its score there, corrected for having been chosen there: {_estimate(selection['score'])}")
    screen.print()
    screen.print(leaderboard_table(test, content["selected"]))
    screen.print("> selected   * no candidate: on the candidates' scale, but never chosen\n")
    notes = [f"{label}: {rule['note']}." for label, rule in content["strategies"].items() if rule["note"]]
    hidden = (content["scrutiny"].get("sensitivity") or {}).get("sentences", ())
    for sentence in [*test["remarks"], *hidden, *notes, *content["warnings"]]:
        screen.print(f"- {sentence}")
    screen.print(f"\noutcome model: {_outcome_model(content['outcome_model'])}")
    screen.print(f"\nrun: {folder}\nreport: {folder / 'report.html'}")


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


def _estimate(found: Mapping[str, Any]) -> str:
    limits = "" if found["low"] is None else f" [{found['low']:.3f}, {found['high']:.3f}]"
    return f"{_number(found['value'])}{limits}"


def _number(value: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"
