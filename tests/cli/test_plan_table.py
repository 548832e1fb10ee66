"""What ``plan`` prints: each amount in the unit that suits it, what limits the job, and notes."""

from __future__ import annotations

import dataclasses

import pytest

from accordant.cli.plan_table import print_plan
from accordant.runs.datasets.plan_record import Plan
from accordant.statistics import Estimate

PLAN = Plan(
    kind="recommend", strategy="maximin", rows=2_000_000, parts=40, part_rows=50_000, workers=4,
    seconds=Estimate(7_200.0, 5_400.0, 9_000.0), cpu_hours=Estimate(6.0, 5.0, 7.5), worker_hours=8.0, cost=None,
    worker_memory=1_234.5, driver_memory=99.4, input_bytes=7.2e9, output_bytes=1.44e7,
    shares={"reading": 0.25, "deciding": 0.5, "waiting": 0.25}, driver=0.125, bottleneck="deciding", most_workers=38,
    notes=("first note", "second note"), model=None,
)  # fmt: skip


@pytest.fixture
def printed(capsys):
    """Return a function that prints a plan and returns the first cell of each line with the others."""

    def lines(**changes):
        print_plan(dataclasses.replace(PLAN, **changes))
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    return lines


def test_each_amount_stands_with_its_limits(printed):
    lines = printed()
    assert lines[0].startswith("What it takes to ") and lines[0].endswith(", before it is begun")
    for line in (
        "rows 2,000,000", "parts 40 up to 50,000 rows each", "workers 4 more than 38 hardly help", "hours 2 1.5–2.5",
        "CPU hours 6 5–7.5", "hours of workers, paid for 8", "memory of a worker 1,234 MiB",
        "memory where the command runs 99 MiB", "read 7.2 GB 1 MB a second", "written 14.4 MB 2 kB a second",
    ):  # fmt: skip
        assert line in lines
    assert not any(line.startswith("cost") for line in lines) and "cost 12.5" in printed(cost=12.5)


def test_what_limits_the_job_and_what_was_noted_come_last(printed):
    assert printed()[-4:] == [
        "limited by: deciding", "workers: reading 25%, deciding 50%, waiting 25%; the driver is busy 12% of the time",
        "- first note", "- second note",
    ]  # fmt: skip


def test_a_short_job_is_told_in_seconds(printed):
    lines = printed(seconds=Estimate(12.0, 9.0, 15.5), worker_hours=4 * 12 / 3600)
    assert "seconds 12 9–15.5" in lines and "read 7.2 GB 600 MB a second" in lines
