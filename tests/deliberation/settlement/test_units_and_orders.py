"""What must not change a joint decision: the unit of utilities, the order of resources, views or table."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents.rules.rule import UtilityAgent
from accordant.allocations import AdditiveUtility, Claimant, Resource, Scenario
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.offers import alternating_offers
from accordant.deliberation.protocols.debate import vote_after_debate
from accordant.deliberation.settlement import settlements
from accordant.deliberation.settlement.alternating_offers import AlternatingOffers, Bidder
from accordant.deliberation.settlement.settlement import lay_table
from accordant.deliberation.settlement.division import borda_points
from accordant.errors import InvalidMoveError
from accordant.randomness import keyed_uniform

RULES = ("bargain", "mediated", "nash_product", "split_contested", "priority_vote", "alternating_offers")
CONCESSIONS = ("linear", "boulware", "conceder", "hardheaded", "tit_for_tat", "micro", "tough", "nice", "exponential")


def stakeholders(values, concessions=("linear", "boulware", "linear"), unit=1.0):
    return [
        UtilityAgent(f"agent {k}", {f"p{i:02d}": value * unit for i, value in enumerate(row)}, concessions[k])
        for k, row in enumerate(values)
    ]


def both_ways(scenario, agents, seed):
    """What alternating offers decide through views, and over the table."""
    toss = np.argsort(keyed_uniform(17, [agent.name for agent in agents]))
    found = alternating_offers(scenario, [agents[k] for k in toss], steps=20, seed=seed)
    table = lay_table(scenario, agents, found.solo, found.disagreement, options=found.options, seed=17)
    return found, AlternatingOffers(steps=20).settle(table)


class TestUnequalDemands:
    @settings(max_examples=40, deadline=None)
    @given(data=st.data(), seed=st.integers(0, 99))
    def test_views_and_table_decide_the_same(self, small, data, seed):
        rows, columns = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 2))
        row = st.lists(st.integers(0, 3), min_size=columns, max_size=columns)
        demands = data.draw(st.lists(row, min_size=rows, max_size=rows))
        scenario = small.build(demands, data.draw(st.lists(st.integers(1, 5), min_size=columns, max_size=columns)))
        agents = stakeholders(
            data.draw(st.lists(st.lists(st.integers(0, 2), min_size=rows, max_size=rows), min_size=2, max_size=2)),
            data.draw(st.tuples(st.sampled_from(CONCESSIONS), st.sampled_from(CONCESSIONS))),
        )
        found, over_table = both_ways(scenario, agents, seed)
        assert found.joint == over_table.allocation
        assert (found.settled.agreed, found.settled.time) == (over_table.agreed, over_table.time)

    @pytest.mark.long
    def test_two_hundred_scenarios_with_many_ties(self, small):
        parted = []
        for seed in range(200):
            draw = np.random.default_rng(seed)
            demands, capacities = draw.integers(0, 3, (3, 1)).tolist(), draw.integers(1, 4, 1).tolist()
            agents = stakeholders(draw.integers(0, 3, (2, 3)).astype(float).tolist(), ("linear", "linear"))
            found, over_table = both_ways(small.build(demands, capacities), agents, seed)
            if found.joint != over_table.allocation:
                parted.append(seed)
        assert parted == []

    def test_the_nearest_is_told_by_shares_not_by_portions(self, small):
        """To give p00 a portion less moves its share by a half, to give p01 or p02 one moves theirs by a fifth."""
        scenario = small.build([[2], [5], [5]], [6])
        agents = stakeholders([[0, 0, 0], [0, 0, 1]], ("linear", "linear"))
        found = alternating_offers(scenario, agents, steps=1)
        table = lay_table(scenario, agents, found.solo, found.disagreement, options=found.options)
        bidder = Bidder(table, 1)
        heard = np.array([[2], [4], [0]])
        bidder.hear(0, int(np.flatnonzero((table.options.granted == heard).all(axis=(1, 2)))[0]))
        chosen = table.options.granted[bidder.lowest_above(0.4)].tolist()
        assert chosen == [[2], [2], [2]]
        assert table.options.shares[bidder.lowest_above(0.4)].tolist() == [1.0, 0.4, 0.4]

    def test_distances_that_differ_by_rounding_tie(self, small):
        """To three portions for p00, and to one each, it is 5/6 of a demand; in floating point not to the last bit."""
        scenario = small.build([[3], [2], [2], [1]], [3])
        agents = stakeholders([[0, 0, 0, 0], [3, 4, 0, -5]], ("linear", "linear"))
        found = alternating_offers(scenario, agents, steps=1)
        table = lay_table(scenario, agents, found.solo, found.disagreement, options=found.options)
        granted = table.options.granted[:, :, 0].tolist()
        bidder, as_good = Bidder(table, 1), [granted.index([3, 0, 0, 0]), granted.index([1, 1, 1, 0])]
        bidder.hear(0, granted.index([2, 0, 1, 0]))
        moved = np.abs(table.options.shares[as_good] - table.options.shares[bidder.received[-1]]).sum(axis=1)
        assert moved[0] > moved[1] and moved == pytest.approx(5 / 6)
        assert bidder.utilities[as_good[0]] == bidder.utilities[as_good[1]]
        assert bidder.lowest_above(float(bidder.utilities[as_good[0]])) == as_good[0]


class TestUnits:
    @pytest.mark.long
    @pytest.mark.parametrize("unit", [1e-13, 1e-200, 1e13])
    @pytest.mark.parametrize("demands", [[[1]] * 5, [[2], [1], [3], [1], [0]]])
    def test_the_unit_of_values_changes_no_joint_decision(self, small, unit, demands):
        scenario = small.build(demands, [2])
        for seed in range(2):
            values = np.random.default_rng(seed).integers(0, 9, (3, 5)).astype(float).tolist()
            agents, others = stakeholders(values), stakeholders(values, unit=unit)
            for rule in RULES:
                before, after = (debate(scenario, each, settle=rule, seed=seed) for each in (agents, others))
                assert before.joint == after.joint, rule
            for protocol in (alternating_offers, vote_after_debate):
                before, after = (protocol(scenario, each, seed=seed) for each in (agents, others))
                assert before.joint == after.joint, protocol.__name__

    @pytest.mark.parametrize("unit", [1e-13, 1.0, 1e13])
    def test_ballots_and_replies_read_small_differences(self, small, unit):
        scenario = small.build([[1]] * 4, [2])
        values = [[4, 3, 2, 1], [1, 2, 3, 4]]
        found = vote_after_debate(scenario, stakeholders(values, ("hardheaded", "hardheaded"), unit))
        expected = vote_after_debate(scenario, stakeholders(values, ("hardheaded", "hardheaded")))
        assert [turn.move.ranking for turn in found.turns if turn.step == 3] == [
            turn.move.ranking for turn in expected.turns if turn.step == 3
        ]
        kinds = [[reply.kind for reply in turn.move.replies] for turn in found.turns if turn.step == 2]
        assert kinds == [[reply.kind for reply in turn.move.replies] for turn in expected.turns if turn.step == 2]
        ranks = [reason.text.rsplit(": ", 1)[1] for turn in found.turns[:2] for reason in turn.move.reasons]
        assert ranks == ["rank 1 of 4", "rank 2 of 4", "rank 2 of 4", "rank 1 of 4"]

    @pytest.mark.parametrize("unit", [1e-13, 1.0, 1e13])
    def test_a_constant_is_indifferent_in_any_unit(self, small, unit):
        scenario = small.build([[1]] * 4, [2])
        agents = stakeholders([[0.1, 0.1, 0.1, 0.1], [4, 3, 2, 1]], unit=unit)
        found = debate(scenario, agents)
        table = lay_table(scenario, agents, found.solo, found.disagreement, options=found.options)
        assert (table.utilities[0] == 1).all() and table.utilities[1].min() == 0
        assert found.joint.claimants == ("p00", "p01")

    @pytest.mark.parametrize("unit", [1e-13, 1e-300, 1.0, 1e300])
    def test_points_count_ties_by_size(self, unit):
        assert borda_points(np.array([0.1 + 0.2, 0.3, 1.0]) * unit).tolist() == [0.5, 0.5, 2.0]
        assert borda_points(np.zeros(3) * unit).tolist() == [1, 1, 1]


def two_kinds(order):
    """Beds and nurses in an order, with demands that differ."""
    resources = [Resource("bed", 3), Resource("nurse", 2, 0.5), Resource("air", 2)]
    demands = [{"bed": 1, "nurse": 0.5}, {"bed": 2, "air": 1}, {"nurse": 1.5}, {"bed": 1, "nurse": 1, "air": 2}]
    people = [Claimant(f"p{i:02d}", {"severity": i / 9}, need) for i, need in enumerate(demands)]
    return Scenario(people, [resources[k] for k in order])


@pytest.mark.few(1)
@pytest.mark.parametrize("protocol", [debate, alternating_offers, vote_after_debate])
def test_the_order_of_resources_changes_no_record(protocol):
    values = [[3, 1, 2, 2], [1, 1, 2, 0], [0, 3, 1, 1]]
    hashes = {
        protocol(two_kinds(order), stakeholders(values), seed=3).hash for order in itertools.permutations(range(3))
    }
    assert len(hashes) == 1
    assert debate(two_kinds((0, 1, 2)), stakeholders(values), seed=4).hash not in hashes


class Broken:
    """Finite where one patient alone is served, and no number for real allocations."""

    def of(self, shares):
        return np.where(shares.sum(axis=1) > 1.5, np.nan, shares[:, 0])

    def to_json(self):
        return "broken"


class TestNoNumbers:
    @pytest.mark.parametrize("listed", [True, False])
    def test_a_utility_that_is_no_number_for_options_is_refused_by_name(self, small, listed):
        scenario = small.build([[1]] * 4, [2])
        found = debate(scenario, stakeholders([[1, 2, 3, 4], [4, 3, 2, 1]]))
        broken = {**found.solo, "agent 1": type(found.solo["agent 1"])(found.solo["agent 1"].allocation, Broken())}
        options = found.options if listed else None
        with pytest.raises(InvalidMoveError, match="agent 'agent 1': its utility cannot be read: a utility is nan for"):
            lay_table(scenario, found.agents, broken, found.disagreement, options=options)

    def test_options_are_tried_too(self, small):
        """Finite alone and for what is proposed: only the other options tell."""

        class Hidden(Broken):
            def of(self, shares):
                return np.where((shares[:, 1] > 0.5) & (shares[:, 2] > 0.5), np.inf, shares[:, 0])

        scenario = small.build([[1]] * 4, [2])
        found = debate(scenario, stakeholders([[4, 0, 0, 3], [3, 0, 0, 4]]))
        proposals = {**found.solo, "agent 0": type(found.solo["agent 0"])(found.solo["agent 0"].allocation, Hidden())}
        without = found.solo["agent 0"].allocation
        with pytest.raises(InvalidMoveError, match="agent 'agent 0': its utility cannot be read: a utility is inf for"):
            lay_table(scenario, found.agents, proposals, without, options=found.options)

    def test_a_rule_agent_with_such_a_utility_is_named(self, small):
        class Odd(UtilityAgent):
            def utility(self, view):
                return Broken()

        agents = [*stakeholders([[1, 2, 3, 4]]), Odd("odd", {})]
        with pytest.raises(
            InvalidMoveError, match="agent 'odd', propose at step 1: the utility cannot be read: .* nan"
        ):
            debate(small.build([[1]] * 4, [2]), agents)

    def test_values_too_large_to_add_up_are_refused_without_a_warning(self, small):
        scenario = small.build([[1]] * 4, [2])
        with pytest.raises(InvalidMoveError, match="agent 'agent 0', propose at step 1: .* a utility is inf"):
            debate(scenario, stakeholders([[1e308] * 4, [1, 2, 3, 4]]))
        found = debate(scenario, stakeholders([[1, 2, 3, 4], [4, 3, 2, 1]]))
        for values, said in (([1e308] * 4, "a utility is inf"), ([1.5e308, 0, 0, -1.5e308], "a difference below")):
            proposal = type(found.solo["agent 0"])(found.solo["agent 0"].allocation, AdditiveUtility(values))
            with pytest.raises(InvalidMoveError, match=f"agent 'agent 0': its utility .*{said}"):
                lay_table(
                    scenario,
                    found.agents,
                    {**found.solo, "agent 0": proposal},
                    found.disagreement,
                    options=found.options,
                )


def test_all_rules_are_tried_above():
    assert set(RULES) | {"no_deal"} == set(settlements.names())
