"""Serving: what is shown changes what the next batch finds, and parts of it are what was served."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates.market import ExpectedUptake, join_candidates, on_one_scale, serve
from accordant.slates.slates import NOTHING, Slates, attention
from accordant.slates.slates import State
from accordant.utilities import ExpectedRewards


def by_hand(market, k, penalty):
    """Serve by the rule that counts what was shown, request by request, in plain Python."""
    n_items = market.catalogue.n_items
    shown, loads, lists = [0.0] * n_items, [], []
    load, day = [0.0] * n_items, 0
    for batch in market.batches:
        if batch.day != day:
            load, day = [0.0] * n_items, batch.day
        loads.append(list(load))
        values = market.expected(batch, None).values
        found = []
        for u in range(batch.n_users):
            score = {
                c: sum(values[i, c, u] for i in range(len(values))) - penalty * shown[c]
                for c in range(n_items)
                if batch.available[c, u] and market.catalogue.capacity[c] > (load[c] if market.close_when_full else 0)
            }
            found.append(sorted(score, key=lambda c: (-score[c], c))[:k])
        for one in found:
            total = sum(attention(k)[: len(one)])
            for place, c in enumerate(one):
                shown[c] += attention(k)[place]
                load[c] += min(1.0, market.uptake.visits * attention(k)[place] / total)
        lists += found
    return lists, loads


@pytest.mark.few(10)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("k", "penalty", "visits"), [(2, 0.0, 1.0), (3, 0.7, 1.5), (9, 0.2, 0.0)])
@pytest.mark.parametrize("full", [False, True])
def test_serving_equals_serving_by_hand(make_market, least_shown, seed, k, penalty, visits, full):
    market = make_market(seed, uptake=ExpectedUptake(visits), close_when_full=full)
    found = serve(least_shown(penalty), market, k)
    lists, loads = by_hand(market, k, penalty)
    assert [[c for c in row if c != NOTHING] for row in found.slates.items.tolist()] == lists
    assert np.allclose([state.load for state in found.states], loads)
    assert found.days.tolist() == [0] * 5 + [1] * 4 + [3]
    assert [state.day for state in found.states] == [0, 0, 1, 3]
    assert found.users == tuple(f"u{u}" for u in range(10))
    assert np.array_equal(found.targets, np.concatenate([batch.targets for batch in market.batches], axis=1))
    assert np.array_equal(found.history, np.concatenate([batch.history for batch in market.batches], axis=1))


def test_what_happened_first_matters(make_market, least_shown):
    """The control of the test above: with a penalty, later lists are others than without."""
    one, other = (serve(least_shown(penalty), make_market(1), 2).slates.items for penalty in (0.0, 0.7))
    assert np.array_equal(one[:3], other[:3]) and not np.array_equal(one[3:], other[3:])


@pytest.mark.parametrize(("start", "stop"), [(0, 10), (0, 4), (3, 5), (4, 8), (9, 10), (2, 99)])
def test_between_is_a_part_of_what_was_served(make_market, least_shown, start, stop):
    whole = serve(least_shown(0.5), make_market(2), 3)
    part = whole.between(start, stop)
    rows = slice(start, min(stop, 10))
    assert np.array_equal(part.slates.items, whole.slates.items[rows])
    assert part.users == whole.users[rows] and np.array_equal(part.days, whole.days[rows])
    assert [each for batch in part.market.batches for each in batch.ids] == [
        f"r{u}" for u in range(start, min(stop, 10))
    ]
    for name in ("visits", "targets", "history"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[:, rows])
    for name in ("utilities", "ideal", "worst"):
        assert np.array_equal(getattr(part.gains, name), getattr(whole.gains, name)[:, rows], equal_nan=True)
        assert np.array_equal(getattr(part.moment, name), getattr(whole.moment, name)[:, rows], equal_nan=True)
    assert np.array_equal(part.candidates.values, whole.candidates.values[:, :, rows])
    assert len(part.states) == len(part.market.batches)
    for state, batch in zip(part.states, part.market.batches, strict=True):
        own = next(s for s, b in zip(whole.states, whole.market.batches, strict=True) if set(batch.ids) <= set(b.ids))
        assert state is own


def test_the_first_batches_are_what_serving_them_alone_gives(make_market, least_shown):
    market = make_market(4)
    alone = serve(least_shown(0.5), replace(market, batches=market.batches[:2]), 3)
    part = serve(least_shown(0.5), market, 3).between(0, 5)
    assert np.array_equal(alone.slates.items, part.slates.items) and np.array_equal(alone.visits, part.visits)
    assert np.array_equal(alone.gains.attained, part.gains.attained, equal_nan=True)


@pytest.mark.parametrize(("start", "stop"), [(3, 3), (5, 2), (10, 12)])
def test_between_nothing(make_market, least_shown, start, stop):
    with pytest.raises(InputError, match="no requests"):
        serve(least_shown(), make_market(0), 2).between(start, stop)


def test_rules_read_reports_and_measures_read_rewards(make_market, least_shown):
    honest = make_market(3)

    def turned(batch, state, expected):
        """Say the opposite."""
        return ExpectedRewards(1 - expected.values, stakeholders=expected.stakeholders, actions=expected.actions)

    market = replace(honest, reports=turned)
    found, truth = serve(least_shown(), market, 2), serve(least_shown(), honest, 2)
    assert np.array_equal(found.candidates.values, truth.candidates.values)
    assert not np.array_equal(found.slates.items, truth.slates.items)
    assert found.gains.utilities.mean() < truth.gains.utilities.mean()


def test_nobody_is_shown_a_closed_item(make_market, make_catalogue, least_shown):
    market = replace(make_market(0), catalogue=make_catalogue(5, capacity=np.array([0.0, 1, 0, 1, 0])))
    assert set(serve(least_shown(), market, 5).slates.items.ravel().tolist()) <= {1, 3, NOTHING}


def test_what_is_full_opens_again_the_next_day(make_market, make_catalogue, least_shown):
    sizes = ((0, 1), (0, 1), (1, 1))
    market = replace(make_market(0, sizes, uptake=ExpectedUptake(9.0), close_when_full=True),
                     catalogue=make_catalogue(5, capacity=np.ones(5)))  # fmt: skip
    lists = [set(row) - {NOTHING} for row in serve(least_shown(), market, 2).slates.items.tolist()]
    assert lists[0] and not lists[0] & lists[1]
    open_ = replace(market, close_when_full=False)
    may = open_.candidates(market.batches[2], State.start(5, 3, 2))
    assert np.array_equal(serve(least_shown(), market, 2).candidates.available[:, 2], may.available[:, 0])


def test_one_scale_orders_lists_by_utility(make_market, make_catalogue, least_shown):
    """Rules close other items for later requests; on one scale a higher utility is a higher share, as by hand."""
    market = make_market(6, ((0, 1),) * 6, uptake=ExpectedUptake(1.0), close_when_full=True)
    market = replace(market, catalogue=make_catalogue(5, capacity=np.full(5, 0.6)))
    apart = {str(penalty): serve(least_shown(penalty), market, 2) for penalty in (0.0, 0.8, -0.8)}
    found = on_one_scale(apart)
    assert any(
        not np.array_equal(a.moment.ideal, b.moment.ideal, equal_nan=True)
        for a in apart.values()
        for b in apart.values()
    )
    for i in range(3):
        for u in range(6):
            highs, lows = ([getattr(each.moment, name)[i, u] for each in apart.values()] for name in ("ideal", "worst"))
            known = [h for h in highs if not np.isnan(h)], [w for w in lows if not np.isnan(w)]
            high, low = max(known[0], default=0.0), min(known[1], default=0.0)
            for label, each in found.items():
                own = apart[label].moment.utilities[i, u]
                if not high - low > 1e-9:  # every list is alike, whichever rule shows it
                    assert np.isnan(each.gains.attained[i, u])
                    continue
                share = 0.0 if np.isnan(own) else (own - low) / (high - low)
                assert each.gains.attained[i, u] == pytest.approx(share, abs=1e-12)
                assert each.moment is apart[label].moment
    assert on_one_scale({}) == {}


def test_one_scale_of_one_rule_is_its_own(make_market, least_shown):
    alone = serve(least_shown(0.5), make_market(2), 2)
    again = on_one_scale({"rule": alone})["rule"]
    shown = alone.slates.lengths > 0
    assert np.array_equal(again.gains.attained[:, shown], alone.gains.attained[:, shown], equal_nan=True)


def test_an_empty_batch_changes_nothing(make_market, make_requests, least_shown):
    market = make_market(5)
    empty = make_requests(5, 0, 0, 1, targets=np.zeros((5, 0), dtype=bool))
    other = replace(market, batches=(*market.batches[:2], empty, *market.batches[2:]))
    one, two = serve(least_shown(0.3), market, 2), serve(least_shown(0.3), other, 2)
    assert np.array_equal(one.slates.items, two.slates.items) and np.array_equal(one.days, two.days)
    assert two.between(0, 10).users == one.users


def test_targets_that_some_do_not_know_nobody_knows(make_market, least_shown):
    market = make_market(0)
    batches = (replace(market.batches[0], targets=None), *market.batches[1:])
    assert serve(least_shown(), replace(market, batches=batches), 2).targets is None


def test_weights_and_floors_name_stakeholders(make_market):
    market = make_market(0, weights={"town": 3.0})
    found = market.candidates(market.batches[0], State.start(5, 3, 2))
    assert found.weights.tolist() == [1.0, 3.0, 1.0]
    for wrong in ({"weights": {"twon": 1.0}}, {"floors": {"twon": 0.5}}, {"user_stakeholder": "twon"}):
        with pytest.raises(UnknownNameError, match="did you mean 'town'"):
            make_market(0, **wrong)
    with pytest.raises(InputError, match="there are no requests to serve"):
        replace(market, batches=())


@pytest.mark.parametrize("visits", [0.0, 0.5, 1.0, 2.5, 100.0])
def test_visits_are_shares_of_attention(visits):
    lists = Slates(
        "fixed", ("a", "b", "c"), np.array([[1, 0], [2, NOTHING], [NOTHING, NOTHING]]), np.zeros(3, dtype=bool)
    )
    found = ExpectedUptake(visits)(None, lists)
    total = 1 + 1 / np.log2(3)
    assert found[:, 0].tolist() == pytest.approx([min(1, visits / np.log2(3) / total), min(1, visits / total), 0])
    assert found[:, 1].tolist() == pytest.approx([0, 0, min(1, visits)]) and not found[:, 2].any()


def test_joined_parts(make_candidates):
    values, mask = np.random.default_rng(0).random((2, 3, 7)), np.random.default_rng(1).random((3, 7)) < 0.5
    whole = make_candidates(values, mask, [1, 0], [0, -1, 1], "town")
    again = join_candidates([whole.take(slice(0, 2)), whole.take(slice(2, 2)), whole.take(slice(2, 7))])
    assert np.array_equal(again.values, values) and np.array_equal(again.available, mask)
    assert again.weights.tolist() == [1, 0] and again.categories.tolist() == [0, -1, 1] and again.user == "town"
    single = make_candidates(values, dtype=np.float32)
    assert join_candidates([single.take(slice(0, 2)), single.take(slice(2, 7))]).tolerance == 1e-6
