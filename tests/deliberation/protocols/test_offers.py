"""Alternating offers through views, against the rule over the table, the deadline and the standstill."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents import Acted, Answer, Ballot, Reason
from accordant.agents.concession import Progress, concession_of
from accordant.agents.fixtures import BaselineAgent
from accordant.agents.rules.rule import UtilityAgent
from accordant.allocations import Allocation
from accordant.allocations.allocation import infeasible
from accordant.deliberation.assessment.process import process
from accordant.deliberation.protocols.offers import alternating_offers, moved_by_time
from accordant.deliberation.settlement.alternating_offers import AlternatingOffers, Bidder, time_of
from accordant.deliberation.settlement.alternating_offers import Stacked
from accordant.deliberation.settlement.settlement import lay_table
from accordant.errors import InputError, InvalidMoveError
from accordant.randomness import keyed_uniform

CONCESSIONS = ("linear", "boulware", "conceder", "hardheaded", "tit_for_tat", "micro", "tough", "nice", "exponential")


def stakeholders(seed, concessions, n=6):
    generator = np.random.default_rng(seed)
    return [
        UtilityAgent(f"agent {k}", {f"p{i:02d}": float(v) for i, v in enumerate(generator.uniform(size=n))}, each)
        for k, each in enumerate(concessions)
    ]


PAIRS = st.tuples(st.sampled_from(CONCESSIONS), st.sampled_from(CONCESSIONS))
TRIPLES = st.tuples(*[st.sampled_from(["linear", "boulware", "conceder", "exponential"])] * 3)


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), concessions=PAIRS | TRIPLES)
def test_rule_agents_reach_through_views_what_the_rule_reaches_over_the_table(small, seed, concessions):
    ward, agents = small.ward(seed % 5, n=6, beds=3), stakeholders(seed, concessions)
    toss = np.argsort(keyed_uniform(17, [agent.name for agent in agents]))
    found = alternating_offers(ward, [agents[k] for k in toss], steps=20, seed=seed)
    table = lay_table(ward, agents, found.solo, found.disagreement, options=found.options, seed=17)
    over_table = AlternatingOffers(steps=20).settle(table)
    assert found.joint == over_table.allocation
    assert (found.settled.agreed, found.settled.time) == (over_table.agreed, over_table.time)


def test_of_offers_as_good_the_one_nearest_to_what_was_heard_is_made(small):
    ward = small.build([[1]] * 4, [2])
    agents = [UtilityAgent("a", {"p00": 1.0}), UtilityAgent("b", {"p02": 1.0, "p03": 1.0})]
    found = alternating_offers(ward, agents, steps=1)
    table = lay_table(ward, agents, found.solo, found.disagreement, options=found.options)
    bidder = Bidder(table, 0)
    assert table.options.allocation(bidder.lowest_above(1.0)).claimants == ("p00", "p01")
    bidder.hear(1, table.options.position(Allocation.whole(ward, ["p02", "p03"])))
    assert table.options.allocation(bidder.lowest_above(1.0)).claimants == ("p00", "p02")


@settings(max_examples=15, deadline=None)
@given(data=st.data(), n=st.integers(1, 3))
def test_every_offer_and_joint_is_feasible(small, data, n):
    scenario = data.draw(small.scenarios(most_patients=4))
    concessions = [data.draw(st.sampled_from(CONCESSIONS)) for _ in range(n)]
    agents = stakeholders(data.draw(st.integers(0, 99)), concessions, n=len(scenario.ids))
    found = alternating_offers(scenario, agents, steps=8)
    for turn in found.turns:
        assert infeasible(scenario, turn.move.counter.allocation.granted) is None
    assert infeasible(scenario, found.joint.granted) is None
    assert len(found.turns) == found.settled.details["offers"] <= 8


class TestTurns:
    def test_agents_take_turns_and_see_only_the_offer_on_the_table(self, small):
        agents = [small.Scripted(name, facts=("severity",)) for name in "abc"]
        found = alternating_offers(small.ward(), agents, steps=7, first=1)
        assert [turn.agent for turn in found.turns] == list("bcabcab")
        assert found.procedure["order"] == ["b", "c", "a"]
        answers = [view for view in agents[2].views if view.phase == "offer"]
        assert [set(view.others) for view in answers] == [{"b"}, {"b"}]
        assert [len(view.history) for view in answers] == [1, 4]
        assert all(each.utility.to_json() is None for view in answers for each in view.others.values())
        assert agents[1].views[1].others == {} and agents[1].views[1].history == ()

    def test_acceptance_ends_it(self, small):
        def accept(agent, view):
            (other,) = view.others
            return Answer(other, agent.best(view))

        agents = [small.Scripted("a"), small.Scripted("b", {"offer": accept})]
        found = alternating_offers(small.ward(), agents)
        assert found.settled.agreed and len(found.turns) == 2
        assert found.joint == found.revised["a"].allocation
        assert found.settled.time == pytest.approx(1 / 59)

    def test_three_must_all_accept_the_same_offer(self, small):
        def accept(agent, view):
            (other,) = view.others
            return Answer(other, agent.best(view))

        agents = [small.Scripted("a"), small.Scripted("b", {"offer": accept}), small.Scripted("c")]
        assert not alternating_offers(small.ward(), agents, steps=9).settled.agreed
        agents[2] = small.Scripted("c", {"offer": accept})
        assert len(alternating_offers(small.ward(), agents, steps=9).turns) == 3

    def test_the_deadline_brings_the_disagreement(self, small):
        agents = stakeholders(1, ("hardheaded", "linear"))
        found = alternating_offers(small.ward(n=6, beds=3), agents, steps=4)
        assert not found.settled.agreed and found.joint == found.disagreement and found.settled.time is None

    def test_who_never_acts_keeps_what_it_wants_alone(self, small):
        agents = stakeholders(1, ("linear", "linear"))
        found = alternating_offers(small.ward(n=6, beds=3), agents, steps=1)
        assert found.revised["agent 1"].allocation == found.solo["agent 1"].allocation
        assert set(found.utilities) == {"agent 0", "agent 1"}

    def test_one_agent_agrees_with_itself(self, small):
        found = alternating_offers(small.ward(), [BaselineAgent()])
        assert found.settled.agreed and len(found.turns) == 1

    def test_same_seed_same_hash(self, small):
        agents = stakeholders(3, ("linear", "boulware"))
        ward = small.ward(n=6, beds=3)
        assert alternating_offers(ward, agents, steps=12).hash == alternating_offers(ward, agents, steps=12).hash

    def test_watch_is_told_each_turn_in_order(self, small):
        seen = []
        found = alternating_offers(small.ward(), [small.Scripted("a"), small.Scripted("b")], steps=5, watch=seen.append)
        assert tuple(seen) == found.turns


class TestStandstill:
    @pytest.mark.parametrize("concession", ["tough", "hardheaded", "tit_for_tat"])
    def test_agents_whom_time_does_not_move_are_not_asked_forever(self, small, concession):
        found = alternating_offers(small.ward(n=6, beds=3), stakeholders(0, (concession, concession)), steps=60)
        assert found.settled.details["stopped"] == "no progress" and len(found.turns) < 20
        assert found.joint == found.disagreement

    def test_a_boulware_agent_that_repeats_itself_for_long_is_not_cut_off(self, small):
        """Three options only: both repeat their favourite until late, and still agree."""
        scenario = small.build([[1], [1], [1]], [1])
        agents = [
            UtilityAgent("a", {"p00": 1.0, "p01": 0.45}, "boulware"),
            UtilityAgent("b", {"p02": 1.0, "p01": 0.45}, "boulware"),
        ]
        disagreement = next(
            found.disagreement for seed in range(99)
            if (found := alternating_offers(scenario, agents, seed=seed, steps=1)).disagreement.claimants != ("p01",)
        )  # fmt: skip
        found = alternating_offers(scenario, agents, disagreement=disagreement)
        assert "stopped" not in found.settled.details
        assert len(found.turns) > 40

    def test_time_moves_time_based_strategies_only(self):
        progress = Progress(0.2, made=(1.0, 1.0), received=(0.1, 0.1), distinct_received=1)
        moved = {name: moved_by_time(concession_of(name), progress, [0.2, 0.6, 1.0]) for name in CONCESSIONS}
        assert {name for name, each in moved.items() if each} == {"linear", "boulware", "conceder", "exponential"}

    def test_the_deadline_is_no_standstill(self, small):
        """Offers that never change, and a deadline at the very step at which that would have been noticed."""
        agents = stakeholders(1, ("hardheaded", "hardheaded"))
        ward = small.ward(n=6, beds=3)
        stopped = alternating_offers(ward, agents, steps=60)
        assert stopped.settled.details == {"offers": len(stopped.turns), "stopped": "no progress"}
        assert 6 <= len(stopped.turns) < 60
        at_deadline = alternating_offers(ward, agents, steps=len(stopped.turns))
        assert at_deadline.settled.details == {"offers": len(stopped.turns)}


def test_what_everybody_wants_alone_stands_beside_the_turns(small):
    invented = Reason("p00", "x", (), ("u-9",))

    class Model(small.Scripted):
        def acted(self, view):
            return Acted(self.act(view), "model m", fallback=view.phase == "propose", repairs=1)

    moves = {"propose": lambda agent, view: agent.best(view, [invented])}
    found = alternating_offers(small.ward(), [Model("a", moves), small.Scripted("b")], steps=3)
    assert [(turn.agent, turn.step, turn.generated_by, turn.fallback) for turn in found.asides] == [
        ("a", 1, "model m", True), ("b", 1, "template", False)
    ]  # fmt: skip
    assert found.asides[0].faults[0].why == "not_looked_up" and found.solo["a"].reasons == ()
    assert (found.fallbacks, found.repairs, len(found.asked)) == (1, 3, 5)
    assert process(found).fallback_rate == 1 / 5


class TestRefusals:
    def test_wrong_numbers(self, small):
        for options, match in (
            ({"steps": 0}, "steps are 0"),
            ({"first": 2}, "first is 2; allowed: 0 to 1"),
            ({"first": -1}, "first is -1"),
        ):
            with pytest.raises(InputError, match=match):
                alternating_offers(small.ward(), [small.Scripted("a"), small.Scripted("b")], **options)

    def test_wrong_moves_name_the_agent(self, small):
        bad = small.Scripted("bad", {"offer": Ballot((0,))})
        with pytest.raises(InvalidMoveError, match="agent 'bad', offer at step 1: the move is a Ballot"):
            alternating_offers(small.ward(), [bad, small.Scripted("good")])
        own = small.Scripted("own", {"offer": lambda agent, view: Answer("own", agent.best(view))})
        with pytest.raises(InvalidMoveError, match="agent 'own', offer at step 1"):
            alternating_offers(small.ward(), [own, small.Scripted("good")])


def test_time_runs_from_zero_to_one():
    assert [time_of(step, 5) for step in range(1, 6)] == [0, 0.25, 0.5, 0.75, 1]
    assert time_of(1, 1) == 0


def test_a_new_offer_asks_everybody_anew():
    stack = Stacked(("a", "b", "c"))
    assert not stack.agreed
    stack.put("a")
    stack.accept("b")
    stack.put("c")
    stack.accept("a")
    assert not stack.agreed
    stack.accept("b")
    assert stack.agreed and stack.proposer == "c"
