"""Whatever reports uncertainty is right about it: a short form of ``python -m benchmarks.truth``."""

from __future__ import annotations

import pytest

from benchmarks.truth.run import Settings
from benchmarks.truth.study import broken, study
from benchmarks.truth.worlds import WORLDS

RUNS, JOBS = 30, 2
SLACK = 3.0  # standard errors: so few runs only find large faults


@pytest.mark.xfail(reason="intervals, comparisons and scores do not keep every promise yet", strict=True)
def test_every_promise_is_kept_in_every_world():
    assert broken([study(world, RUNS, Settings(), JOBS) for world in WORLDS.values()], SLACK) == []
