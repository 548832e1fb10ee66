"""Greedy with costs: the definition, an example by hand, and pabutools."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from accordant.voting.budgets import budget_rules


def twin(budgets, election, by, per_cost):
    """The best of what fits, one after the other."""
    costs, money, scores, weights = budgets.fractions(election)
    order, ties = [p for p in range(len(costs)) if not costs[p] and budgets.votes(election, p)], {}
    order.sort(key=budgets.preference(election))
    while True:
        worth = {}
        for p, cost in enumerate(costs):
            if p not in order and 0 < cost <= money and budgets.votes(election, p):
                total = sum(
                    w * (row[p] if by == "score" else row[p] > 0) for row, w in zip(scores, weights, strict=True)
                )
                worth[p] = Fraction(total) / (cost if per_cost else 1)
        if not worth:
            return order, ties
        best = sorted((p for p in worth if worth[p] == max(worth.values())), key=budgets.preference(election))
        if best[1:]:
            ties[best[0]] = tuple(best[1:])
        order.append(best[0])
        money -= costs[best[0]]


@pytest.mark.few(2)
@pytest.mark.parametrize("by", ["score", "votes"])
@pytest.mark.parametrize("per_cost", [False, True])
def test_twin(by, per_cost, budgets):
    generator, broken = np.random.default_rng([30, len(by), per_cost]), 0
    for _ in range(150):
        election = budgets.random_election(generator)
        found = budget_rules.create("greedy", {"by": by, "per_cost": per_cost})(election)
        order, ties = twin(budgets, election, by, per_cost)
        assert (list(found.order), dict(found.ties)) == (order, ties)
        broken += bool(ties)
    assert 10 < broken < 140


def test_by_hand(budgets):
    """c has the most points and is skipped, for it costs too much; a and b tie, and a has more votes."""
    scores = [[2, 4, 5, 0], [2, 0, 5, 1], [0, 0, 5, 1]]
    election = budgets.make(scores, [3, 3, 9, 2], 8)
    found = budget_rules.create("greedy")(election)
    assert found.projects == ("p0", "p1", "p3")
    assert found.ties == {0: (1,)}
    assert found.spent == 8
    assert budget_rules.create("greedy", {"per_cost": True})(election).projects == ("p0", "p1", "p3")
    assert budget_rules.create("greedy", {"by": "votes"})(election).projects == ("p3", "p0", "p1")


@pytest.mark.parametrize("per_cost", [False, True])
def test_pabutools(per_cost, budgets, oracle):
    """Their greedy sorts by satisfaction per cost: with satisfaction = cost that is by votes, with cardinality per cost.

    They also fund what nobody voted for; those projects are left out of the comparison.
    """
    generator = np.random.default_rng([31, per_cost])
    for _ in range(60):
        election = budgets.random_election(generator, weighted=False)
        if not election.approvals.any(axis=0).all():
            continue
        there = oracle(election)
        measure = there.elections.Cardinality_Sat if per_cost else there.elections.Cost_Sat
        theirs = there.rules.greedy_utilitarian_welfare(
            there.instance, there.approvals, sat_class=measure, tie_breaking=there.ties
        )
        ours = budget_rules.create("greedy", {"by": "votes", "per_cost": per_cost})(election)
        assert set(there.names(theirs)) == set(ours.projects)
