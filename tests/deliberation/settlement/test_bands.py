"""Bands and the first common time, against a loop over times, options and agents."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.deliberation.settlement.bands import (
    EQUAL,
    bands_over_time,
    first_common,
    first_steps,
    largest,
)

EXPONENTS = st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0, math.inf]), min_size=1, max_size=3)


@st.composite
def games(draw, most_actions=6, contexts=None):
    exponents = draw(EXPONENTS)
    shape = (len(exponents), draw(st.integers(1, most_actions)), *(() if contexts is None else (contexts,)))
    levels = draw(st.lists(st.integers(0, 12), min_size=math.prod(shape), max_size=math.prod(shape)))
    return np.array(levels, dtype=float).reshape(shape) / 12, exponents


def by_loop(utilities, exponents, steps):
    """Time, acceptable options and the decided one, by trying every time and option."""
    for step in range(steps + 1):
        t = step / steps
        bands = [1.0 if math.isinf(e) else 1 - t**e for e in exponents]
        common = [
            a
            for a in range(len(utilities[0]))
            if all(utilities[k][a] >= bands[k] - EQUAL for k in range(len(exponents)))
        ]
        if common:
            products = {a: math.prod(utilities[k][a] for k in range(len(exponents))) for a in common}
            best = max(products.values())
            winners = [a for a in common if products[a] >= best * (1 - EQUAL)]
            return t, common, winners
    return None, [], []


@pytest.mark.long
@given(games(), st.sampled_from([1, 7, 60]))
@settings(max_examples=80, deadline=None)
def test_first_common_is_what_a_loop_over_times_finds(game, steps):
    utilities, exponents = game
    found = first_common(utilities, exponents, steps)
    time, common, _ = by_loop(utilities.tolist(), exponents, steps)
    assert found.time == time
    assert np.flatnonzero(found.acceptable).tolist() == common


def bargain_actions(utilities, exponents, steps=60):
    """What a bargain decides in every context: at the first common time, the largest product of utilities."""
    common = np.max([first_steps(rows, e, steps) for rows, e in zip(utilities, exponents, strict=True)], axis=0)
    first = common.min(axis=0)
    best = largest(utilities.prod(axis=0), (common == first) & (first <= steps))
    return SimpleNamespace(
        time=np.where(first <= steps, first / steps, np.nan), action=np.where(first <= steps, best.argmax(axis=0), -1),
        tied=best.sum(axis=0) > 1,
    )  # fmt: skip


@pytest.mark.long
@given(games(contexts=4), st.sampled_from([3, 60]))
@settings(max_examples=50, deadline=None)
def test_many_contexts_at_once_are_the_same_as_one_by_one(game, steps):
    utilities, exponents = game
    found = bargain_actions(utilities, exponents, steps)
    for t in range(utilities.shape[2]):
        time, _, winners = by_loop(utilities[:, :, t].tolist(), exponents, steps)
        if time is None:
            assert np.isnan(found.time[t]) and found.action[t] == -1 and not found.tied[t]
        else:
            assert found.time[t] == time
            assert found.action[t] == winners[0]
            assert found.tied[t] == (len(winners) > 1)


def test_bands_fall_from_one_to_zero_and_a_hardheaded_one_stays():
    linear = bands_over_time(1.0)
    assert linear[0] == 1 and linear[30] == 0.5 and linear[60] == 0 and len(linear) == 61
    assert (np.diff(linear) < 0).all()
    assert (bands_over_time(math.inf) == 1).all()
    assert bands_over_time(4.0)[30] == pytest.approx(0.9375) and bands_over_time(0.25)[30] == pytest.approx(
        0.1591, abs=1e-4
    )


def test_never_is_one_step_behind_the_last():
    assert first_steps(np.array([1.0, 0.5, 0.0]), math.inf, 60).tolist() == [0, 61, 61]
    assert first_steps(np.array([1.0, 0.5, 0.0]), 1.0, 60).tolist() == [0, 30, 60]


def test_two_who_never_concede_and_want_different_things_have_no_common_option():
    found = first_common(np.eye(2), [math.inf, math.inf])
    assert found.time is None and not found.acceptable.any()
    assert found.bands.tolist() == [1, 1]


def test_a_tougher_agent_never_gets_less():
    generator = np.random.default_rng(0)
    utilities = generator.uniform(size=(2, 8, 300))
    soft, tough = (bargain_actions(utilities, [e, 1.0]) for e in (0.25, 4.0))
    rows = np.arange(300)
    gained = utilities[0][tough.action, rows] - utilities[0][soft.action, rows]
    assert gained.mean() > 0.1


def test_the_largest_forgives_rounding_in_proportion_and_nothing_more():
    scores = np.array([1e-30, 1e-30 * (1 + 1e-14), 0.5e-30, 1.0])
    among = np.array([True, True, True, False])
    assert largest(scores, among).tolist() == [True, True, False, False]
    assert not largest(scores, np.zeros(4, dtype=bool)).any()


def test_a_utility_that_misses_a_band_by_rounding_is_accepted():
    levels = bands_over_time(1.0)
    missing = levels[:60] - EQUAL / 2
    assert first_steps(missing, 1.0).tolist() == list(range(60))
    assert first_steps(levels[:60] - 10 * EQUAL, 1.0).tolist() == list(range(1, 61))
