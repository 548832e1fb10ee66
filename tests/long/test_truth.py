"""Whatever reports uncertainty is right about it: a short form of ``python -m benchmarks.truth``."""

from __future__ import annotations

from benchmarks.truth.run import Settings
from benchmarks.truth.study import broken, study
from benchmarks.truth.worlds import WORLDS

RUNS, JOBS = 10, 2
SLACK = 3.0  # standard errors: so few runs only find large faults


def test_every_promise_is_kept_in_every_world():
    assert broken([study(world, RUNS, Settings(), JOBS) for world in WORLDS.values()], SLACK) == []
