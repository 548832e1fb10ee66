"""The untouched rows of a run, and the contexts that it is asked about: those, or the rows of a file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from accordant.cases.files import find_file
from accordant.cases.loaders import CaseData
from accordant.contexts import Contexts
from accordant.errors import DataNotFoundError, InputError
from accordant.evidence import Evidence
from accordant.runs.execution import RunOptions, case_data, split
from accordant.runs.folder import Run
from accordant.runs.row_batches import row_contexts
from accordant.tables.output import Input


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
