"""Small wards and three-round debates, shared by the tests of agents."""

import numpy as np
import pytest

from accordant.agents import Turn, View
from accordant.allocations import Claimant, Resource, Scenario

GROUPS = ("north", "south")


@pytest.fixture(scope="session")
def ward():
    """A random scenario: chances, severity, arrival, acuity, dependency, life years, group, note."""

    def build(seed=0, n=8, capacities=(3,), portion=1.0, demands=None, **facts):
        random = np.random.default_rng(seed)
        without = random.uniform(0.05, 0.7, n)
        known = {
            "p_without": without,
            "p_with": np.minimum(0.98, without + random.uniform(0.02, 0.6, n)),
            "severity": np.clip(1 - without + random.normal(0, 0.05, n), 0, 1),
            "arrival": random.permutation(n) + 1,
            "acuity": random.integers(1, 6, n),
            "dependency": random.integers(0, 4, n) / 4,
            "life_years": random.uniform(1, 60, n),
            "group": np.array(GROUPS)[np.arange(n) % 2],
            "note": np.array([f"note {i}" for i in range(n)]),
        } | {name: np.array(values) for name, values in facts.items()}
        resources = [Resource(f"bed{r}", capacity, portion) for r, capacity in enumerate(capacities)]
        wanted = [None] * n
        if demands is not None:
            rows = random.integers(0, demands + 1, (n, len(capacities)))
            wanted = [{each.name: int(k) * portion for each, k in zip(resources, row)} for row in rows]
        patients = [
            Claimant(f"p{i:02d}", {name: values[i].item() for name, values in known.items()}, wanted[i])
            for i in range(n)
        ]
        return Scenario(patients, resources, protected=("group",))

    return build


@pytest.fixture(scope="session")
def seen_by():
    """The scenario as an agent may see it."""

    def seen(agent, scenario):
        return scenario if agent.facts is None else scenario.seen(agent.facts)

    return seen


@pytest.fixture(scope="session")
def debate(seen_by):
    """The moves of three rounds and of a vote: a list of dictionaries from names to moves."""

    def run(scenario, agents, options, seed=0, disagreement=None):
        def round_of(phase, **known):
            return {
                each.name: each.act(
                    View(
                        each.name,
                        phase,
                        seen_by(each, scenario),
                        options,
                        seed=seed,
                        disagreement=disagreement,
                        **known,
                    )
                )
                for each in agents
            }

        first = round_of("propose")
        shares = np.array([each.allocation.shares for each in first.values()])
        disputed = tuple(p for p, gap in zip(scenario.ids, np.ptp(shares, axis=0)) if gap > 1e-9)
        history = tuple(Turn(1, name, move) for name, move in first.items())
        second = round_of("contest", time=0.5, step=2, proposals=first, disputed=disputed, history=history)
        standing = {name: move.revised for name, move in second.items()}
        history += tuple(Turn(2, name, move) for name, move in second.items())
        third = round_of("answer", time=0.9, step=3, proposals=standing, disputed=disputed, history=history)
        candidates = tuple(each.allocation for each in (*first.values(), *standing.values()))
        return [first, second, third, round_of("vote", step=4, candidates=candidates)]

    return run
