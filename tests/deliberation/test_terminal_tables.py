"""What the terminal says below its tables."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from accordant.deliberation.decision.terminal import _standings
from accordant.deliberation.result import RegretsResult
from accordant.deliberation.terminal import deliberation_options
from accordant.deliberation.terminal_tables import _regret_table
from accordant.threads import free_cores


def test_a_framework_that_an_agent_follows_draws_no_lots_that_nobody_drew():
    regrets = RegretsResult(
        allocations=("solo a", "joint"), frameworks=("care", "egalitarian", "rawlsian"),
        regrets=((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), followed=(("a",), (), ()), exact=True, missing={},
    )  # fmt: skip
    assert str(_regret_table(regrets).caption).startswith("egalitarian: indifferent between these")


@pytest.mark.parametrize(("asked", "jobs"), [(None, 1), (1, 1), (3, 3), (0, free_cores())])
def test_a_repetition_takes_one_process_unless_others_are_asked_for(asked, jobs):
    options = deliberation_options(
        agents=None, protocol="debate", guard="log", repeat=2, jobs=asked, on=None, capacity=(), model={}
    )
    assert options.jobs == jobs


@pytest.mark.parametrize(("n", "title"), [(1, "Expected reward"), (3, "Expected reward, mean of 3 rows")])
def test_a_mean_is_called_one_only_over_several_rows(n, title):
    standing = SimpleNamespace(settled=0.5, selected=0.25, best=1.0, worst=0.0)
    table = _standings(SimpleNamespace(rows=[None] * n, standings={"Ada": standing}))
    assert str(table.title) == title and table.row_count == 1
