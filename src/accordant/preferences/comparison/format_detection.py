"""Which kind of preference file something is, told from what it holds and not from its name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from accordant.errors import DataError, UnknownNameError, nearest
from accordant.preferences.readers.dialogue import is_dialogue
from accordant.preferences.readers.movielens import MOVIE_COLUMNS, RATING_COLUMNS
from accordant.preferences.readers.numbers import CHOSEN, REJECTED
from accordant.tables.text import read_text

Kind = Literal["trl", "hh-rlhf", "dsp", "movielens", "features"]

AUTO = "auto"
SIGNS = {
    "trl": "columns chosen and rejected",
    "hh-rlhf": "JSON lines with two dialogues, chosen and rejected",
    "dsp": "a JSON list of objects with query and responses",
    "movielens": "a folder with ratings.csv and movies.csv, or its ratings.csv",
    "features": "columns user_id, chosen_<name> and rejected_<name>",
}
RATINGS, MOVIES = "ratings.csv", "movies.csv"


def kind_of(path: Path, asked: str = AUTO) -> Kind:
    """Return the kind of a file or folder.

    Parameters
    ----------
    path
        The file, or a folder for MovieLens.
    asked
        A kind, or ``"auto"`` for what the content says.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    DataError
        If there is nothing, nothing can be read, or the content is of no kind; the message says what was found.
    """
    if asked != AUTO and asked not in get_args(Kind):
        raise UnknownNameError("format", asked, (AUTO, *get_args(Kind)))
    if not path.exists():
        beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = nearest(path.name, beside)
        raise DataError(f"{path} does not exist" + (f"; did you mean {hint!r}?" if hint else ""))
    if asked != AUTO:
        return asked  # type: ignore[return-value]
    if path.is_dir():
        absent = [name for name in (RATINGS, MOVIES) if not (path / name).is_file()]
        if absent:
            raise DataError(f"{path} is a folder without {' and '.join(absent)}; allowed: {SIGNS['movielens']}")
        return "movielens"
    return _of_text(path.name, read_text(path))


def _of_text(name: str, text: str) -> Kind:
    """Return the kind of a text."""
    start = text.lstrip()
    if start.startswith("["):
        return _of_list(name, start)
    if not start.startswith("{"):
        return _of_columns(name, _header(name, start))
    line = start.split("\n", 1)[0]
    try:
        first = json.loads(line)
    except json.JSONDecodeError:
        raise DataError(f"{name}: its first line is no JSON object by itself; allowed: one object per line") from None
    found = _of_columns(name, tuple(first))
    dialogues = all(isinstance(first.get(key), str) and is_dialogue(first[key]) for key in ("chosen", "rejected"))
    return "hh-rlhf" if found == "trl" and set(first) == {"chosen", "rejected"} and dialogues else found


def _header(name: str, text: str) -> tuple[str, ...]:
    """Return the names of the columns of a table, whatever ends its lines."""
    try:
        return tuple(each.strip() for each in next(csv.reader(io.StringIO(text, newline="")), []))
    except csv.Error as error:
        raise DataError(f"{name} is no table: {error}") from None


def _of_list(name: str, text: str) -> Kind:
    """Return the kind of a JSON list."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is not JSON: {error}") from None
    first = content[0] if content else None
    if isinstance(first, dict) and {"query", "responses"} <= set(first):
        return "dsp"
    keys = ", ".join(map(repr, first)) if isinstance(first, dict) else repr(first)
    raise DataError(
        f"{name} is a JSON list that begins with {keys:.80}; allowed: {SIGNS['dsp']}, or one object per line"
    )


def _of_columns(name: str, columns: Sequence[str]) -> Kind:
    """Return the kind of a table or of JSON lines by their columns."""
    if {"chosen", "rejected"} <= set(columns):
        return "trl"
    if any(each.startswith(CHOSEN) for each in columns) and any(each.startswith(REJECTED) for each in columns):
        return "features"
    if set(RATING_COLUMNS[:3]) <= set(columns):
        return "movielens"
    if set(MOVIE_COLUMNS) <= set(columns):
        raise DataError(f"{name} holds films, not ratings; allowed: {SIGNS['movielens']}")
    hint = next((near for each in columns if (near := nearest(each, ("chosen", "rejected")))), None)
    raise DataError(
        f"{name} has the columns {', '.join(columns)[:200]}; "
        + (f"did you mean {hint!r}? " if hint else "")
        + "allowed: "
        + "; ".join(f"{kind}: {sign}" for kind, sign in SIGNS.items())
    )
