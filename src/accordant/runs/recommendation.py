"""Recommendations for the rows of a file, in batches of bounded memory unless a strategy needs them all at once.

Beside them, what other commands ask of a run: its untouched rows, the contexts of a file, and a draw among rows.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.cases.files import find_file
from accordant.cases.loaders import CaseData, tidiers, tidy_places
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.errors import DataNotFoundError, InputError, MissingColumnError
from accordant.evidence import Evidence
from accordant.json_values import finite
from accordant.recommendation import Recommendations
from accordant.runs.execution import RunOptions, case_data, split
from accordant.runs.folder import Run
from accordant.runs.sections.adoption import adoptions, with_adopted
from accordant.tables.frames import ROWS_AT_ONCE, Lines, read_chunks
from accordant.tables.output import Input, output_file
from accordant.tables.text import written_cell
from accordant.unusual import UnusualCounts

logger = logging.getLogger(__name__)

HANDLED = ("unusual", "referred", "fall_back", "adopted")  # columns about what another than the rule decides


def recommend_rows(
    run: Run, source: str | Path | IO[str], strategy: str | None
) -> Iterator[tuple[int, Recommendations]]:
    """Yield the number of the first row and the recommendations of each batch.

    Those of D* are what people adopted for rows with the same features, where they did.

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
    known = adoptions(run) if rule.label == policy.selected_ else {}
    start = adopted = 0
    for contexts in _read(run, source, at_once=rule.whole_batch):
        batch = policy.recommend(contexts, strategy=rule.label)
        batch = with_adopted(batch, contexts, policy.features_, known)
        adopted += 0 if batch.adopted is None else int((batch.adopted != "").sum())
        yield start, batch
        start += contexts.n_contexts
    if adopted:
        logger.info("%d of %d rows are decided by debates that people adopted", adopted, start)


def row_contexts(run: Run, source: str | Path | IO[str]) -> Contexts:
    """Return all rows of a file as contexts; see `recommend_rows`."""
    return next(_read(run, source, at_once=True))


def _read(run: Run, source: str | Path | IO[str], *, at_once: bool) -> Iterator[Contexts]:
    """Yield the rows of a file in batches, or all in one, with the types of the training rows."""
    policy, spec, lines, start = run.policy, run.case.data, Lines(), 0
    texts = [name for name, declared in policy.types_.items() if declared == "category"]
    rows = sys.maxsize if at_once else ROWS_AT_ONCE
    chunks = read_chunks(
        source, rows, texts=texts, separator=spec.separator, encoding=spec.encoding, missing=spec.missing, lines=lines
    )
    for chunk in chunks:
        tidy = tidiers.create(spec.loader)(chunk)
        for name in policy.features_:
            if name not in tidy.columns:
                raise MissingColumnError(name, tidy.columns, lines.name)
        place = tidy_places(tidy, len(chunk), lines, start)
        yield policy.contexts_of({str(name): tidy[name].to_numpy() for name in tidy.columns}, place)
        start += len(chunk)


def write_recommendations(run: Run, source: str | Path | IO[str], strategy: str | None, out: Path) -> UnusualCounts:
    """Write recommendations as CSV, whole or not at all, and return how many rows were unusual."""
    with output_file(out, [source]) as file:
        return stream_recommendations(run, source, strategy, file)


def stream_recommendations(
    run: Run, source: str | Path | IO[str], strategy: str | None, file: IO[str]
) -> UnusualCounts:
    """Write recommendations as CSV to an open file and return how many rows were unusual."""
    counts = UnusualCounts()
    for start, batch in recommend_rows(run, source, strategy):
        frame = pd.DataFrame({written_cell(name): column for name, column in batch.columns().items()})
        texts = frame.select_dtypes(exclude=["number", "bool"]).columns
        frame[texts] = frame[texts].map(written_cell)
        frame.insert(0, "row", range(start, start + len(frame)))
        frame.to_csv(file, index=False, header=start == 0, lineterminator="\n")
        counts += batch.counts
    return counts


def recommendations_as_json(
    run: Run, source: str | Path | IO[str], strategy: str | None
) -> tuple[list[dict[str, Any]], UnusualCounts]:
    """Return one object per row, and how many rows were unusual.

    An object holds action (None where a person decides), runner-up, margin, tied, what is unusual, whether a person
    decides or the declared action is taken, and E by stakeholder and action; where actions are drawn, also the
    probabilities and the number that was drawn.
    """
    found, counts = [], UnusualCounts()
    for start, batch in recommend_rows(run, source, strategy):
        expected, counts = batch.expected, counts + batch.counts
        handled = {name: values.tolist() for name, values in batch.columns().items() if name in HANDLED}
        for t, action in enumerate(batch.decisions.actions):
            found.append(
                {
                    "row": start + t,
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
    return found, counts


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
