"""The untouched rows of a finished run, found again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accordant.cases.loaders import CaseData
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.runs.execution import RunOptions, case_data, split
from accordant.runs.folder import Run


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
    case, recorded, seed = run.case, run.content["data"], run.content["seed"]
    loaded = case_data(case, Path(), RunOptions(seed, data), case.signals())
    if loaded.sha256 != recorded["sha256"] or loaded.simulated != recorded["simulated"]:
        raise InputError(
            f"the run {run.path} was made from {recorded['source']}, and {loaded.source} is not the same data"
        )
    return Untouched(run, split(loaded, case.evaluation.test_size, seed)[1], loaded.simulated)


def drawn_rows(n_rows: int, wanted: int | None, seed: int) -> NDArray[np.intp] | None:
    """Return the positions of `wanted` of the rows, drawn at random and in order; None for all of them."""
    if wanted is None or wanted >= n_rows:
        return None
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:wanted])
