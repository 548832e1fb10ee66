"""Equal Shares with costs: exact twin, pabutools, the floating-point filter, and EJR up to one project."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accordant.voting.budgets import budget_rules, equal_shares
from accordant.voting.budgets.rule import Ballots
from accordant.voting.budgets.voter_budgets import VoterBudgets, demands_of
from accordant.voting.budgets.equal_shares import FloatingPointFilter

UTILITIES = ("approval", "cost", "score")


def worth(budgets, election, utility):
    """Utility of each voter from each project."""
    costs, _, scores, _ = budgets.fractions(election)
    value = {"approval": lambda s, c: Fraction(s > 0), "cost": lambda s, c: (s > 0) * c, "score": lambda s, c: s}[
        utility
    ]
    return [[value(s, c) for s, c in zip(row, costs, strict=True)] for row in scores]


def price(cost, utilities, held, weights):
    """The lowest ρ with Σ w min(held, ρ u) = cost, by trying each voter as the first who can pay all; None if none."""
    voters = [i for i, u in enumerate(utilities) if u > 0 and weights[i] > 0]
    if sum(weights[i] * held[i] for i in voters) < cost:
        return None
    paid, sharing = Fraction(0), sum(weights[i] * utilities[i] for i in voters)
    for i in sorted(voters, key=lambda i: held[i] / utilities[i]):
        rho = (cost - paid) / sharing
        if rho * utilities[i] <= held[i]:
            return rho
        paid, sharing = paid + weights[i] * held[i], sharing - weights[i] * utilities[i]
    raise AssertionError("the last voter can always pay")


def bought(budgets, election, utility, money):
    """Purchases and prices if each voter of weight 1 holds some money."""
    costs, _, _, weights = budgets.fractions(election)
    utilities = list(zip(*worth(budgets, election, utility), strict=True))
    held, prices = [money] * len(weights), {}
    while True:
        found = {
            p: rho for p, cost in enumerate(costs)
            if cost and p not in prices and budgets.votes(election, p)
            and (rho := price(cost, utilities[p], held, weights)) is not None
        }  # fmt: skip
        if not found:
            return prices
        level = [p for p in found if found[p] == min(found.values())]
        chosen = min(level, key=budgets.preference(election))
        prices[chosen] = found[chosen]
        held = [b - min(b, found[chosen] * u) for b, u in zip(held, utilities[chosen], strict=True)]


def twin(budgets, election, utility, completion):
    """What is funded in order, prices, and the money of a voter."""
    costs, budget, scores, weights = budgets.fractions(election)
    wanted = [p for p in range(len(costs)) if costs[p] and budgets.votes(election, p)]
    money = budget / sum(weights)
    prices = bought(budgets, election, utility, money)

    def left(funded):
        return budget - sum(costs[p] for p in funded)

    if "add1" in completion:
        while any(costs[p] <= left(prices) for p in wanted if p not in prices):
            richer = bought(budgets, election, utility, money // 1 + 1)
            if left(richer) < 0:
                break
            prices, money = richer, money // 1 + 1
    order = list(prices)
    if completion in ("greedy", "add1u"):

        def total(p):
            return sum(
                w * (row[p] if utility == "score" else row[p] > 0) for row, w in zip(scores, weights, strict=True)
            )

        for p in sorted(wanted, key=lambda p: (-total(p), budgets.preference(election)(p))):
            if p not in order and costs[p] <= left(order):
                order.append(p)
    free = sorted(
        (p for p in range(len(costs)) if not costs[p] and budgets.votes(election, p)), key=budgets.preference(election)
    )
    return free + order, prices, money


@pytest.mark.few(2)
@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("completion", ["none", "greedy", "add1", "add1u"])
def test_twin(utility, completion, budgets):
    generator = np.random.default_rng([50, UTILITIES.index(utility), len(completion)])
    broken = raised = 0
    for _ in range(60):
        election = budgets.random_election(generator)
        found = budget_rules.create("equal_shares", {"utility": utility, "completion": completion})(election)
        order, prices, money = twin(budgets, election, utility, completion)
        assert list(found.order) == order
        assert dict(found.prices) == prices
        assert found.voter_money == money
        broken, raised = (
            broken + bool(found.ties),
            raised + (money > Fraction(election.budget) / Fraction(election.weights.sum())),
        )
    assert broken
    assert (raised > 5) == ("add1" in completion)


def test_money_in_cents(budgets):
    """Costs with cents: the first step of add1 still goes to a whole unit of the currency, not to a cent."""
    election = budgets.make([[1, 0], [1, 1]], [1.5, 2.25], 4.5)
    found = budget_rules.create("equal_shares", {"completion": "add1"})(election)
    assert found.voter_money == 3  # 2.25 leaves 1.50 to the second voter
    assert found.prices == {0: Fraction(3, 4), 1: Fraction(9, 4)}
    assert budget_rules.create("equal_shares", {"completion": "none"})(election).projects == ("p0",)


def test_by_hand(budgets):
    """100 voters, 10 each: 60 want A to D, 40 want E to H, all at 100. Greedy funds A to D and 6 more of 60."""
    majority = np.repeat([[1] * 10 + [0] * 10, [0] * 10 + [1] * 10], [60, 40], axis=0)
    election = budgets.make(majority, [100] * 20, 1_000)
    found = budget_rules.create("equal_shares", {"completion": "none"})(election)
    assert [p < 10 for p in found.order].count(True) == 6 and len(found.order) == 10
    assert set(found.prices.values()) == {Fraction(100, 60), Fraction(100, 40)}
    assert [p < 10 for p in budget_rules.create("greedy")(election).order] == [True] * 10


@pytest.mark.parametrize("utility", UTILITIES)
def test_pabutools(utility, budgets, oracle):
    """Same purchases in the same order, also with repeated raises where the budget divides by voters (theirs start there)."""
    generator, compared = np.random.default_rng([51, UTILITIES.index(utility)]), 0
    for _ in range(60):
        one = budgets.random_election(generator, weighted=False)
        election = budgets.make(one.scores, one.costs, one.budget // len(one.scores) * len(one.scores))
        if not (election.costs > 0).all():
            continue
        there = oracle(election)
        measure = {
            "approval": there.elections.Cardinality_Sat, "cost": there.elections.Cost_Sat,
            "score": there.elections.Additive_Cardinal_Sat,
        }[utility]  # fmt: skip
        profile = there.points if utility == "score" else there.approvals
        for completion, step in (("none", None), ("add1", 1)):
            theirs = there.rules.method_of_equal_shares(
                there.instance, profile, sat_class=measure, tie_breaking=there.ties, voter_budget_increment=step
            )
            ours = budget_rules.create("equal_shares", {"utility": utility, "completion": completion})(election)
            assert there.names(theirs) == ours.projects
            compared += 1
    assert compared > 60


def test_the_filter_is_right_or_say_that_they_are_close(budgets):
    generator = np.random.default_rng(52)
    close = told = 0
    for _ in range(120):
        one = budgets.random_election(generator)
        costs = (
            generator.integers(10, 10_000, len(one.costs)) if generator.random() < 0.5 else np.full(len(one.costs), 3)
        )
        ballots = Ballots.of(budgets.make(one.scores > 0, costs, costs.sum() / 2))
        demands = demands_of(ballots, ballots.scores, ballots.wanted)
        first = Fraction(int(generator.integers(1, 20)), 8) * int(1 + costs.mean())
        filtered = FloatingPointFilter(len(ballots.weights), demands)(first)
        exact = equal_shares._equal_shares(ballots, demands, first)
        if filtered is None:
            close += 1
        else:
            told += 1
            assert filtered.order == exact.order
            assert not exact.ties
    assert close > 20
    assert told > 20


@pytest.mark.parametrize("more", [0, 1])
def test_a_coin_in_ten_thousand_million_decides(more, budgets):
    """Floating point could tell; the margin within which it is not trusted is wider."""
    election = budgets.make([[1, 0], [1, 1]], [10_000_000_000 + more, 50_000_000_000], 10_000_000_000)
    found = budget_rules.create("equal_shares", {"completion": "none"})(election)
    assert len(found.order) == 1 - more
    ballots = Ballots.of(election)
    demands = demands_of(ballots, ballots.scores, ballots.wanted)
    assert FloatingPointFilter(len(ballots.weights), demands)(Fraction(5_000_000_000)) is None


@pytest.mark.few(1)
@pytest.mark.parametrize("utility", UTILITIES)
def test_twin_of_long_raises(utility, budgets):
    """Costs of up to 90 units: dozens of steps, through tied prices, empty budgets and voters with money to spare."""
    generator, far = np.random.default_rng([54, UTILITIES.index(utility)]), 0
    rule = budget_rules.create("equal_shares", {"utility": utility, "completion": "add1"})
    for _ in range(60):
        one = budgets.random_election(generator, weighted=False)
        costs = generator.choice([4, 10, 10, 30, 61, 90], len(one.costs))
        election = budgets.make(one.scores, costs, int(generator.integers(60, 400)))
        order, prices, money = twin(budgets, election, utility, "add1")
        found = rule(election)
        assert (list(found.order), dict(found.prices), found.voter_money) == (order, prices, money)
        far += money * len(one.scores) > election.budget + 10 * len(one.scores)
    assert far > 3


def test_prices_that_tie_but_for_rounding(budgets):
    """Project 6 doubles costs and scores of 2, so their prices tie; for 3 and 6 rounding tells the quotients apart."""
    scores = [
        [1, 0, 1, 0, 2, 0, 2, 0],
        [0, 1, 0, 3, 0, 2, 0, 6],
        [0, 1, 0, 0, 0, 2, 0, 0],
        [0, 1, 2, 0, 0, 2, 4, 0],
        [1, 0, 0, 2, 2, 0, 0, 4],
    ]
    election = budgets.make(scores, [6, 7, 3, 6, 12, 14, 6, 12], 28)
    found = budget_rules.create("equal_shares", {"utility": "score", "completion": "none"})(election)
    assert found.order == (2, 3, 6, 1)
    assert found.prices[3] == found.prices[6]
    assert found.ties == {2: (6,), 3: (6,)}


def increases(election, first):
    """Demands of an election, what voters buy with some money each, and the filter on it."""
    ballots = Ballots.of(election)
    demands = demands_of(ballots, ballots.scores, ballots.wanted)
    return (
        lambda money: equal_shares._equal_shares(ballots, demands, money),
        equal_shares._equal_shares(ballots, demands, Fraction(first)),
        FloatingPointFilter(len(ballots.weights), demands)(Fraction(first)),
    )


def test_room_until_a_project_can_be_paid_for(budgets):
    """Three pay 1 each of 3. Two of them have 4 each left and want what costs 10: 1 more each, exactly."""
    _, exact, filtered = increases(budgets.make([[1, 1], [1, 1], [1, 0]], [3, 10], 100), 5)
    assert (exact.order, filtered.order) == ((0,), (0,))
    assert 0.85 < exact.increase <= 1  # floating point suffices here
    assert 0.85 < filtered.increase <= 1


def test_room_is_exact_where_floating_point_is_not_trusted(budgets):
    """Both projects cost 5, and so their prices tie for ever; with 10 the voter pays for both."""
    _, exact, filtered = increases(budgets.make([[1, 1]], [5, 5], 100), Fraction(99_999_999_999, 10_000_000_000))
    assert (exact.order, exact.increase, filtered) == ((0,), Fraction(1, 10_000_000_000), None)


def test_the_filter_finds_the_room_that_exact_purchases_have(budgets):
    """Several voters hand in the same ballot, and most projects are bought with money that others have changed."""
    generator, finite, heavy = np.random.default_rng(57), 0, 0
    for _ in range(40):
        n_voters, n_projects = int(generator.integers(4, 9)), int(generator.integers(3, 7))
        scores = generator.integers(1, 4, (n_voters, n_projects)) * (generator.random((n_voters, n_projects)) < 0.5)
        scores[: n_voters // 2] = scores[0]
        election = budgets.make(scores, generator.integers(6, 60, n_projects), 100)
        _, exact, filtered = increases(election, Fraction(int(generator.integers(40, 400)), 8))
        if filtered is not None:
            assert filtered.order == exact.order
            if exact.increase > 1e6:  # nothing changes any more; rounding of rates may leave some end
                assert filtered.increase > 1e6
                continue
            assert filtered.increase == pytest.approx(float(exact.increase), rel=1e-6)
            finite += 1
            heavy += len(exact.order) > 2
    assert finite > 20
    assert heavy > 5


@pytest.mark.parametrize(("scores", "costs", "first"), [
    ([[3, 1, 2, 1, 3, 1], [3, 1, 2, 1, 3, 1], [3, 3, 3, 3, 3, 1], [2, 3, 2, 2, 0, 1], [1, 2, 3, 3, 1, 1]],
     [56, 40, 48, 6, 24, 13], Fraction(35, 4)),
    ([[2, 1, 0, 1, 1, 0], [2, 1, 0, 1, 1, 0], [1, 0, 3, 3, 1, 2], [1, 0, 1, 0, 0, 0], [0, 2, 3, 0, 2, 2]],
     [18, 54, 7, 21, 52, 34], Fraction(257, 8)),
])  # fmt: skip
def test_the_filter_follows_what_the_poor_have_left_after_earlier_purchases(scores, costs, first, budgets):
    """More money lowers an earlier price, and so leaves more to those who are poor in a later purchase."""
    _, exact, filtered = increases(budgets.make(scores, costs, 100), first)
    assert filtered.order == exact.order
    assert filtered.increase == pytest.approx(float(exact.increase), rel=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize("tied", [False, True])
def test_nothing_changes_within_the_room(tied, budgets):
    """What voters buy with any sum within the allowable increase, also just below its end, exactly and filtered.

    Most projects are bought, so that budgets and prices follow the first sum in every way; tied costs make budgets and
    parts to pay even.
    """
    generator, wide, close = np.random.default_rng([55, tied]), 0, 0
    for _ in range(250):
        n_voters, n_projects = int(generator.integers(3, 8)), int(generator.integers(3, 9))
        scores = generator.integers(1, 4, (n_voters, n_projects)) * (generator.random((n_voters, n_projects)) < 0.5)
        costs = generator.choice([6, 12, 18, 24], n_projects) if tied else generator.integers(6, 60, n_projects)
        first = Fraction(int(generator.integers(6, 40))) if tied else Fraction(int(generator.integers(40, 400)), 8)
        after, exact, filtered = increases(budgets.make(scores, costs, 100), first)
        close += filtered is None
        for room in {exact.increase, filtered.increase if filtered else 0} - {0, float("inf")}:
            wide += 1
            for part in (Fraction(1, 3), Fraction(999_999, 1_000_000)):
                assert after(first + Fraction(room) * part).order == exact.order
    assert wide > 150
    assert close > (100 if tied else 5)


def test_prices_are_lines_within_the_room(budgets, monkeypatch):
    """With δ more for each, a price is value + rate · δ, exactly: the same voters are poor."""
    made, generator, falling, deep = [], np.random.default_rng(56), 0, 0
    monkeypatch.setattr(equal_shares, "VoterBudgets", lambda *given: made.append(VoterBudgets(*given)) or made[-1])
    for _ in range(200):
        scores = generator.integers(1, 4, (6, 8)) * (generator.random((6, 8)) < 0.5)
        costs, first = generator.integers(6, 60, 8), Fraction(int(generator.integers(60, 400)), 8)
        after, exact, _ = increases(budgets.make(scores, costs, 100), first)
        more = Fraction(min(exact.increase, 5)) / 2
        before = made[-1].prices
        assert after(first + more).order == exact.order
        for project, price in made[-1].prices.items():
            assert price.value == before[project].value + before[project].rate * more
            assert before[project].rate <= 0
            falling += before[project].rate < 0 and more > 0
            deep += before[project].rate < -2 and more > 0
    assert falling > 100
    assert deep > 10


def test_steps_that_change_nothing_are_not_tried(budgets):
    """One voter wants what costs 900,000 and holds 333,333: half a million steps of add1 by definition."""
    election = budgets.make([[1, 1], [1, 0], [1, 0]], [10, 900_000], 1_000_000)
    found = budget_rules.create("equal_shares", {"completion": "add1"})(election)
    assert found.projects == ("p0", "p1")
    assert found.voter_money == 900_004  # the first whole unit that leaves 900,000 beside a third of 10
    assert found.prices == {0: Fraction(10, 3), 1: 900_000}


@pytest.mark.few(1)
@pytest.mark.parametrize("utility", UTILITIES)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_twin_of_single_units(utility, data, budgets):
    """As unit after unit, through tied prices, budgets that are emptied to the last coin, and idle voters."""
    n_voters, n_projects = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    scores = data.draw(
        st.lists(st.lists(st.sampled_from([0, 0, 1, 1, 2, 3]), min_size=n_projects, max_size=n_projects),
                 min_size=n_voters, max_size=n_voters)
    )  # fmt: skip
    costs = data.draw(
        st.lists(st.sampled_from([1, 7, 20, 30, 30, 59.5, 60, 120]), min_size=n_projects, max_size=n_projects)
    )
    election = budgets.make(scores, costs, data.draw(st.sampled_from([30, 60, 61, 119, 120, 180])))
    order, prices, money = twin(budgets, election, utility, "add1u")
    found = budget_rules.create("equal_shares", {"utility": utility})(election)
    assert (list(found.order), dict(found.prices), found.voter_money) == (order, prices, money)


@pytest.mark.few(2)
@pytest.mark.parametrize(("scores", "costs"), [
    ([[1, 1], [0, 0]], [500_000_000, 500_000_000]),  # one voter pays for both, to the last coin
    ([[1, 1, 0], [1, 1, 0], [0, 0, 1]], [500_000_000, 499_999_999, 1_000_000_000]),
    ([[1, 1, 1], [0, 0, 0], [0, 0, 0]], [333_333_333, 333_333_333, 333_333_334]),
    ([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], [400_000_000, 400_000_000, 200_000_000]),
])  # fmt: skip
def test_few_steps_to_a_thousand_million(scores, costs, budgets, monkeypatch):
    """What was tried is counted, and the outcome is that of a budget in thousands of the unit."""
    tried = []
    in_floating_point, exact = FloatingPointFilter.__call__, equal_shares._equal_shares
    monkeypatch.setattr(
        FloatingPointFilter, "__call__", lambda self, first: tried.append(first) or in_floating_point(self, first)
    )
    monkeypatch.setattr(equal_shares, "_equal_shares", lambda *given: tried.append(given[2]) or exact(*given))
    found = budget_rules.create("equal_shares", {"completion": "add1"})(budgets.make(scores, costs, 1_000_000_000))
    assert len(tried) < 300
    small = budgets.make(scores, np.asarray(costs) / 500_000, 2_000)
    order, _, money = twin(budgets, small, "approval", "add1")
    assert list(found.order) == order
    assert abs(found.voter_money / 500_000 - money) <= 1


@pytest.mark.few(1)
@pytest.mark.parametrize("utility", UTILITIES)
def test_extended_justified_representation_up_to_one_project(utility, budgets):
    """Peters, Pierczyński and Skowron (2021), theorem 2, for all groups of voters and all sets of projects.

    Voters whose share of the budget pays for projects T that each of them values at α(p) or more: one of them has
    Σ α(p) of utility, or would have more with one project of T on top.
    """
    generator, groups = np.random.default_rng([53, UTILITIES.index(utility)]), 0
    for _ in range(25):
        scores = generator.integers(1, 4, (5, 5)) * (generator.random((5, 5)) < 0.6)
        election = budgets.make(scores, generator.integers(1, 5, 5), int(generator.integers(4, 12)))
        values = worth(budgets, election, utility)
        for completion in ("none", "add1u"):
            chosen = budget_rules.create("equal_shares", {"utility": utility, "completion": completion})(
                election
            ).chosen
            groups += _check_groups(election, values, chosen)
    assert groups > 200


def _check_groups(election, values, chosen):
    found = 0
    n_voters, n_projects = election.scores.shape
    for size in range(1, n_voters + 1):
        for group in itertools.combinations(range(n_voters), size):
            for length in range(1, n_projects + 1):
                for wish in itertools.combinations(range(n_projects), length):
                    if election.costs[list(wish)].sum() * n_voters > size * election.budget:
                        continue
                    least = sum(min(values[i][p] for i in group) for p in wish)
                    has = {i: sum(values[i][p] for p in range(n_projects) if chosen[p]) for i in group}
                    found += least > 0
                    assert any(
                        has[i] >= least or any(has[i] + values[i][p] > least for p in wish if not chosen[p])
                        for i in group
                    )
    return found
