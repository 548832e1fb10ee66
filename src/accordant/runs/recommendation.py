"""Recommendations for the rows of a file, in batches of bounded memory unless a strategy needs them all at once.

Beside them, what other commands ask of a run: its untouched rows, the contexts of a file, and a draw among rows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.cases.loaders import CaseData, tidiers
from accordant.contexts import Contexts
from accordant.errors import DataError, DataNotFoundError, InputError, UnknownNameError
from accordant.evidence import Evidence
from accordant.recommendation import Recommendations
from accordant.runs.execution import RunOptions, case_data, split
from accordant.runs.folder import Run
from accordant.tables.frames import ROWS_AT_ONCE, read_chunks
from accordant.tables.text import written_cell


def recommend_rows(
    run: Run, source: str | Path | IO[str], strategy: str | None
) -> Iterator[tuple[int, Recommendations]]:
    """Yield the number of the first row and the recommendations of each batch.

    Parameters
    ----------
    run
        From `read_run`.
    source
        A CSV file with the feature columns of the case, or an open text stream.
    strategy
        Label of another strategy than the selected one.

    Raises
    ------
    InputError
        If a column is missing, a value cannot be used, or the strategy is unknown.
    """
    policy = run.policy
    rule = policy.strategy(strategy or policy.selected_)
    start = 0
    for contexts in _read(run, source, at_once=rule.whole_batch):
        yield start, policy.recommend(contexts, strategy=rule.label)
        start += contexts.n_contexts


def row_contexts(run: Run, source: str | Path | IO[str]) -> Contexts:
    """Return all rows of a file as contexts; see `recommend_rows`."""
    return next(_read(run, source, at_once=True))


def _read(run: Run, source: str | Path | IO[str], *, at_once: bool) -> Iterator[Contexts]:
    """Yield the rows of a file in batches, or all in one."""
    policy, spec = run.policy, run.case.data
    texts = policy.outcome_model_.encoder.categories
    rows = sys.maxsize if at_once else ROWS_AT_ONCE
    for chunk in read_chunks(source, rows, texts, spec.separator, spec.encoding):
        tidy = tidiers.create(spec.loader)(chunk)
        for name in policy.features_:
            if name not in tidy.columns:
                raise DataError(
                    f"new rows: {UnknownNameError('column', name, [str(column) for column in tidy.columns])}"
                )
        yield Contexts({str(name): tidy[name].to_numpy() for name in tidy.columns})


def write_recommendations(run: Run, source: str | Path | IO[str], strategy: str | None, out: Path) -> int:
    """Write recommendations as CSV, whole or not at all, and return the number of rows."""
    unfinished = out.with_name(f".{out.name}.unfinished-{os.getpid()}")
    rows = 0
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            rows = stream_recommendations(run, source, strategy, file)
        unfinished.replace(out)
    except OSError as error:
        raise InputError(f"recommendations cannot be written to {out}: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return rows


def stream_recommendations(run: Run, source: str | Path | IO[str], strategy: str | None, file: IO[str]) -> int:
    """Write recommendations as CSV to an open file and return the number of rows."""
    rows = 0
    for start, recommendations in recommend_rows(run, source, strategy):
        frame = pd.DataFrame(recommendations.columns()).rename(columns=written_cell)
        texts = frame.select_dtypes(exclude=["number", "bool"]).columns
        frame[texts] = frame[texts].map(written_cell)
        frame.insert(0, "row", range(start, start + len(frame)))
        frame.to_csv(file, index=False, header=start == 0, lineterminator="\n")
        rows = start + len(frame)
    return rows


def recommendations_as_json(run: Run, source: str | Path | IO[str], strategy: str | None) -> list[dict[str, Any]]:
    """Return one object per row: action, runner-up, margin, tied, and E by stakeholder and action."""
    found = []
    for start, batch in recommend_rows(run, source, strategy):
        expected = batch.expected
        for t, action in enumerate(batch.decisions.actions):
            margin = float(batch.margin[t])
            found.append(
                {
                    "row": start + t,
                    "action": str(action),
                    "runner_up": str(batch.runner_up[t]) or None,
                    "margin": None if margin != margin else margin,  # noqa: PLR0124 - NaN
                    "tied": bool(batch.decisions.tied[t]),
                    "flags": [name for name, flag in batch.decisions.flags.items() if flag[t]],
                    "expected_rewards": {
                        who: {what: float(expected.values[i, a, t]) for a, what in enumerate(expected.actions)}
                        for i, who in enumerate(expected.stakeholders)
                    },
                }
            )
    return found


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
    """

    run: Run
    data: CaseData
    simulated: bool

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
    return Untouched(run, split(loaded, case.evaluation.test_size, seed)[1], loaded.simulated)


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


def drawn_rows(n_rows: int, wanted: int | None, seed: int) -> NDArray[np.intp] | None:
    """Return the positions of `wanted` of the rows, drawn at random and in order; None for all of them."""
    if wanted is None or wanted >= n_rows:
        return None
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:wanted])
