"""Rounds: who is heard, what is banned, when it stops; against a slow twin that follows the same steps in dicts."""

import random
from dataclasses import dataclass, field

import pytest

from accordant.voting.ballots import Ranking
from accordant.errors import InputError, UnknownNameError
from accordant.slates.moderation import Moderator, reliability

ITEMS = tuple("abcdefgh")


@dataclass
class Scripted:
    """Says what it was told to say, round by round, and remembers what it was asked."""

    name: str
    offers: list
    asked: list = field(default_factory=list)

    def offer(self, number, last_offer, banned, k):
        self.asked.append((number, tuple(last_offer), tuple(banned), k))
        return Ranking(self.name, tuple(self.offers[min(number, len(self.offers)) - 1]))


def twin(offers_by_round, items, worth, k, rejection, z=False):
    """The same rounds with plain dicts; offers_by_round[t][i] is what agent i offers."""
    scores, banned, last, before, history = dict.fromkeys(items, 0.0), [], [], {}, []
    for offers in offers_by_round:
        valid = [[c for c in offer[:k] if c in items and c not in banned] for offer in offers]
        n = len(offers)
        if last:
            need = {"majority": n // 2 + 1, "unanimous": max(2, n), "aggressive": 1}[rejection]
            banned += [c for c in last if sum(c not in v for v in valid) >= need]
        weights = []
        for i, (offer, names) in enumerate(zip(offers, valid)):
            offer = offer[:k]
            r = sum(worth.get(c, 0) for c in names) / len(names) if names else 0
            good = sum(c in items and c not in banned for c in offer)
            h = 1 - good / len(offer) if offer else 0
            w = r + reliability(names, before.get(i), last, k) - h
            weights.append(w)
            for rank, c in enumerate(names):
                if w > 0 and c not in banned:
                    scores[c] += w / (rank + 1)
            before[i] = names
        banned += [c for c in dict.fromkeys(c for o in offers for c in o[:k]) if c not in items and c not in banned]
        scores = {c: s for c, s in scores.items() if c not in banned}
        if scores:
            values = list(scores.values())
            mean = sum(values) / len(values)
            low = mean if z else min(values)
            span = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5 if z else max(values) - low
            scores = {c: (s - low) / span if span > 1e-12 else 0.0 for c, s in scores.items()}
        last = sorted(scores, key=lambda c: (-round(scores[c], 10), items.index(c)))[:k]
        history.append((weights, dict(scores), list(last), list(banned)))
    return history


@pytest.mark.parametrize("rejection", ["majority", "unanimous", "aggressive"])
@pytest.mark.parametrize("scaling", ["min-max", "z"])
def test_against_the_twin(rejection, scaling):
    draw = random.Random(f"{rejection} {scaling}")
    for _ in range(25):
        n_agents, k, rounds = draw.randint(1, 4), draw.randint(1, 4), draw.randint(1, 4)
        pool = [*ITEMS, "unknown", "other"]
        offers = [[draw.sample(pool, draw.randint(0, 5)) for _ in range(n_agents)] for _ in range(rounds)]
        worth = {item: draw.random() for item in ITEMS}
        agents = [Scripted(str(i), [each[i] for each in offers]) for i in range(n_agents)]
        found = Moderator(k, rounds, rejection, scaling)(agents, ITEMS, worth)
        expected = twin(offers, ITEMS, worth, k, rejection, scaling == "z")
        for played, (weights, scores, last, banned) in zip(found.rounds, expected, strict=True):
            assert [record.weight for record in played.agents] == pytest.approx(weights)
            assert dict(played.scores) == pytest.approx(scores)
            assert list(played.offer) == last
            assert list(played.banned) == banned


def test_first_round_by_hand():
    """Worth a .5, b 0: weights 1.25 and 1; a 1.25, b .625 + 1, c .5."""
    agents = [Scripted("x", [["a", "b"]]), Scripted("y", [["b", "c"]])]
    found = Moderator(2, 1)(agents, ITEMS, {"a": 0.5})
    (played,) = found.rounds
    assert [record.weight for record in played.agents] == [1.25, 1.0]
    assert played.offer == ("b", "a")
    assert played.scores["b"] == 1.0
    assert played.scores["a"] == pytest.approx(1.25 / 1.625)
    assert played.scores["c"] == pytest.approx(0.5 / 1.625)
    assert played.scores["h"] == 0.0
    assert (played.banned, played.newly_banned, found.stopped_early) == ((), (), False)
    assert played.relevance == 0.25


def test_agents_know_the_last_offer_and_the_bans():
    agents = [Scripted("x", [["a", "nowhere"], ["b"]]), Scripted("y", [["a"], ["b"]])]
    found = Moderator(1, 3)(agents, ITEMS, {})
    assert agents[0].asked == [(1, (), (), 1), (2, ("a",), (), 1), (3, ("b",), ("a",), 1)]
    assert found.offer == ("b",)
    longer = [Scripted("x", [["nowhere", "a"]])]
    first = Moderator(2, 1)(longer, ITEMS, {}).rounds[0]
    assert first.banned == first.newly_banned == ("nowhere",)
    assert first.agents[0].hallucination == 0.5
    assert first.agents[0].valid == ("a",)


def test_what_is_banned_in_a_round_scores_nothing_in_it():
    """c still offers a, which both others leave out: a is gone for good, and c is charged for it."""
    agents = [Scripted("x", [["a"], ["b"]]), Scripted("y", [["a"], ["b"]]), Scripted("z", [["a"], ["a"]])]
    found = Moderator(1, 2)(agents, ITEMS, dict.fromkeys(ITEMS, 0.0))
    second = found.rounds[1]
    assert second.newly_banned == ("a",)
    assert second.agents[2].hallucination == 1.0
    assert second.agents[2].weight == 0.0
    assert "a" not in second.scores
    assert second.offer == ("b",)


def test_weights_multiply():
    agents = [Scripted("x", [["a"]]), Scripted("y", [["b"]])]
    assert Moderator(1, 1)(agents, ITEMS, {}, {"y": 1.5}).offer == ("b",)
    assert Moderator(1, 1)(agents, ITEMS, {}).offer == ("a",)  # a tie: declared first
    assert Moderator(2, 1)(agents, ITEMS, {}, {"x": 0.0, "y": 0.0}).offer == ("a", "b")


def test_early_stop():
    agents = [Scripted("x", [["a"], ["b"]])]
    worth = {"a": 0.4, "b": 0.6}
    for least, threshold, rounds in ((2, 0.4, 2), (2, 0.6, 6), (4, 0.4, 4), (6, 0.4, 6)):
        found = Moderator(1, 6, stop_gain=threshold, least_rounds=least)(agents, ITEMS, worth)
        assert len(found.rounds) == rounds
        assert found.stopped_early == (rounds < 6)
    assert found.rounds[0].gain == 0.0
    assert found.rounds[1].gain == pytest.approx(0.5)
    perfect = Moderator(1, 6, stop_gain=0.9, least_rounds=2)(agents, ITEMS, {"a": 1.0, "b": 1.0})
    assert [played.gain for played in perfect.rounds] == [1.0, 1.0]
    assert Moderator(1, 2)(agents, ITEMS, {"b": 0.6}).rounds[1].gain == 0.0  # nothing to compare with


def test_everything_may_be_banned():
    agents = [Scripted("x", [["a"], ["b"], ["a"]]), Scripted("y", [["a"], ["b"], ["b"]])]
    found = Moderator(2, 3, "aggressive")(agents, ("a", "b"), {})
    assert found.rounds[1].banned == ("a",)
    assert found.offer == ()
    assert found.rounds[2].relevance == 0.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Moderator(0), InputError, "a slate has 0 places"),
        (lambda: Moderator(2, 0), InputError, "rounds is 0; allowed: at least 1"),
        (lambda: Moderator(2, least_rounds=0), InputError, "least_rounds is 0"),
        (lambda: Moderator(2, rejection="all"), UnknownNameError, "unknown rejection 'all'"),
        (lambda: Moderator(2, scaling="minmax"), UnknownNameError, "did you mean 'min-max'"),
        (lambda: Moderator(2, stop_gain=-1), InputError, "stop_gain is -1"),
        (lambda: Moderator(2)([], ITEMS, {}), InputError, "there are 0 agents and 8 items"),
        (lambda: Moderator(2)([Scripted("x", [[]])] * 2, ITEMS, {}), InputError, "names of agents or items repeat"),
        (lambda: Moderator(2)([Scripted("x", [[]])], ITEMS, {"k": 1}), UnknownNameError, "item in worth: 'k'"),
        (lambda: Moderator(2)([Scripted("x", [[]])], ITEMS, {"a": 2}), InputError, "worth of 'a' is 2"),
        (lambda: Moderator(2)([Scripted("x", [[]])], ITEMS, {}, {"y": 1}), UnknownNameError, "agent in weights: 'y'"),
        (lambda: Moderator(2)([Scripted("x", [[]])], ITEMS, {}, {"x": -1}), InputError, "weight of 'x' is -1"),
    ],
)
def test_wrong_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
