"""The entropy floor: exact means over all label counts, enumeration, sandwiched by the truth, and its intervals."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import disagreement, entropy_floor, label_counts, log_sigmoid


def entropy(p):
    return -sum(q * math.log(q) for q in (p, 1 - p) if q > 0)


def found(counts, seed=0, **options):
    return disagreement(np.asarray(counts), generator=np.random.default_rng(seed), **({"resamples": 200} | options))


def test_by_hand():
    floor = entropy_floor(np.array([[1, 1], [2, 0], [2, 1], [1, 0], [0, 0], [0, 5]]))
    np.testing.assert_allclose(floor[:3], [1.0, 0.0, 5 / 6])
    assert np.isnan(floor[3:5]).all() and floor[5] == 0.0


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.35, 0.5])
def test_mean_over_all_labels_is_the_series_cut_off(n, p):
    counts = np.array([[x, n - x] for x in range(n + 1)])
    chances = [math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]
    mean = float(np.dot(chances, entropy_floor(counts)))
    assert mean == pytest.approx(sum((p * (1 - p) ** k + (1 - p) * p**k) / k for k in range(1, n)), abs=1e-14)
    assert mean <= entropy(p) + 1e-14
    plug_in = sum(chance * entropy(x / n) for x, chance in enumerate(chances))
    assert plug_in <= mean + 1e-14  # the correction never goes the wrong way here
    if n == 12:
        assert entropy(p) - mean < 0.03


def test_two_labellers_differ_against_enumeration():
    labels = [[1, 1, 0, 0, 0], [1, 0], [1, 1, 1]]
    shares = []
    for each in labels:
        pairs = [(i, j) for i in range(len(each)) for j in range(len(each)) if i != j]
        shares.append(sum(each[i] != each[j] for i, j in pairs) / len(pairs))
    result = found([[sum(each), len(each) - sum(each)] for each in labels])
    assert result.two_differ.value == pytest.approx((5 * shares[0] + 2 * shares[1] + 3 * shares[2]) / 10)
    assert result.plug_in == pytest.approx((5 * entropy(0.4) + 2 * math.log(2)) / 10)
    assert (result.n_pairs, result.n_labels, result.excluded) == (3, 10, 0)


def test_floor_lies_near_the_truth_and_nearer_than_the_plug_in():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 0.95, 3000)
    first = rng.binomial(5, p)
    result = found(np.stack([first, 5 - first], axis=1))
    truth = float(np.mean([entropy(each) for each in p]))
    assert result.plug_in < truth - 0.08
    assert truth - 0.06 < result.floor.value < truth
    assert result.floor.low < result.floor.value < result.floor.high


def test_opposed_users_can_be_served_by_their_own_rewards_only():
    # two users prefer the first side, two the second, on every pair; margins ±3 for rewards that know the user
    counts = np.tile([[6, 6]], (40, 1))
    own = float(-log_sigmoid(np.array([3.0]))[0]) * np.linspace(0.9, 1.1, 40)
    single = np.full(40, math.log(2) + 0.02)
    result = found(counts, single_loss=single, own_loss=own)
    assert result.floor.value == pytest.approx(sum(1 / k for k in range(6, 12)))
    assert result.single.value == pytest.approx(single[0]) and result.own.value == pytest.approx(own.mean())
    assert result.above_floor.value == pytest.approx(single[0] - result.floor.value)
    assert result.below_floor.value == pytest.approx(result.floor.value - own.mean())
    assert result.below_floor.low > 0.6


def test_agreeing_users_leave_nothing_that_a_single_reward_cannot_do():
    result = found([[4, 0], [0, 3], [2, 0]])
    assert result.floor.value == result.two_differ.value == 0.0
    # three pairs on which nobody differed do not say that nobody ever does
    assert result.floor.high is None and "cannot be told" in result.floor.reason
    assert result.two_differ.low == 0.0 and result.two_differ.high > 0.5
    assert result.single is None and result.below_floor is None


def test_interval_covers_the_expected_floor():
    rng = np.random.default_rng(2)
    shares = (0.5, 0.2)
    expected = np.mean([2 * p * (1 - p) for p in shares])  # two labels on each pair
    inside = 0
    for _ in range(150):
        first = rng.binomial(2, rng.choice(shares, 80))
        limits = found(np.stack([first, 2 - first], axis=1), seed=rng, level=0.9).floor
        inside += limits.low <= expected <= limits.high
    assert inside / 150 == pytest.approx(0.9, abs=0.08)


def test_resamples_weigh_pairs_by_labels():
    counts = np.array([[1, 1], [9, 1], [3, 3]])
    result = found(counts, seed=3, resamples=40, level=0.5)
    totals, floor = counts.sum(axis=1), entropy_floor(counts)
    drawn = np.random.default_rng(3).multinomial(3, np.full(3, 1 / 3), size=40)
    means = [
        sum(c * n * f for c, n, f in zip(row, totals, floor, strict=True))
        / sum(c * n for c, n in zip(row, totals, strict=True))
        for row in drawn
    ]
    wider = 2 * NormalDist().cdf(math.sqrt(3 / 2) * 0.816497) - 1  # Student's t with 2 degrees of freedom
    assert (result.floor.low, result.floor.high) == (
        pytest.approx(np.quantile(means, (1 - wider) / 2), abs=1e-6),
        pytest.approx(np.quantile(means, (1 + wider) / 2), abs=1e-6),
    )


def test_losses_above_and_below_the_floor_are_compared_on_the_same_resamples():
    """Losses that differ from the floor by the same for every pair leave nothing to resample."""
    counts = np.array([[1, 1], [9, 1], [3, 3], [2, 5]])
    floor = entropy_floor(counts)
    result = found(counts, single_loss=floor + 0.125, own_loss=0.5 * floor)
    assert result.above_floor.value == pytest.approx(0.125) and result.above_floor.low is None
    assert "same on every resample" in result.above_floor.reason
    for end in ("value", "low", "high"):
        assert getattr(result.own, end) == pytest.approx(0.5 * getattr(result.floor, end))
        assert getattr(result.below_floor, end) == pytest.approx(0.5 * getattr(result.floor, end))
        assert getattr(result.single, end) == pytest.approx(0.125 + getattr(result.floor, end))


def test_pairs_with_one_label_are_left_out_and_counted():
    result = found([[1, 1], [1, 0], [0, 0]], single_loss=np.array([0.7, 9.0, 9.0]))
    assert (result.n_pairs, result.excluded, result.single.value) == (1, 2, pytest.approx(0.7))
    with pytest.raises(InputError, match="no pair has two labels"):
        found([[1, 0], [0, 1]])
    with pytest.raises(InputError, match="no pair has two labels"):
        found(np.empty((0, 2), dtype=int))


def test_counting_users_on_pairs():
    # items 3 and 7: user 0 twice 7, user 1 once 3, user 2 either way; items 1 and 2: user 0
    chosen, rejected = np.array([7, 7, 3, 3, 7, 2]), np.array([3, 3, 7, 7, 3, 1])
    counted = label_counts(chosen, rejected, np.array([0, 0, 1, 2, 2, 0]))
    assert counted.items.tolist() == [[1, 2], [3, 7]]
    assert counted.counts.tolist() == [[0, 1], [1, 1]]
    assert counted.of_record.tolist() == [1, 1, 1, 1, 1, 0]
    assert counted.undecided == 1
    none = label_counts(*(np.empty(0, dtype=int),) * 3)
    assert none.counts.shape == (0, 2)


def test_wrong_input():
    for counts, message in (([[1.0, 2.0]], "float64"), ([[1, 2, 3]], "shape"), ([[-1, 2]], "at least 0")):
        with pytest.raises(InputError, match=message):
            found(counts)
    with pytest.raises(InputError, match="single_loss has shape"):
        found([[1, 1]], single_loss=np.ones((1, 1)))
    with pytest.raises(InputError, match="own_loss goes down"):
        found([[1, 1]], own_loss=np.array([-0.1]))
    with pytest.raises(InputError, match="resamples"):
        found([[1, 1]], resamples=0)
    with pytest.raises(InputError, match="itself"):
        label_counts(np.array([1]), np.array([1]), np.array([0]))


def test_same_seed_same_answer_and_plain_values():
    counts = [[1, 1], [2, 0], [1, 3]]
    assert found(counts, seed=4) == found(counts, seed=4)
    shown = json.loads(json.dumps(found(counts).to_json(), allow_nan=False))
    assert shown["single"] is None and shown["floor"]["value"] == found(counts).floor.value
