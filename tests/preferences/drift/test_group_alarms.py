"""Alarms of groups: the mean of the wealths of their users, silent where users differ and nobody changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant.errors import DataError
from accordant.preferences import Comparisons
from accordant.preferences.comparison.over_time import watch_records
from accordant.preferences.drift import watch_agreement, watch_groups


def records(seed, *, change=None, users=20, n=1200):
    """Users whose agreement with one taste differs, and of whom those of group b turn round at a record."""
    generator = np.random.default_rng(seed)
    features, who = generator.normal(size=(2 * n, 3)), generator.integers(0, users, n)
    groups = np.where(np.arange(users) < users // 2, "a", "b")
    slopes = generator.normal(1.0, 0.8, users)[who]
    if change is not None:
        slopes = np.where((groups[who] == "b") & (np.arange(n) >= change), -slopes, slopes)
    margins = slopes * ((features[:n] - features[n:]) @ np.array([1.5, -1.0, 0.5]))
    first = generator.random(n) < 1 / (1 + np.exp(-margins))
    one, two = np.arange(n), np.arange(n, 2 * n)
    names = tuple(f"u{user}" for user in range(users))
    made = Comparisons(features, np.where(first, one, two), np.where(first, two, one), who, names, tuple(groups))
    return made, np.arange(n, dtype=float)


def test_the_wealth_of_a_group_is_the_mean_of_those_of_its_users():
    generator = np.random.default_rng(0)
    margins, users = generator.normal(size=60), generator.integers(0, 4, 60)
    times = generator.permutation(60).astype(float)
    names, group_of = ("p", "q", "r", "s"), np.array([0, 0, 1, 0])
    found = watch_groups(margins, users, names, group_of, ("one", "two", "none"), times=times, alpha=0.1)
    alone = watch_agreement(margins, alpha=0.05, streams=users, names=names, times=times)
    members = [0, 1, 3]
    expected, current = [], dict.fromkeys(members, 1.0)
    for row in np.argsort(times):
        if users[row] in current:
            trace = alone.traces[users[row]]
            current[users[row]] = math.exp(trace.log_wealth[list(trace.records).index(row)])
            expected.append(math.log(sum(current.values()) / len(members)))
    assert found.groups.traces[0].log_wealth == pytest.approx(expected)
    assert found.groups.traces[0].log_threshold == pytest.approx(math.log(3 / 0.05))
    assert found.users.traces[0].log_threshold == pytest.approx(math.log(4 / 0.05))
    assert len(found.groups.traces[2].records) == 0 and found.groups.traces[2].alarm is None


def test_the_alarm_is_at_the_first_record_that_reaches_the_threshold():
    margins = np.repeat([3.0, -3.0], [40, 60])  # two users in turn, who turn round together
    names, groups = ("p", "q", "r"), ("turned", "silent")
    found = watch_groups(
        margins, np.arange(100) % 2, names, np.array([0, 0, 1]), groups, times=np.arange(100.0), alpha=0.1
    )
    turned, silent = found.groups.traces
    for trace in (turned, *found.users.traces[:2]):
        assert trace.alarm > 0 and trace.alarm_time == trace.times[trace.alarm] > 40
        assert (trace.log_wealth[: trace.alarm] < trace.log_threshold).all()
        assert trace.log_wealth[trace.alarm] >= trace.log_threshold
    assert silent.alarm is None and found.groups.alarmed == ("turned",) and found.users.alarmed == ("p", "q")


def test_the_group_that_turns_round_is_noticed_and_no_other():
    made, times = records(4, change=750)
    found = watch_records(made, times, declared=True)
    noticed = {each.name: each.time for each in found.groups if each.alarm is not None}
    assert set(noticed) == {"b"} and noticed["b"] >= 750 and found.start == 600


@pytest.mark.long
def test_false_alarms_are_rare_where_users_differ_and_nobody_changes():
    worlds = 100
    alarms = 0
    for seed in range(worlds):
        found = watch_records(*records(seed), declared=True)
        alarms += any(each.alarm is not None for each in (*found.groups, *found.users))
    assert alarms / worlds <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / worlds)


def test_groups_that_were_found_in_the_answers_are_not_watched():
    made, times = records(1, n=200)
    assert [each.name for each in watch_records(made, times, declared=False).groups] == ["everybody"]


def test_too_few_records_before_are_refused():
    made, times = records(1, n=30)
    with pytest.raises(DataError, match="15 of 30 records were made before time 15.*at least 20"):
        watch_records(made, times, declared=True)
    with pytest.raises(DataError, match="0 of 30 records"):
        watch_records(made, np.zeros(30), declared=True)
