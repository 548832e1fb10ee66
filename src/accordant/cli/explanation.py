"""What ``accordant explain`` prints for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from accordant.errors import InputError

WIDTH = 100  # columns of a page that is piped somewhere
LAST_ROW = 10**12
HEADINGS = {
    "decides": "The decision",
    "traded": "What it traded off",
    "change": "What would have changed it",
    "sure": "How sure it is",
}


def row_numbers(given: str) -> list[int]:
    """Return the row numbers of an option such as ``0,4``."""
    try:
        found = [int(each) for each in given.split(",")]
    except ValueError:
        raise InputError(f"--row is {given!r}; allowed: whole numbers separated by commas, such as 0,4") from None
    for row in found:
        if not 0 <= row <= LAST_ROW:
            raise InputError(f"row {row} is to be explained; allowed: numbers of rows, from 0")
    return list(dict.fromkeys(found))


def print_explanations(document: Mapping[str, Any], out: Path | None) -> None:
    """Print E as a small table and the sentences, row by row."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH, markup=False, highlight=False)
    console.print(document["source"])
    for each in document["explanations"]:
        console.print()
        console.print(rewards_table(each))
        for topic, sentences in each["sentences"].items():
            console.print(f"\n{HEADINGS[topic]}")
            for sentence in sentences:
                console.print(f"- {sentence}")
    if out is not None:
        console.print(f"\npage: {out}")


def rewards_table(explanation: Mapping[str, Any]) -> Table:
    """Return expected rewards by stakeholder and action."""
    title = f"Row {explanation['row']}: {explanation['choice']['action']}, by {explanation['rule']}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("expected reward", overflow="fold")
    for action in explanation["actions"]:
        table.add_column(action, justify="right")
    for name, rewards in zip(explanation["stakeholders"], explanation["expected"], strict=True):
        table.add_row(name, *(f"{reward:.3f}" for reward in rewards))
    return table
