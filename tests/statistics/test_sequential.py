"""Evidence that may be looked at after every record."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.statistics import ChangeEvidence, ReferenceRanks, RunningMean, betting_limits
from accordant.statistics.sequential import reserve, stitched


def twin(factors):
    """Every beginning by itself."""
    found = []
    for t in range(1, len(factors) + 1):
        total = float(reserve(np.array([t]))[0])
        for s in range(t):
            stake = float(reserve(np.array([s]))[0] - reserve(np.array([s + 1]))[0])
            total += stake * float(np.prod(factors[s:t], axis=0).mean())
        found.append(math.log(total))
    return np.array(found)


def test_evidence_is_the_sum_over_beginnings():
    factors = np.random.default_rng(0).uniform(0.5, 1.6, size=(30, 3))
    log_evidence, _, _ = ChangeEvidence(3).add(np.log(factors))
    assert np.allclose(log_evidence, twin(factors))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_parts_give_what_the_whole_gives(sizes):
    factors = np.log(np.random.default_rng(1).uniform(0.5, 1.6, size=(sum(sizes), 2)))
    whole, parts, start = ChangeEvidence(2).add(factors), ChangeEvidence(2), 0
    for size in sizes:
        evidence, bet, begun = parts.add(factors[start : start + size])
        assert np.allclose(evidence, whole[0][start : start + size])
        assert (bet == whole[1][start : start + size]).all() and (begun == whole[2][start : start + size]).all()
        start += size
    assert parts.n == sum(sizes)


def test_stakes_and_reserve_are_one():
    n = np.arange(1000)
    stakes = reserve(n) - reserve(n + 1)
    assert (stakes > 0).all() and reserve(np.array([0]))[0] == 1.0
    assert stakes.sum() + reserve(np.array([1000]))[0] == pytest.approx(1.0)


def test_the_beginning_of_a_change_is_the_best_one():
    factors = np.log(np.concatenate([np.full(50, 0.9), np.full(30, 1.2)]))[:, None]
    _, bet, begun = ChangeEvidence(1).add(factors)
    assert begun[-1] == 50 and bet[-1] == 0
    best = [sum(factors[s:, 0]) for s in range(80)]
    assert begun[-1] == int(np.argmax(best))


def rank_twin(reference, new):
    """Gaps of new values by Pólya's urn, without ties."""
    ordered, counts, found = np.sort(reference), np.ones(len(reference) + 1), []
    for value in new:
        gap = int((ordered < value).sum())
        found.append((counts[:gap].sum() / counts.sum(), counts[: gap + 1].sum() / counts.sum()))
        counts[gap] += 1
    return np.array(found)


def test_ranks_lie_in_their_gap_of_the_urn():
    generator = np.random.default_rng(2)
    reference, new = generator.normal(size=7), generator.normal(size=40)
    ranks = ReferenceRanks(reference, generator)
    found = np.concatenate([ranks(new[:11]), ranks(new[11:])])
    limits = rank_twin(reference, new)
    assert (found >= limits[:, 0]).all() and (found < limits[:, 1]).all()


def test_ranks_do_not_depend_on_the_parts_they_come_in():
    reference, new = np.arange(5.0), np.random.default_rng(3).integers(0, 5, 30).astype(float)
    first, second = (ReferenceRanks(reference, np.random.default_rng(4)) for _ in range(2))
    assert (first(new) == np.concatenate([second(new[:1]), second(new[1:17]), second(new[17:])])).all()


@pytest.mark.long
@pytest.mark.parametrize("draw", [
    lambda generator, n: generator.normal(size=n),
    lambda generator, n: generator.integers(0, 2, n).astype(float),
    lambda generator, n: np.where(generator.random(n) < 0.4, np.nan, generator.integers(0, 3, n)),
], ids=["numbers", "ties", "missing"])  # fmt: skip
def test_ranks_are_uniform_and_independent_with_a_handful_of_reference_rows(draw):
    found = []
    for seed in range(3000):
        generator = np.random.default_rng(seed)
        found.append(ReferenceRanks(draw(generator, 4), generator)(draw(generator, 6)))
    ranks = np.array(found)
    assert np.abs(ranks.mean(axis=0) - 0.5).max() < 0.02 and np.abs(ranks.var(axis=0) - 1 / 12).max() < 0.006
    assert np.abs(np.corrcoef(ranks.T) - np.eye(6)).max() < 0.08


def test_a_running_mean_is_the_mean_difference():
    generator = np.random.default_rng(5)
    values, forecasts = generator.random(100), generator.random(100)
    mean = RunningMean()
    mean.add(values[:33], forecasts[:33])
    mean.add(values[33:], forecasts[33:])
    whole = RunningMean()
    whole.add(values, forecasts)
    assert mean.interval(0.9) == pytest.approx(whole.interval(0.9))
    value, low, high = mean.interval(0.9)
    assert value == pytest.approx((values - forecasts).mean()) and low < value < high and mean.n == 100
    assert mean.interval(0.99)[1] < low  # surer is wider
    assert RunningMean().interval(0.9)[1:] == (-1.0, 1.0)


def test_the_stitched_boundary_is_the_formula():
    length = 1.4 * math.log(math.log(20.0)) + math.log(3.105547 / (0.05 * math.log(2.0) ** 1.4))
    k1, k2 = (2**0.25 + 2**-0.25) / 2**0.5, (2**0.5 + 1) / 2
    assert stitched(10.0, 0.05) == pytest.approx(
        math.sqrt(k1**2 * 10 * length + k2**2 * length**2) + k2 * length, rel=1e-4
    )
    assert stitched(0.0, 0.05) == stitched(1.0, 0.05)


@pytest.mark.long
def test_a_confidence_sequence_covers_at_all_times():
    missed = 0
    for seed in range(200):
        generator, mean, inside = np.random.default_rng(seed), RunningMean(), True
        forecasts = generator.uniform(0.2, 0.8, 400)
        values = (generator.random(400) < forecasts + 0.1).astype(float)
        for k in range(400):
            mean.add(values[k : k + 1], forecasts[k : k + 1])
            _, low, high = mean.interval(0.9)
            inside &= low <= 0.1 <= high
        missed += not inside
    assert missed <= 30  # of 200, at 10 %


def capital(values, least, most, mean):
    """What bets against a mean that is at most the true one would have won."""
    return np.mean([np.prod(1 + g * (mean - values) / (most - mean)) for g in (0.01, 0.03, 0.08, 0.2, 0.45, 0.8)])


def test_betting_limits_leave_out_what_bets_win_against():
    values = np.random.default_rng(6).uniform(0, 0.5, 60).round(3)
    (low, high), (wider_low, wider_high) = betting_limits(values, 0.0, 1.0, (0.1, 0.001))
    assert capital(values, 0.0, 1.0, high) >= 20 and capital(values, 0.0, 1.0, high - 0.01) < 20
    assert capital(-values, -1.0, 0.0, -low) >= 20
    assert wider_low < low < values.mean() < high < wider_high
    (mirrored,) = betting_limits(-values, -1.0, 0.0, (0.1,))
    assert mirrored == (-high, -low)


def test_betting_limits_cover_where_normal_ones_do_not():
    outside = normal = 0
    for seed in range(600):
        values = -0.9 * (np.random.default_rng(seed).random(40) < 0.05)  # a rare loss
        (limits,) = betting_limits(values, -1.0, 1.0, (0.02,))
        half = 2.43 * values.std(ddof=1) / math.sqrt(40)
        outside += not limits[0] <= -0.045 <= limits[1]
        normal += not values.mean() - half <= -0.045 <= values.mean() + half
    assert outside <= 12 < normal
    assert betting_limits(np.zeros(1), -1.0, 1.0, (1e-6,)) == ((-1.0, 1.0),)
    (limits,) = betting_limits(np.full(90, 0.5), -0.5, 0.5, (0.01,))
    assert limits[1] == 0.5 and 0.3 < limits[0] < 0.5  # all at one end of the range
