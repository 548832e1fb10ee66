"""The rows of a file as contexts of a run, typed as its training rows, in batches of bounded memory."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pandas as pd

from accordant.arrays import AnyArray
from accordant.cases.loaders import tidiers, tidy_places
from accordant.contexts import Contexts
from accordant.errors import MissingColumnError
from accordant.runs.folder import Run
from accordant.tables.arrow import arrow_columns, arrow_format, arrow_frames, arrow_names
from accordant.tables.column_types import Place
from accordant.tables.datasets import Part
from accordant.tables.frames import ROWS_AT_ONCE, Lines, read_chunks

AS_IT_IS = "table"  # the loader of cases whose table needs no tidying


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Some rows of a file.

    Attributes
    ----------
    contexts
        The rows, typed as the training rows.
    place
        Where each row stands, for messages.
    source, columns
        What messages call the file, and the columns that it has, read or not.
    """

    contexts: Contexts
    place: Place
    source: str
    columns: tuple[str, ...]


def read_batches(
    run: Run, source: str | Path | IO[str] | Part, *, at_once: bool, columns: Collection[str] | None = None,
    row_id: str | None = None,
) -> Iterator[tuple[Contexts, AnyArray | None]]:  # fmt: skip
    """Yield the rows of a file in batches, or all in one, typed as the training rows; and what they are called.

    Parameters
    ----------
    run, source, at_once, columns
        See `placed_batches`.
    row_id
        Column with what rows are called; without it they are called None.

    Raises
    ------
    InputError
        If a column is missing, or a value cannot be used.
    """
    names = () if row_id is None else (row_id,)
    wanted = None if columns is None else {*columns, *names}
    for batch in placed_batches(run, source, at_once=at_once, columns=wanted, needed=names, texts=names):
        yield batch.contexts, None if row_id is None else batch.contexts[row_id]


def placed_batches(
    run: Run, source: str | Path | IO[str] | Part, *, at_once: bool, columns: Collection[str] | None = None,
    needed: Collection[str] = (), texts: Collection[str] = (),
) -> Iterator[RowBatch]:  # fmt: skip
    """Yield the rows of a file in batches, or all in one, with the place of each.

    Parameters
    ----------
    run
        From `read_run`.
    source
        A CSV, Parquet or Arrow file with the feature columns of the case, a part of one, or an open text stream of CSV.
    at_once
        Whether all rows come in one batch.
    columns
        Of a file that is stored by columns, no others are read; None for all.
    needed
        Those that must be there beside the features.
    texts
        Columns that are read as text, where they are.

    Raises
    ------
    InputError
        If a column is missing, or a value cannot be used.
    """
    policy, loader = run.policy, tidiers.create(run.case.data.loader)
    types = {**run.case.data.declared_types, **policy.types_}  # strategies may read columns that are declared only
    texts = {name for name, kind in types.items() if kind == "category"} | {*texts}
    part = source if isinstance(source, Part) else None
    source = source.file if isinstance(source, Part) else source
    rows, lines, start = sys.maxsize if at_once else ROWS_AT_ONCE, Lines(), 0 if part is None else part.start
    name = Path(source).name if isinstance(source, str | Path) else "standard input"
    if part is not None:
        name = part.name
    for chunk, n_rows in _chunks(run, source, rows, columns, texts, lines, part):
        by_columns = isinstance(chunk, dict)  # which may be less than the file has
        tidy: Any = chunk if by_columns else loader(chunk)
        there = [*arrow_names(source), *({} if part is None else part.folders)] if by_columns else list(map(str, tidy))
        place: Place = (
            partial(_numbered, name, start) if arrow_format(source) else tidy_places(tidy, n_rows, lines, start)
        )
        for column in (*policy.features_, *needed):
            if column not in tidy:
                raise MissingColumnError(column, there, name)
        contexts = policy.contexts_of({str(column): np.asarray(tidy[column]) for column in tidy}, place)
        yield RowBatch(contexts, place, name, tuple(there))
        start += n_rows


def batches_of(run: Run, source: Part, columns: Collection[str]) -> Iterator[Contexts]:
    """Yield the rows of a part batch by batch, with the columns that the policy reads, and some that a rule reads."""
    read = {*run.policy.features_, *run.policy.types_, *columns}
    yield from (contexts for contexts, _ in read_batches(run, source, at_once=False, columns=read))


def row_contexts(run: Run, source: str | Path | IO[str] | Part) -> Contexts:
    """Return all rows of a file as contexts; see `read_batches`."""
    return next(read_batches(run, source, at_once=True))[0]


def _numbered(name: str, start: int, row: int) -> str:
    """Return where a row stands in a file without lines, counted from 0."""
    return f"{name}, row {start + row}"


def _chunks(
    run: Run, source: str | Path | IO[str], at_once: int, columns: Collection[str] | None, texts: Collection[str],
    lines: Lines, part: Part | None = None,
) -> Iterator[tuple[Any, int]]:  # fmt: skip
    """Yield batches of a file with their lengths: columns where the case takes tables as they are, else frames.

    Columns that folders of a dataset say are added, unless the file has them itself.
    """
    spec = run.case.data

    def completed(frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with the columns that folders say."""
        return frame if part is None else part.completed(frame, texts, spec.missing)

    if arrow_format(source) is None:
        chunks = read_chunks(
            source, at_once, texts=texts, separator=spec.separator, encoding=spec.encoding, missing=spec.missing,
            lines=lines,
        )  # fmt: skip
        yield from ((completed(chunk), len(chunk)) for chunk in chunks)
        return
    path, groups = cast("str | Path", source), None if part is None else part.wanted
    if spec.loader != AS_IT_IS:
        frames = arrow_frames(path, at_once, texts=texts, missing=spec.missing, groups=groups)
        yield from ((completed(frame), len(frame)) for frame in frames)
        return
    constants = {} if part is None else part.constants(texts, spec.missing)
    if columns is not None and constants and set(columns).isdisjoint(arrow_names(path)):
        columns = None  # how many rows there are is known from a column of the file
    for batch in arrow_columns(path, at_once, columns, texts=texts, missing=spec.missing, groups=groups):
        n_rows = len(next(iter(batch.values()), ()))
        yield {name: np.full(n_rows, _told(value, name in texts)) for name, value in constants.items()} | batch, n_rows


def _told(value: float | str, text: bool) -> float | str:
    """Return a value as columns of an Arrow file hold it: missing texts are empty."""
    return "" if text and isinstance(value, float) else value
