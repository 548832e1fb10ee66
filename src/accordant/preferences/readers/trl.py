"""Pairs of texts: columns of TRL, the trainers of Hugging Face, with whose preference it is, and HH-RLHF.

``prompt, chosen, rejected`` are TRL's preference format, ``margin`` the column of its reward trainer. [ours]
``user_id, group_id, support_rate, weight`` carry what those trainers have no name for. Texts are plain, or
conversations: lists of ``{"role": …, "content": …}``. JSON lines hold both forms, CSV holds plain text.

HH-RLHF (Bai et al. 2022, arXiv 2204.05862) is JSON lines of ``{"chosen": dialogue, "rejected": dialogue}``. Nobody is
named: all records belong to one user.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, InputError, MissingColumnError
from accordant.preferences.texts import (
    NUMBERS,
    OPEN,
    SPEAKERS,
    Split,
    TextComparisons,
    Turn,
    dialogue,
    is_dialogue,
    split,
    turns,
)
from accordant.tables.output import write_output
from accordant.tables.text import Entry, read_json_lines, read_table, refuse_unknown

ANSWERS = ("chosen", "rejected")
TEXTS = ("prompt", *ANSWERS)
NUMBER_COLUMNS = {"margin": "margins", "support_rate": "support", "weight": "weights"}
NAME_COLUMNS = {"user_id": "users", "group_id": "groups"}
COLUMNS = (*TEXTS, "margin", "user_id", "group_id", "support_rate", "weight")
LINES = (".jsonl", ".json", ".ndjson")
Form = Literal["plain", "conversational"]
Said = tuple[str | list[Turn], str | list[Turn], str | list[Turn]]


def read_trl(path: str | Path, *, ignore: Sequence[str] = ()) -> TextComparisons:
    """Return the records of a file.

    Without the column ``prompt`` the prompt is what both conversations, or dialogues, share; see `split`.
    If all conversations are one message of the user and one of the assistant, texts are their contents; otherwise all
    are written as dialogues.
    A margin or support rate that is missing, ``null``, NaN or an empty cell is unknown, and stays with its record.

    Parameters
    ----------
    path
        JSON lines (``.jsonl``, ``.json``, ``.ndjson``) or ``.csv``, with or without ``.gz``.
    ignore
        Other columns, which are left out, or ``"*"`` for all of them; any further one is an error.

    Raises
    ------
    DataError
        If the file is unreadable, a column is missing or unknown, a text is no text, or a number is no number; the
        message names the line, and the nearest column.
    """
    return _records(read_table(path).entries() if _suffix(path) == ".csv" else read_json_lines(path), ignore)


def trl_from_frame(frame: Any, *, ignore: Sequence[str] = ()) -> TextComparisons:
    """Return the records of a data frame that narwhals reads (pandas, polars, …); see `read_trl`.

    Raises `DataError` if it is no data frame, or has no rows.
    """
    import narwhals as nw

    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(f"expected a data frame (pandas, polars, …); found {type(frame).__name__}") from None
    if not len(native):
        raise DataError("the data frame has no rows")
    rows = native.iter_rows(named=True)
    return _records([Entry(f"row {number}", row) for number, row in enumerate(rows)], ignore)


def write_trl(comparisons: TextComparisons, path: str | Path, *, form: Form = "plain") -> None:
    """Write records to a file; the same records give the same bytes.

    Parameters
    ----------
    comparisons
        The records.
    path
        As for `read_trl`.
    form
        ``"plain"`` text, or ``"conversational"`` lists of messages, for JSON lines only: dialogues become their turns,
        other prompts become a message of the user, other answers one of the assistant. Spaces around turns are lost.

    Raises
    ------
    InputError
        If the form needs JSON lines, a text is no text in UTF-8, or the file cannot be written.
    """
    suffix, columns = _suffix(path), _columns(comparisons, form)
    if suffix == ".csv" and form == "conversational":
        raise InputError(f"{Path(path).name}: CSV holds no lists of messages; allowed: form 'plain', or JSON lines")
    text = io.StringIO()
    rows = zip(*columns.values(), strict=True)
    if suffix == ".csv":
        csv.writer(text).writerows([tuple(columns), *rows])
    else:
        text.writelines(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    packed = Path(path).suffix.lower() == ".gz"
    try:
        content = text.getvalue().encode()
    except UnicodeEncodeError as error:
        raise InputError(f"a text holds half a character, {error.object[error.start]!r}; allowed: JSON lines") from None
    write_output(path, gzip.compress(content, mtime=0) if packed else content)


def trl_to_frame(comparisons: TextComparisons, *, backend: Any = "pandas", form: Form = "plain") -> Any:
    """Return records as a data frame.

    Parameters
    ----------
    comparisons
        The records.
    backend
        Name of the library, ``"pandas"``, ``"polars"``, …; it must be installed.
    form
        As for `write_trl`.

    Raises
    ------
    InputError
        If the library cannot be used.
    """
    import narwhals as nw

    try:
        return nw.from_dict(_columns(comparisons, form), backend=backend).to_native()
    except (AssertionError, ImportError, ValueError) as error:  # the first: narwhals before 2.26, of an unknown name
        raise InputError(f"backend {backend!r} cannot be used: {error}") from None


def _suffix(path: str | Path) -> str:
    """Return the suffix that says what a file holds."""
    file = Path(path)
    suffix = (Path(file.stem) if file.suffix.lower() == ".gz" else file).suffix.lower()
    if suffix != ".csv" and suffix not in LINES:
        raise InputError(f"{file.name} ends with {suffix!r}; allowed: .csv, {', '.join(LINES)}, each with .gz or not")
    return suffix


def _records(entries: Sequence[Entry], ignore: Sequence[str]) -> TextComparisons:
    """Return rows as records."""
    for entry in entries:
        refuse_unknown(entry.where, "column", entry.values, COLUMNS, ignore)
    said = [_said(entry) for entry in entries]
    short = all(map(_is_short, said))
    texts = [_as_text(record, short=short) for record in said]
    for entry, text in zip(entries, texts, strict=True):
        if text.chosen == text.rejected:
            raise DataError(f"{entry.where}: chosen and rejected are the same")
    numbers = {field: _numbers(entries, column) for column, field in NUMBER_COLUMNS.items()}
    names = {field: _names(entries, column) for column, field in NAME_COLUMNS.items()}
    return TextComparisons(
        tuple(text.prompt for text in texts),
        tuple(text.chosen for text in texts),
        tuple(text.rejected for text in texts),
        names["users"],
        names["groups"],
        **{field: numbers[field] for field in NUMBERS},
    )


def _said(entry: Entry) -> Said:
    """Return prompt, chosen and rejected answer, as texts or as conversations."""
    for key in ("chosen", "rejected"):
        if key not in entry.values:
            raise MissingColumnError(key, entry.values, entry.where)
    implicit = _is_null(entry.values.get("prompt"))
    given = {key: entry.values[key] for key in TEXTS[implicit:]}
    for key, value in given.items():
        if not isinstance(value, Iterable) or isinstance(value, Mapping):
            raise DataError(f"{entry.where}: {key!r} is {value!r:.40}; allowed: text, or a list of messages")
    if all(isinstance(value, str) for value in given.values()):
        parted = split(given["chosen"], given["rejected"]) if implicit else Split(**given)
        return parted.prompt, parted.chosen, parted.rejected
    chosen, rejected = (_turns(f"{entry.where}: {key!r}", given[key]) for key in ("chosen", "rejected"))
    if not (chosen and rejected):
        raise DataError(f"{entry.where}: an answer has no messages; allowed: at least one")
    if not implicit:
        return _turns(f"{entry.where}: 'prompt'", given["prompt"]), chosen, rejected
    shared = _n_shared(chosen, rejected)
    return chosen[:shared], chosen[shared:], rejected[shared:]


def _is_short(said: Said) -> bool:
    """Return whether a record is text, or at most one message of the user and then one of the assistant."""
    prompt, *answers = said
    if isinstance(prompt, str):
        return True
    roles = [[turn.role for turn in answer if isinstance(turn, Turn)] for answer in answers]
    return [turn.role for turn in prompt] in ([], ["user"]) and roles == [["assistant"]] * 2


def _as_text(said: Said, *, short: bool) -> Split:
    """Return a record as text: conversations as their contents, or as dialogues."""
    prompt, chosen, rejected = said
    if isinstance(prompt, str) or isinstance(chosen, str) or isinstance(rejected, str):
        return Split(str(prompt), str(chosen), str(rejected))
    if short:
        return Split("".join(turn.content for turn in prompt), chosen[0].content, rejected[0].content)
    start = dialogue(prompt)
    return split(start + dialogue(chosen), start + dialogue(rejected))


def _turns(where: str, value: Any) -> list[Turn]:
    """Return a conversation as turns."""
    if isinstance(value, str):
        raise DataError(f"{where} is {value!r:.40}; allowed: text in every column, or a list of messages in every one")
    conversation = []
    for number, message in enumerate(value, 1):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in SPEAKERS:
            raise DataError(f"{where} message {number} has the role {role!r}; allowed: {', '.join(SPEAKERS)}")
        if not isinstance(message.get("content"), str):
            raise DataError(f"{where} message {number} has the content {message.get('content')!r:.40}; allowed: text")
        conversation.append(Turn(role, message["content"]))
    return conversation


def _n_shared(one: Sequence[Turn], two: Sequence[Turn]) -> int:
    """Return how many turns two conversations share at their beginning, never the last turn of either."""
    shared = 0
    for here, there in zip(one[:-1], two[:-1], strict=False):
        if here != there:
            break
        shared += 1
    return shared


def _numbers(entries: Sequence[Entry], column: str) -> Values | None:
    """Return a column of numbers, NaN where there is none; None if there is none anywhere."""
    numbers = np.full(len(entries), np.nan)
    for row, entry in enumerate(entries):
        if not _is_missing(entry.values.get(column)):
            numbers[row] = entry.number(column)
    known = ~np.isnan(numbers)
    if column == "weight" and known.any() and not known.all():
        raise DataError(
            f"{entries[int(np.argmin(known))].where}: weight is missing; allowed: one for each record, or none"
        )
    return numbers if known.any() else None


def _names(entries: Sequence[Entry], column: str) -> tuple[str, ...] | None:
    """Return a column of names; None if there is none anywhere."""
    cells = [entry.values.get(column) for entry in entries]
    gaps = [row for row, value in enumerate(cells) if _is_missing(value)]
    if len(gaps) == len(cells):
        return None
    if gaps:
        raise DataError(f"{entries[gaps[0]].where}: {column} is missing; allowed: one for each record, or none")
    whole = (int(value) if isinstance(value, float) and value.is_integer() else value for value in cells)
    return tuple(map(str, whole))  # a column of whole numbers becomes one of floats where a frame had gaps


def _is_missing(value: Any) -> bool:
    """Return whether a cell of numbers or names holds nothing."""
    return _is_null(value) or (isinstance(value, str) and not value.strip())


def _is_null(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - NaN alone differs from itself
    except (TypeError, ValueError) as error:  # pandas' NA has no truth value, an array of messages has several
        return isinstance(error, TypeError)


def _columns(comparisons: TextComparisons, form: Form) -> dict[str, list[Any]]:
    """Return the columns that say something, None where a number is unknown."""
    if form not in ("plain", "conversational"):
        raise InputError(f"form is {form!r}; allowed: 'plain', 'conversational'")
    texts = list(zip(comparisons.prompts, comparisons.chosen, comparisons.rejected, strict=True))
    rows: Sequence[Sequence[Any]] = texts if form == "plain" else [_messages(*record) for record in texts]
    columns: dict[str, list[Any]] = {name: [row[place] for row in rows] for place, name in enumerate(TEXTS)}
    for column in COLUMNS[len(TEXTS) :]:
        given = getattr(comparisons, (NUMBER_COLUMNS | NAME_COLUMNS)[column])
        if given is None:
            continue
        values = given if column in NAME_COLUMNS else (None if math.isnan(cell) else float(cell) for cell in given)
        columns[column] = list(values)
    return columns


def _messages(prompt: str, chosen: str, rejected: str) -> list[list[dict[str, str]]]:
    """Return a record of texts as lists of messages."""
    start = prompt.removesuffix(OPEN) if is_dialogue(prompt) else prompt
    said = turns(start) if start else ()
    lists = [said]
    for answer in (chosen, rejected):
        goes_on = answer if is_dialogue(answer) else OPEN + answer
        lists.append(turns(goes_on))
    return [[{"role": turn.role, "content": turn.content} for turn in conversation] for conversation in lists]


def read_hh_rlhf(path: str | Path) -> TextComparisons:
    """Return the pairs of a file, ``.jsonl`` or ``.jsonl.gz``.

    The prompt is all whole turns that both dialogues share, up to ``Assistant:``; the answers are what follows. Most
    pairs differ in the last turn alone; where dialogues part earlier, the answers are several turns.

    Raises
    ------
    DataError
        If the file is missing, empty or broken, or a line has no two different dialogues that begin with a turn of
        ``Human`` or ``Assistant``; the message names the line.
    """
    parts = []
    for entry in read_json_lines(path):
        chosen, rejected = (entry.text(key) for key in ANSWERS)
        refuse_unknown(entry.where, "key", entry.values, ANSWERS)
        for key, text in zip(ANSWERS, (chosen, rejected), strict=True):
            if not is_dialogue(text):
                raise DataError(
                    f"{entry.where}: {key!r} begins with {text[:20]!r}; "
                    "allowed: two new lines and 'Human:' or 'Assistant:'"
                )
        if chosen == rejected:
            raise DataError(f"{entry.where}: chosen and rejected are the same dialogue")
        parts.append(split(chosen, rejected))
    return TextComparisons(
        tuple(part.prompt for part in parts),
        tuple(part.chosen for part in parts),
        tuple(part.rejected for part in parts),
    )
