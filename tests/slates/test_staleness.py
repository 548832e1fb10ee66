"""Rules that see an old state: a slow twin, its ends, what closed meanwhile, and the same result on any executor."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accordant as ac
from accordant.errors import InputError
from accordant.slates.case import SlateSpec
from accordant.slates.evaluation import check, condorcet, default_measures, over_time, why
from accordant.slates.market import ExpectedUptake, on_one_scale, serve
from accordant.slates.measures import measures
from accordant.slates.rule import rules
from accordant.slates.slates import NOTHING, State, attention
from accordant.utilities import ExpectedRewards

SIZES = ((0, 2), (0, 2), (0, 1), (0, 3), (1, 2), (1, 2), (4, 1), (4, 2))
VISITS = 1.5


def reacting(make_market, seed, staleness, full=False, **columns):
    """Return a market whose E falls with the load of an item and rises with its attention."""
    market = make_market(seed, SIZES, uptake=ExpectedUptake(VISITS), close_when_full=full, **columns)

    def expected(batch, state):
        """Return E of the requests at a state."""
        plain = market.expected(batch, state)
        moved = 0.6 * plain.values - 0.1 * state.load[:, None] + 0.05 * state.exposure[:, None]
        return ExpectedRewards(np.clip(moved + 0.2, 0.0, 1.0), stakeholders=plain.stakeholders, actions=plain.actions)

    return replace(market, expected=expected, staleness=staleness)


def by_hand(market, k, penalty, staleness):
    """Serve request by request in plain Python, from a diary of all that happened."""
    n_items, capacity = market.catalogue.n_items, market.catalogue.capacity
    diary = []  # a line for each visit and each place: batch, day, item, attention, visits
    lists, loads, attained, closed = [], [], [], []

    def at(until, day):
        """Return load of a day and attention from what batches before one left."""
        load, exposure = np.zeros(n_items), np.zeros(n_items)
        for batch, own, item, seen, visits in diary:
            if batch < until:
                exposure[item] += seen
                load[item] += visits if own == day else 0.0
        return load, exposure

    def open_to(batch, u, load):
        """Return what may be shown to a user at some load."""
        return [
            c
            for c in range(n_items)
            if batch.available[c, u] and capacity[c] > 0 and not (market.close_when_full and load[c] >= capacity[c])
        ]

    for b, batch in enumerate(market.batches):
        (load, exposure), (true_load, true_exposure) = at(b - staleness, batch.day), at(b, batch.day)
        loads.append(true_load)
        start = State.start(n_items, len(market.stakeholders), k)
        values, truth = (
            market.expected(batch, replace(start, load=one, exposure=other)).values
            for one, other in ((load, exposure), (true_load, true_exposure))
        )
        for u in range(batch.n_users):
            score = {c: values[:, c, u].sum() - penalty * exposure[c] for c in open_to(batch, u, load)}
            shown = sorted(score, key=lambda c: (-score[c], c))[:k]
            total = sum(attention(k)[: len(shown)])
            diary += [
                (b, batch.day, c, attention(k)[p], min(1.0, VISITS * attention(k)[p] / total))
                for p, c in enumerate(shown)
            ]
            may = open_to(batch, u, true_load)
            lists.append(shown)
            closed.append([c for c in shown if c not in may])
            row = []
            for own in truth[:, :, u]:
                every = [np.mean([own[c] for c in one]) for one in combinations(may, min(len(shown), len(may))) if one]
                worth = sum(own[c] for c in shown if c in may) / len(shown) if shown else np.nan
                wide = bool(shown and may) and max(every) - min(every) > 1e-9
                row.append(np.clip((worth - min(every)) / (max(every) - min(every)), 0.0, 1.0) if wide else np.nan)
            attained.append(row)
    return lists, loads, np.array(attained).T, closed


@pytest.mark.few(12)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("staleness", [0, 1, 2, 3, 7, 50])
@pytest.mark.parametrize(("seed", "k", "penalty"), [(0, 2, 0.0), (1, 3, 0.7), (2, 9, 0.2), (3, 1, 0.4)])
def test_serving_equals_serving_by_hand(make_market, least_shown, seed, k, penalty, staleness, full):
    market = reacting(make_market, seed, staleness, full)
    found = serve(least_shown(penalty), market, k)
    lists, loads, attained, closed = by_hand(market, k, penalty, staleness)
    assert [[c for c in row if c != NOTHING] for row in found.slates.items.tolist()] == lists
    assert np.allclose([state.load for state in found.states], loads)
    assert np.allclose(found.moment.attained, attained, equal_nan=True)
    missing = (found.slates.shown() & ~found.candidates.available).T
    assert [np.flatnonzero(row).tolist() for row in missing] == [sorted(row) for row in closed]
    assert (found.candidates.values[:, missing.T] == 0).all()
    shares = [len(each) / len(shown) for each, shown in zip(closed, lists, strict=True) if shown]
    assert measures.create("closed_places").of(found) == pytest.approx(np.mean(shares))


def test_the_twin_meets_places_that_were_lost(make_market):
    lost = [by_hand(reacting(make_market, seed, 2, True), 2, 0.0, 2)[3] for seed in range(4)]
    assert sum(bool(each) for one in lost for each in one) > 5
    assert not any(each for seed in range(4) for each in by_hand(reacting(make_market, seed, 0, True), 2, 0.0, 0)[3])


@pytest.mark.parametrize("name", ["nash_slate", "dynamic", "random_slate"])
def test_without_staleness_it_is_the_plain_loop(make_market, name):
    market, rule = reacting(make_market, 5, 0, True), rules.create(name)
    state, lists = State.start(5, 3, 2), []
    for batch in market.batches:
        state = state.on(batch.day)
        candidates = market.candidates(batch, state)
        slates = rule(candidates, 2, state=state)
        lists.append(slates.items)
        gains = ac.slates.gains_of(slates, candidates)
        state = state.after(slates, gains.attained, market.uptake(batch, slates).sum(axis=1))
    assert np.array_equal(serve(rule, market, 2).slates.items, np.concatenate(lists))


@pytest.mark.parametrize("staleness", [8, 9, 10**30])
def test_from_the_number_of_batches_on_all_is_decided_at_the_beginning(make_market, least_shown, staleness):
    market = reacting(make_market, 4, staleness, True)
    start = State.start(5, 3, 3)
    lists = [
        least_shown(0.5)(market.candidates(batch, start.on(batch.day)), 3, state=start.on(batch.day)).items
        for batch in market.batches
    ]
    assert np.array_equal(serve(least_shown(0.5), market, 3).slates.items, np.concatenate(lists))


@pytest.mark.parametrize("staleness", [1, 2, 6])
def test_batches_of_one_round_do_not_depend_on_each_other(make_market, least_shown, staleness):
    """Other requests in a batch leave the lists of the batches beside it and before it as they are."""
    market = reacting(make_market, 6, staleness)
    found = serve(least_shown(0.7), market, 2)
    first = np.cumsum([0, *(batch.n_users for batch in market.batches)])
    changed = False
    for b, batch in enumerate(market.batches):
        other = replace(batch, available=np.roll(batch.available, 1, axis=0))
        again = serve(
            least_shown(0.7), replace(market, batches=(*market.batches[:b], other, *market.batches[b + 1 :])), 2
        )
        same = [*range(first[b]), *range(first[b + 1], first[min(b + staleness + 1, 8)])]
        assert np.array_equal(again.slates.items[same], found.slates.items[same])
        later = slice(first[min(b + staleness + 1, 8)], None)
        changed |= not np.array_equal(again.slates.items[later], found.slates.items[later])
    assert changed or staleness == 6


def test_the_calendar_and_numbers_of_requests_are_no_news(make_market):
    """The rule is told that a new day has no load, and draws anew for each request."""
    seen = []

    def drawn(candidates, k, *, state):
        """Note the state."""
        seen.append(state)
        return rules.create("random_slate")(candidates, k, state=state)

    drawn.label = "drawn"
    serve(drawn, reacting(make_market, 0, 1), 2)
    assert [each.day for each in seen] == [day for day, _ in SIZES]
    assert [each.served for each in seen] == np.cumsum([0, *(n for _, n in SIZES)])[:-1].tolist()
    assert [bool(each.load.any()) for each in seen] == [False, False, True, True, False, False, False, False]
    assert [bool(each.exposure.any()) for each in seen] == [False, False, *[True] * 6]
    plain = [serve(rules.create("random_slate"), reacting(make_market, 0, n), 2).slates.items for n in (0, 1, 99)]
    assert all(np.array_equal(plain[0], each) for each in plain)


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["here", "threads:2", "processes:2", None])
def test_any_executor_gives_the_same(make_market, where):
    market, rule = reacting(make_market, 7, 3, True), rules.create("nash_slate")
    plain = serve(rule, market, 2)
    if where is None:
        again = serve(rule, market, 2, n_jobs=2)
    else:
        with ac.compute(where):
            again = serve(rule, market, 2)
    assert np.array_equal(plain.slates.items, again.slates.items)
    for name in ("utilities", "ideal", "worst"):
        assert np.array_equal(getattr(plain.moment, name), getattr(again.moment, name), equal_nan=True)
    assert np.array_equal(plain.visits, again.visits)


@given(seed=st.integers(0, 10**6), staleness=st.integers(0, 12), k=st.integers(1, 6), penalty=st.floats(-1, 1))
@settings(max_examples=10, deadline=None)
def test_values_stay_in_their_ranges(make_market, make_catalogue, least_shown, seed, staleness, k, penalty):
    market = reacting(make_market, seed, staleness, True, user_stakeholder="guest", floors={"town": 0.4})
    market = replace(market, catalogue=make_catalogue(5, capacity=np.random.default_rng(seed).choice([0.5, 1, 2.5], 5)))
    plain = serve(least_shown(penalty), market, k)
    found = on_one_scale({"one": plain, "other": serve(least_shown(-penalty), market, k)})["one"]
    for gains in (found.gains, found.moment):
        for values in (gains.attained, gains.regret, gains.utilities, gains.ideal, gains.worst):
            known = values[~np.isnan(values)]
            assert np.isfinite(known).all() and ((known >= -1e-12) & (known <= 1 + 1e-12)).all()
    for each in default_measures(market).values():
        value = each.of(found)
        assert np.isnan(value) or each.range is None or each.range[0] <= value <= each.range[1]
    assert found.visits.sum() == pytest.approx(
        sum(each.sum() for each in [market.uptake(market.batches[0], found.slates)])
    )
    over_time(found)
    majorities = condorcet(found.slates, found.candidates)
    assert majorities.beating is None or 0 <= majorities.beating <= 1
    for request in range(found.slates.n_users):
        reason = why(found, request)
        assert check(reason, found).faithful
        numbers = [number for each in reason.statements for number in each.numbers]
        assert all(0 <= number <= 1 for number in numbers)


def test_whoever_is_sent_to_a_full_item_counts_as_overload(make_market, make_catalogue, least_shown):
    """Three batches of one day all see an empty town: the same item takes all of them."""
    sizes = ((0, 1), (0, 1), (0, 1))
    values = np.tile(np.array([0.9, 0.5, 0.1])[None, :, None], (2, 1, 3))
    market = make_market(0, sizes, 3, 2, close_when_full=True, staleness=2)
    market = replace(
        market,
        catalogue=make_catalogue(3, capacity=np.array([1.0, 1.0, 1.0])),
        batches=tuple(replace(each, available=np.ones((3, 1), dtype=bool)) for each in market.batches),
        expected=lambda batch, state: ExpectedRewards(
            values[:, :, :1], stakeholders=market.stakeholders, actions=("c0", "c1", "c2")
        ),
    )
    stale, fresh = serve(least_shown(), market, 1), serve(least_shown(), replace(market, staleness=0), 1)
    assert stale.slates.items.ravel().tolist() == [0, 0, 0] and fresh.slates.items.ravel().tolist() == [0, 1, 2]
    overload, closed = measures.create("overload"), measures.create("closed_places")
    assert (overload.of(stale), overload.of(fresh)) == (pytest.approx(2 / 3), 0.0)
    assert (closed.of(stale), closed.of(fresh)) == (pytest.approx(2 / 3), 0.0)
    assert stale.moment.attained[0].tolist() == [1.0, 0.0, 0.0]
    assert fresh.moment.attained[0, :2].tolist() == [1.0, 1.0] and np.isnan(fresh.moment.attained[0, 2])
    assert "closed places" in default_measures(market)
    assert "closed places" not in default_measures(replace(market, staleness=0))


def test_where_all_closed_meanwhile_the_list_is_worth_nothing(make_market, make_catalogue, least_shown):
    market = reacting(make_market, 0, 9, True)
    market = replace(market, catalogue=make_catalogue(5, capacity=np.full(5, 0.1)))
    found = serve(least_shown(), market, 5)
    late = 2  # the first request of the second batch
    assert found.slates.lengths[late] > 0 and not found.candidates.available[:, late].any()
    assert (found.moment.utilities[:, late] == 0).all() and np.isnan(found.moment.ideal[:, late]).all()
    assert "the same for everybody" in why(found, late).reasons and check(why(found, late), found).faithful
    fresh = serve(least_shown(), replace(market, staleness=0), 5)
    assert (found.visits[:, late] > 0).any() and not fresh.visits[:, late].any()


@pytest.mark.parametrize("wrong", [-1, 1.5, 1.0, True, "2", None])
def test_a_wrong_staleness_is_refused(make_market, wrong):
    with pytest.raises(InputError, match=r"staleness is .*; allowed: a whole number of batches, at least 0"):
        make_market(0, staleness=wrong)
    with pytest.raises(InputError, match="staleness"):
        SlateSpec(staleness=wrong)
