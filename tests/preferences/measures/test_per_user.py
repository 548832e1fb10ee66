"""Accuracy and log-loss of each user: a table by hand, a loop as twin, large margins, users without records."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.preferences.measures import binomial_noise, log_sigmoid, per_user


def test_a_table_by_hand():
    margins = np.array([1.0, -1.0, 0.0, 2.0, 3.0])
    found = per_user(margins, np.array([0, 0, 0, 2, 2]), names=["a", "b", "c"])
    assert found.names == ("a", "c")
    assert found.users.tolist() == [0, 2]
    assert found.accuracy.tolist() == [0.5, 1.0]
    assert found.counts.tolist() == [3, 2]
    assert found.ties.tolist() == [1, 0]
    first = [math.log(1 + math.exp(-1)), math.log(1 + math.exp(1)), math.log(2)]
    second = [math.log(1 + math.exp(-2)), math.log(1 + math.exp(-3))]
    np.testing.assert_allclose(found.log_loss, [sum(first) / 3, sum(second) / 2], rtol=1e-14)
    assert found.excluded == {"b": "no records"}
    # scores 1, 0, ½: sample variance ¼ over 3 records
    np.testing.assert_allclose(found.sampling_variance, [0.25 / 3, 0.0])


def test_weights_against_a_loop():
    rng = np.random.default_rng(0)
    margins, users, weights = rng.normal(size=80), rng.integers(0, 6, 80), rng.integers(0, 4, 80) / 2
    margins[:10] = 0.0
    found = per_user(margins, users, weights=weights)
    for k, user in enumerate(found.users):
        rows = [i for i in range(80) if users[i] == user and weights[i] > 0]
        total = sum(weights[i] for i in rows)
        hits = [1.0 if margins[i] > 0 else 0.5 if margins[i] == 0 else 0.0 for i in rows]
        accuracy = sum(weights[i] * hit for i, hit in zip(rows, hits, strict=True)) / total
        loss = sum(weights[i] * math.log1p(math.exp(-margins[i])) for i in rows) / total
        scatter = sum(weights[i] * (hit - accuracy) ** 2 for i, hit in zip(rows, hits, strict=True)) / total
        effective = total**2 / sum(weights[i] ** 2 for i in rows)
        assert found.accuracy[k] == pytest.approx(accuracy)
        assert found.log_loss[k] == pytest.approx(loss)
        assert found.counts[k] == len(rows)
        assert found.sampling_variance[k] == pytest.approx(scatter / (effective - 1))


def test_weights_act_as_repeated_records_on_means():
    margins, users = np.array([1.0, -2.0, 0.5]), np.array([0, 0, 1])
    weighed = per_user(margins, users, weights=np.array([3.0, 1.0, 2.0]))
    repeated = per_user(np.repeat(margins, [3, 1, 2]), np.repeat(users, [3, 1, 2]))
    np.testing.assert_allclose(weighed.accuracy, repeated.accuracy)
    np.testing.assert_allclose(weighed.log_loss, repeated.log_loss)
    assert weighed.counts.tolist() == [2, 1]


def test_sampling_variance_is_binomial_without_ties_and_weights():
    rng = np.random.default_rng(1)
    margins, users = rng.normal(size=60), rng.integers(0, 5, 60)
    found = per_user(margins, users)
    np.testing.assert_allclose(found.sampling_variance, binomial_noise(found.accuracy, found.counts))


def test_sampling_variance_is_unbiased_with_weights():
    rng = np.random.default_rng(2)
    weights = np.tile([1.0, 2.0, 5.0], 20_000)
    users = np.repeat(np.arange(20_000), 3)
    found = per_user(np.where(rng.random(60_000) < 0.7, 1.0, -1.0), users, weights=weights)
    error = found.sampling_variance.std() / math.sqrt(20_000)
    assert abs(found.sampling_variance.mean() - 0.7 * 0.3 * 30 / 64) < 4 * error


@pytest.mark.parametrize("margin", [1000.0, -1000.0, 1e300, -1e300])
def test_large_margins_do_not_overflow(margin):
    found = per_user(np.array([margin]), np.array([0]))
    assert found.log_loss[0] == max(0.0, -margin)
    assert np.isnan(found.sampling_variance[0])
    assert log_sigmoid(np.array([0.0]))[0] == -math.log(2)


def test_users_are_excluded_with_the_reason():
    found = per_user(np.ones(2), np.array([1, 2]), names=["a", "b", "c"], weights=np.array([0.0, 1.0]))
    assert found.names == ("c",)
    assert found.excluded == {"a": "no records", "b": "all records weigh 0"}
    nobody = per_user(np.empty(0), np.empty(0, dtype=int), names=["a"])
    assert nobody.names == () and nobody.excluded == {"a": "no records"}


def test_one_weight_beyond_rounding_leaves_the_variance_unknown():
    found = per_user(np.array([1.0, -1.0]), np.array([0, 0]), weights=np.array([1.0, 1e-30]))
    assert np.isnan(found.sampling_variance[0]) and found.accuracy[0] == 1.0


def test_utilities_point_upwards():
    found = per_user(np.array([2.0, -1.0]), np.array([0, 1]))
    assert found.utility("accuracy").tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(found.utility("log_likelihood"), -found.log_loss)
    with pytest.raises(UnknownNameError, match="accuracy"):
        found.utility("acuracy")


def test_shapes_are_not_broadcast():
    users = np.array([0, 1])
    with pytest.raises(InputError, match=r"margins has shape \(2, 1\)"):
        per_user(np.ones((2, 1)), users)
    with pytest.raises(InputError, match="users has shape"):
        per_user(np.ones(2), users[:, None])
    with pytest.raises(InputError, match="weights has shape"):
        per_user(np.ones(2), users, weights=np.ones(3))
    with pytest.raises(InputError, match="whole numbers"):
        per_user(np.ones(2), np.array([0.0, 1.0]))
    with pytest.raises(InputError, match="0 to 0"):
        per_user(np.ones(2), users, names=["a"])
    with pytest.raises(InputError, match="finite"):
        per_user(np.array([1.0, np.nan]), users)
    with pytest.raises(InputError, match="at least 0"):
        per_user(np.ones(2), users, weights=np.array([1.0, -1.0]))


def test_plain_values():
    shown = json.loads(json.dumps(per_user(np.ones(1), np.array([1])).to_json(), allow_nan=False))
    assert shown["sampling_variance"] == [None] and shown["excluded"] == {"0": "no records"}
