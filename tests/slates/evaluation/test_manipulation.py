"""Manipulability: gains by hand, the best of all orders by a loop, and rules that cannot be manipulated."""

import itertools
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates.evaluation import manipulability
from accordant.slates.evaluation.misreports import FEW, misreports
from accordant.slates.candidates import Candidates
from accordant.slates.candidates import gains_of
from accordant.slates.rule import SlateRule
from accordant.slates.slates import Slates
from accordant.utilities import ExpectedRewards


def said(candidates, i, values):
    changed = candidates.values.copy()
    changed[i] = values
    expected = ExpectedRewards(changed, stakeholders=candidates.stakeholders, actions=candidates.items)
    return Candidates(expected, candidates.available, candidates.weights)


def test_burying_pays_by_hand(slate_rules, make_candidates):
    """Ranks 3 2 1 0 and 2 3 1 0 tie in c0 and c1 (c0 is first); the second wins c1 if it puts c0 last."""
    candidates = make_candidates([[[0.9], [0.8], [0.1], [0.0]], [[0.6], [0.9], [0.5], [0.4]]])
    found = manipulability(slate_rules["borda"], candidates, 1, "town", resamples=20)
    assert found.gain.value == pytest.approx(0.3)
    assert found.share == 1.0 and found.largest == pytest.approx(0.3)
    assert sum(found.best.values()) == 1
    assert found.every_order and found.tried == 1 + 3 + 20 + 2 * 24
    honest = manipulability(slate_rules["borda"], candidates, 1, "guest", resamples=20)
    assert (honest.gain.value, honest.share, honest.largest, honest.best) == (0.0, 0.0, 0.0, {})


@pytest.mark.long
@pytest.mark.parametrize("name", ["total", "borda"])
def test_few_items_against_all_orders(slate_rules, drawn_candidates, name):
    """At least what the best order of evenly spaced or own values gives, found by a loop over users and orders."""
    rule, candidates = slate_rules[name], drawn_candidates(3, n_users=12, n_items=4)
    truth = gains_of(rule(candidates, 2), candidates).utilities[0]
    best = np.zeros(12)
    for u in range(12):
        alone = candidates.take(slice(u, u + 1))
        own = np.sort(alone.values[0, :, 0])[::-1]
        for levels in (own, np.linspace(1, 0, 4)):
            for order in itertools.permutations(levels):
                slates = rule(said(alone, 0, np.array(order)[:, None]), 2)
                best[u] = max(best[u], gains_of(slates, alone).utilities[0, 0] - truth[u])
    found = manipulability(rule, candidates, 2, "guest", tries=0, resamples=0)
    assert found.gain.value >= best.mean() - 1e-9
    assert best.mean() > 0
    again = manipulability(rule, candidates, 2, "guest", tries=30, resamples=0)
    assert again.gain.value >= found.gain.value  # more misreports never find less


def test_some_rules_gain_nothing(slate_rules, drawn_candidates):
    """The best list for a stakeholder, a rule that does not hear it, and one with all the weight."""
    candidates = drawn_candidates(5)
    for name in ("guest", "town", "inn"):
        found = manipulability(slate_rules["for one"], candidates, 3, name, resamples=10)
        assert (found.gain.value, found.gain.low, found.gain.high, found.share) == (0.0, 0.0, 0.0, 0.0)
    muted = Candidates(candidates.expected, candidates.available, [1.0, 0.0, 0.0])
    for name in ("guest", "town"):
        assert manipulability(slate_rules["borda"], muted, 3, name, resamples=0).gain.value == 0.0


@pytest.mark.long
def test_interval_and_reproducibility(slate_rules, drawn_candidates):
    candidates = drawn_candidates(6, n_users=40)
    rule, users = slate_rules["total"], [f"u{t % 7}" for t in range(40)]
    one, two = (manipulability(rule, candidates, 3, "inn", users=users, seed=4, resamples=200) for _ in range(2))
    assert one == two
    assert 0 <= one.gain.low <= one.gain.value <= one.gain.high
    assert one.gain.low < one.gain.high
    assert 0 < one.share <= 1
    assert sum(one.best.values()) == round(one.share * 40)
    apart = manipulability(rule, candidates, 3, "inn", seed=4, resamples=200)
    assert apart.gain.value == one.gain.value
    assert (apart.gain.low, apart.gain.high) != (one.gain.low, one.gain.high)
    json.dumps(one.to_json(), allow_nan=False)
    alone = manipulability(rule, candidates.take(slice(3, 4)), 3, "inn", seed=4, resamples=0)
    rest = [manipulability(rule, candidates.take(slice(t, t + 1)), 3, "inn", seed=4, resamples=0) for t in range(40)]
    assert np.mean([each.gain.value for each in rest]) == pytest.approx(one.gain.value)
    assert alone.gain.value == rest[3].gain.value


@dataclass(frozen=True)
class Together(SlateRule):
    """The items with the highest sums over all requests: one request depends on the others."""

    name: ClassVar[str] = "together"
    kind: ClassVar[str] = "dynamic"

    def fill(self, candidates, k):
        """Return the same list for everybody."""
        best = np.argsort(-candidates.totals.sum(axis=1), kind="stable")[:k]
        items = np.repeat(best[None], candidates.n_users, axis=0)
        return Slates(self.label, candidates.items, items, np.zeros(len(items), dtype=bool))


def test_dynamic_rules_meet_one_misreport_in_all_requests(drawn_candidates):
    given = drawn_candidates(7, n_users=12)
    candidates = Candidates(given.expected, None, given.weights)
    found = manipulability(Together(), candidates, 2, "guest", tries=5, resamples=0)
    assert found.one_report and found.gain.value > 0
    assert len(found.best) == 1
    truth = gains_of(Together()(candidates, 2), candidates).utilities[0]
    means = [
        (gains_of(Together()(said(candidates, 0, each.values), 2), candidates).utilities[0] - truth).mean()
        for each in misreports(candidates, 0, 2, 5, 0)
    ]
    assert found.gain.value == pytest.approx(max(means))


@dataclass(frozen=True)
class Wrapped(Together):
    """Another rule inside."""

    kind: ClassVar[str] = "welfare"

    @property
    def inner(self):
        """A dynamic rule."""
        return Together()


def test_a_dynamic_rule_inside_another_is_still_one(drawn_candidates, slate_rules):
    candidates = drawn_candidates(7, n_users=4)
    assert manipulability(Wrapped(), candidates, 2, "guest", tries=1, resamples=0).one_report
    assert not manipulability(slate_rules["borda"], candidates, 2, "guest", tries=1, resamples=0).one_report


@dataclass(frozen=True)
class OnlyHonest(SlateRule):
    """The first item, and nothing at all for whoever reports an extreme."""

    name: ClassVar[str] = "only_honest"

    def fill(self, candidates, k):
        """Return the first item where every report lies between 0 and 1."""
        honest = ((candidates.values > 0) & (candidates.values < 1)).all(axis=(0, 1))
        return Slates(self.label, candidates.items, np.where(honest, 0, -1)[:, None], np.zeros(len(honest), dtype=bool))


def test_an_empty_list_is_no_gain(make_candidates):
    candidates = make_candidates(np.array([[[0.5, 0.5]] + [[0.4, 0.3]] * 5, [[0.5, 0.5]] * 6]))
    found = manipulability(OnlyHonest(), candidates, 1, "guest", tries=2, resamples=5)
    assert (found.gain.value, found.share) == (0.0, 0.0)


def test_an_empty_list_is_a_loss_where_all_requests_count(drawn_candidates):
    """In a dynamic rule, requests that the misreport empties are set against those in which it gains."""

    @dataclass(frozen=True)
    class Punishing(OnlyHonest):
        """The best item for one liar of two, nothing for the other, and the second item for the honest."""

        kind: ClassVar[str] = "dynamic"

        def fill(self, candidates, k):
            """Return c0 for the first request if there is a lie, nothing for the others."""
            slates = super().fill(candidates, k)
            honest = slates.items[:, 0] == 0
            slates.items[:] = np.where(honest, 1, np.where(np.arange(len(honest)) == 0, 0, -1))[:, None]
            return slates

    given = drawn_candidates(0, n_users=2, n_items=6, n_stakeholders=1)
    values = np.array([[[0.6, 0.6], [0.5, 0.5]] + [[0.4, 0.4]] * 4])
    expected = ExpectedRewards(values, stakeholders=given.stakeholders, actions=given.items)
    found = manipulability(Punishing(), Candidates(expected), 1, "guest", tries=0, resamples=0)
    assert found.gain.value == 0.0  # 0.1 more once is not worth 0.5 less


def test_misreports_are_what_they_say(make_candidates):
    """Four items of which the last may not be shown; rivals like c2 best."""
    values = [[[0.4], [0.8], [0.6], [0.9]], [[0.1], [0.2], [0.9], [0.0]]]
    open_ = np.array([[True]] * 3 + [[False]])
    candidates = make_candidates(values, available=open_)
    found = {}
    for each in misreports(candidates, 0, 1, 3, 0):
        assert each.values.shape == (4, 1) and each.values.min() >= 0 and each.values.max() <= 1
        found.setdefault(each.family, []).append(each.values[:, 0].tolist())
    assert found["approve own top"] == [[0.0, 1.0, 0.0, 0.0]]
    assert found["exaggerate"] == [pytest.approx([0.0, 1.0, 0.5, 1.0])]
    assert found["bury rivals'"] == [[0.4, 0.8, 0.0, 0.9]]
    assert found["raise and bury"] == [[0.4, 1.0, 0.0, 0.9]]
    assert all(sorted(each) == [0.4, 0.6, 0.8, 0.9] and each != [0.4, 0.8, 0.6, 0.9] for each in found["swap"])
    assert len({tuple(each) for each in found["order"]}) == 2 * 24
    shared = make_candidates([values[0], [[0.1], [0.9], [0.2], [0.0]]], available=open_)
    buried = {each.family: each.values[:, 0].tolist() for each in misreports(shared, 0, 1, 0, 0)}
    assert buried["bury rivals'"] == [0.4, 0.8, 0.6, 0.9]  # what it wants itself is not buried
    heavy = make_candidates(values, available=open_, weights=[9.0, 1.0])
    buried = {each.family: each.values[:, 0].tolist() for each in misreports(heavy, 0, 1, 0, 0)}
    assert buried["bury rivals'"] == [0.4, 0.8, 0.0, 0.9]  # whatever its own weight
    many = make_candidates(np.zeros((1, FEW + 1, 1)))
    assert "order" not in {each.family for each in misreports(many, 0, 2, 1, 0)}


def test_edges(slate_rules, make_candidates):
    """One item, no item, constant values."""
    rule = slate_rules["total"]
    single = make_candidates(np.ones((2, 1, 2)))
    assert manipulability(rule, single, 3, "guest", resamples=5).gain.value == 0.0
    nothing = make_candidates(np.ones((2, 2, 1)), available=np.zeros((2, 1), dtype=bool))
    found = manipulability(rule, nothing, 1, "guest", resamples=5)
    assert found.gain.value is None and found.share is None and found.largest == 0.0
    constant = make_candidates(np.full((2, 3, 1), 0.5))
    assert manipulability(rule, constant, 1, "town", resamples=5).gain.value == 0.0
    with pytest.raises(UnknownNameError, match="did you mean 'guest'"):
        manipulability(rule, single, 1, "guests")
    with pytest.raises(InputError, match="allowed: 2, one per request"):
        manipulability(rule, single, 1, "guest", users=["a"])


def test_an_order_gives_every_user_their_own_values(make_candidates):
    """Two users who value two items differently: each gets their own values, best first and best last."""
    candidates = make_candidates([[[0.4, 0.1], [0.8, 0.3]]])
    orders = [each.values.tolist() for each in misreports(candidates, 0, 1, 0, 0) if each.family == "order"]
    assert orders == [
        [[0.8, 0.3], [0.4, 0.1]],
        [[1.0, 1.0], [0.0, 0.0]],
        [[0.4, 0.1], [0.8, 0.3]],
        [[0.0, 0.0], [1.0, 1.0]],
    ]
