"""Deliberations built by hand: what every line of the record says is chosen, not computed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from accordant.agents import Agent, Contestation, Fault, Proposal, Reason, Reply, Turn
from accordant.agents.concession import concessions
from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario
from accordant.deliberation.record import Deliberation, Settled


class Speaker(Agent):
    """An agent that is only a name on a record."""

    about = "A name."
    facts = None

    def __init__(self, name, adversarial=False):
        self.name, self.adversarial = name, adversarial
        self.concession = concessions.create("linear")

    def act(self, view):
        raise AssertionError("nobody asks")


@dataclass(frozen=True)
class Held:
    """Parts of a record."""

    scenario: Scenario
    solo: dict
    revised: dict
    joint: tuple
    values: dict
    replies: dict
    adversarial: tuple = ()
    seed: int = 0
    faults: dict = field(default_factory=dict)


def people(groups="aabb", beds=2, portion=1.0, **facts):
    """Return a scenario with patients p0, p1, … and one resource."""
    columns = {"group": list(groups), **facts}
    patients = [Claimant(f"p{row}", {name: each[row] for name, each in columns.items()}) for row in range(len(groups))]
    return Scenario(patients, [Resource("bed", beds, portion)], protected=("group",))


def written(held):
    """Return the record."""

    def proposal(name, allocation, retrieved=("care-1",)):
        granted = Allocation.of(held.scenario, {p: {"bed": u} for p, u in allocation.items()})
        return Proposal(granted, AdditiveUtility(np.array(held.values[name], dtype=float)), (), retrieved)

    names = list(held.solo)
    solo = {name: proposal(name, held.solo[name]) for name in names}
    revised = {name: proposal(name, held.revised.get(name, held.solo[name])) for name in names}
    turns = [Turn(1, name, solo[name]) for name in names]
    turns += [
        Turn(2, name, Contestation(tuple(held.replies.get(name, ())), revised[name]), faults=held.faults.get(name, ()))
        for name in names
    ]
    joint = Allocation.of(held.scenario, {p: {"bed": u} for p, u in held.joint.items()})
    return Deliberation(
        "debate", held.scenario, tuple(Speaker(name, name in held.adversarial) for name in names), held.seed,
        tuple(turns), solo, revised, Settled("bargain", joint, True, 0.5), {n: solo[n].utility for n in names},
    )  # fmt: skip


def whole(*patients):
    """Return one bed for each of these."""
    return dict.fromkeys(patients, 1.0)


@pytest.fixture(scope="session")
def scenario():
    return people


@pytest.fixture(scope="session")
def record():
    """From parts to a record."""

    def make(scenario, solo, joint, *, revised=None, values=None, replies=None, adversarial=(), seed=0, faults=None):
        n = len(scenario.ids)
        values = values or {name: [float(scenario.ids[k] in wish) for k in range(n)] for name, wish in solo.items()}
        return written(
            Held(scenario, solo, revised or {}, joint, values, replies or {}, tuple(adversarial), seed, faults or {})
        )

    return make


@pytest.fixture
def two(record):
    """A wants p0 and p1, the biased B wants p2 and p3; A gives p1 up for p2, B stays; joint is p0 and p2."""
    replies = {
        "A": (
            Reply("p1", "concede"),
            Reply("p2", "challenge", Reason("p2", "severity", ("severity",), ("care-1", "care-9"))),
            Reply("p3", "challenge", Reason("p3", "severity", ("severity",), ("care-1",))),
        ),
        "B": (Reply("p2", "justify", Reason("p2", "group", ("group",))), Reply("p3", "maintain")),
    }
    invented = Fault("cites care-9, which was not looked up", "not_looked_up", "reply", 1, ("care-9",))
    protected = Fault("cites the protected group", "protected_fact", "reply", 0, ("group",))
    return record(
        people(severity=[0.9, 0.7, 0.5, 0.3]), {"A": whole("p0", "p1"), "B": whole("p2", "p3")}, whole("p0", "p2"),
        revised={"A": whole("p0", "p2")}, replies=replies, adversarial=("B",),
        faults={"A": (invented,), "B": (protected,)},
    )  # fmt: skip
