"""Listing and searching allocations: what it costs, and how much the search leaves open.

    OMP_NUM_THREADS=1 python -m benchmarks.allocation_search

Work: random patients (chances, severity and acuity drawn uniformly), one bed each; agents' values are drawn uniformly
and scaled to [0, 1] over all feasible allocations.

* Small: 200 scenarios of 12 patients and 5 beds. All 792 allocations are listed and judged by four criteria. Then a
  pool of 60 is made as if they could not be listed, and compared with the best of all.
* Large: 500 patients and 200 beds. The pool cannot be compared with the best of all; its distance to the bounds is
  printed, which is an upper limit of what it missed.

No peer: none is known for this task. Time is CPU time of one thread.
"""

from __future__ import annotations

import time

import numpy as np

from accordant.allocations import (
    AdditiveUtility,
    Claimant,
    Resource,
    Scenario,
    criteria_of,
    enumerate_options,
    met,
    pool,
)
from accordant.allocations.search import earliest_bound, product_bound, scaled
from accordant.scope import ScopeCard

CRITERIA = [
    {"metric": "access_gap", "params": {"group": "sex"}, "threshold": 0.25},
    {"metric": "equal_opportunity_gap", "params": {"group": "sex", "urgent": "severity"}, "threshold": 0.34},
    {"metric": "need_capture", "threshold": 0.6},
    {"metric": "benefit_ratio", "threshold": 0.75},
]
SCENARIOS = 200
COMPARED = 50
FEW = 60


def ward(patients: int, beds: int, seed: int) -> Scenario:
    draws = np.random.default_rng(seed)
    return Scenario(
        [
            Claimant(
                f"p{i:03d}",
                {
                    "acuity": int(draws.integers(1, 6)),
                    "severity": draws.random(),
                    "p_with": draws.uniform(0.5, 1),
                    "p_without": draws.uniform(0, 0.5),
                    "sex": "f" if i % 2 else "m",
                },
            )
            for i in range(patients)
        ],
        [Resource("bed", beds)],
    )


def wishes(patients: int, agents: int, seed: int) -> list[AdditiveUtility]:
    draws = np.random.default_rng((seed, agents))
    return [AdditiveUtility(draws.random(patients)) for _ in range(agents)]


def small() -> None:
    card = ScopeCard(id="bench", version="1", title="", decision="", criteria=CRITERIA)
    criteria, scenarios = criteria_of(card), [ward(12, 5, seed) for seed in range(SCENARIOS)]
    began = time.process_time()
    for scenario in scenarios:
        met(criteria, scenario, enumerate_options(scenario).shares)
    spent = time.process_time() - began
    print(f"12 patients, 5 beds: {SCENARIOS} scenarios listed and judged by {len(CRITERIA)} criteria in {spent:.2f} s")
    for agents in (2, 3):
        missed: list[tuple[float, float]] = []
        for seed, scenario in enumerate(scenarios[:COMPARED]):
            utilities, options = wishes(12, agents, seed), enumerate_options(scenario)
            scale = scaled(scenario, utilities, options)
            best, found = (scale.of(o.shares) for o in (options, pool(scenario, utilities, seed=seed, size=FEW)))
            missed.append((best.prod(0).max() - found.prod(0).max(), best.min(0).max() - found.min(0).max()))
        for name, gaps in zip(("product", "minimum"), np.array(missed).T, strict=True):
            print(
                f"  {agents} agents, pool of {FEW}: largest {name} missed in {(gaps > 1e-12).sum()} of {COMPARED}, "
                f"by at most {gaps.max():.4f}"
            )


def large() -> None:
    scenario = ward(500, 200, 0)
    print("500 patients, 200 beds, pool of 1000 (gap: bound minus found)")
    print("  agents   pool s  product  gap      s     minimum  gap      s")
    earliest_bound(ward(4, 2, 0), np.eye(2, 4), np.zeros(2), [1.0, 1.0])  # imports the linear programming library
    for agents in (2, 3, 5, 8):
        utilities = wishes(500, agents, 0)
        began = time.process_time()
        found = pool(scenario, utilities, seed=0)
        scale = scaled(scenario, utilities)
        values = scale.of(found.shares)
        pooled = time.process_time()
        product = product_bound(scenario, scale.values, scale.floors)
        bounded = time.process_time()
        smallest = 1 - earliest_bound(scenario, scale.values, scale.floors, [1.0] * agents)
        timed = time.process_time()
        best, least = values.prod(0).max(), values.min(0).max()
        print(
            f"  {agents:6d}   {pooled - began:6.2f}  {best:.5f}  {product - best:.1e}  {bounded - pooled:.2f}  "
            f"{least:.5f}  {smallest - least:.1e}  {timed - bounded:.2f}"
        )


if __name__ == "__main__":
    small()
    large()
