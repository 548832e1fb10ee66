"""The benchmark of what taking part costs: every part is measured, and every exponent stands beside a claim."""

from __future__ import annotations

import pytest

from benchmarks.participation_cost import CLAIMED, GROWTH, PARTS, Size, costs, exponent


def test_the_exponent_of_a_power_is_found():
    sizes = (2, 4, 8, 16)
    assert exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_every_part_is_measured_and_every_growth_has_a_claim():
    seconds = costs(Size(stakeholders=2, actions=2, rows=100, metrics=5))
    assert set(seconds) == {"plain", *PARTS} and min(seconds.values()) > 0
    assert set(CLAIMED) == set(GROWTH) and all(set(claim) == set(PARTS) for claim in CLAIMED.values())


def test_one_reward_model_per_stakeholder_costs_in_proportion():
    """The claim for the largest part, with room for a machine that does other things meanwhile."""
    few, many = (min(costs(Size(stakeholders=n, rows=500))["rewards"] for _ in range(3)) for n in (2, 8))
    assert 2.5 < many / few < 6
