"""What ``accordant preferences`` takes and prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from accordant.errors import InputError
from accordant.preferences.page.reading import MOST_GROUPS, power_of

WIDTH = 140  # columns of a table that is piped somewhere
POWER = "how often a gain of the minority as large as that seen, or declared by --gain, would be shown with these users"
MARKS = {"pooled": "=", "control": "*", "method": " ", "looked_at": ">"}


def style_names(given: str | None) -> tuple[str, str] | None:
    """Return majority and minority style of an option such as ``academy,normal``."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",") if name.strip()]
    if len(names) != 2:
        raise InputError(f"--styles is {given!r}; allowed: two styles with a comma between, majority first")
    return names[0], names[1]


def print_preferred(content: dict[str, Any], page: Path | None) -> None:
    """Print the answer, the table of methods, what to mind, and where the page is."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH, markup=False, highlight=False)
    split, groups = content["split"], content["groups"]
    console.print(
        f"{content['file']} ({content['format']}): {content['records']} comparisons of {content['users']} users; "
        f"{split['training_records']} to learn from, {split['test_records']} to judge by, "
        f"{'by time' if split['by'] == 'time' else 'drawn at random'} within users"
    )
    sizes = ", ".join(f"{name} {size}" for name, size in groups["sizes"].items())
    console.print(
        f"{groups['found']}; users: {sizes}" + (f", unknown {groups['unknown']}" if groups["unknown"] else "")
    )
    console.print(f"support: {groups['support']}")
    console.print()
    console.print(methods_table(content))
    console.print("= pooled reward   * control   > looked at closely   intervals are in the JSON and on the page")
    console.print(f"power: {POWER}\n")
    for sentence in [*content["answer"]["sentences"], *content["declared"]]:
        console.print(f"- {sentence}")
    for title, sentences in (
        ("mind", content["warnings"]),
        ("left out", _left_out(content)),
        ("terms", [content["terms"]]),
    ):
        if sentences:
            console.print(f"\n{title}:")
        for sentence in sentences:
            console.print(f"- {sentence}")
    if page is not None:
        console.print(f"\npage: {page}")


def methods_table(content: dict[str, Any]) -> Table:
    """Return methods with the metrics that matter first."""
    over = content["intervals"]["over"]
    table = Table(title=f"Accuracy and spread over {over}", title_justify="left", box=None, pad_edge=False)
    table.add_column("method", overflow="fold", min_width=20)
    names = list(content["groups"]["sizes"])
    shown = names if len(names) <= MOST_GROUPS else [content["groups"]["majority"], content["groups"]["minority"]]
    of_groups = [f"accuracy[{name}]" for name in shown] if len(names) > 1 else []
    columns = {
        "accuracy": "accuracy", **{name: name[9:-1] for name in of_groups}, "worst_10": "worst 10%", "gap": "gap",
        "corrected_std": "spread", "support_slope": "slope on support", "log_loss": "log-loss",
    }  # fmt: skip
    for title in columns.values():
        table.add_column(title, justify="right")
    table.add_column("against pooled", no_wrap=True)
    table.add_column("power", justify="right")
    for row in content["methods"]:
        test = row["pareto"]
        table.add_row(
            f"{_mark(row, content)} {row['method']}",
            *(_number(row["metrics"][name]["value"]) for name in columns),
            "" if test is None else test["verdict"],
            "" if test is None else power_of(test),
        )
    return table


def _mark(row: dict[str, Any], content: dict[str, Any]) -> str:
    if row["method"] == content["methods"][0]["method"]:
        return MARKS["pooled"]
    if row["method"] == content["answer"]["looked_at"]:
        return MARKS["looked_at"]
    return MARKS["control" if row["control"] else "method"]


def _left_out(content: dict[str, Any]) -> Sequence[str]:
    """Return methods and users that were left out, with reasons."""
    methods = [f"{each['method']}: {each['reason']}" for each in content["skipped"]]
    return [*methods, *(f"{each['users']} users: {each['reason']}" for each in content["excluded"])]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
