"""Alarms: the theorem by enumeration, twins of the statistics, false alarms and power, ties and short streams."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from accordant.errors import InputError
from accordant.preferences.drift import watch_agreement, watch_exchangeability
from accordant.preferences.drift.e_processes import (
    SLOPES,
    SWITCHES,
    log_agreement_process,
    log_bets,
)
from accordant.preferences.drift.e_processes import log_maxima


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def answers(slopes, n_streams, generator):
    """Margins of a reference for answers that agree with it by the slope of each record."""
    slopes = np.broadcast_to(slopes, (n_streams, np.shape(slopes)[-1]))
    size = np.abs(2 * generator.normal(size=slopes.shape))
    return np.where(generator.random(slopes.shape) < sigmoid(slopes * size), size, -size)


def watch(margins, **options):
    """Watch rows as streams, all together."""
    n_streams, n = margins.shape
    return watch_agreement(margins.ravel(), streams=np.repeat(np.arange(n_streams), n), **options)


def test_bets_against_all_paths_of_slopes():
    """The recursion is the mixture over every sequence of slopes."""
    margins = np.array([1.3, -0.4, 2.0])
    total = np.zeros(3)
    for switch in SWITCHES:
        for path in itertools.product(range(len(SLOPES)), repeat=3):
            chance = 1 / len(SWITCHES) / len(SLOPES)
            for one, two in itertools.pairwise(path):
                chance *= switch / len(SLOPES) + (1 - switch) * (one == two)
            likely = np.cumprod(sigmoid(SLOPES[list(path)] * margins))
            total += chance * likely
    np.testing.assert_allclose(np.cumsum(log_bets(margins)), np.log(total), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_maxima_against_a_general_optimiser(scale):
    margins = scale * answers(np.full(40, 0.4), 1, np.random.default_rng(0))[0]
    margins[[3, 17]] = 0.0
    found = log_maxima(margins)
    for t in range(40):
        seen = margins[: t + 1]
        if (seen > 0).any() and (seen < 0).any():
            peer = minimize_scalar(
                lambda a, seen=seen: np.logaddexp(0, -a * seen / scale).sum(), bounds=(-60, 60), method="bounded",
                options={"xatol": 1e-9},
            ).fun  # fmt: skip
        else:
            peer = math.log(2) * (seen == 0).sum()  # approached as the slope goes to infinity
        assert found[t] == pytest.approx(-peer, abs=1e-7)
        assert found[t] >= -peer - 1e-9  # never too low: that would break the bound


@pytest.mark.few(1)
@pytest.mark.parametrize("slope", [0.0, 0.7, -2.0])
def test_the_theorem_by_enumeration(slope):
    """Over all answers, the bets sum to 1, the wealth is at most 1 on average, and rarely ever high."""
    size = np.array([0.5, 2.0, 1.0, 3.0, 0.2, 1.5, 2.5, 1.0, 0.7])
    sums = np.zeros(3)
    for signs in itertools.product([1, -1], repeat=len(size)):
        margins = np.array(signs) * size
        log_chance = -np.logaddexp(0, -slope * margins).sum()
        wealth = log_agreement_process(margins)
        bets = log_bets(margins).sum()
        sums += [
            math.exp(bets),
            math.exp(log_chance + wealth[-1]),
            math.exp(log_chance) * (wealth.max() >= math.log(2)),
        ]
        assert wealth[-1] <= bets - log_chance + 1e-12  # at most the martingale
    assert sums[0] == pytest.approx(1.0, abs=1e-12)
    assert sums[1] <= 1.0
    assert sums[2] <= 0.5


@pytest.mark.long
@pytest.mark.parametrize("slope", [-1.0, 0.0, 0.3, 2.0])
def test_false_alarms_on_stationary_streams(slope):
    generator = np.random.default_rng(int(10 * slope) + 50)
    margins, alpha, n_streams = answers(np.full(100, slope), 120, generator), 0.1, 120
    alone = [trace.log_wealth.max() >= math.log(1 / alpha) for trace in watch(margins).traces]
    error = 3 * math.sqrt(alpha * (1 - alpha) / n_streams)
    assert np.mean(alone) <= alpha + error
    scores = watch_exchangeability(
        margins.ravel(), generator=generator, streams=np.repeat(np.arange(n_streams), 100)
    )  # fmt: skip
    assert np.mean([trace.log_wealth.max() >= math.log(1 / alpha) for trace in scores.traces]) <= alpha + error


def test_family_wise_false_alarms():
    """Among families of 5 streams, the share with any alarm is at most alpha."""
    generator, alpha, families = np.random.default_rng(5), 0.2, 100
    any_alarm = []
    for _ in range(families):
        margins = answers(np.array([[0.5], [1.0], [0.0], [2.0], [-1.0]]) * np.ones(40), 5, generator)
        found = watch_exchangeability(
            margins.ravel(), generator=generator, alpha=alpha, streams=np.repeat(np.arange(5), 40)
        )  # fmt: skip
        any_alarm.append(bool(found.alarmed))
    assert np.mean(any_alarm) <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / families)


@pytest.mark.long
def test_power_and_delay():
    generator, n = np.random.default_rng(6), 160
    flip = watch(answers(np.where(np.arange(n) < 80, 1.0, -1.0), 40, generator), alpha=0.05)
    assert len(flip.alarmed) >= 38  # of 40, with the bound for all 40 together
    delays = [trace.alarm - 80 for trace in flip.traces if trace.alarm is not None]
    assert 5 <= np.median(delays) <= 25
    assert min(delays) >= 0  # none before the change
    slow = answers(np.linspace(1.5, -1.5, n), 40, generator)
    assert len(watch(slow, alpha=0.05).alarmed) >= 28
    conformal = watch_exchangeability(slow.ravel(), generator=generator, streams=np.repeat(np.arange(40), n))
    assert len(conformal.alarmed) >= 28


@pytest.mark.long
def test_agreement_ignores_which_items_are_shown_and_exchangeability_does_not():
    generator = np.random.default_rng(7)
    sharper = np.where(np.arange(150) < 75, 0.2, 5.0)  # the items get more different, the taste stays
    margins = answers(np.ones(150), 60, generator)
    size = np.abs(margins) * sharper
    margins = np.where(generator.random(size.shape) < sigmoid(size), size, -size)
    assert len(watch(margins, alpha=0.1).alarmed) == 0
    conformal = watch_exchangeability(margins.ravel(), generator=generator, streams=np.repeat(np.arange(60), 150))
    assert len(conformal.alarmed) >= 30


def test_ties_one_record_and_none():
    found = watch_agreement(
        [0.0, 0.0, 5.0, 0.0], streams=np.array([0, 0, 2, 0]), names=["ties", "none", "one"], times=[3.0, 1.0, 2.0, 2.0]
    )  # fmt: skip
    ties, none, one = found.traces
    np.testing.assert_allclose(ties.log_wealth, 0.0, atol=1e-12)  # ties teach nothing
    assert ties.records.tolist() == [1, 3, 0] and ties.times.tolist() == [1, 2, 3]
    assert len(none.log_wealth) == 0 and none.alarm is None and none.alarm_time is None
    assert one.log_wealth[0] == pytest.approx(math.log(0.5))  # the slopes of the bet are symmetric
    assert found.alarmed == () and ties.log_threshold == pytest.approx(math.log(3 / 0.05))
    equal = watch_exchangeability(np.ones(200), generator=np.random.default_rng(0)).traces[0]
    assert equal.alarm is None and len(equal.records) == 200
    assert watch_agreement(np.empty(0)).traces[0].log_wealth.shape == (0,)
    json.dumps(found.to_json(), allow_nan=False)


def test_streams_do_not_touch_each_other():
    generator = np.random.default_rng(8)
    margins = answers(np.where(np.arange(60) < 30, 1.5, -1.5), 2, generator)
    mixed = generator.permutation(120)
    streams, times = np.repeat([0, 1], 60)[mixed], np.tile(np.arange(60.0), 2)[mixed]
    found = watch_agreement(margins.ravel()[mixed], streams=streams, times=times)
    for trace, alone in zip(found.traces, margins, strict=True):
        np.testing.assert_allclose(trace.log_wealth, log_agreement_process(alone))
        np.testing.assert_array_equal(trace.times, np.arange(60.0))
        first = np.flatnonzero(trace.log_wealth >= math.log(2 / 0.05))
        assert trace.alarm == (first[0] if len(first) else None)
        assert trace.alarm_time == (None if trace.alarm is None else float(trace.alarm))


def test_huge_margins():
    margins = np.array([1e9, -1e9, 1000.0, -1e-9, 1e9] * 4)
    assert np.isfinite(log_agreement_process(margins)).all()


def test_wrong_input():
    generator = np.random.default_rng(0)
    for bad in ([[1.0], [2.0]], [np.nan], [np.inf]):
        with pytest.raises(InputError):
            watch_agreement(bad)
        with pytest.raises(InputError):
            watch_exchangeability(bad, generator=generator)
    for alpha in (0.0, 1.0, np.nan, -1):
        with pytest.raises(InputError, match="alpha"):
            watch_agreement([1.0], alpha=alpha)
    with pytest.raises(InputError, match="streams"):
        watch_agreement([1.0], streams=np.array([1]), names=["a"])
    with pytest.raises(InputError, match="streams"):
        watch_agreement([1.0], streams=np.array([[0]]))
    with pytest.raises(InputError, match="times"):
        watch_agreement([1.0], times=[1.0, 2.0])
    with pytest.raises(InputError, match="streams"):
        watch_agreement([1.0], streams=np.array([0]), names=[])


def test_margins_at_the_edge_of_what_a_number_holds():
    found = log_agreement_process(np.array([1e308, -1e308]))
    np.testing.assert_allclose(found, log_agreement_process(np.array([1e9, -1e9])))


def test_names_and_levels_that_are_refused():
    with pytest.raises(InputError, match="alpha is 'x'"):
        watch_agreement([1.0], alpha="x")
    with pytest.raises(InputError, match="at least one stream"):
        watch_agreement([1.0], names=[])
    with pytest.raises(InputError, match="at least one stream"):
        watch_agreement(np.empty(0), names=[])
