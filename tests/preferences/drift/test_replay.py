"""Replay: made-up users whose taste stays or turns, no look ahead, who is counted, the real ratings."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences import Ratings
from accordant.preferences.drift import ReplaySettings, pairs_with_earlier, replay_ratings
from accordant.preferences.drift.rating_pairs import RatingStream, split_users
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.readers import read_movielens

QUICK = ReplaySettings(variances=(0.3, 1.0), kept=(0.8, 0.95))
METHODS = ["pooled", "per user, first part", "sequential", "sequential, forgetting"]


def raters(n_users=16, n=160, turn=(), seed=0, steady=2.0, noise=0.5):
    """Users one after the other; taste is personal but for a common first feature; `turn` says who reverses when."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(400, 4))
    users, items = np.repeat(np.arange(n_users), n), np.concatenate([generator.permutation(400)[:n]] * n_users)
    taste = generator.normal(size=(n_users, 4)) * [0.2, 1, 1, 1] + [steady, 0, 0, 0]
    place = np.tile(np.arange(n), n_users)
    sign = np.ones(len(users))
    for user, share in dict(turn).items():
        sign[(users == user) & (place >= share * n)] = -1.0
    value = sign * (features[items] * taste[users]).sum(axis=1) + noise * generator.normal(size=len(users))
    stars = np.clip(np.round(2 * (3 + value)) / 2, 0.5, 5.0)
    names = tuple(f"u{user}" for user in range(n_users))
    return Ratings(features, items, users, stars, 10_000.0 * users + place, names)


@pytest.fixture(scope="module")
def steady():
    return replay_ratings(raters(), QUICK, generator=np.random.default_rng(0), resamples=50)


def test_personal_tastes_are_learned(steady):
    for found in (steady.fresh, steady.earlier):
        assert list(found.methods) == METHODS == list(found.accuracy.methods)
        accuracy = {name: limits.value for name, limits in found.accuracy.methods.items()}
        assert accuracy["sequential"] > accuracy["pooled"] + 0.02
        assert found.log_loss.differences["sequential", "pooled"].high < 0
        assert found.log_loss.differences["per user, first part", "pooled"].high < 0
    assert steady.agreement.alarmed == () and steady.exchangeability.alarmed == ()
    assert steady.start.past_users == steady.start.replayed == 8
    assert (steady.start.straddling, steady.start.time) == (0, 80_000.0)
    assert [trace.name for trace in steady.agreement.traces] == [f"u{user}" for user in range(8, 16)]
    json.dumps(steady.to_json(), allow_nan=False)


def test_choices_are_the_smallest_losses(steady):
    for what, chosen in (("variance", steady.variance), ("kept", steady.kept)):
        tried = {value: loss for (kind, value), loss in steady.first_losses.items() if kind == what}
        assert min(tried, key=tried.get) == chosen
    assert len(steady.first_losses) == 4


@pytest.mark.long
def test_turned_tastes_raise_alarms_and_forgetting_pays():
    turned = {user: 0.7 for user in range(8, 16, 2)}
    found = replay_ratings(raters(n=400, turn=turned), QUICK, generator=np.random.default_rng(0), resamples=50)
    assert set(found.agreement.alarmed) == {f"u{user}" for user in turned}
    assert set(found.exchangeability.alarmed) <= set(found.agreement.alarmed)
    for trace in found.agreement.traces:
        if trace.alarm is not None:
            assert trace.alarm_time >= 0.7 * 400 / 2  # blocks of two ratings: not before the turn
    loss = {name: limits.value for name, limits in found.fresh.log_loss.methods.items()}
    assert loss["sequential, forgetting"] < loss["sequential"] < loss["per user, first part"]


def test_the_end_of_a_stream_changes_nothing_before():
    """All predictions but those of the last block are the same whatever the last ratings are."""
    one = raters(n_users=4, n=60)
    last = np.flatnonzero(one.times % 10_000 >= 58)
    changed = one.ratings.copy()
    changed[last] = 5.5 - changed[last]
    two = Ratings(one.features, one.items, one.users, changed, one.times, one.user_names)
    streams = []
    for ratings in (one, two):
        _, later, _ = split_users(ratings, 0.5)
        streams.append(
            RatingStream.made(later, gap=1.0, most=1000, first=0.5, generator=np.random.default_rng(0))
        )  # fmt: skip
    for name in ("chosen", "rejected", "users"):
        kept = [getattr(stream.comparisons, name)[stream.blocks < 29] for stream in streams]
        np.testing.assert_array_equal(*kept)


def test_blocks_of_a_stream():
    _, later, _ = split_users(raters(n_users=4, n=61), 0.5)
    stream = RatingStream.made(later, gap=1.0, most=3, first=0.5, generator=np.random.default_rng(0))
    records = stream.comparisons
    assert (records.record_weights[stream.fresh] == 0).all() and (records.record_weights[~stream.fresh] > 0).all()
    np.testing.assert_array_equal(stream.first, stream.blocks < 15)  # 61 / 2 rounded down to whole blocks
    assert stream.blocks.max() == 30
    np.testing.assert_array_equal(stream.times % 10_000, 2 * stream.blocks)
    assert not stream.fresh[stream.blocks == 30].any()  # the last rating is alone
    counts = np.bincount(records.users[stream.fresh] * 31 + stream.blocks[stream.fresh])
    assert counts.max() == 1


def test_pooled_is_measured_by_hand(steady):
    ratings = raters()
    past, _, _ = split_users(ratings, 0.5)
    pooled = BradleyTerry().fit(pairs_with_earlier(past, most=4, generator=np.random.default_rng(0)).comparisons)
    rewards = pooled.rewards(ratings.features)
    found = steady.fresh.methods["pooled"]
    for place, user in enumerate(range(8, 16)):
        rows = np.flatnonzero(ratings.users == user)[80:]
        hits = []
        for one, two in zip(rows[::2], rows[1::2], strict=True):
            gap = ratings.ratings[one] - ratings.ratings[two]
            if abs(gap) >= 1:
                hits.append((rewards[ratings.items[one]] > rewards[ratings.items[two]]) == (gap > 0))
        assert found.counts[place] == len(hits) == len(steady.agreement.traces[place].records)
        assert found.accuracy[place] == pytest.approx(np.mean(hits))


def test_same_state_same_bytes_and_both_clocks():
    ratings = raters(n_users=6, n=60)
    by_time = ReplaySettings(variances=(0.3,), kept=(0.5,), clock="time", unit=1.0)
    results = [
        json.dumps(replay_ratings(ratings, settings, generator=np.random.default_rng(seed), resamples=5).to_json())
        for settings, seed in (
            (by_time, 0),
            (by_time, 0),
            (by_time, 1),
            (ReplaySettings(variances=(0.3,), kept=(0.5,)), 0),
        )
    ]
    assert results[0] == results[1] != results[2]
    assert results[0] != results[3]  # two ratings are two units of time, or one


def test_straddling_users_are_left_out():
    ratings = raters(n_users=4, n=60)
    times = ratings.times.copy()
    times[59] = 1e6  # the first user's last rating comes after everything
    straddling = Ratings(ratings.features, ratings.items, ratings.users, ratings.ratings, times, ratings.user_names)
    past, later, start = split_users(straddling, 0.5)
    assert (start.past_users, start.straddling, start.replayed) == (2, 1, 2)
    assert len(past) == 119 and later.user_names == ("u2", "u3")
    assert np.bincount(later.users).tolist() == [60, 60]


def test_wrong_input():
    generator = np.random.default_rng(0)
    ratings = raters(n_users=4, n=20)
    timeless = Ratings(ratings.features, ratings.items, ratings.users, ratings.ratings)
    with pytest.raises(DataError, match="time"):
        replay_ratings(timeless, generator=generator)
    flat = Ratings(ratings.features, ratings.items, ratings.users, np.full(80, 3.0), ratings.times)
    with pytest.raises(DataError, match="before the replay"):
        replay_ratings(flat, generator=generator)
    late = np.where(ratings.users < 2, ratings.ratings, 3.0)
    with pytest.raises(DataError, match="first parts"):
        replay_ratings(
            Ratings(ratings.features, ratings.items, ratings.users, late, ratings.times), generator=generator
        )
    for wrong in ({"gap": 0}, {"most": 0}, {"past": 1.0}, {"first": 0.0}, {"alpha": 2}, {"kept": ()}, {"unit": -1},
                  {"variances": (0.0,)}, {"kept": (1.5,)}):  # fmt: skip
        with pytest.raises(InputError):
            ReplaySettings(**wrong)
    with pytest.raises(UnknownNameError, match="clock"):
        ReplaySettings(clock="days")


@pytest.mark.long
def test_real_ratings(real_data):
    """Sixty users of MovieLens: learning on beats the pooled reward on pairs with earlier ratings."""
    ratings = read_movielens(real_data("preferences/movielens-small/ratings.csv").parent).ratings
    some = np.flatnonzero(ratings.users % 10 == 3)
    ratings = Ratings(ratings.features, ratings.items[some], ratings.users[some], ratings.ratings[some],
                      ratings.times[some], ratings.user_names)  # fmt: skip
    found = replay_ratings(
        ratings, ReplaySettings(variances=(0.1,), kept=(0.95,)), generator=np.random.default_rng(0), resamples=100
    )
    assert found.start.past_users + found.start.replayed == 61
    assert found.earlier.log_loss.differences["sequential", "pooled"].high < 0
    assert len(found.agreement.traces) == found.start.replayed
