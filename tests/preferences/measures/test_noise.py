"""Corrected variance: by hand, near 0 on average under a common accuracy, and near the truth under two."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import binomial_noise, corrected_spread


def drawn(rng, truth, n_pairs):
    accuracy = rng.binomial(n_pairs, truth) / n_pairs
    return corrected_spread(accuracy, binomial_noise(accuracy, np.full(len(truth), n_pairs)))


def test_by_hand():
    accuracy = np.array([0.5, 1.0, 1.0])
    found = corrected_spread(accuracy, binomial_noise(accuracy, np.array([4, 2, 1])))
    assert (found.n_users, found.excluded) == (2, 1)
    assert found.raw_variance == pytest.approx(0.0625)
    assert found.noise == pytest.approx(0.25 / 3 / 2)
    assert found.variance == pytest.approx(0.0625 - 0.25 / 6)
    assert found.std == pytest.approx(math.sqrt(0.0625 - 0.25 / 6))
    assert found.to_json()["excluded"] == 1


def test_corrected_variance_is_near_zero_on_average_under_a_common_accuracy():
    # 400 users, 50 pairs each, accuracy .8 for all, 300 repeats
    rng = np.random.default_rng(5)
    repeats = [drawn(rng, np.full(400, 0.8), 50) for _ in range(300)]
    variances = np.array([each.variance for each in repeats])
    assert abs(variances.mean()) < 3 * variances.std(ddof=1) / math.sqrt(300)
    assert np.mean([math.sqrt(each.raw_variance) for each in repeats]) == pytest.approx(0.057, abs=0.001)
    assert 0.4 < (variances < 0).mean() < 0.65
    assert {each.std for each in repeats if each.variance < 0} == {0.0}


@pytest.mark.long
def test_known_bias_with_few_users():
    # with m users the mean is −noise / m: the population variance loses one m-th
    rng = np.random.default_rng(6)
    repeats = [drawn(rng, np.full(5, 0.8), 10) for _ in range(6000)]
    variances = np.array([each.variance for each in repeats])
    error = variances.std(ddof=1) / math.sqrt(len(variances))
    assert abs(variances.mean() + 0.8 * 0.2 / 10 / 5) < 4 * error


def test_two_true_accuracies():
    rng = np.random.default_rng(7)
    repeats = [drawn(rng, np.repeat([0.7, 0.9], 200), 50) for _ in range(100)]
    assert np.mean([each.std for each in repeats]) == pytest.approx(0.10, abs=0.002)
    assert np.mean([math.sqrt(each.raw_variance) for each in repeats]) > 0.112


def test_wrong_input():
    with pytest.raises(InputError, match="two records"):
        corrected_spread(np.array([0.5]), np.array([np.nan]))
    with pytest.raises(InputError, match="sampling_variance has shape"):
        corrected_spread(np.array([0.5, 0.4]), np.zeros((2, 1)))
    with pytest.raises(InputError, match="at least 0"):
        corrected_spread(np.array([0.5]), np.array([-0.1]))
    with pytest.raises(InputError, match="0 to 1"):
        binomial_noise(np.array([1.5]), np.array([3]))
