"""Sums of rewards with weights that predict held-out records best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import LinearReward
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.learners.effect_prior import (
    CLEAR,
    Gain,
    StackedReward,
    gain,
    stacking_weights,
    user_gain,
)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_no_other_weights_predict_better(seed):
    generator = np.random.default_rng(seed)
    margins, counts = generator.normal(0.3, 1.0, size=(30, 3)), generator.random(30)
    found = stacking_weights(margins, counts)
    least = counts @ log_loss(margins @ found)
    assert (found >= 0).all()
    for _ in range(20):
        other = np.maximum(found + generator.normal(0, 0.2, 3), 0)
        assert counts @ log_loss(margins @ other) >= least - 1e-4


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_size_of_weights_cancels(scale):
    generator = np.random.default_rng(0)
    margins, counts = generator.normal(0.3, 1.0, size=(30, 2)), generator.random(30)
    assert stacking_weights(margins, scale * counts) == pytest.approx(stacking_weights(margins, counts), abs=1e-6)
    small, large = (user_gain(each * margins[:, 0], each * counts) for each in (1.0, scale))
    assert (large.mean, large.standard_error) == pytest.approx((small.mean, small.standard_error))


def test_a_gain_is_clear_above_the_one_sided_bound():
    assert Gain(CLEAR + 0.01, 1.0).clear
    assert not Gain(CLEAR - 0.01, 1.0).clear
    assert Gain(1.01, 1.0).exceeds(1.0)
    assert not Gain(0.0, 0.0).clear
    assert not Gain(1.0, np.inf).exceeds(0.0)
    from scipy.stats import norm

    assert norm.sf(CLEAR) == pytest.approx(0.05, abs=1e-4)


def test_a_reward_that_only_misleads_weighs_nothing():
    generator = np.random.default_rng(0)
    good = generator.normal(1.0, 1.0, 500)
    found = stacking_weights(np.stack([good, -good], axis=1), np.ones(500))
    assert found[1] == 0
    assert found[0] > 0
    with pytest.raises(InputError, match="margins have shape"):
        stacking_weights(np.ones((3, 1)), np.ones((3, 1)))


def test_a_sum_of_rewards_adds_rewards_and_margins():
    records = Comparisons(np.eye(3), [0, 1], [1, 2], [0, 1])
    one, two = LinearReward(np.array([1.0, 0.0, 0.0])), LinearReward(np.array([0.0, 2.0, 0.0]))
    both = StackedReward((one, two), np.array([0.5, 2.0]))
    assert both.rewards(np.eye(3)).tolist() == [0.5, 4.0, 0.0]
    assert both.margins(records).tolist() == [-3.5, 4.0]
    assert both.adapted(records).margins(records).tolist() == [-3.5, 4.0]


def test_a_gain_is_that_per_record_with_an_error_from_users():
    records = Comparisons(np.eye(2), [0] * 4, [1] * 4, [0, 0, 1, 2], weights=[1.0, 1.0, 2.0, 0.0])
    better, worse = np.array([1.0, 2.0, 0.5, 9.0]), np.zeros(4)
    found = gain(better, worse, records)
    apart = np.log(2) - np.log1p(np.exp(-better))
    by_user = np.array([apart[0] + apart[1], 2 * apart[2]])
    assert found.mean == pytest.approx(by_user.sum() / 4)
    residuals = by_user - found.mean * 2
    assert found.standard_error == pytest.approx(np.sqrt(2 * (residuals**2).sum()) / 4)
    assert found.clear
    alone = user_gain(np.array([5.0]), np.array([1.0]))
    assert alone.mean == 5.0
    assert not alone.clear
