"""What the terminal says below its tables."""

from __future__ import annotations

from accordant.deliberation.result import RegretsResult
from accordant.deliberation.terminal_tables import _regret_table


def test_a_framework_that_an_agent_follows_draws_no_lots_that_nobody_drew():
    regrets = RegretsResult(
        allocations=("solo a", "joint"), frameworks=("care", "egalitarian", "rawlsian"),
        regrets=((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), followed=(("a",), (), ()), exact=True, missing={},
    )  # fmt: skip
    assert str(_regret_table(regrets).caption).startswith("egalitarian: indifferent between these")
