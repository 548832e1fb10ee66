"""Voting after a debate: candidates, ballots, rules and ties."""

import numpy as np
import pytest

from accordant.agents import Answer, Ballot
from accordant.agents.rules.framework_agent import AlignedAgent
from accordant.agents.fixtures import BaselineAgent, BiasedAgent
from accordant.deliberation.protocols.debate import counts_rankings, vote_after_debate, voting_rule
from accordant import strategies
from accordant.errors import InputError, InvalidMoveError, UnknownNameError

RULES = ("borda", "plurality", "copeland", "ranked_pairs", "schulze", "kemeny", "instant_runoff", "minimax")


def agents():
    return [AlignedAgent("rawlsian", retriever=None), AlignedAgent("utilitarian", retriever=None), BaselineAgent()]


def ballots_of(found):
    return [turn.move.ranking for turn in found.turns if isinstance(turn.move, Ballot)]


def test_candidates_are_all_different_proposals_and_the_winner_is_one(small):
    found = vote_after_debate(small.ward(), agents(), seed=1)
    proposed = {each.allocation for each in (*found.solo.values(), *found.revised.values())}
    written = found.settled.details["candidates"]
    assert len(written) == len(proposed) > 1 and all(each.to_json() in written for each in proposed)
    assert found.joint in proposed and found.protocol == "voting" and found.settled.rule == "borda"
    assert found.settled.agreed and found.settled.gap == 0.0
    assert [turn.step for turn in found.turns] == [1] * 3 + [2] * 3 + [3] * 3


def test_borda_points_are_those_of_a_count_by_hand(small):
    found = vote_after_debate(small.ward(3), agents(), seed=1)
    n = len(found.settled.details["candidates"])
    points = [sum(n - 1 - ranking.index(each) for ranking in ballots_of(found)) for each in range(n)]
    winners = [each for each in range(n) if points[each] == max(points)]
    assert found.settled.details["scores"] == points
    assert found.settled.details["winners"] == winners
    assert found.joint.to_json() == found.settled.details["candidates"][winners[0]]
    assert found.settled.tied == (len(winners) > 1)


@pytest.mark.parametrize("rule", RULES)
def test_what_everybody_ranks_first_wins_by_every_rule(small, rule):
    def last(agent, view):
        n = len(view.candidates)
        return Ballot((n - 1, *range(n - 1)))

    voters = [small.Scripted(name, {"vote": last}) for name in "abc"]
    found = vote_after_debate(small.ward(), voters, rule=rule)
    assert found.settled.details["winners"] == [len(found.settled.details["candidates"]) - 1]
    assert found.settled.rule == rule and not found.settled.tied


def test_ties_go_to_the_first_candidate_and_are_told(small):
    voters = [small.Scripted("a", {"vote": Ballot((0, 1))}), small.Scripted("b", {"vote": Ballot((1, 0))})]
    found = vote_after_debate(small.ward(n=2, beds=1), [_wants(small, voters[0], 0), _wants(small, voters[1], 1)])
    assert found.settled.tied and found.joint.claimants == ("p00",)


def _wants(small, voter, patient):
    voter.values = np.eye(2)[patient]
    return voter


def test_ballots_are_secret_until_all_are_in(small):
    voters = [small.Scripted(name) for name in "ab"]
    vote_after_debate(small.ward(), voters)
    for voter in voters:
        view = voter.views[-1]
        assert view.phase == "vote" and {turn.step for turn in view.history} == {1, 2}
        assert len(view.candidates) == 2


def test_the_order_of_agents_changes_neither_candidates_nor_winner(small):
    one, two = (vote_after_debate(small.ward(2), each, seed=5) for each in (agents(), agents()[::-1]))
    assert one.settled.to_json() == two.settled.to_json()


def test_a_struck_agent_votes_without_the_protected_facts(small):
    found = vote_after_debate(
        small.ward(), [AlignedAgent("rawlsian", retriever=None), BiasedAgent()], guard="strike", allow_adversarial=True
    )
    assert set(found.struck) == {"biased"}
    assert found.struck["biased"].allocation.to_json() in found.settled.details["candidates"]


@pytest.mark.parametrize("ranking", [(0,), (0, 0), (0, 1, 2), (1, 2)])
def test_a_ranking_that_is_no_order_of_all_candidates_is_refused(small, ranking):
    voters = [small.Scripted("bad", {"vote": Ballot(ranking)}), small.Scripted("good")]
    with pytest.raises(InvalidMoveError, match="agent 'bad', vote at step 3.*every candidate from 0 to 1 once"):
        vote_after_debate(small.ward(), voters)


def test_another_move_than_a_ballot_is_refused(small):
    voters = [
        small.Scripted("bad", {"vote": lambda agent, view: Answer(None, agent.best(view))}),
        small.Scripted("good"),
    ]
    with pytest.raises(InvalidMoveError, match="the move is a Answer; allowed: a Ballot"):
        vote_after_debate(small.ward(), voters)


@pytest.mark.parametrize("name", ["utilitarian", "approval", "random_dictatorship", "maximal_lotteries", "bordas"])
def test_rules_that_do_not_count_rankings_are_refused(name):
    with pytest.raises(UnknownNameError, match="unknown voting rule for rankings.*borda"):
        voting_rule(name)


def test_one_voter_and_an_adversary(small):
    found = vote_after_debate(small.ward(), [BaselineAgent()])
    assert found.joint == found.solo["baseline"].allocation
    with pytest.raises(InputError, match="allow_adversarial"):
        vote_after_debate(small.ward(), [BiasedAgent()])


def test_rules_that_count_rankings_are_those_and_no_others():
    assert all(counts_rankings(strategies.create(name)) for name in RULES)
    lotteries = ("random_dictatorship", "maximal_lotteries")
    assert not any(counts_rankings(strategies.create(name)) for name in (*lotteries, "approval", "utilitarian"))
    assert not any(counts_rankings(each) for each in (None, "borda", object()))
    with pytest.raises(UnknownNameError) as told:
        voting_rule("bordas")
    assert all(name in str(told.value) for name in RULES)
    assert not any(name in str(told.value) for name in (*lotteries, "utilitarian"))
