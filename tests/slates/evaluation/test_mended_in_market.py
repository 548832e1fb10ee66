"""Misreports and dropped stakeholders that are sent through a market: by hand, and against a market of plain loops."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates.evaluation import (
    drop_one,
    drop_one_in_market,
    manipulability,
    manipulability_in_market,
    state_matters,
)
from accordant.slates.evaluation.misreports import Sight, plain_misreports
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.rule import SlateRule, rules
from accordant.slates.market import Market, on_one_scale, serve
from accordant.slates.slates import Slates
from accordant.utilities import ExpectedRewards

NAMES = ("guest", "town", "inn")
ITEMS, BATCHES, SIZE, K = 6, 6, 4, 3


def market_of(expected, batches, n_items, **more):
    """Return a market of items about which nothing is known, with as many requests a batch as `batches` says."""
    given = {"capacity": np.full(n_items, np.inf)} | more.pop("columns", {})
    names = tuple(f"c{c}" for c in range(n_items))
    unknown = [np.full(n_items, np.nan)] * 4
    catalogue = Catalogue(names, (None,) * n_items, (None,) * n_items, np.ones(n_items), given["capacity"], *unknown)
    made, first = [], 0
    for day, size in batches:
        ids = tuple(f"r{t}" for t in range(first, first + size))
        users = tuple(f"u{t % 5}" for t in range(first, first + size))
        zeros = np.zeros((n_items, size))
        made.append(Requests(ids, users, day, np.zeros(size), np.zeros(size), zeros, zeros, zeros == 0))
        first += size
    stakeholders = more.pop("stakeholders", NAMES)

    def of(batch, state):
        """Return E of a batch from plain lists."""
        values = np.asarray(expected([int(each[1:]) for each in batch.ids], state.load), dtype=float)
        return ExpectedRewards(values, stakeholders=stakeholders, actions=names)

    return Market(catalogue, stakeholders, of, tuple(made), **more)


def base(seed):
    """Return values of three stakeholders for all requests, before anybody is in the way of others."""
    return np.random.default_rng(seed).random((3, ITEMS, BATCHES * SIZE))


def crowded(seed, crowding=0.15, **more):
    """Return a market in which the town likes an item the less, the more visits it has had today."""
    values = base(seed)

    def expected(requests, load):
        """Return E of some requests."""
        found = values[:, :, requests].copy()
        found[1] = np.maximum(0.0, found[1] - crowding * np.asarray(load)[:, None])
        return found

    return market_of(expected, [(b // 3, SIZE) for b in range(BATCHES)], ITEMS, **more)


def ranked(scores):
    """Return items from the highest score, the first declared of equals."""
    return sorted(range(len(scores)), key=lambda c: (-scores[c], c))


def said(name, own, theirs, k):
    """Return what a misreport says for one request, in plain Python."""
    mine, rivals = ranked(own)[:k], ranked(theirs)[:k]
    if name.startswith("approve"):
        return [1.0 if c in ranked(own)[: int(name.split()[-1])] else 0.0 for c in range(len(own))]
    if name == "exaggerate":
        return [(value - min(own)) / (max(own) - min(own)) for value in own]
    buried = [0.0 if c in rivals and c not in mine else own[c] for c in range(len(own))]
    return [1.0 if name == "raise and bury" and c in mine else buried[c] for c in range(len(own))]


def walked(values, crowding, weights, liar=None, name=None):
    """Return what lists give to each stakeholder, shape (stakeholder, request), and the lists: one day after another."""
    gained, lists = [], []
    for b in range(BATCHES):
        load = [0.0] * ITEMS if b % 3 == 0 else load  # noqa: F821 - the first batch begins a day
        visits = [0.0] * ITEMS
        for t in range(b * SIZE, (b + 1) * SIZE):
            truth = values[:, :, t].tolist()
            truth[1] = [max(0.0, value - crowding * full) for value, full in zip(truth[1], load, strict=True)]
            told = [list(row) for row in truth]
            if name is not None:
                theirs = [sum(weights[i] * truth[i][c] for i in range(3) if i != liar) for c in range(ITEMS)]
                told[liar] = said(name, truth[liar], theirs, K)
            shown = ranked([sum(weights[i] * told[i][c] for i in range(3)) for c in range(ITEMS)])[:K]
            seen = [1 / math.log2(2 + place) for place in range(K)]
            for place, c in enumerate(shown):
                visits[c] += seen[place] / sum(seen)
            gained.append([sum(truth[i][c] for c in shown) / K for i in range(3)])
            lists.append(shown)
        load = [one + other for one, other in zip(load, visits, strict=True)]
    return np.array(gained).T, lists


@pytest.mark.few(3)
@pytest.mark.parametrize("liar", range(3))
@pytest.mark.parametrize("seed", range(3))
def test_against_plain_loops(slate_rules, seed, liar):
    """Every misreport is walked through the market request by request; the best of them is what is reported."""
    weights = [1.0, 2.0, 1.5]
    market = crowded(seed, weights=dict(zip(NAMES, weights, strict=True)))
    honest, _ = walked(base(seed), 0.15, weights)
    names = list(plain_misreports(K, ITEMS))[:6]
    gains = {name: walked(base(seed), 0.15, weights, liar, name)[0][liar] - honest[liar] for name in names}
    best = max(names, key=lambda name: gains[name].mean())
    found = manipulability_in_market(slate_rules["total"], market, K, NAMES[liar], resamples=30)
    assert gains[best].mean() > 0
    assert found.gain.value == pytest.approx(gains[best].mean(), abs=1e-12)
    assert found.share == pytest.approx((gains[best] > 1e-9).mean())
    assert found.largest == pytest.approx(gains[best].max())
    assert dict(found.best) == {best: int((gains[best] > 1e-9).sum())}
    assert (found.tried, found.in_market, found.one_report, found.every_order) == (6, True, True, False)
    assert found.gain.low < found.gain.value < found.gain.high


def test_the_gain_of_each_list_vanishes_in_the_market(slate_rules):
    """By hand: the town's lie shows c1 first (+0.09), which spoils the 0.2 that it would have had of the second list."""

    def expected(requests, load):
        """Return E: after a visit of c1 the town likes nothing more."""
        fresh = float(load[1] == 0)
        town = {0: (0.02, 0.11), 1: (0.2 * fresh, 0.29 * fresh)}
        return [[[0.6 for _ in requests], [0.5 for _ in requests]], [[town[t][c] for t in requests] for c in range(2)]]

    market = market_of(expected, [(0, 1), (0, 1)], 2, stakeholders=NAMES[:2])
    rule = slate_rules["total"]
    served = serve(rule, market, 1)
    assert served.slates.items.tolist() == [[0], [0]]
    frozen = manipulability(rule, served.candidates, 1, "town", resamples=0)
    assert frozen.gain.value == pytest.approx(0.09) and not frozen.in_market
    found = manipulability_in_market(rule, market, 1, "town", resamples=0)
    assert (found.gain.value, found.share, found.largest, dict(found.best)) == (0.0, 0.0, 0.0, {})
    assert state_matters(rule, served)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_without_a_state_no_more_than_list_by_list(slate_rules, seed):
    """One misreport for all requests gains at most what the best in each does, if lists do not touch each other."""
    market, rule = crowded(seed, crowding=0.0), slate_rules["borda"]
    served = serve(rule, market, K)
    assert not state_matters(rule, served)
    for name in NAMES:
        frozen = manipulability(rule, served.candidates, K, name, tries=0, resamples=0)
        found = manipulability_in_market(rule, market, K, name, resamples=0, tries=20)
        assert 0 <= found.gain.value <= frozen.gain.value + 1e-12
        assert found.tried == 3 + K


def test_more_tries_never_find_less(slate_rules):
    market, rule = crowded(2), slate_rules["total"]
    gains = [
        manipulability_in_market(rule, market, K, "guest", tries=tries, resamples=0).gain.value for tries in range(8)
    ]
    assert gains == sorted(gains) and gains[0] == 0.0 < gains[-1]
    none = manipulability_in_market(rule, market, K, "guest", tries=0, resamples=0)
    assert (none.tried, dict(none.best), none.share) == (0, {}, 0.0)


def test_what_is_known_is_not_served_again(slate_rules):
    market, rule = crowded(1), slate_rules["total"]
    served = serve(rule, market, K)
    calls = []

    def counted(batch, state):
        """Count how often E is asked for."""
        calls.append(batch.day)
        return crowded(1).expected(batch, state)

    counting = replace(market, expected=counted)
    apart = manipulability_in_market(rule, counting, K, "inn", tries=2, seed=3)
    assert len(calls) == 3 * BATCHES
    again = manipulability_in_market(rule, market, K, "inn", truthful=served, tries=2, seed=3)
    assert apart == again
    json.dumps(again.to_json(), allow_nan=False)
    plain = manipulability(rule, served.candidates, K, "inn", resamples=0)
    assert set(again.to_json()) == set(plain.to_json())
    assert again.to_json()["in_market"] is True and plain.to_json()["in_market"] is False
    for wrong in (
        {"rule": slate_rules["borda"]}, {"market": replace(market)}, {"k": 2},
    ):  # fmt: skip
        given = {"rule": rule, "market": market, "k": K} | wrong
        with pytest.raises(InputError, match="allowed: the same rule, market and k"):
            manipulability_in_market(**given, stakeholder="inn", truthful=served)
        with pytest.raises(InputError, match="allowed: the same rule, market and k"):
            drop_one_in_market(**given, full=served)


def test_what_others_report_stays(slate_rules):
    """The inn speaks through an agent; a misreporter sees and leaves what the agent says, and E is true in measures."""

    def turned(batch, state, expected):
        """Return E with the inn's values turned round."""
        values = expected.values.copy()
        values[2] = 1 - values[2]
        return ExpectedRewards(values, stakeholders=expected.stakeholders, actions=expected.actions)

    seen = []

    @dataclass(frozen=True)
    class Watching(type(slate_rules["total"])):
        """The same rule, watched."""

        def fill(self, candidates, k):
            """Note what is reported."""
            seen.append(candidates.values)
            return super().fill(candidates, k)

    market = crowded(4, reports=turned)
    found = manipulability_in_market(Watching(), market, K, "guest", tries=1, resamples=0)
    assert found.tried == 1 and len(seen) == 2 * BATCHES
    for b in range(BATCHES):
        truth, lie = seen[b], seen[BATCHES + b]
        assert np.array_equal(truth[2], 1 - base(4)[2][:, b * SIZE : (b + 1) * SIZE]) and np.array_equal(
            lie[2], truth[2]
        )
        assert (lie[0] != truth[0]).any()
        for u in range(SIZE):
            theirs = (lie[1] + lie[2])[:, u].tolist()
            assert lie[0][:, u].tolist() == said("raise and bury", truth[0][:, u].tolist(), theirs, K)


def test_a_misreport_is_made_of_the_truth(slate_rules):
    """An agent says the same of everything for the inn; the inn's own misreport still knows what it likes."""

    def flat(batch, state, expected):
        """Return E with nothing said for the inn."""
        values = expected.values.copy()
        values[2] = 0.5
        return ExpectedRewards(values, stakeholders=expected.stakeholders, actions=expected.actions)

    weights = {"guest": 0.0, "town": 0.0}
    market = crowded(4, crowding=0.0, reports=flat, weights=weights)
    found = manipulability_in_market(slate_rules["total"], market, K, "inn", resamples=0)
    values = base(4)[2]
    ideal = -np.sort(-values, axis=0)[:K].mean(axis=0)
    assert found.gain.value == pytest.approx((ideal - values[:K].mean(axis=0)).mean())  # flat: the first three items


def test_requests_without_any_item_do_not_count(slate_rules):
    """Half of the requests can be shown nothing: gain and share are those of the other half."""
    market = crowded(2, crowding=0.0)
    half = [
        replace(each, available=each.available & (b % 2 == 0)) for b, each in enumerate(market.batches)
    ]  # fmt: skip
    found = manipulability_in_market(slate_rules["total"], replace(market, batches=half), K, "town", resamples=0)
    rest = manipulability_in_market(
        slate_rules["total"], replace(market, batches=market.batches[::2]), K, "town", resamples=0
    )
    assert (found.gain.value, found.share) == (pytest.approx(rest.gain.value), pytest.approx(rest.share))
    assert found.share > 0.5


def test_more_places_than_items(slate_rules):
    market = market_of(lambda requests, load: base(0)[:, :2, requests], [(0, 4)], 2)
    found = manipulability_in_market(slate_rules["total"], market, 5, "guest", tries=9, resamples=0)
    assert (found.tried, found.gain.value) == (5, 0.0)


def test_who_is_not_heard_gains_nothing(slate_rules):
    market = crowded(5, weights={"town": 0.0})
    assert manipulability_in_market(slate_rules["total"], market, K, "town", resamples=0).gain.value == 0.0
    for name in NAMES:  # the rule hears the guest alone, which has its best lists
        assert manipulability_in_market(slate_rules["for one"], crowded(5), K, name, resamples=0).gain.value == 0.0


@dataclass(frozen=True)
class Punishing(SlateRule):
    """The first item, and nothing for whoever reports an extreme."""

    name: ClassVar[str] = "punishing"

    def fill(self, candidates, k):
        """Return the first item where every report lies between 0 and 1."""
        honest = ((candidates.values > 0) & (candidates.values < 1)).all(axis=(0, 1))
        return Slates(self.label, candidates.items, np.where(honest, 0, -1)[:, None], np.zeros(len(honest), dtype=bool))


def test_empty_lists(slate_rules):
    """A list that a lie empties is worth 0; lists that nobody has say nothing."""
    found = manipulability_in_market(Punishing(), crowded(1, crowding=0.0), 1, "guest", resamples=5)
    assert (found.gain.value, found.share) == (0.0, 0.0)
    closed = crowded(1, columns={"capacity": np.zeros(ITEMS)})
    found = manipulability_in_market(slate_rules["total"], closed, K, "guest", resamples=5)
    assert (found.gain.value, found.share, found.largest) == (None, None, 0.0)


@dataclass(frozen=True)
class Choosy(SlateRule):
    """The first item for some requests if a report is extreme, for others if none is."""

    name: ClassVar[str] = "choosy"

    lied: tuple[bool, ...] = ()

    def fill(self, candidates, k):
        """Return c0 for those requests of the batch that are treated so, nothing for the others."""
        extreme = bool(((candidates.values == 0) | (candidates.values == 1)).any())
        shown = np.array(self.lied) == extreme
        return Slates(self.label, candidates.items, np.where(shown, 0, -1)[:, None], np.zeros(len(shown), dtype=bool))


@pytest.mark.parametrize("lied", [(True, True, False), (True, False, False), (True, True, True)])
def test_an_empty_list_is_worth_nothing(lied):
    """By hand: a lie shows c0, worth 0.5, to some who had nothing, and takes it from the others."""
    values = [[[0.5] * 3, [0.6] * 3, [0.7] * 3], [[0.5] * 3] * 3]
    market = market_of(lambda requests, load: values, [(0, 3)], 3, stakeholders=NAMES[:2])
    found = manipulability_in_market(Choosy(lied), market, 1, "guest", resamples=0)
    gain = (sum(lied) - sum(not each for each in lied)) * 0.5 / 3
    assert found.gain.value == pytest.approx(max(0.0, gain))
    assert found.share == pytest.approx(sum(lied) / 3 if gain > 0 else 0.0)


def test_wrong_questions(slate_rules):
    with pytest.raises(UnknownNameError, match="did you mean 'guest'"):
        manipulability_in_market(slate_rules["total"], crowded(0), K, "gest")
    with pytest.raises(InputError, match="tries is -1; allowed: at least 0"):
        manipulability_in_market(slate_rules["total"], crowded(0), K, "guest", tries=-1)


def test_whether_the_state_matters(slate_rules):
    rule = slate_rules["total"]
    calm, busy = crowded(3, crowding=0.0), crowded(3)
    assert not state_matters(rule, serve(rule, calm, K))
    assert state_matters(rule, serve(rule, busy, K))
    filling = crowded(3, crowding=0.0, columns={"capacity": np.full(ITEMS, 1.0)})
    assert not state_matters(rule, serve(rule, filling, K))
    closing = replace(filling, close_when_full=True)
    assert state_matters(rule, serve(rule, closing, K))
    dynamic = rules.create("dynamic")
    assert state_matters(dynamic, serve(dynamic, replace(calm, user_stakeholder="guest"), K))


def test_names_of_plain_misreports():
    promising = ["raise and bury", "bury rivals'", "exaggerate"]
    assert list(plain_misreports(5, 12)) == [*promising, *(f"approve own top {n}" for n in (1, 5, 3, 2, 4))]
    assert list(plain_misreports(1, 12)) == [*promising, "approve own top 1"]
    assert list(plain_misreports(5, 2)) == [*promising, "approve own top 1", "approve own top 2"]


def test_a_plain_misreport_is_that_of_its_family(drawn_candidates):
    """Both lists of misreports say the same, with items that may not be shown and ties."""
    from accordant.slates.evaluation.misreports import misreports

    candidates = drawn_candidates(3, levels=3)
    sight = Sight.of(candidates, 1, 3)
    every = [(each.family, each.values) for each in misreports(candidates, 1, 3, 0, 0)]
    plain = {name: say(sight) for name, say in plain_misreports(3, len(candidates.items)).items()}
    tops = [values for family, values in every if family == "approve own top"]
    for top, values in enumerate(tops, 1):
        assert np.array_equal(values, plain[f"approve own top {top}"])
    for family, values in every[len(tops) :]:
        assert np.array_equal(values, plain[family])
    assert len(plain) == len(every) == 6


@pytest.mark.parametrize("seed", range(2))
def test_dropping_one_against_plain_loops(slate_rules, seed):
    weights = [1.0, 2.0, 1.5]
    market, rule = crowded(seed, weights=dict(zip(NAMES, weights, strict=True))), slate_rules["total"]
    full, lists = walked(base(seed), 0.15, weights)
    served = serve(rule, market, K)
    assert served.gains.utilities == pytest.approx(full)
    found = drop_one_in_market(rule, market, K)
    assert found == drop_one_in_market(rule, market, K, full=served)
    for i, dropped in enumerate(found):
        without, fewer = walked(base(seed), 0.15, [0.0 if j == i else each for j, each in enumerate(weights)])
        shares = [
            len(set(one) & set(other)) / len(set(one) | set(other)) for one, other in zip(lists, fewer, strict=True)
        ]
        assert dropped.overlap == pytest.approx(np.mean(shares))
        assert dropped.unchanged == pytest.approx(np.mean([share == 1 for share in shares]))
        said = serve(rule, replace(market, weights={**market.weights, NAMES[i]: 0.0}), K)
        assert said.gains.utilities == pytest.approx(without)
        best, worst = (
            np.maximum(said.moment.ideal, served.moment.ideal),
            np.minimum(said.moment.worst, served.moment.worst),
        )
        changes = ((without - full) / (best - worst)).mean(axis=1)  # between the same two lists with and without
        assert list(dropped.changes.values()) == pytest.approx(changes.tolist())
    frozen = drop_one(rule, served.candidates, K)
    assert [each.overlap for each in frozen] != pytest.approx([each.overlap for each in found])
    assert set(found[0].to_json()) == set(frozen[0].to_json())
    assert (found[0].to_json()["in_market"], frozen[0].to_json()["in_market"]) == (True, False)


def test_dropping_one_without_a_state_is_the_same(slate_rules):
    market, rule = crowded(6, crowding=0.0), slate_rules["borda"]
    frozen = drop_one(rule, serve(rule, market, K).candidates, K)
    for one, other in zip(drop_one_in_market(rule, market, K), frozen, strict=True):
        assert (one.stakeholder, one.overlap, one.unchanged) == (other.stakeholder, other.overlap, other.unchanged)
        assert list(one.changes.values()) == pytest.approx(list(other.changes.values()))


def test_what_is_known_may_stand_on_the_scale_of_a_comparison(slate_rules):
    """Gains on the scale of other rules, and empty lists that got a value there, change nothing."""
    market = crowded(3, columns={"capacity": np.full(ITEMS, 0.2)}, close_when_full=True)
    rule = slate_rules["total"]
    served = serve(rule, market, K)

    @dataclass(frozen=True)
    class Sparing(type(rule)):
        """The best item alone, so that others stay open."""

        def fill(self, candidates, k):
            """Return lists of one item."""
            slates = super().fill(candidates, k)
            slates.items[:, 1:] = -1
            return slates

    scaled = on_one_scale({"total": served, "other": serve(Sparing(), market, K)})["total"]
    assert (scaled.gains.utilities != served.gains.utilities)[:, served.slates.lengths == 0].all()
    assert (served.slates.lengths == 0).any() and not np.array_equal(scaled.gains.ideal, served.gains.ideal)
    assert drop_one_in_market(rule, market, K, full=scaled) == drop_one_in_market(rule, market, K)
    one, other = (
        manipulability_in_market(rule, market, K, "town", truthful=each, resamples=20) for each in (scaled, None)
    )
    assert one == other and one.gain.value > 0


def test_nobody_to_drop(slate_rules):
    market = crowded(0, weights={"guest": 0.0, "inn": 0.0})
    assert drop_one_in_market(slate_rules["total"], market, K) == ()
