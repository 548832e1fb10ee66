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
    console().print(table)


def console() -> Console:
    """Return a console that reads no markup in what it prints."""
    # wide enough for a leaderboard when stdout is a pipe or a file
    return Console(width=None if sys.stdout.isatty() else 140, markup=False, highlight=False)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={default}" for name, default in value.items())
    return "" if value is None else str(value)
