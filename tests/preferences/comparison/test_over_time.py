"""Watching over time: what a trace comes to, ratings that are replayed, and who could raise an alarm at all."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError
from accordant.preferences import Ratings
from accordant.preferences.comparison.over_time import StreamWatch, watch_ratings
from accordant.preferences.drift import ReplaySettings, replay_ratings
from accordant.preferences.drift.alarms import DriftTrace


def raters(sizes=(24, 24, 24, 24, 24, 6)):
    """Users one after the other, each with a taste of its own."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(60, 3))
    users = np.repeat(np.arange(len(sizes)), sizes)
    items = np.concatenate([generator.permutation(60)[:size] for size in sizes])
    taste = generator.normal(size=(len(sizes), 3)) + [1.5, 0, 0]
    stars = np.clip(np.round(2 * (3 + (features[items] * taste[users]).sum(axis=1))) / 2, 0.5, 5.0)
    return Ratings(features, items, users, stars, np.arange(100.0, 100.0 + len(users)))


def test_a_trace_becomes_its_evidence_and_the_number_of_the_record_that_raised_the_alarm():
    wealth = np.array([-1.0, 2.0, 5.0, 3.0])
    trace = DriftTrace("ann", np.array([7, 8, 9, 11]), np.array([1.0, 2.0, 4.0, 6.0]), wealth, 4.0, 2)
    assert StreamWatch.of(trace) == StreamWatch("ann", 4, 1.25, 3, 4.0)
    quiet = DriftTrace("ben", np.array([3]), np.array([2.0]), np.array([-0.5]), 4.0, None)
    assert StreamWatch.of(quiet) == StreamWatch("ben", 1, 0.0, None, None)


def test_ratings_are_replayed_and_counted():
    ratings = raters()
    found = watch_ratings(ratings, generator=np.random.default_rng(3), resamples=30, alpha=0.2)
    replay = replay_ratings(ratings, ReplaySettings(alpha=0.2), generator=np.random.default_rng(3), resamples=30)
    assert (found.kind, found.alpha, found.start, found.groups) == ("ratings", 0.2, 172.0, ())
    assert found.before == 72  # of the three users who began before the others
    assert [user.name for user in found.users] == ["3", "4", "5"]
    assert (
        found.watched
        == sum(user.records for user in found.users)
        == sum(len(trace.records) for trace in replay.agreement.traces)
    )
    differences = replay.fresh.log_loss.differences
    assert found.learning == {
        "sequential less pooled": differences["sequential", "pooled"],
        "sequential, forgetting less sequential": differences["sequential, forgetting", "sequential"],
    }
    enough = [2.0**user.records >= 3 / 0.2 for user in found.users]  # the wealth at most doubles with each record
    assert found.able == sum(enough) == 2


def test_ratings_without_times_are_refused():
    ratings = raters()
    timeless = Ratings(ratings.features, ratings.items, ratings.users, ratings.ratings)
    with pytest.raises(DataError, match="a time for each"):
        watch_ratings(timeless, generator=np.random.default_rng(0), resamples=10)
