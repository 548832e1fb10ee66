"""Randomised decisions: bounds against corners and random points of the box."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant import metrics, strategies
from accordant.certificates.bounds import bounds
from accordant.certificates.bounds.target import subject_of
from accordant.certificates.bounds.choices import Sets
from accordant.certificates.bounds.rule_choices import attackable
from accordant.certificates.threat import Threat
from accordant.utilities import ExpectedRewards

DRAWN = [
    ("utilitarian", {"selection": "softmax", "temperature": 0.1}),
    ("maximin", {"selection": "softmax", "temperature": 0.02}),
    ("nash_social_welfare", {"selection": "proportional"}),
    ("utilitarian", {"selection": "proportional"}),
    ("compromise_programming", {"selection": "softmax", "temperature": 0.05, "ideal": (0.6, 0.4)}),
    ("utilitarian", {"selection": "epsilon_greedy", "epsilon": 0.2}),
]


def corners(rule, expected, threat):
    """Return the reports of a single context at every corner of the box, shape (corner, stakeholder, action).

    Where a score has a peak inside the box, the report nearest to it is one more level.
    """
    members = threat.members(expected.stakeholders)
    values = expected.values[:, :, 0]
    low, high = np.maximum(values - threat.delta, 0), np.minimum(values + threat.delta, 1)
    levels = [low, high]
    if rule.name == "compromise_programming":
        levels.append(np.clip(np.array(rule.ideal)[:, None], low, high))
    found = []
    for level in itertools.product(range(len(levels)), repeat=int(members.sum()) * len(expected.actions)):
        corner = values.copy()
        corner[members] = np.choose(np.reshape(level, (-1, len(expected.actions))), [each[members] for each in levels])
        found.append(corner)
    return np.array(found)


def policies(rule, expected, threat, generator):
    """Return what the rule makes of corners and inner points of one context, shape (action, point)."""
    points = corners(rule, expected, threat)
    shares = generator.random((40, *points.shape[1:]))
    inner = points.min(axis=0) + shares * np.ptp(points, axis=0)
    values = np.ascontiguousarray(np.concatenate([points, inner]).transpose(1, 2, 0))
    found = rule(ExpectedRewards(values, stakeholders=expected.stakeholders, actions=expected.actions))
    return found.probabilities(), len(points)


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "parameters"), DRAWN)
def test_sums_against_corners(name, parameters, world):
    rule, generator = strategies.create(name, parameters), np.random.default_rng(0)
    for seed in range(25):
        expected = world(3, seed, n_stakeholders=2, coarse=seed % 3 == 2).expected
        threat = Threat(float(generator.choice([0.02, 0.1, 0.3])), ("Bank",) if seed % 2 else None)
        theta = generator.normal(size=(3, 3)).round(1)
        found = bounds(rule, expected, theta, delta=threat.delta, coalition=threat.coalition)
        low = high = 0.0
        for t in range(3):
            drawn, n_corners = policies(rule, expected.take(slice(t, t + 1)), threat, generator)
            values = theta[:, t] @ drawn
            low, high = low + values[:n_corners].min() / 3, high + values[:n_corners].max() / 3
            assert values[n_corners:].min() >= values[:n_corners].min() - 1e-9
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-8)
        assert found.status == "exact"
        for witness, value in ((found.witness_low(), found.low), (found.witness_high(), found.high)):
            assert np.abs(witness.values - expected.values).max() <= threat.delta + 1e-12
            assert (theta * rule(witness).probabilities()).sum() / 3 == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize(("name", "parameters"), DRAWN[:3] + DRAWN[5:])
def test_ratios_against_pairs_of_corners(name, parameters, world):
    rule, generator = strategies.create(name, parameters), np.random.default_rng(1)
    metric = metrics.create("positive_predictive_value")
    for seed in range(10):
        evidence = world(2, seed, n_stakeholders=1)
        threat = Threat(float(generator.choice([0.02, 0.1, 0.3])))
        found = bounds(rule, evidence.expected, metric, delta=threat.delta, evidence=evidence)
        drawn = [policies(rule, evidence.expected.take(slice(t, t + 1)), threat, generator) for t in range(2)]
        top = bottom = 0.0
        for t, (policy, _) in enumerate(drawn):
            taken = policy[0] + policy[1]  # the favourable actions
            shape = (-1, 1) if t == 0 else (1, -1)
            bottom = bottom + taken.reshape(shape)
            top = top + (taken * (evidence.log.outcomes[t] == 0)).reshape(shape)
        values = (top / np.where(bottom > 0, bottom, np.nan)).ravel()
        values = values[~np.isnan(values)]
        assert found.low == pytest.approx(values.min(), abs=1e-8)
        assert found.high == pytest.approx(values.max(), abs=1e-8)


def test_few_contexts_against_every_choice_of_them(world):
    """With at most K contexts attacked: nominal plus the K largest gains, tried one subset at a time."""
    rule = strategies.create(*DRAWN[0])
    for seed in range(10):
        expected = world(5, seed).expected
        theta = np.random.default_rng(seed).normal(size=(3, 5))
        honest = (theta * rule(expected).probabilities()).sum(axis=0)
        alone = []
        for t in range(5):
            found = bounds(rule, expected.take(slice(t, t + 1)), theta[:, t], delta=0.1)
            alone.append(found.high - honest[t])
        for at_most in range(6):
            found = bounds(rule, expected, theta, delta=0.1, at_most=at_most)
            best = max(sum(alone[t] for t in some) for some in itertools.combinations(range(5), at_most))
            assert found.high == pytest.approx((honest.sum() + best) / 5, abs=1e-9)
            moved = np.abs(found.witness_high().values - expected.values).max(axis=(0, 1)) > 0
            assert moved.sum() <= at_most


def test_nothing_is_ruled_out_for_other_lotteries(world):
    """Reference points from the context: any probabilities count, so the bound is sound and no more."""
    rule = strategies.create("kalai_smorodinsky", {"selection": "softmax", "temperature": 0.1})
    expected = world(10, 0).expected
    found = bounds(rule, expected, [1.0, 0.5, 0.0], delta=0.01)
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.status == "sound"
    assert found.method == "nothing is ruled out"
    assert found.attained_low == found.attained_high == found.nominal
    still = bounds(rule, expected, [1.0, 0.5, 0.0], delta=0.0)
    assert tuple(still) == (still.nominal, still.nominal, "exact")
    assert found.witness_low() is found.witness_high()


def test_a_draw_that_reads_nothing_cannot_be_moved(world):
    found = bounds(strategies.create("random"), world(10, 0).expected, [1.0, 0.0, 0.5], delta=0.3)
    assert tuple(found) == (pytest.approx(0.5), pytest.approx(0.5), "exact")


def test_epsilon_greedy_is_a_mixture_of_sets(world):
    rule = strategies.create(*DRAWN[5])
    evidence = world(6, 1)
    attacked = attackable(rule, evidence.expected, Threat(0.2))
    assert isinstance(attacked.outer, Sets)
    subject = subject_of("mean_reward", evidence.expected, None)
    assert subject.nominal(attacked.outer.base) == pytest.approx(
        metrics.create("mean_reward").evaluate(rule(evidence.expected), subject.evidence).value
    )


def test_single_precision_is_sound(world, misreported):
    """Scores that tie within 1e-6 are drawn as equal: the bound is wider by what that may do."""
    rule, generator = (
        strategies.create("utilitarian", {"selection": "softmax", "temperature": 1e-3}),
        np.random.default_rng(0),
    )
    values = world(30, 0, coarse=True).expected.values.astype(np.float32)
    expected = ExpectedRewards(values, stakeholders=["Bank", "Applicant", "Press"], actions=["a", "b", "c"])
    theta = generator.random(3)
    found = bounds(rule, expected, theta, delta=1e-3)
    for _ in range(100):
        reported = misreported(expected, Threat(1e-3), generator)
        reported = ExpectedRewards(
            reported.values.astype(np.float32), stakeholders=expected.stakeholders, actions=expected.actions
        )
        value = (theta[:, None] * rule(reported).probabilities()).sum() / 30
        assert found.low - 1e-6 <= value <= found.high + 1e-6
