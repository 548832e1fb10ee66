"""Settlement rules against slow twins in plain Python, and their edge cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents.concession import concession_of
from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario
from accordant.allocations.allocation import infeasible
from accordant.allocations.enumeration import enumerate_options
from accordant.allocations.allocation import Options
from accordant.allocations.search import pool, scaled
from accordant.deliberation.settlement import Table, settlements
from accordant.deliberation.settlement.division import borda_points
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_uniform

NAMES = ("bargain", "mediated", "nash_product", "split_contested", "priority_vote", "no_deal", "alternating_offers")


def table_of(scenario, values, *, exponents=None, revised=None, met=None, seed=0, options=None, names=None):
    """A table for additive utilities; everybody's last proposal is its favourite unless told otherwise."""
    options = enumerate_options(scenario) if options is None else options
    stated = [AdditiveUtility(np.array(row, dtype=float)) for row in values]
    scale = scaled(scenario, stated, options)
    utilities = np.clip(scale.of(options.shares), 0, 1)
    concessions = [concession_of("linear")] * len(values) if exponents is None else exponents
    return Table(
        options=options,
        utilities=utilities,
        priorities=np.array(values, dtype=float),
        values=scale.values,
        floors=scale.floors,
        concessions=tuple(map(concession_of, concessions)),
        revised=utilities.argmax(axis=1) if revised is None else np.array(revised),
        disagreement=len(options) - 1,
        met=np.zeros((0, len(options)), dtype=bool) if met is None else np.array(met, dtype=bool),
        seed=seed,
        names=names or tuple(f"agent {k}" for k in range(len(values))),
    )


@st.composite
def tables(draw):
    """Random tables with ties, several resources and one to three agents."""
    n, r, k = draw(st.integers(1, 4)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    number = st.integers(0, 2)
    demands = draw(st.lists(st.lists(number, min_size=r, max_size=r), min_size=n, max_size=n))
    capacities = draw(st.lists(st.integers(0, 2 * n), min_size=r, max_size=r))
    scenario = Scenario(
        [Claimant(f"p{i}", {}, {f"r{j}": float(d) for j, d in enumerate(row)}) for i, row in enumerate(demands)],
        [Resource(f"r{j}", float(c)) for j, c in enumerate(capacities)],
    )
    values = draw(st.lists(st.lists(st.integers(-2, 4), min_size=n, max_size=n), min_size=k, max_size=k))
    n_options = len(enumerate_options(scenario))
    position = st.integers(0, n_options - 1)
    met = draw(st.lists(st.lists(st.booleans(), min_size=n_options, max_size=n_options), max_size=2))
    return table_of(
        scenario,
        values,
        exponents=draw(st.lists(st.sampled_from(["linear", "boulware", "conceder"]), min_size=k, max_size=k)),
        revised=draw(st.lists(position, min_size=k, max_size=k)),
        met=met or None,
        seed=draw(st.integers(0, 5)),
    )


def exponents_of(table):
    return [concession.exponent for concession in table.concessions]


def first_time(table):
    u, e = table.utilities.tolist(), exponents_of(table)
    for step in range(61):
        bands = [1 - (step / 60) ** each for each in e]
        common = [a for a in range(len(u[0])) if all(u[k][a] >= bands[k] - 1e-12 for k in range(len(u)))]
        if common:
            return step / 60, bands, common
    raise AssertionError


def best_product(table, among):
    products = {a: math.prod(row[a] for row in table.utilities.tolist()) for a in among}
    best = max(products.values())
    return [a for a in among if products[a] >= best * (1 - 1e-12)]


@pytest.mark.long
@given(tables())
@settings(max_examples=60, deadline=None)
def test_bargain_and_mediated_and_nash_against_plain_loops(table):
    time, bands, common = first_time(table)
    winners = best_product(table, common)
    found = settlements.create("bargain").settle(table)
    assert found.time == time and found.tied == (len(winners) > 1) and found.agreed and found.gap == 0
    assert found.allocation == table.options.allocation(winners[0])

    u = table.utilities.tolist()
    within = [a for a in range(len(u[0])) if all(u[k][a] >= bands[k] - 0.1 - 1e-12 for k in range(len(u)))]
    met = {a: sum(bool(row[a]) for row in table.met) for a in within}
    most = [a for a in within if met[a] == max(met.values())]
    found = settlements.create("mediated").settle(table)
    assert found.allocation == table.options.allocation(best_product(table, most)[0])
    assert found.time == time and found.details["met"] == max(met.values())
    assert found.details["met"] >= sum(bool(row[winners[0]]) for row in table.met)

    winners = best_product(table, range(len(u[0])))
    found = settlements.create("nash_product").settle(table)
    assert found.allocation == table.options.allocation(winners[0]) and found.tied == (len(winners) > 1)


@pytest.mark.long
@given(tables())
@settings(max_examples=60, deadline=None)
def test_every_rule_gives_a_feasible_allocation_and_none_depends_on_the_order_of_agents(table):
    back = slice(None, None, -1)
    turned = Table(
        table.options, table.utilities[back], table.priorities[back], table.values[back], table.floors[back],
        table.concessions[back], table.revised[back], table.disagreement, table.met, table.seed, table.names[back],
    )  # fmt: skip
    for name in NAMES:
        found = settlements.create(name).settle(table)
        assert infeasible(table.options.scenario, found.allocation.granted) is None
        assert settlements.create(name).settle(turned).allocation == found.allocation, name


def split_by_loop(table):
    """Agreed portions first, then turns, with lists and dictionaries only."""
    scenario = table.options.scenario
    n, r = len(scenario.ids), len(scenario.resources)
    claims = [table.options.granted[position].tolist() for position in table.revised]
    got = [[min(claim[i][j] for claim in claims) for j in range(r)] for i in range(n)]
    demand, capacity = scenario.demand.tolist(), scenario.capacity.tolist()
    left = [min(capacity[j], sum(row[j] for row in demand)) - sum(row[j] for row in got) for j in range(r)]
    draws = dict(zip(table.names, keyed_uniform(table.seed, table.names), strict=True))
    turns = itertools.cycle(sorted(range(len(claims)), key=lambda k: draws[table.names[k]]))
    while sum(left):
        k = next(turns)
        open_ones = [i for i in range(n) if any(claims[k][i][j] > got[i][j] and left[j] for j in range(r))]
        i = min(open_ones, key=lambda i: (-table.priorities[k][i], i))
        for j in range(r):
            more = max(0, min(claims[k][i][j] - got[i][j], left[j]))
            got[i][j] += more
            left[j] -= more
    return got


@given(tables())
@settings(max_examples=60, deadline=None)
def test_split_contested_against_a_plain_loop(table):
    found = settlements.create("split_contested").settle(table)
    assert found.allocation.granted.tolist() == split_by_loop(table)
    agreed = table.options.granted[table.revised].min(axis=0)
    assert (found.allocation.granted >= agreed).all()


def test_split_contested_alternates_between_two():
    scenario = Scenario([Claimant(f"p{i}", {}) for i in range(6)], [Resource("bed", 3)])
    options = enumerate_options(scenario)
    wishes = [options.position(Allocation.whole(scenario, ids)) for ids in (["p0", "p1", "p2"], ["p0", "p4", "p5"])]
    table = table_of(scenario, [[9, 1, 2, 0, 0, 0], [9, 0, 0, 0, 3, 2]], revised=wishes)
    found = settlements.create("split_contested").settle(table)
    assert set(found.allocation.claimants) == {"p0", "p2", "p4"}
    assert {turn["agent"] for turn in found.details["turns"]} == {"agent 0", "agent 1"}
    assert found.details["agreed_portions"] == 1


def test_split_contested_takes_nothing_that_the_own_proposal_does_not_claim():
    scenario = Scenario(
        [Claimant(f"p{i}", {}, {"r0": 1.0, "r1": 1.0}) for i in range(2)], [Resource("r0", 1), Resource("r1", 1)]
    )
    options = enumerate_options(scenario)
    wishes = [options.position(Allocation(scenario, np.array(each))) for each in ([[1, 0], [0, 1]], [[0, 1], [1, 0]])]
    found = settlements.create("split_contested").settle(table_of(scenario, [[2, 1], [2, 1]], revised=wishes))
    assert found.allocation.granted.tolist() == [[1, 1], [0, 0]]
    assert [turn["patient"] for turn in found.details["turns"]] == ["p0", "p0"]  # one resource each


def test_split_contested_says_when_the_id_decided():
    scenario = Scenario([Claimant(f"p{i}", {}) for i in range(4)], [Resource("bed", 2)])
    options = enumerate_options(scenario)
    wishes = [options.position(Allocation.whole(scenario, ids)) for ids in (["p0", "p1"], ["p2", "p3"])]
    tied = table_of(scenario, [[1, 1, 0, 0], [0, 0, 1, 1]], revised=wishes)
    clear = table_of(scenario, [[1, 2, 0, 0], [0, 0, 1, 2]], revised=wishes)
    found = settlements.create("split_contested").settle(tied)
    assert found.tied and found.allocation.claimants == ("p0", "p2")
    found = settlements.create("split_contested").settle(clear)
    assert not found.tied and found.allocation.claimants == ("p1", "p3")


def test_a_mediator_can_still_widen_where_nobody_concedes():
    scenario = Scenario([Claimant(f"p{i}", {}) for i in range(3)], [Resource("bed", 1)])
    base = table_of(scenario, [[1, 0, 0], [0, 1, 0]], exponents=["hardheaded", "hardheaded"])
    utilities = np.array([[1, 0, 0.95], [0, 1, 0.92]])
    table = Table(
        base.options, utilities, base.priorities, None, None, base.concessions, base.revised, 0, base.met, 0, base.names
    )
    assert not settlements.create("bargain").settle(table).agreed
    found = settlements.create("mediated").settle(table)
    assert found.agreed and found.time == 1.0 and found.allocation.claimants == ("p2",)


def priority_by_loop(table):
    scenario = table.options.scenario
    n = len(scenario.ids)
    points = [0.0] * n
    for row in table.priorities.tolist():
        for i in range(n):
            for j in range(n):
                if i != j:
                    points[i] += 1.0 if row[i] > row[j] else 0.5 if row[i] == row[j] else 0.0
    left = scenario.capacity.tolist()
    got = [[0] * len(left) for _ in range(n)]
    for i in sorted(range(n), key=lambda i: (-points[i], i)):
        for j in range(len(left)):
            got[i][j] = min(int(scenario.demand[i, j]), left[j])
            left[j] -= got[i][j]
    return points, got


@given(tables())
@settings(max_examples=60, deadline=None)
def test_priority_vote_against_a_plain_loop(table):
    found = settlements.create("priority_vote").settle(table)
    points, got = priority_by_loop(table)
    assert list(found.details["points"].values()) == points
    assert found.allocation.granted.tolist() == got


def test_priority_vote_says_when_the_id_decided():
    scenario = Scenario([Claimant("p0", {}), Claimant("p1", {})], [Resource("bed", 1)])
    tied = settlements.create("priority_vote").settle(table_of(scenario, [[1, 0], [0, 1]]))
    clear = settlements.create("priority_vote").settle(table_of(scenario, [[1, 0], [1, 0]]))
    assert tied.tied and tied.allocation.claimants == ("p0",)
    assert not clear.tied


def test_points_count_ties_half_and_ignore_rounding():
    assert borda_points(np.array([0.1 + 0.2, 0.3, 1.0])).tolist() == [0.5, 0.5, 2.0]
    assert borda_points(np.array([7.0])).tolist() == [0.0]


def test_no_deal_takes_the_disagreement_and_says_that_nobody_agreed():
    scenario = Scenario([Claimant("p0", {}), Claimant("p1", {})], [Resource("bed", 1)])
    table = table_of(scenario, [[1, 0], [1, 0]])
    found = settlements.create("no_deal").settle(table)
    assert not found.agreed and found.allocation == table.options.allocation(table.disagreement)


@pytest.mark.parametrize("rule", ["bargain", "mediated"])
def test_time_based_rules_refuse_other_concessions_by_name(rule):
    scenario = Scenario([Claimant("p0", {}), Claimant("p1", {})], [Resource("bed", 1)])
    table = table_of(scenario, [[1, 0], [0, 1]], exponents=["linear", "micro"])
    with pytest.raises(InputError, match="'agent 1' concedes by 'micro'.*linear.*'alternating_offers'"):
        settlements.create(rule).settle(table)
    with pytest.raises(InputError, match="micro"):
        settlements.create(rule).check(table.names, table.concessions)


def test_two_hardheaded_agents_end_in_the_disagreement():
    scenario = Scenario([Claimant("p0", {}), Claimant("p1", {})], [Resource("bed", 1)])
    table = table_of(scenario, [[1, 0], [0, 1]], exponents=["hardheaded", "hardheaded"])
    for rule in ("bargain", "mediated", "alternating_offers"):
        found = settlements.create(rule).settle(table)
        assert not found.agreed and found.time is None
        assert found.allocation == table.options.allocation(table.disagreement)


def test_a_mediator_takes_what_meets_more_criteria_only_within_the_widened_bands():
    """Linear bands meet at t = .35 on (.65, .7); within .1 of them lies (.6, .6), which meets the criterion."""
    scenario = Scenario([Claimant(f"p{i}", {}) for i in range(5)], [Resource("bed", 1)])
    base = table_of(scenario, [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]])
    utilities = np.array([[1, 0, 0.65, 0.6, 0.5], [0, 1, 0.7, 0.6, 0.5]])
    met = np.array([[False, False, False, True, True]])
    table = Table(
        base.options, utilities, base.priorities, None, None, base.concessions, base.revised, 0, met, 0, base.names
    )
    assert settlements.create("bargain").settle(table).allocation.claimants == ("p2",)
    found = settlements.create("mediated").settle(table)
    assert found.allocation.claimants == ("p3",) and found.time == pytest.approx(21 / 60)
    assert settlements.create("mediated", {"widening": 0.0}).settle(table).allocation.claimants == ("p2",)


class TestWhereASearchListsTheOptions:
    def listed(self, seed):
        """The same table with eight of all options, and with all of them."""
        generator = np.random.default_rng(seed)
        scenario = Scenario([Claimant(f"p{i:02d}", {}) for i in range(8)], [Resource("bed", 4)])
        values = generator.uniform(size=(2, 8))
        everything = enumerate_options(scenario)
        some = Options(scenario, everything.granted[np.sort(generator.choice(70, 8, replace=False))], complete=False)
        return table_of(scenario, values, options=some), table_of(scenario, values)

    @pytest.mark.long
    def test_the_gap_covers_what_all_allocations_would_give(self):
        missed = {"bargain": [], "nash_product": []}
        for seed in range(8):
            some, everything = self.listed(seed)
            found, best = (settlements.create("bargain").settle(table) for table in (some, everything))
            missed["bargain"].append(found.time - best.time)
            assert best.gap == 0 and missed["bargain"][-1] - 1e-9 <= found.gap <= found.time
            assert found.details["product_gap"] > 0
            found, best = (settlements.create("nash_product").settle(table) for table in (some, everything))
            missed["nash_product"].append(best.details["product"] - found.details["product"])
            assert missed["nash_product"][-1] - 1e-9 <= found.gap < missed["nash_product"][-1] + 0.05
        assert min(max(each) for each in missed.values()) > 0.05

    def test_a_pool_is_near_the_bound(self):
        generator = np.random.default_rng(0)
        scenario = Scenario([Claimant(f"p{i:02d}", {}) for i in range(9)], [Resource("bed", 4)])
        values = generator.uniform(size=(2, 9))
        options = pool(scenario, [AdditiveUtility(row) for row in values], size=12)
        table = table_of(scenario, values, options=options)
        assert settlements.create("nash_product").settle(table).gap < 0.05
        assert settlements.create("bargain").settle(table).gap < 0.1

    def test_no_bound_is_known_for_utilities_that_do_not_add_up(self):
        some, _ = self.listed(0)
        blind = Table(
            some.options, some.utilities, some.priorities, None, None, some.concessions, some.revised,
            some.disagreement, some.met, some.seed, some.names,
        )  # fmt: skip
        for rule in ("bargain", "nash_product", "mediated", "alternating_offers"):
            assert settlements.create(rule).settle(blind).gap is None
        assert settlements.create("priority_vote").settle(blind).gap == 0


class TestEdges:
    def test_a_whole_ward_without_beds_has_one_option(self):
        scenario = Scenario([Claimant("p0", {}), Claimant("p1", {})], [Resource("bed", 0)])
        table = table_of(scenario, [[1, 0], [0, 1]])
        for rule in NAMES:
            assert settlements.create(rule).settle(table).allocation.claimants == ()

    def test_one_agent_gets_its_favourite(self):
        scenario = Scenario([Claimant(f"p{i}", {}) for i in range(4)], [Resource("bed", 2)])
        table = table_of(scenario, [[1, 4, 3, 2]])
        for rule in set(NAMES) - {"no_deal"}:
            assert settlements.create(rule).settle(table).allocation.claimants == ("p1", "p2")

    def test_wrong_names_and_parameters_are_refused(self):
        with pytest.raises(UnknownNameError, match="did you mean 'bargain'"):
            settlements.create("bargin")
        for rule, parameters in (
            ("bargain", {"steps": 0}),
            ("mediated", {"widening": 2}),
            ("alternating_offers", {"steps": 0}),
        ):
            with pytest.raises(InputError, match="allowed"):
                settlements.create(rule, parameters)

    def test_rules_rebuild_from_name_and_parameters(self):
        for name in NAMES:
            rule = settlements.create(name)
            assert settlements.create(rule.name, rule.parameters) == rule
        assert set(NAMES) <= set(settlements.names())

    def test_options_of_another_kind_of_list_are_kept(self):
        scenario = Scenario([Claimant("p0", {}), Claimant("p1", {})], [Resource("bed", 1)])
        found = enumerate_options(scenario)
        some = Options(scenario, found.granted[:1], complete=False)
        assert settlements.create("no_deal").settle(
            table_of(scenario, [[1, 0]], options=some)
        ).allocation.claimants == ("p0",)
