"""Rows of a dataset as decisions: contexts, the action that was decided, when, and what followed where it is known."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from accordant.arrays import Codes, Mask, Times, Values
from accordant.cases.loaders import renamed
from accordant.errors import DataError, InputError, RewardError
from accordant.monitoring.section import reward_columns
from accordant.monitoring.values import DecidedRows, time_texts
from accordant.naming import listed
from accordant.problem import codes_of
from accordant.runs.folder import Run
from accordant.runs.row_batches import RowBatch, placed_batches
from accordant.split import time_keys
from accordant.tables.column_types import Place, typed_column
from accordant.tables.datasets import Part

ACTION, OUTCOME = "action", "outcome"  # as `accordant recommend` and files of outcomes call them
DATES = "dates such as 2024-05-31 or 2024-05-31T14:30:00"


@dataclass(frozen=True)
class RowReader:
    """Reads rows of datasets as decisions of a run.

    Attributes
    ----------
    run
        Whose decisions they are.
    time
        Column that says when each was taken; None if the order of rows is all that is known.
    """

    run: Run
    time: str | None

    def __call__(self, part: Part) -> Iterator[DecidedRows]:
        """Yield the rows of a part, batch by batch.

        Raises
        ------
        InputError
            If a feature, the action or the time is missing, a cell cannot be used, or a time is before that above.
        """
        last = np.datetime64("NaT", "s")
        needed = () if self.time is None else (self.time,)
        texts = (*self._actions, *(() if self.run.policy.problem.continuous else self._outcomes))
        for batch in placed_batches(self.run, part, at_once=False, columns=self._columns, needed=needed, texts=texts):
            if not batch.contexts.n_contexts:  # the loader of the case left all of them out
                continue
            rows = self._rows(batch)
            _check_order(last, rows.times, batch.place)
            last = rows.times[-1]
            yield rows

    @property
    def _actions(self) -> tuple[str, str]:
        """Columns that may hold the action: that of the case, and what `accordant recommend` writes."""
        return self.run.case.data.action, ACTION

    @property
    def _outcomes(self) -> tuple[str, str]:
        """Columns that may hold the outcome: that of the case, and that of files of outcomes."""
        return self.run.case.data.outcome, OUTCOME

    @property
    def _columns(self) -> set[str]:
        """Columns that are read."""
        policy = self.run.policy
        others = set() if self.time is None else {self.time}
        promised = itertools.chain.from_iterable(_promise_columns(self.run))
        return others.union(
            policy.features_, policy.types_, self._actions, self._outcomes, reward_columns(self.run), promised
        )

    def _rows(self, batch: RowBatch) -> DecidedRows:
        problem = self.run.policy.problem
        column = _one_of(self._actions, batch)
        if column is None:
            words = f"{batch.source} tells no action; allowed: a column {' or '.join(dict.fromkeys(self._actions))}"
            raise DataError(f"{words}; found {listed(batch.columns)}")
        decided, codes = self._codes(batch, column, "action", problem.actions)
        actions = np.where(decided, codes, -1)
        known, outcomes = self._followed(batch)
        return DecidedRows(
            batch.contexts, actions, self._times(batch), known, outcomes, self._rewards(batch),
            self._promised(batch, actions),
        )  # fmt: skip

    def _codes(self, batch: RowBatch, column: str, kind: str, declared: Sequence[str]) -> tuple[Mask, Codes]:
        """Return where a column names something, and the position of each name, 0 where there is none."""
        known = ~batch.contexts.missing(column)
        there, spec = np.flatnonzero(known), self.run.case.data
        cells, codes = batch.contexts[column][there], np.zeros(len(known), dtype=np.intp)

        def place(row: int) -> str:
            """Return where a cell that is there stands."""
            return batch.place(int(there[row]))

        if spec.rename and column in (spec.action, spec.outcome):
            cells = renamed(pd.Series(cells, name=column), spec, place)
        if len(there):
            codes[there] = codes_of(kind, cells, declared, place)
        return known, codes

    def _followed(self, batch: RowBatch) -> tuple[Mask, Codes | Values]:
        """Return where an outcome is known, and which."""
        problem, n = self.run.policy.problem, batch.contexts.n_contexts
        column = _one_of(self._outcomes, batch)
        if column is None:
            return np.zeros(n, dtype=bool), np.zeros(n) if problem.continuous else np.zeros(n, dtype=np.intp)
        if not problem.continuous:
            return self._codes(batch, column, "outcome", problem.outcome_names)
        numbers = typed_column(column, batch.contexts[column], "number", batch.place)
        there = np.flatnonzero(~np.isnan(numbers))
        problem.outcome_values(numbers[there], lambda k: batch.place(int(there[k])))
        return ~np.isnan(numbers), numbers

    def _rewards(self, batch: RowBatch) -> Values:
        """Return the rewards that somebody observed, NaN for the others, shape (stakeholder, decision)."""
        names = self.run.policy.problem.stakeholder_names
        rewards = np.full((len(names), batch.contexts.n_contexts), np.nan)
        for column, name in reward_columns(self.run).items():
            if column in batch.contexts and column not in self.run.policy.features_:
                values, place = _shares(batch, column, np.arange(len(rewards[0]))), names.index(name)
                rewards[place] = np.where(np.isnan(values), rewards[place], values)
        return rewards

    def _promised(self, batch: RowBatch, actions: Codes) -> Values | None:
        """Return E of the actions as the dataset holds it, 0 where a person decides; None if it does not."""
        columns = _promise_columns(self.run)
        if any(name not in batch.contexts for names in columns for name in names):
            return None
        promised = np.zeros((len(columns), len(actions)))
        for i, names in enumerate(columns):
            for action, name in enumerate(names):
                rows = np.flatnonzero(actions == action)
                promised[i, rows] = _shares(batch, name, rows)
                if np.isnan(promised[i, rows]).any():
                    row = int(rows[np.isnan(promised[i, rows]).argmax()])
                    raise DataError(f"{batch.place(row)}: column {name!r}: found nothing; allowed: a number in [0, 1]")
        return promised

    def _times(self, batch: RowBatch) -> Times:
        """Return when each decision was taken."""
        if self.time is None:
            return np.full(batch.contexts.n_contexts, "NaT", dtype="datetime64[s]")
        keys = time_keys(batch.contexts[self.time], self.time, batch.place)
        if keys.dtype != np.int64:
            raise DataError(f"{batch.place(0)}: column {self.time!r}: found the number {keys[0]:g}; allowed: {DATES}")
        return keys.astype("datetime64[ns]").astype("datetime64[s]")


def _promise_columns(run: Run) -> list[list[str]]:
    """Return the columns that `accordant recommend` writes E to, by stakeholder and action."""
    problem = run.policy.problem
    return [[f"E[{who}, {what}]" for what in problem.actions] for who in problem.stakeholder_names]


def _one_of(names: Sequence[str], batch: RowBatch) -> str | None:
    """Return which of the names a column has, None if none; raise InputError if several have."""
    columns = [name for name in dict.fromkeys(names) if name in batch.columns]
    if len(columns) > 1:
        raise InputError(
            f"{batch.source} has columns {listed(columns)}; allowed: one of them, so that one thing is told"
        )
    return columns[0] if columns else None


def _shares(batch: RowBatch, column: str, rows: Codes) -> Values:
    """Return numbers in [0, 1], NaN where a cell is empty."""
    values = typed_column(column, batch.contexts[column], "number", batch.place)[rows]
    wrong = ~np.isnan(values) & ~((values >= 0) & (values <= 1))
    if wrong.any():
        k = int(wrong.argmax())
        where = batch.place(int(rows[k]))
        raise RewardError(f"{where}: column {column!r}: found {values[k]:g}; allowed: a number in [0, 1], or nothing")
    return values


def _check_order(last: np.datetime64, times: Times, place: Place) -> None:
    """Raise DataError if a time is before the one above it."""
    above = np.concatenate([[last], times[:-1]])
    back = np.flatnonzero(times < above)
    if len(back):
        row = int(back[0])
        time, before = time_texts(np.array([times[row], above[row]]))
        raise DataError(f"{place(row)}: found {time} after {before}; allowed: rows in the order of time")
