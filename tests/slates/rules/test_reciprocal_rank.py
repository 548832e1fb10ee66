"""Rule agents under the moderator: the vectorised rounds against the moderator itself, user by user."""

import numpy as np
import pytest

from accordant import ExpectedRewards
from accordant.voting.ballots import Ranking
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.moderation import Moderator
from accordant.slates.rule import rules
from accordant.slates.rules.reciprocal_rank import ReciprocalRank


def world(seed=0, n_stakeholders=3, n_items=9, n_users=6, **given):
    values = np.random.default_rng(seed).random((n_stakeholders, n_items, n_users))
    names = [f"s{i}" for i in range(n_stakeholders)]
    expected = ExpectedRewards(values, stakeholders=names, actions=[f"c{c}" for c in range(n_items)])
    return Candidates(expected, **given)


class RuleAgent:
    """Offers its best items that are not banned."""

    def __init__(self, name, scores):
        self.name, self.scores = name, scores

    def offer(self, number, last_offer, banned, k):
        left = sorted((item for item in self.scores if item not in banned), key=lambda item: -self.scores[item])
        return Ranking(self.name, tuple(left[:k]))


@pytest.mark.parametrize("rejection", ["majority", "unanimous", "aggressive"])
@pytest.mark.parametrize("scaling", ["min-max", "z"])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_it_is_the_moderator_with_rule_agents(rejection, scaling, rounds):
    available = np.random.default_rng(7).random((9, 6)) < 0.8
    candidates = world(3, available=available, weights=[1.0, 2.0, 0.5])
    found = ReciprocalRank("s1", rounds, rejection, scaling)(candidates, 3)
    for user in range(6):
        # the moderator breaks ties by declared order, the rule by sums of E: items are declared in that order
        by_sum = np.argsort(-candidates.totals[:, user])
        items = [candidates.items[c] for c in by_sum if available[c, user]]
        E = {
            name: {item: candidates.values[i, candidates.items.index(item), user] for item in items}
            for i, name in enumerate(candidates.stakeholders)
        }
        moderator = Moderator(3, rounds, rejection, scaling)
        agents = [RuleAgent(name, scores) for name, scores in E.items()]
        played = moderator(agents, items, E["s1"], {"s0": 6 / 7, "s1": 12 / 7, "s2": 3 / 7})  # 1 : 2 : 0.5, mean 1
        assert found.names(user) == played.offer
        last = played.rounds[-1]
        assert found.quantities["weights"][:, user] == pytest.approx([each.weight for each in last.agents])
        bans = found.quantities["banned"][:, user] if rounds > 1 else []
        banned = {candidates.items[c] for c in bans if c >= 0}
        assert banned == set(last.banned)


def test_one_round_by_hand():
    values = np.array([[0.9, 0.5, 0.1], [0.1, 0.8, 0.4]])[:, :, None]
    candidates = Candidates(ExpectedRewards(values, stakeholders=["user", "shop"], actions=["a", "b", "c"]))
    found = ReciprocalRank()(candidates, 2)
    # user offers a, b: r = .7; shop offers b, c: r = .3 in the eyes of the user
    assert found.quantities["weights"][:, 0] == pytest.approx([1.7, 1.3])
    assert found.names(0) == ("b", "a")  # 0.85 + 1.3 against 1.7 and 0.65
    assert not found.tied[0]


def test_who_has_no_say_is_as_if_absent():
    full = world(1, weights=[0.0, 1.0, 1.0])
    rest = Candidates(
        ExpectedRewards(full.values[1:], stakeholders=["s1", "s2"], actions=list(full.items)), weights=[1.0, 1.0]
    )
    for rounds in (1, 3):
        with_, without = (ReciprocalRank(rounds=rounds)(each, 3) for each in (full, rest))
        np.testing.assert_array_equal(with_.items, without.items)
        assert (with_.quantities["weights"][0] == 0).all()
    # a user without a say leaves offers without relevance
    named = ReciprocalRank("s0")(full, 3)
    assert named.quantities["weights"][1:] == pytest.approx(1.0)


@pytest.mark.parametrize("rounds", [1, 3])
def test_edges(rounds):
    rule = ReciprocalRank(rounds=rounds)
    assert rule(world(n_stakeholders=1, n_users=1), 2).lengths.tolist() == [2]
    assert rule(world(n_items=2), 5).lengths.max() == 2
    nothing = rule(world(available=np.zeros(9, dtype=bool)), 3)
    assert (nothing.items == -1).all()
    assert not nothing.tied.any()
    same = Candidates(ExpectedRewards(np.full((2, 4, 1), 0.5), stakeholders=["a", "b"], actions=list("wxyz")))
    found = rule(same, 2)
    assert found.names(0) == ("w", "x")
    assert found.tied[0]


def test_threads_and_blocks_change_nothing(monkeypatch):
    candidates = world(5, n_users=40)
    whole = ReciprocalRank(rounds=2)(candidates, 4, threads=1)
    monkeypatch.setattr("accordant.slates.candidates.BLOCK_SIZE", 100)
    parts = ReciprocalRank(rounds=2)(candidates, 4, threads=2)
    np.testing.assert_array_equal(whole.items, parts.items)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ReciprocalRank(rounds=0), InputError, "rounds is 0"),
        (lambda: ReciprocalRank(rejection="most"), UnknownNameError, "unknown rejection 'most'"),
        (lambda: ReciprocalRank(scaling="Z"), UnknownNameError, "did you mean 'z'"),
        (lambda: ReciprocalRank("s9")(world(), 2), UnknownNameError, "unknown stakeholder named as user: 's9'"),
        (lambda: ReciprocalRank()(world(), 0), InputError, "a slate has 0 places"),
    ],
)
def test_wrong_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_it_is_registered_and_rebuilds_itself():
    rule = rules.create("reciprocal_rank", {"rounds": 2})
    assert rule.label == "reciprocal_rank[rounds=2]"
    assert rules.create(rule.name, rule.parameters) == rule
