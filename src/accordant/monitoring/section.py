"""Watching decisions in use: a log from its first line to its last, then the outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pandas as pd

from accordant.errors import DataError, MissingColumnError
from accordant.monitoring.monitors import ALPHA, Monitor, Outcome
from accordant.monitoring.result import Monitored
from accordant.rewards import ObservedReward
from accordant.runs.decision_log import DecisionLine
from accordant.runs.folder import Run
from accordant.tables.frames import Lines, read_chunks
from accordant.tables.text import read_cell


def monitor(
    run: Run, lines: Iterable[DecisionLine], outcomes: Iterable[Outcome] | None = None, *, alpha: float = ALPHA
) -> Monitored:
    """Return what decisions in use show, and what followed them.

    Decisions are read one by one and not kept, but for those with an outcome.

    Parameters
    ----------
    run
        From `accordant.runs.read_run`.
    lines
        Decisions in the order in which they were taken, such as `accordant.runs.decision_log.read_decisions` yields.
    outcomes
        In the order in which they became known, such as `read_outcomes` yields; None if there are none.
    alpha
        Probability with which there is ever a false alarm, at most, however often somebody looks.

    Raises
    ------
    InputError
        If nothing in the log is of this run, or an outcome cannot be used.
    """
    known = () if outcomes is None else tuple(outcomes)
    watching = Monitor(run, alpha=alpha, awaited=frozenset(str(outcome.row) for outcome in known))
    for line in lines:
        watching.decide(line)
    for outcome in known:
        watching.observe(outcome)
    return watching.result()


def read_outcomes(run: Run, source: str | Path | IO[str]) -> Iterator[Outcome]:
    """Yield the rows of a CSV file of outcomes.

    Parameters
    ----------
    run
        Whose decisions they followed.
    source
        A file with the columns ``row`` and ``outcome`` and, where rewards were observed, a column for each stakeholder,
        with its name or the one of the column that the case reads its reward from. Empty cells: not known.

    Raises
    ------
    DataError
        If a column is missing or unknown, or a cell holds no number where one belongs; file and line are named.
    """
    problem, columns, lines, start = run.policy.problem, reward_columns(run), Lines(), 0
    for chunk in read_chunks(source, texts=("row", "outcome"), lines=lines):
        if "row" not in chunk.columns:
            raise MissingColumnError("row", chunk.columns, lines.name)
        if "outcome" not in chunk.columns and not set(columns) & set(chunk.columns):
            raise MissingColumnError("outcome", chunk.columns, lines.name)
        for name in chunk.columns:
            if name not in ("row", "outcome", *columns):
                allowed = ", ".join(("row", "outcome", *columns))
                raise DataError(f"{lines.name}: unknown column {name!r}; allowed: {allowed}")
        for offset, cells in enumerate(chunk.to_dict("records")):
            where = lines.place(start + offset)
            if pd.isna(cells["row"]):
                raise DataError(f"{where}: row is empty; allowed: the row of a decision")
            value = cells.get("outcome")
            rewards = {
                columns[name]: _number(cells[name], name, where)
                for name in columns
                if name in cells and not pd.isna(cells[name])
            }
            if pd.isna(value):
                yield Outcome(read_cell(cells["row"]), None, rewards, where)
            else:
                outcome = _number(value, "outcome", where) if problem.continuous else read_cell(str(value))
                yield Outcome(read_cell(cells["row"]), outcome, rewards, where)
        start += len(chunk)


def reward_columns(run: Run) -> dict[str, str]:
    """Return columns that may hold a stakeholder's reward."""
    columns = {name: name for name in run.policy.problem.stakeholder_names}
    for name, signal in run.policy.signals_.items():
        if isinstance(signal, ObservedReward):
            columns[signal.column] = name
    return columns


def _number(cell: Any, name: str, where: str) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise DataError(f"{where}: {name} is {cell!r:.40}; allowed: a number, or nothing") from None
