"""What staleness costs: differences of measures on one scale, exactly 0 where the state does not matter, and coverage."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.evaluation import staleness_price
from accordant.slates.market import Market, on_one_scale, serve
from accordant.slates.measures import measures
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards

RULES = ("utilitarian_slate", "nash_slate", "random_slate")
COLUMNS = {
    "worst off": measures.create("worst_off"),
    "guest": measures.create("attained", {"stakeholder": "guest"}),
    "town": measures.create("attained", {"stakeholder": "town"}),
    "overload": measures.create("overload"),
    "gini": measures.create("exposure_gini"),
    "gap": measures.create("provider_exposure_gap"),
}
ITEMS, BATCH, CAPACITY = 8, 5, 2.5


def world(seed, *, days=5, per_day=4, reacts=True, staleness=2, close=False):
    """Return a market of independent users: a guest with tastes, a town that hates crowds, an inn that wants its share."""
    draw = np.random.default_rng(seed)
    unknown = np.full(ITEMS, np.nan)
    items = Catalogue(
        tuple(f"c{c}" for c in range(ITEMS)), (None,) * ITEMS, tuple("pq"[c % 2] for c in range(ITEMS)),
        np.arange(1.0, ITEMS + 1), np.full(ITEMS, CAPACITY), unknown, unknown, unknown, unknown,
    )  # fmt: skip
    taste, nowhere = np.linspace(0.2, 0.8, ITEMS)[:, None], np.full(BATCH, np.nan)
    batches = [
        Requests(
            tuple(f"r{b}-{u}" for u in range(BATCH)), tuple(f"u{b}-{u}" for u in range(BATCH)), b // per_day,
            nowhere, nowhere, np.clip(taste + 0.2 * draw.normal(size=(ITEMS, BATCH)), 0, 1), np.zeros((ITEMS, BATCH)),
            np.ones((ITEMS, BATCH), dtype=bool),
        )
        for b in range(days * per_day)
    ]  # fmt: skip

    def expected(batch, state):
        """Return E, which answers to load and attention if the world reacts."""
        load, total = np.minimum(1, state.load / CAPACITY), state.exposure.sum()
        share = 1 / (1 + ITEMS * state.exposure / total) if total else np.full(ITEMS, 0.5)
        own = [1 - load, share] if reacts else [np.linspace(0, 1, ITEMS), np.linspace(1, 0, ITEMS)]
        values = np.stack([batch.relevance, *(np.tile(each[:, None], BATCH) for each in own)])
        return ExpectedRewards(values, stakeholders=("guest", "town", "inn"), actions=items.items)

    return Market(
        items, ("guest", "town", "inn"), expected, tuple(batches), user_stakeholder="guest", staleness=staleness,
        close_when_full=close,
    )  # fmt: skip


def both(market, names=RULES):
    """Return what rules show with staleness and without."""
    made = {name: rules.create(name) for name in names}
    return tuple(
        {name: serve(rule, each, 3) for name, rule in made.items()} for each in (market, replace(market, staleness=0))
    )


@pytest.fixture(scope="module")
def pair():
    return both(world(0))


def test_it_is_the_difference_of_measures_on_one_scale(pair):
    found = staleness_price(*pair, COLUMNS, resamples=100)
    every = on_one_scale({(side, name): each for side in (0, 1) for name, each in pair[side].items()})
    assert list(found.rules) == list(RULES) and all(list(row) == list(COLUMNS) for row in found.rules.values())
    for name, row in found.rules.items():
        for label, measure in COLUMNS.items():
            gap = measure.of(every[0, name]) - measure.of(every[1, name])
            estimate = row[label].estimate
            assert estimate.value == pytest.approx(gap, abs=1e-12)
            if estimate.low is not None:
                assert estimate.low < gap < estimate.high
            held = estimate.low is None or estimate.low <= 0 <= estimate.high
            assert (row[label].better is None) == held
            assert held or row[label].better == ((gap > 0) == (measure.goal == "max"))
    assert found.rules["nash_slate"]["town"].better is False
    assert json.loads(json.dumps(found.to_json()))["rules"]["nash_slate"]["gini"]["value"] is not None


def test_intervals_hold_together(pair):
    """They are wider than single ones, and not by the factor that independent comparisons would take."""
    alone = staleness_price(*pair, {"town": COLUMNS["town"]}, resamples=400).rules["nash_slate"]["town"].estimate
    joint = staleness_price(*pair, COLUMNS, resamples=400).rules["nash_slate"]["town"].estimate
    one, many = alone.high - alone.low, joint.high - joint.low
    assert one < many < 2.5 * one


@pytest.mark.parametrize(("staleness", "at_once", "rounds"), [(1, 2, 10), (2, 3, 7), (19, 20, 1), (500, 20, 1)])
def test_what_it_brings(pair, staleness, at_once, rounds):
    stale = {name: replace(each, market=replace(each.market, staleness=staleness)) for name, each in pair[0].items()}
    found = staleness_price(stale, pair[1], {"guest": COLUMNS["guest"]}, resamples=0)
    assert (found.at_once, found.rounds) == (at_once, rounds)
    assert f"{at_once} of 20 batches are decided at once, all in {rounds} round" in found.words
    assert (
        "Of 3 differences" in found.words
        and "0 are for the worse, 0 for the better, and 3 are not shown" in found.words
    )
    assert all(row["guest"].estimate.low is None for row in found.rules.values())


@pytest.mark.parametrize("seed", range(3))
def test_where_the_state_does_not_matter_the_price_is_nothing(seed):
    found = staleness_price(*both(world(seed, reacts=False)), COLUMNS, resamples=100, seed=seed)
    for row in found.rules.values():
        for each in row.values():
            assert each.estimate.value == 0.0 and each.better is None
            assert each.estimate.low is None or -0.1 < each.estimate.low < 0 < each.estimate.high < 0.1
    assert "18 differences" in found.words and "and 18 are not shown" in found.words


def test_what_cannot_be_compared_is_refused(pair):
    stale, fresh = pair
    with pytest.raises(InputError, match="other rules were served"):
        staleness_price(stale, {"nash_slate": fresh["nash_slate"]}, COLUMNS)
    with pytest.raises(InputError, match="one staleness of all rules, and none"):
        staleness_price(stale, stale, COLUMNS)
    with pytest.raises(InputError, match="one staleness of all rules, and none"):
        staleness_price({**stale, "nash_slate": fresh["nash_slate"]}, fresh, COLUMNS)


@pytest.mark.long
@pytest.mark.parametrize("close", [False, True])
def test_intervals_of_all_rules_and_measures_cover_together(close):
    """The truth is the mean over worlds; at a joint coverage of .95 fewer than 24 of 30 has probability .0006."""
    worlds = [staleness_price(*both(world(seed, close=close)), COLUMNS, resamples=300, seed=seed) for seed in range(30)]
    values, lows, highs = (
        np.array(
            [
                [[getattr(row[label].estimate, end) for label in COLUMNS] for row in each.rules.values()]
                for each in worlds
            ],
            dtype=float,
        )
        for end in ("value", "low", "high")
    )
    truth = values.mean(axis=0)
    held = np.isnan(lows) | ((lows <= truth) & (truth <= highs))
    assert held.all(axis=(1, 2)).sum() >= 24
    assert (np.isnan(lows).all(axis=0) <= (np.ptp(values, axis=0) < 1e-12)).all()
    assert (np.abs(truth) > 0.02).sum() >= 6  # not a null world
