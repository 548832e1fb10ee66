"""The bound of the paper's schema is never above the exact worst case, wherever both exist."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates.bounds import bounds
from accordant.certificates.schema import paper_bound
from accordant.utilities import ExpectedRewards

MU = 0.05


@pytest.mark.parametrize(("delta", "paper"), [(0.05, 0.83840), (0.10, 0.70164), (0.15, 0.53319)])
def test_worked_example(delta, paper):
    """The decision cannot change below δ = 0.375, so the exact worst case is 1."""
    expected = ExpectedRewards(
        [[0.8, 0.5, 0.3], [0.7, 0.6, 0.5], [0.75, 0.4, 0.35]], stakeholders=["1", "2", "3"], actions=["a", "b", "c"]
    )
    rule, theta = strategies.create("utilitarian", {"weights": (1 / 3,) * 3}), [1.0, 0.0, 0.3]
    found = bounds(rule, expected, theta, delta=delta, coalition=["1"], box=(MU, 1 - MU))
    assert (found.low, found.low_status) == (1.0, "exact")
    assert paper < paper_bound(rule, expected, theta, delta=delta, coalition=["1"], mu=MU).rlb < found.low
    assert bounds(rule, expected, theta, delta=0.37, coalition=["1"]).low == 1.0
    assert bounds(rule, expected, theta, delta=0.38, coalition=["1"]).low == 0.0


@pytest.mark.long
@pytest.mark.parametrize("name", ["utilitarian", "nash_social_welfare"])
def test_never_above_the_exact_worst_case(name, world):
    rule, informative = strategies.create(name), 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        expected, theta = world(6, seed, coarse=seed % 2 == 1).expected, generator.random(3)
        delta = float(generator.choice([0.005, 0.02, 0.05]))
        coalition = ["Bank"] if seed % 3 else ["Bank", "Applicant", "Press"]
        exact = bounds(rule, expected, theta, delta=delta, coalition=coalition, box=(MU, 1 - MU))
        assert exact.low_status == "exact"
        found = paper_bound(rule, expected, theta, delta=delta, coalition=coalition, mu=MU)
        assert found.value <= exact.low + 1e-9
        informative += found.value > theta.min() + 1e-6
    assert informative > 5
