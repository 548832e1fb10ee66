"""Phragmén with costs: voters earn money in exact steps of time, pabutools, and proportional representation."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from accordant.voting.budgets import budget_rules
from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards


def twin(budgets, election, too_dear):
    """Money of each voter, from one purchase to the next; prices are the times of purchases."""
    costs, left, scores, weights = budgets.fractions(election)
    order = sorted(
        (p for p in range(len(costs)) if not costs[p] and budgets.votes(election, p)), key=budgets.preference(election)
    )
    since, now, prices = [Fraction(0)] * len(scores), Fraction(0), {}
    alive = {p for p in range(len(costs)) if 0 < costs[p] <= left and budgets.votes(election, p)}
    while alive:
        ready = {}
        for p in alive:
            voters = [i for i, row in enumerate(scores) if row[p] and weights[i]]
            owed = costs[p] - sum(weights[i] * (now - since[i]) for i in voters)
            ready[p] = now + owed / sum(weights[i] for i in voters)
        first = [p for p in ready if ready[p] == min(ready.values())]
        fitting = [p for p in first if costs[p] <= left]
        if len(fitting) < len(first) and too_dear == "stop":
            break
        if not fitting:
            alive -= set(first)
            continue
        bought, now = min(fitting, key=budgets.preference(election)), min(ready.values())
        since = [now if row[bought] else old for row, old in zip(scores, since, strict=True)]
        order, left, prices[bought] = [*order, bought], left - costs[bought], now
        alive.remove(bought)
    return order, prices


@pytest.mark.parametrize("too_dear", ["stop", "skip"])
def test_twin(too_dear, budgets):
    generator, broken = np.random.default_rng([40, len(too_dear), ord(too_dear[1])]), 0
    for _ in range(150):
        election = budgets.random_election(generator)
        found = budget_rules.create("seq_phragmen", {"too_dear": too_dear})(election)
        order, prices = twin(budgets, election, too_dear)
        assert (list(found.order), dict(found.prices)) == (order, prices)
        broken += bool(found.ties)
    assert 10 < broken < 140


def test_by_hand(budgets):
    """a at time 1 for two voters; then b, which the third voter pays for alone at 3, before c, which two pay for at 3."""
    election = budgets.make([[1, 0, 1], [1, 0, 1], [0, 1, 0]], [2, 3, 4], 9)
    found = budget_rules.create("seq_phragmen")(election)
    assert found.projects == ("p0", "p2", "p1")
    assert found.prices == {0: 1, 2: 3, 1: 3}
    assert found.ties == {2: (1,)}  # c has two votes, b one
    tight = budget_rules.create("seq_phragmen")(budgets.make(election.scores, election.costs, 5))
    assert tight.projects == ("p0",)  # at time 3 c would be bought and does not fit: the rule stops
    skipping = budget_rules.create("seq_phragmen", {"too_dear": "skip"})
    assert skipping(budgets.make(election.scores, election.costs, 5)).projects == ("p0", "p1")


def test_pabutools(budgets, oracle):
    """Their rule buys what nobody voted for at infinite load, and what is free at the load it finds: left out."""
    generator, compared = np.random.default_rng(41), 0
    for _ in range(90):
        election = budgets.random_election(generator, weighted=False)
        if not (election.approvals.any(axis=0).all() and (election.costs > 0).all()):
            continue
        there = oracle(election)
        theirs = there.rules.sequential_phragmen(there.instance, there.approvals, tie_breaking=there.ties)
        ours = budget_rules.create("seq_phragmen")(election)
        assert set(there.names(theirs)) == set(ours.projects)
        compared += 1
    assert compared > 25


def test_committees_are_budgets_with_costs_of_one(budgets):
    """The slate rule in floating point finds the same committee, where no tie is broken."""
    generator, compared = np.random.default_rng(42), 0
    for _ in range(40):
        approves, weights = generator.random((7, 6)) < 0.5, generator.integers(1, 9, 7).astype(float)
        found = budget_rules.create("seq_phragmen")(budgets.make(approves, np.ones(6), 4, weights))
        expected = ExpectedRewards(
            approves[:, :, None].astype(float), stakeholders=[f"s{i}" for i in range(7)],
            actions=[f"p{i}" for i in range(6)],
        )  # fmt: skip
        slates = rules.create("seq_phragmen", {"threshold": 1.0})(Candidates(expected, weights=weights), 4)
        if not found.ties and len(found.order) == 4:
            assert slates.names(0) == found.projects
            compared += 1
    assert compared > 15


def test_proportional_justified_representation(budgets):
    """Brill et al. (2017), with costs of 1: ℓ n / k voters who all want ℓ projects want ℓ of the funded ones."""
    generator, groups = np.random.default_rng(43), 0
    for _ in range(30):
        approves, k = generator.random((6, 7)) < 0.5, int(generator.integers(2, 5))
        approves[0] = True  # so that k projects have votes
        chosen = budget_rules.create("seq_phragmen")(budgets.make(approves, np.ones(7), k)).chosen
        for size in range(1, 7):
            for group in itertools.combinations(range(6), size):
                deserved = min(size * k // 6, int(approves[list(group)].all(axis=0).sum()))
                groups += deserved > 1
                assert approves[list(group)].any(axis=0)[chosen].sum() >= deserved
    assert groups > 50
