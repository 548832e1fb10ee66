"""What templates say of times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accordant.service.pages.layout import due
from accordant.service.record.log import TIME


@pytest.mark.parametrize(
    ("days", "said"),
    [(-2.4, "2 days overdue"), (-1.2, "1 day overdue"), (-0.1, "1 day overdue"), (0.9, "today"), (1.2, "in 1 day"),
     (1.8, "in 2 days"), (5.1, "in 5 days")],
)  # fmt: skip
def test_days_until_a_time_or_since(days, said):
    assert due((datetime.now(UTC) + timedelta(days=days)).strftime(TIME)) == said
