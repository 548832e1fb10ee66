"""What all budget rules promise: within the budget, nothing without a vote, exact money, weights as copies, names."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from accordant.voting import Election
from accordant.errors import InputError
from accordant.voting.budgets import budget_rules
from accordant.voting.budgets.rule import Ballots

RULES = [
    ("greedy", {}), ("greedy", {"by": "votes"}), ("greedy", {"per_cost": True}),
    ("seq_phragmen", {}), ("seq_phragmen", {"too_dear": "skip"}),
    *(("equal_shares", {"utility": utility, "completion": completion})
      for utility in ("approval", "cost", "score") for completion in ("none", "greedy", "add1", "add1u")),
]  # fmt: skip
EXHAUSTIVE = [each for each in RULES if each[0] == "greedy" or set(each[1].values()) & {"skip", "greedy", "add1u"}]


@pytest.mark.few(9)
@pytest.mark.parametrize(("name", "given"), RULES)
def test_promises(name, given, budgets):
    generator, rule = np.random.default_rng([20, RULES.index((name, given))]), budget_rules.create(name, given)
    for _ in range(60):
        election = budgets.random_election(generator)
        found = rule(election)
        costs, budget, _, _ = budgets.fractions(election)
        supported = [p for p in range(len(costs)) if budgets.votes(election, p)]
        assert len(set(found.order)) == len(found.order)
        assert found.spent == sum(costs[p] for p in found.order) <= budget
        assert set(found.order) <= set(supported)
        assert {p for p in supported if not costs[p]} <= set(found.order)
        assert set(found.completed) <= set(found.order)
        assert found.projects == tuple(f"p{p}" for p in found.order)
        for project, level in found.ties.items():
            assert project in found.order
            assert all(budgets.preference(election)(project) < budgets.preference(election)(each) for each in level)
        if (name, given) in EXHAUSTIVE:
            assert not any(costs[p] <= budget - found.spent for p in supported if p not in found.order)


@pytest.mark.few(5)
@pytest.mark.parametrize(("name", "given"), RULES)
def test_weighted_voters_are_replicated_voters(name, given, budgets):
    generator, rule = np.random.default_rng([21, RULES.index((name, given))]), budget_rules.create(name, given)
    for _ in range(25):
        one = budgets.random_election(generator, weighted=False)
        copies = generator.integers(1, 5, len(one.scores))
        weighted = budgets.make(one.scores, one.costs, one.budget, copies)
        apart = budgets.make(np.repeat(one.scores, copies, axis=0), one.costs, one.budget)
        left, right = rule(weighted), rule(apart)
        assert left.order == right.order
        assert (left.prices, left.ties, left.voter_money) == (right.prices, right.ties, right.voter_money)


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "given"), [each for each in RULES if "add" not in str(each[1])])
def test_units_do_not_matter(name, given, budgets):
    """Another currency, and weights in thousandths; `add1` alone knows what a unit of the currency is."""
    generator, rule = np.random.default_rng([22, RULES.index((name, given))]), budget_rules.create(name, given)
    for _ in range(25):
        one = budgets.random_election(generator)
        other = budgets.make(one.scores / 8, one.costs / 100, one.budget / 100, one.weights / 1_000)
        assert rule(one).order == rule(other).order
        assert rule(other).spent == rule(one).spent / 100


def test_decimals_are_read_as_they_print(budgets):
    """0.1 + 0.2 is 0.3: three projects of ten cents fit into 30 cents, which sums of floats exceed."""
    election = budgets.make(np.ones((3, 3)), [0.1, 0.1, 0.1], 0.3)
    for name, given in RULES:
        found = budget_rules.create(name, given)(election)
        assert found.spent == Fraction(3, 10)


def test_numbers_beyond_64_bits(budgets):
    generator = np.random.default_rng(23)
    for name, given in (("equal_shares", {"utility": "score", "completion": "greedy"}), ("seq_phragmen", {})):
        rule = budget_rules.create(name, given)
        for _ in range(10):
            one = budgets.random_election(generator)
            large = budgets.make(one.scores * 2.0**40, one.costs, one.budget, one.weights * 2.0**40)
            assert not one.scores.any() or Ballots.of(large).scores.dtype == object
            assert rule(large).order == rule(one).order


def test_identical_ballots_are_counted_once(budgets):
    ballots = Ballots.of(budgets.make([[1, 0], [0, 2.5], [1, 0]], [1, 2.25], 3, [1, 0.5, 2]))
    assert ballots.scores.tolist() == [[2, 0], [0, 5]] and ballots.point == 2
    assert ballots.weights.tolist() == [6, 1] and ballots.voice == 2
    assert (ballots.costs, ballots.budget, ballots.coin) == ((4, 9), 12, 4)
    assert ballots.of_voter.tolist() == [0, 1, 0]
    assert (ballots.votes, ballots.totals, ballots.electorate) == ((6, 1), (12, 5), 7)


def test_nothing_to_spend_and_nothing_to_want(budgets):
    for name, given in RULES:
        rule = budget_rules.create(name, given)
        assert rule(budgets.make([[1, 1]], [2, 0], 0)).projects == ("p1",)
        assert rule(budgets.make([[0, 0], [0, 0]], [1, 0], 5)).order == ()
        with pytest.raises(InputError, match="without voters"):
            rule(budgets.make([[1, 1]], [1, 1], 1, [0]))
        with pytest.raises(InputError, match="without voters"):
            rule(budgets.make(np.empty((0, 2)), [1, 1], 1))


def test_names_and_labels():
    assert budget_rules.names() == ("equal_shares", "greedy", "seq_phragmen")
    rule = budget_rules.create("mes", {"utility": "cost"})
    assert rule.label == "equal_shares[utility=cost]"
    assert rule.parameters == {"utility": "cost", "completion": "add1u"}
    assert budget_rules.create("greedy", {"per_cost": True}).label == "greedy[per_cost=true]"


@pytest.mark.parametrize(("name", "given", "message"), [
    ("greedy", {"by": "scores"}, "did you mean 'score'"),
    ("greedy", {"per_cost": "yes"}, "allowed: true, false"),
    ("equal_shares", {"utility": "points"}, "valid: approval, cost, score"),
    ("equal_shares", {"completion": "add2"}, "did you mean 'add1'"),
    ("seq_phragmen", {"too_dear": "go"}, "valid: stop, skip"),
    ("phragmen", {}, "did you mean 'seq_phragmen'"),
    ("equal_shares", {"utilty": "cost"}, "unknown parameter 'utilty'"),
])  # fmt: skip
def test_wrong_parameters(name, given, message):
    with pytest.raises(InputError, match=message):
        budget_rules.create(name, given)


@pytest.mark.parametrize(("change", "message"), [
    ({"costs": [-1.0, 1.0]}, "costs are wrong"),
    ({"voter_facts": {"age": ("1",)}}, "voter_facts: 1 entries of 'age'; allowed: 2"),
    ({"project_facts": {"name": ("a", "b", "c")}}, "project_facts: 3 entries of 'name'; allowed: 2"),
])  # fmt: skip
def test_elections_that_are_refused(change, message):
    given = {"costs": [0.0, 1.0]} | change
    with pytest.raises(InputError, match=message):
        Election(
            projects=("a", "b"), budget=1.0, scores=np.ones((2, 2)), weights=np.ones(2),
            **(given | {"costs": np.array(given["costs"])}),
        )  # fmt: skip
