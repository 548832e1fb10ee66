"""Small wards, random scenarios and scripted agents, shared by the tests of deliberation."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st

from accordant.agents import Agent, Answer, Ballot, Contestation, Proposal, Reply
from accordant.agents.concession import concession_of
from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario
from accordant.randomness import keyed_uniform


def ward(seed=0, n=12, beds=5, protected=("group",), order=None):
    """Patients in two groups of equal need, one resource, as in the notes on measured directions."""
    generator = np.random.default_rng(seed)
    without = generator.uniform(0.05, 0.7, n)
    helped = np.minimum(0.98, without + generator.uniform(0.02, 0.6, n))
    severity = np.clip(1 - without + generator.normal(0, 0.05, n), 0, 1)
    arrival = generator.permutation(n) + 1
    patients = [
        Claimant(
            f"p{i:02d}",
            {
                "severity": float(severity[i]),
                "p_with": float(helped[i]),
                "p_without": float(without[i]),
                "arrival": int(arrival[i]),
                "acuity": 1 + min(4, int((1 - severity[i]) * 5)),
                "dependency": 0.0,
                "note": "",
                "group": "a" if i < n // 2 else "b",
            },
        )
        for i in range(n)
    ]
    return Scenario([patients[i] for i in order or range(n)], [Resource("bed", beds)], protected=protected)


def build(demands, capacities, facts=None, protected=(), portion=1.0):
    """A scenario from portions demanded (patient, resource) and capacities in portions."""
    return Scenario(
        [
            Claimant(
                f"p{i:02d}",
                dict(facts[i]) if facts else {},
                {f"r{k}": amount * portion for k, amount in enumerate(row)},
            )
            for i, row in enumerate(demands)
        ],
        [Resource(f"r{k}", amount * portion, portion) for k, amount in enumerate(capacities)],
        protected=protected,
    )


@st.composite
def scenarios(draw, most_patients=5, most_resources=2, most_demand=2):
    """Small scenarios, with capacity 0 and capacity above demand, and patients who demand nothing."""
    n, r = draw(st.integers(1, most_patients)), draw(st.integers(1, most_resources))
    rows = st.lists(st.integers(0, most_demand), min_size=r, max_size=r)
    demands = draw(st.lists(rows, min_size=n, max_size=n))
    capacities = draw(st.lists(st.integers(0, most_demand * n), min_size=r, max_size=r))
    return build(demands, capacities, portion=draw(st.sampled_from([1.0, 0.25])))


class Scripted(Agent):
    """Says what it was told to say; keeps the views it was shown."""

    about = "scripted"

    def __init__(self, name, moves=None, *, facts=None, concession="linear", values=None):
        self.name, self.facts, self.concession = name, facts, concession_of(concession)
        self.moves, self.values, self.views = dict(moves or {}), values, []

    def utility(self, view):
        if self.values is not None:
            return AdditiveUtility(np.array(self.values, dtype=float))
        return AdditiveUtility(keyed_uniform(view.seed, view.scenario.ids))

    def best(self, view, reasons=(), retrieved=()):
        """Its favourite: patients in falling order of value."""
        utility = self.utility(view)
        left, granted = view.scenario.capacity.copy(), np.zeros_like(view.scenario.demand)
        for patient in np.argsort(-utility.values, kind="stable"):
            granted[patient] = np.minimum(view.scenario.demand[patient], left)
            left -= granted[patient]
        return Proposal(Allocation(view.scenario, granted), utility, tuple(reasons), tuple(retrieved))

    def act(self, view):
        self.views.append(view)
        told = self.moves.get(view.phase)
        if told is not None:
            return told(self, view) if callable(told) else told
        if view.phase == "contest":
            return Contestation(tuple(Reply(each, "maintain") for each in view.disputed), self.best(view))
        if view.phase in ("answer", "offer"):
            return Answer(None, self.best(view))
        if view.phase == "vote":
            return Ballot(tuple(range(len(view.candidates))))
        return self.best(view)


@pytest.fixture(scope="session")
def small():
    """The functions above, for tests of this folder."""
    return SimpleNamespace(ward=ward, build=build, scenarios=scenarios, Scripted=Scripted)
