"""Small scenarios, and slow twins in plain Python that list and judge every allocation."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st

from accordant.allocations import Claimant, Resource, Scenario


def brute_options(scenario):
    """All feasible matrices (patient, resource), by trying every whole-number matrix."""
    demand, capacity = scenario.demand.tolist(), scenario.capacity.tolist()
    n, resources = len(demand), len(capacity)
    given = [min(capacity[r], sum(row[r] for row in demand)) for r in range(resources)]
    cells = [range(demand[i][r] + 1) for r in range(resources) for i in range(n)]
    found = []
    for flat in itertools.product(*cells):
        columns = [flat[r * n : (r + 1) * n] for r in range(resources)]
        if [sum(column) for column in columns] == given:
            found.append([[columns[r][i] for r in range(resources)] for i in range(n)])
    return found


def build(demands, capacities, *, portion=1.0, facts=None, names=None):
    """A scenario from portions demanded (patient, resource) and capacities in portions."""
    names = names or [f"p{i:03d}" for i in range(len(demands))]
    resources = [Resource(f"r{k}", c * portion, portion) for k, c in enumerate(capacities)]
    return Scenario(
        [
            Claimant(
                name,
                dict(facts[i]) if facts else {},
                {f"r{k}": amount * portion for k, amount in enumerate(demands[i])},
            )
            for i, name in enumerate(names)
        ],
        resources,
    )


@st.composite
def scenarios(draw, most_patients=4, most_resources=2, most_demand=2):
    """Scenarios that are small enough to list every matrix."""
    n, r = draw(st.integers(1, most_patients)), draw(st.integers(1, most_resources))
    demands = draw(st.lists(st.lists(st.integers(0, most_demand), min_size=r, max_size=r), min_size=n, max_size=n))
    capacities = draw(st.lists(st.integers(0, most_demand * n), min_size=r, max_size=r))
    return build(demands, capacities, portion=draw(st.sampled_from([1.0, 0.25])))


def ward(n=12, beds=5, seed=0):
    """Patients with every fact that measures read, and one resource."""
    generator = np.random.default_rng(seed)
    without = generator.uniform(0.05, 0.7, n)
    helped = np.minimum(0.98, without + generator.uniform(0.02, 0.6, n))
    return Scenario(
        [
            Claimant(
                f"p{i:03d}",
                {
                    "acuity": int(generator.integers(1, 6)),
                    "severity": float(np.clip(1 - without[i] + generator.normal(0, 0.05), 0, 1)),
                    "p_with": float(helped[i]),
                    "p_without": float(without[i]),
                    "sex": "f" if i % 2 else "m",
                },
            )
            for i in range(n)
        ],
        [Resource("bed", beds)],
    )


@pytest.fixture(scope="session")
def small():
    """The functions above, for tests of this folder."""
    return SimpleNamespace(brute_options=brute_options, build=build, scenarios=scenarios, ward=ward)
