"""Recommendations for the rows of a file, in batches of bounded memory unless a strategy needs them all at once.

Beside them, what other commands ask of a run: its untouched rows, the contexts of a file, and a draw among rows.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.arrays import AnyArray
from accordant.cases.files import find_file
from accordant.cases.loaders import CaseData, tidiers, tidy_places
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.errors import DataNotFoundError, InputError, MissingColumnError
from accordant.evidence import Evidence
from accordant.json_values import finite
from accordant.recommendation import Recommendations
from accordant.runs.decision_log import check_log, decision_lines
from accordant.runs.execution import RunOptions, case_data, split
from accordant.runs.folder import Run
from accordant.runs.sections.adoption import adoptions, with_adopted
from accordant.tables.arrow import arrow_columns, arrow_format, arrow_frames, arrow_names, arrow_output
from accordant.tables.column_types import Place
from accordant.tables.datasets import Part
from accordant.tables.frames import ROWS_AT_ONCE, Lines, read_chunks
from accordant.tables.output import Input, append_lines, output_file, write_output
from accordant.tables.text import written_cell
from accordant.unusual import UnusualCounts

logger = logging.getLogger(__name__)

HANDLED = ("unusual", "referred", "fall_back", "adopted")  # columns about what another than the rule decides
AS_IT_IS = "table"  # the loader of cases whose table needs no tidying
SPOOLED = 1 << 20  # characters of a log that are held in memory at a time


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a file with what is recommended for them.

    Attributes
    ----------
    start
        Number of the first row, from 0.
    names
        What each row is called: its number, or its text in the column that names rows.
    contexts
        The rows.
    found
        What is recommended.
    """

    start: int
    names: AnyArray
    contexts: Contexts
    found: Recommendations


Note = Callable[[Batch], object]
"""What takes a batch down."""


def _nowhere(batch: Batch) -> None:
    """Keep no log."""


def recommend_rows(
    run: Run, source: str | Path | IO[str] | Part, strategy: str | None, row_id: str | None = None
) -> Iterator[Batch]:
    """Yield the recommendations for the rows of a file, batch by batch.

    Those of D* are what people adopted for rows with the same features, where they did.

    Parameters
    ----------
    run
        From `read_run`.
    source
        A CSV, Parquet or Arrow file with the feature columns of the case, a part of one, or an open text stream of CSV.
    strategy
        Label of another strategy than the selected one.
    row_id
        Column with what rows are called; None for their numbers.

    Raises
    ------
    InputError
        If a column is missing, a value cannot be used, or the strategy is unknown.
    """
    policy = run.policy
    rule = policy.strategy(strategy or policy.selected_)
    known = adoptions(run) if rule.label == policy.selected_ else {}
    read = {*policy.features_, *policy.types_, *rule.columns}
    start, adopted = source.start if isinstance(source, Part) else 0, 0
    first = start
    for contexts, names in _read(run, source, at_once=rule.whole_batch, columns=read, row_id=row_id):
        batch = policy.recommend(contexts, strategy=rule.label)
        batch = with_adopted(batch, contexts, policy.features_, known)
        adopted += 0 if batch.adopted is None else int((batch.adopted != "").sum())
        yield Batch(start, np.arange(start, start + contexts.n_contexts) if names is None else names, contexts, batch)
        start += contexts.n_contexts
    if adopted:
        logger.info("%d of %d rows are decided by debates that people adopted", adopted, start - first)


def batches_of(run: Run, source: Part, columns: Collection[str]) -> Iterator[Contexts]:
    """Yield the rows of a part batch by batch, as `recommend_rows` reads them for a rule that reads some columns."""
    read = {*run.policy.features_, *run.policy.types_, *columns}
    yield from (contexts for contexts, _ in _read(run, source, at_once=False, columns=read))


def row_contexts(run: Run, source: str | Path | IO[str] | Part) -> Contexts:
    """Return all rows of a file as contexts; see `recommend_rows`."""
    return next(_read(run, source, at_once=True))[0]


def _read(
    run: Run, source: str | Path | IO[str] | Part, *, at_once: bool, columns: Collection[str] | None = None,
    row_id: str | None = None,
) -> Iterator[tuple[Contexts, AnyArray | None]]:  # fmt: skip
    """Yield the rows of a file in batches, or all in one, typed as the training rows; and what they are called.

    `columns` are those that are needed: of a file that is stored by columns, no others are read.
    """
    policy, loader = run.policy, tidiers.create(run.case.data.loader)
    types = {**run.case.data.declared_types, **policy.types_}  # strategies may read columns that are declared only
    texts = {name for name, kind in types.items() if kind == "category"} | (set() if row_id is None else {row_id})
    part = source if isinstance(source, Part) else None
    source = source.file if isinstance(source, Part) else source
    rows, lines, start = sys.maxsize if at_once else ROWS_AT_ONCE, Lines(), 0 if part is None else part.start
    name = Path(source).name if isinstance(source, str | Path) else "standard input"
    if part is not None:
        name = part.name
    for chunk, n_rows in _chunks(run, source, rows, columns, texts, row_id, lines, part):
        tidy: Any = chunk if isinstance(chunk, dict) else loader(chunk)
        for column in (*policy.features_, *(() if row_id is None else (row_id,))):
            if column not in tidy:
                told = {} if part is None else part.folders
                raise MissingColumnError(column, [*arrow_names(source), *told] if arrow_format(source) else tidy, name)
        place: Place = (
            partial(_numbered, name, start) if arrow_format(source) else tidy_places(tidy, n_rows, lines, start)
        )
        contexts = policy.contexts_of({str(column): np.asarray(tidy[column]) for column in tidy}, place)
        yield contexts, None if row_id is None else contexts[row_id]
        start += n_rows


def _numbered(name: str, start: int, row: int) -> str:
    """Return where a row stands in a file without lines, counted from 0."""
    return f"{name}, row {start + row}"


def _chunks(
    run: Run, source: str | Path | IO[str], at_once: int, columns: Collection[str] | None, texts: Collection[str],
    row_id: str | None, lines: Lines, part: Part | None = None,
) -> Iterator[tuple[Any, int]]:  # fmt: skip
    """Yield batches of a file with their lengths: columns where the case takes tables as they are, else frames.

    Columns that folders of a dataset say are added, unless the file has them itself.
    """
    spec = run.case.data

    def completed(frame: pd.DataFrame) -> pd.DataFrame:
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
    wanted = None if columns is None else {*columns, *(() if row_id is None else (row_id,))}
    constants = {} if part is None else part.constants(texts, spec.missing)
    if wanted is not None and constants and wanted.isdisjoint(arrow_names(path)):
        wanted = None  # how many rows there are is known from a column of the file
    for batch in arrow_columns(path, at_once, wanted, texts=texts, missing=spec.missing, groups=groups):
        n_rows = len(next(iter(batch.values()), ()))
        yield {name: np.full(n_rows, _told(value, name in texts)) for name, value in constants.items()} | batch, n_rows


def _told(value: float | str, text: bool) -> float | str:
    """Return a value as columns of an Arrow file hold it: missing texts are empty."""
    return "" if text and isinstance(value, float) else value


def write_recommendations(
    run: Run,
    source: str | Path | IO[str],
    strategy: str | None,
    out: Path,
    *,
    log: Path | None = None,
    row_id: str | None = None,
) -> UnusualCounts:
    """Write recommendations, whole or not at all, and return how many rows were unusual.

    Parameters
    ----------
    run, source, strategy, row_id
        See `recommend_rows`.
    out
        A Parquet or Arrow file by its suffix; any other is CSV.
    log
        A file to whose end one line per decision is added, once `out` is written: see `accordant.runs.decision_log`.
    """
    with _logged(run, log, [source, out]) as note:
        if arrow_format(out) is None:
            with output_file(out, [source]) as file:
                return stream_recommendations(run, source, strategy, file, row_id=row_id, note=note)
        return _write_arrow(run, source, strategy, out, row_id, note)


def write_part_recommendations(
    run: Run, part: Part, strategy: str | None, out: Path, row_id: str | None = None
) -> UnusualCounts:
    """Write recommendations for a part of a dataset as Parquet, in place of what was there; see `recommend_rows`."""
    return _write_arrow(run, part, strategy, out, row_id, _nowhere)


def _write_arrow(
    run: Run, source: str | Path | IO[str] | Part, strategy: str | None, out: Path, row_id: str | None, note: Note
) -> UnusualCounts:
    counts = UnusualCounts()
    with arrow_output(out, [source.file if isinstance(source, Part) else source]) as write:
        for batch in recommend_rows(run, source, strategy, row_id):
            write({"row": batch.names} | batch.found.columns())
            note(batch)
            counts += batch.found.counts
    return counts


def stream_recommendations(
    run: Run, source: str | Path | IO[str], strategy: str | None, file: IO[str], *, row_id: str | None = None,
    note: Note = _nowhere,
) -> UnusualCounts:  # fmt: skip
    """Write recommendations as CSV to an open file and return how many rows were unusual."""
    counts = UnusualCounts()
    for batch in recommend_rows(run, source, strategy, row_id):
        table = {"row": batch.names} | batch.found.columns()
        frame = pd.DataFrame({written_cell(name): written_column(pd.Series(column)) for name, column in table.items()})
        frame.to_csv(file, index=False, header=batch.start == 0, lineterminator="\n")
        note(batch)
        counts += batch.found.counts
    return counts


def written_column(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as it goes into a CSV: each distinct text as `written_cell` says, floats as objects.

    Pandas writes objects by Python's `repr`: the same characters as NumPy's, sooner.
    """
    if column.dtype == np.float64:
        return column.astype(object)
    if column.dtype.kind in "biuf":
        return column
    return column.map({text: written_cell(text) for text in column.unique()})


@contextmanager
def _logged(run: Run, log: Path | None, others: Sequence[Input]) -> Iterator[Note]:
    """Yield what takes down batches; they are added to the log when the block ends well, and not at all if it fails."""
    if log is None:
        yield _nowhere
        return
    check_log(log, others)
    time, version = datetime.now(UTC), run.manifest.sha256
    read = dict.fromkeys((*run.policy.features_, *run.policy.types_))
    with TemporaryFile("w+", encoding="utf-8", newline="") as lines:

        def note(batch: Batch) -> None:
            """Write the lines of a batch aside."""
            cells = {name: batch.contexts[name].tolist() for name in read if name in batch.contexts}
            for line in decision_lines(batch.found, cells, batch.names.tolist(), run=version, time=time):
                lines.write(line.line())

        yield note
        lines.seek(0)
        if not log.exists():
            write_output(log, "", others)
        append_lines(log, iter(partial(lines.read, SPOOLED), ""))


def recommendations_as_json(
    run: Run, source: str | Path | IO[str], strategy: str | None, *, log: Path | None = None, row_id: str | None = None
) -> tuple[list[dict[str, Any]], UnusualCounts]:
    """Return one object per row, and how many rows were unusual.

    An object holds action (None where a person decides), runner-up, margin, tied, what is unusual, whether a person
    decides or the declared action is taken, and E by stakeholder and action; where actions are drawn, also the
    probabilities and the number that was drawn.
    """
    found, counts = [], UnusualCounts()
    with _logged(run, log, [source]) as note:
        for rows in recommend_rows(run, source, strategy, row_id):
            found += _as_json(rows)
            note(rows)
            counts += rows.found.counts
    return found, counts


def _as_json(rows: Batch) -> list[dict[str, Any]]:
    """Return one object per row of a batch."""
    batch, names, found = rows.found, rows.names.tolist(), []
    expected = batch.expected
    handled = {name: values.tolist() for name, values in batch.columns().items() if name in HANDLED}
    for t, action in enumerate(batch.decisions.actions):
        found.append(
            {
                "row": names[t],
                "action": str(action) or None,
                "runner_up": str(batch.runner_up[t]) or None,
                "margin": finite(batch.margin[t]),
                "tied": bool(batch.decisions.tied[t]),
                **{name: values[t] for name, values in handled.items()},
                **_drawn(batch.decisions, t),
                "flags": [name for name, flag in batch.decisions.flags.items() if flag[t]],
                "expected_rewards": {
                    who: {what: float(expected.values[i, a, t]) for a, what in enumerate(expected.actions)}
                    for i, who in enumerate(expected.stakeholders)
                },
            }
        )
    return found


def _drawn(decisions: Decisions, t: int) -> dict[str, Any]:
    """Return the probabilities of a context and the number that was drawn; nothing where nothing is drawn."""
    if decisions.policy is None:
        return {}
    column = decisions.policy[:, t].tolist()
    chances = {name: finite(chance) for name, chance in zip(decisions.action_names, column, strict=True)}
    return {"probabilities": chances, "draw": float(decisions.quantities["draw"][t])}


@dataclass(frozen=True, eq=False)
class Untouched:
    """The rows of a run that were used neither to learn nor to select.

    Attributes
    ----------
    run
        The run.
    data
        Those rows.
    simulated
        Whether they come from the case's simulator.
    training
        The rows that were used.
    """

    run: Run
    data: CaseData
    simulated: bool
    training: CaseData

    @property
    def notice(self) -> str:
        """What must stand before anything that is said of these rows, or nothing."""
        return "SIMULATED DATA: " if self.simulated else ""

    @property
    def origin(self) -> str:
        """Where the rows come from, in one phrase."""
        return f"the {len(self.data.log)} untouched rows of {self.run.path}"

    def evidence(self) -> Evidence:
        """Return E, f and realised rewards on these rows, through the saved policy."""
        return self.run.policy.evidence_on(self.data.log, true_levels=self.data.true_levels)


def untouched_rows(run: Run, data: str | None) -> Untouched:
    """Return the untouched rows of a run.

    Parameters
    ----------
    run
        From `read_run`.
    data
        Data file or folder of the run; None looks in the usual places.

    Raises
    ------
    InputError
        If the data cannot be found, or are not those that the run was made from.
    """
    case, recorded, seed = run.case, run.record.data, run.record.seed
    if case.data.file is None and case.simulator is None:
        raise InputError(
            f"the run {run.path} was made from {recorded.source}, which no file holds; name a file of rows"
        )
    try:
        loaded = case_data(case, Path(), RunOptions(seed, data), case.signals())
    except DataNotFoundError as error:
        if data is not None:
            raise
        raise InputError(
            f"the run {run.path} was made from {recorded.source}, which is not here; name it with --data"
        ) from error
    if loaded.sha256 != recorded.sha256 or loaded.simulated != recorded.simulated:
        raise InputError(
            f"the run {run.path} was made from {recorded.source}, and {loaded.source} is not the same data"
        )
    training, untouched = split(loaded, case.evaluation.test_size, seed)
    return Untouched(run, untouched, loaded.simulated, training)


def contexts_of(run: Run, source: str | Path | IO[str] | None, data: str | None) -> tuple[Contexts, str]:
    """Return the contexts of a file, or of the untouched rows if there is none, and where they come from.

    Raises
    ------
    InputError
        If the file or the data cannot be used.
    """
    if source is None:
        untouched = untouched_rows(run, data)
        return untouched.data.log.contexts, f"{untouched.notice}{untouched.origin}"
    if data is not None:
        raise InputError("--data names the data of the untouched rows; it has no effect on the rows of a file")
    contexts = row_contexts(run, source)
    where = source if isinstance(source, str | Path) else "standard input"
    return contexts, f"{contexts.n_contexts} row{'' if contexts.n_contexts == 1 else 's'} of {where}"


def inputs_of(run: Run, file: str | None, data: str | None) -> tuple[Input, ...]:
    """Return the files that a command on a run reads, which its output must not replace: those of its rows."""
    if file is not None or run.case.data.file is None:
        return (file,)
    with suppress(DataNotFoundError):  # which is told where the rows are read
        return (find_file(run.case.data.file, data, Path()),)
    return ()


def drawn_rows(n_rows: int, wanted: int | None, seed: int) -> NDArray[np.intp] | None:
    """Return the positions of `wanted` of the rows, drawn at random and in order; None for all of them."""
    if wanted is None or wanted >= n_rows:
        return None
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:wanted])
