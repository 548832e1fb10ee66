"""Who is served, and who gains: counted by hand, with weights."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.voting.budgets import budget_rules, gain, reach


def test_by_hand(budgets):
    election = budgets.make([[3, 1, 0], [0, 0, 2], [0, 0, 0]], [4, 1, 2], 5, [2, 1, 1])
    greedy = budget_rules.create("greedy")(election)
    assert greedy.projects == ("p0", "p1")
    found = reach(greedy)
    assert (found.served, found.projects, found.score, found.spent) == (0.5, 1.0, 0.8, 1.0)
    cheap = budget_rules.create("greedy", {"per_cost": True})(
        budgets.make(election.scores, election.costs, 3, [2, 1, 1])
    )
    assert cheap.projects == ("p1", "p2")
    assert reach(cheap).served == 0.75


def test_gain_by_hand(budgets):
    election = budgets.make([[3, 0, 0], [3, 0, 0], [0, 1, 1], [0, 0, 0]], [4, 2, 2], 4, [1, 1, 1, 2])
    first, second = budget_rules.create("greedy")(election), budget_rules.create("greedy", {"per_cost": True})(election)
    assert (first.projects, second.projects) == (("p0",), ("p0",))
    other = budget_rules.create("equal_shares", {"utility": "cost", "completion": "none"})(election)
    assert gain(first, second).same == 1.0
    found = gain(first, other)
    assert other.projects == ()  # each voter holds 0.80
    assert (found.more, found.less, found.same) == (0.0, 0.4, 0.6)


def test_nothing_given(budgets):
    found = reach(budget_rules.create("greedy")(budgets.make(np.zeros((2, 2)), [1, 1], 0)))
    assert (found.served, found.projects, found.score, found.spent) == (0.0, 0.0, 0.0, 0.0)


def test_different_elections(budgets):
    rule = budget_rules.create("greedy")
    left, right = (rule(budgets.make([[1]], [1], 1)) for _ in range(2))
    with pytest.raises(InputError, match="different elections"):
        gain(left, right)
