"""Recommendations for the rows of a file, in batches of bounded memory unless a strategy needs them all at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
import pandas as pd

from accordant.arrays import AnyArray
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.json_values import finite
from accordant.recommendation import Recommendations
from accordant.runs.decision_log import check_log, decision_lines
from accordant.runs.folder import Run
from accordant.runs.row_batches import read_batches
from accordant.runs.sections.adoption import adoptions, with_adopted
from accordant.tables.arrow import arrow_format, arrow_output
from accordant.tables.datasets import Part
from accordant.tables.output import Input, append_lines, output_file, write_output
from accordant.tables.text import written_cell
from accordant.unusual import UnusualCounts

logger = logging.getLogger(__name__)

HANDLED = ("unusual", "referred", "fall_back", "adopted")  # columns about what another than the rule decides
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
    recommended
        What is recommended.
    """

    start: int
    names: AnyArray
    contexts: Contexts
    recommended: Recommendations


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
    for contexts, names in read_batches(run, source, at_once=rule.whole_batch, columns=read, row_id=row_id):
        batch = policy.recommend(contexts, strategy=rule.label)
        batch = with_adopted(batch, contexts, policy.features_, known)
        adopted += 0 if batch.adopted is None else int((batch.adopted != "").sum())
        yield Batch(start, np.arange(start, start + contexts.n_contexts) if names is None else names, contexts, batch)
        start += contexts.n_contexts
    if adopted:
        logger.info("%d of %d rows are decided by debates that people adopted", adopted, start - first)


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
            write({"row": batch.names} | batch.recommended.columns())
            note(batch)
            counts += batch.recommended.counts
    return counts


def stream_recommendations(
    run: Run, source: str | Path | IO[str], strategy: str | None, file: IO[str], *, row_id: str | None = None,
    note: Note = _nowhere,
) -> UnusualCounts:  # fmt: skip
    """Write recommendations as CSV to an open file and return how many rows were unusual."""
    counts = UnusualCounts()
    for batch in recommend_rows(run, source, strategy, row_id):
        table = {"row": batch.names} | batch.recommended.columns()
        frame = pd.DataFrame({written_cell(name): written_column(pd.Series(column)) for name, column in table.items()})
        frame.to_csv(file, index=False, header=batch.start == 0, lineterminator="\n")
        note(batch)
        counts += batch.recommended.counts
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
            for line in decision_lines(batch.recommended, cells, batch.names.tolist(), run=version, time=time):
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
    objects, counts = [], UnusualCounts()
    with _logged(run, log, [source]) as note:
        for rows in recommend_rows(run, source, strategy, row_id):
            objects += _as_json(rows)
            note(rows)
            counts += rows.recommended.counts
    return objects, counts


def _as_json(rows: Batch) -> list[dict[str, Any]]:
    """Return one object per row of a batch."""
    batch, names, objects = rows.recommended, rows.names.tolist(), []
    expected = batch.expected
    handled = {name: values.tolist() for name, values in batch.columns().items() if name in HANDLED}
    for t, action in enumerate(batch.decisions.actions):
        objects.append(
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
    return objects


def _drawn(decisions: Decisions, t: int) -> dict[str, Any]:
    """Return the probabilities of a context and the number that was drawn; nothing where nothing is drawn."""
    if decisions.policy is None:
        return {}
    column = decisions.policy[:, t].tolist()
    chances = {name: finite(chance) for name, chance in zip(decisions.action_names, column, strict=True)}
    return {"probabilities": chances, "draw": float(decisions.quantities["draw"][t])}
