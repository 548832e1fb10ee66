"""Watching decisions in use in worlds of known truth; `benchmarks.monitoring` has more of them."""

from __future__ import annotations

import pytest

from benchmarks.monitoring import ALPHA, WORLDS, delays, false_alarms, try_world, uncovered

pytestmark = pytest.mark.long


@pytest.mark.parametrize("world", [world for world in WORLDS if world.null], ids=lambda world: str(world.reference))
def test_false_alarms_stay_below_alpha_over_all_time(world):
    seen = [try_world(world, seed, 4000, peer=seed < 10) for seed in range(60)]
    assert false_alarms(world, seen, lambda each: each.ours) <= ALPHA + 0.05  # of 60 worlds, at most 6
    assert false_alarms(world, seen[:10], lambda each: each.peer) >= 0.7  # daily tests find a change where none is


@pytest.mark.parametrize(
    ("world", "share", "records"),
    [(WORLDS[3], 0.9, 300), (WORLDS[4], 0.9, 400), (WORLDS[6], 0.8, 1200), (WORLDS[9], 0.8, 1200)],
    ids=["number", "number, few reference rows", "actions", "rewards"],
)
def test_changes_are_found(world, share, records):
    seen = [try_world(world, seed, 4000, peer=False) for seed in range(20)]
    found, delay = delays(world, seen)
    assert found >= share and delay <= records


@pytest.mark.parametrize("moving", [False, True])
def test_confidence_sequences_cover_at_all_times(moving):
    missed, ratio = uncovered(60, 2000, moving=moving)
    assert missed <= 0.1 and 1.0 < ratio < 3.0
