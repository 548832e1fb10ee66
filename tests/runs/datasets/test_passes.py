"""What a map of empty parts costs, on a clock that only the executor moves."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from accordant.runs.datasets.passes import pass_cost


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ({20: 0.5, 220: 2.5}, (0.3, 0.01)),  # 0.3 for the map and 0.01 for each part
        ({20: 0.5, 220: 0.25}, (0.5, 0.0)),  # no part takes less than nothing
        ({20: 0.125, 220: 4.125}, (0.0, 0.02)),  # nor does a map
    ],
)
def test_cost_of_a_map_and_of_each_of_its_parts(monkeypatch, seconds, expected):
    clock = {"wall": 3.0, "cpu": 7.0}

    def run(task, items):
        clock["wall"] += seconds[len(items)]
        clock["cpu"] += seconds[len(items)] / 2  # it waits for workers half of the time
        yield from items

    read = SimpleNamespace(perf_counter=lambda: clock["wall"], process_time=lambda: 0.0)
    monkeypatch.setattr("accordant.runs.datasets.trials.time", read)
    monkeypatch.setattr("accordant.runs.datasets.passes.cpu_seconds", lambda: clock["cpu"])
    wall, per_part, cpu = pass_cost(SimpleNamespace(run=run), (20, 220))
    assert (wall, per_part) == pytest.approx(expected)
    assert cpu == pytest.approx(expected[0] / 2)
