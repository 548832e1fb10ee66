"""A run with three actions, and logs of its decisions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from accordant.monitoring import Outcome
from accordant.runs import read_run
from accordant.runs.decision_log import decision_lines

BEGIN, A_DAY = datetime(2026, 1, 5, 8, tzinfo=UTC), 20


def people(n, generator, shift=0.0):
    return {"score": (generator.normal(size=n) + shift).round(2), "branch": generator.choice(["north", "south"], n)}


@pytest.fixture(scope="session")
def watched(run_of_three):
    """The run, read once."""
    return read_run(run_of_three)


@pytest.fixture(scope="session")
def logged(watched):
    """Return a function that makes lines of a log, and outcomes."""

    def log(n, seed=0, shift=0.0, change=None, effect=0.0):
        generator = np.random.default_rng(seed)
        change = n if change is None else change
        parts = people(change, generator), people(n - change, generator, shift)
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        found = watched.policy.recommend(columns)
        cells = {name: values.tolist() for name, values in columns.items()}
        rows = [f"p{k}" for k in range(n)]
        made = decision_lines(found, cells, rows, run=watched.manifest.sha256, time=BEGIN)
        lines = [
            line.replace(time=BEGIN + timedelta(days=k // A_DAY, minutes=k % A_DAY)) for k, line in enumerate(made)
        ]
        worse = np.where(np.arange(n) >= change, effect, 0.0)
        repaid = columns["score"] + generator.normal(size=n) + worse > 0
        return lines, [Outcome(row, "Repaid" if good else "Default") for row, good in zip(rows, repaid, strict=True)]

    return log
