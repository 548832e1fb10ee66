"""Selection: the order of tie-breaking, and softmax as a smooth version of it."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.errors import InputError
from accordant.strategies.selection import TIE_TOLERANCE, select_best, softmax_policy
from accordant.utilities import ExpectedRewards

INF = np.inf


def column(*scores):
    return np.array(scores)[:, None]


@pytest.mark.parametrize(("scores", "sums", "action", "tied"), [
    ((0.1, 0.3, 0.2), (9.0, 0.0, 0.0), 1, False),
    ((0.3, 0.3, 0.2), (1.0, 2.0, 9.0), 1, True),
    ((0.3, 0.3, 0.3), (1.0, 1.0, 1.0), 0, True),
    ((0.2, 0.3, 0.3), (9.0, 1.0, 1.0), 1, True),
    ((-INF, -INF, -INF), (1.0, 2.0, 0.0), 1, True),
    ((-INF, -5.0, -INF), (9.0, 0.0, 9.0), 1, False),
    ((1.0, 1.0 + 0.9 * TIE_TOLERANCE), (2.0, 1.0), 0, True),
    ((1.0, 1.0 + 2.0 * TIE_TOLERANCE), (2.0, 1.0), 1, False),
    ((-100.0, -100.0 + 90 * TIE_TOLERANCE), (2.0, 1.0), 0, True),
    ((0.5,), (0.5,), 0, False),
])  # fmt: skip
def test_tie_order(scores, sums, action, tied):
    chosen = select_best(column(*scores), column(*sums))
    assert (int(chosen.codes[0]), bool(chosen.tied[0])) == (action, tied)


@pytest.mark.parametrize("temperature", [1e-320, 1e-300, 1e-9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cold_softmax_is_uniform_over_the_tied(temperature, dtype):
    scores = np.array([[0.5, 0.1, -INF], [0.5, 0.9, -INF], [0.25, 0.2, -INF]], dtype=dtype)
    policy = softmax_policy(scores, temperature)
    np.testing.assert_allclose(policy.T, [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    assert policy.dtype == np.float64


def test_softmax_is_a_probability_and_never_nan():
    scores = np.random.default_rng(3).normal(scale=100, size=(5, 2000))
    scores[np.random.default_rng(4).random(scores.shape) < 0.3] = -INF
    for temperature in (1e-12, 0.01, 1.0, 1e12):
        policy = softmax_policy(scores, temperature)
        np.testing.assert_allclose(policy.sum(axis=0), 1.0, atol=1e-12)
        assert (policy >= 0).all()
        somewhere = ~np.isneginf(scores).all(axis=0)
        assert (policy[np.isneginf(scores) & somewhere] == 0).all()


def test_softmax_formula():
    np.testing.assert_allclose(
        softmax_policy(column(1.0, 2.0, 3.0), 0.5)[:, 0], np.exp([-4.0, -2.0, 0.0]) / np.exp([-4.0, -2.0, 0.0]).sum()
    )


def test_hot_softmax_is_uniform():
    np.testing.assert_allclose(softmax_policy(column(0.0, 1.0), 1e9)[:, 0], [0.5, 0.5], atol=1e-8)


@pytest.mark.parametrize("temperature", [0.0, -1.0, INF, np.nan])
def test_wrong_temperature(example, temperature):
    with pytest.raises(InputError, match="softmax temperature is .*; allowed: above 0"):
        strategies.create("maximin", {"selection": "softmax", "temperature": temperature})(example)


def test_rules_report_policy_and_share():
    values = np.array([[0.5, 0.2], [0.5, 0.8]])[None]
    expected = ExpectedRewards(values, stakeholders=["only"], actions=["a", "b"])
    decided = strategies.create("utilitarian", {"selection": "softmax", "temperature": 1e-6})(expected)
    np.testing.assert_allclose(decided.policy, [[0.5, 0.0], [0.5, 1.0]])
    np.testing.assert_allclose(decided.share(), [0.25, 0.75])
    assert strategies.utilitarian(expected).policy is None
    np.testing.assert_allclose(strategies.utilitarian(expected).share(), [0.5, 0.5])


def test_float32_ties_as_float64_does():
    values = np.random.default_rng(0).integers(0, 11, size=(3, 4, 5000)) / 10
    names = {"stakeholders": ["i1", "i2", "i3"], "actions": ["a1", "a2", "a3", "a4"]}
    double, single = ExpectedRewards(values, **names), ExpectedRewards(values.astype(np.float32), **names)
    for name in ("utilitarian", "maximin", "nash_social_welfare", "compromise_programming"):
        rule = strategies.create(name)
        assert (rule(double).tied == rule(single).tied).all(), name
        assert (rule(double).codes == rule(single).codes).all(), name
