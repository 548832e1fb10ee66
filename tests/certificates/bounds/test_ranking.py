"""Orders of strategies under attack: what is certified holds on every report that was tried."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics, strategies
from accordant.certificates.bounds import Ranking, Scale, honest_scales, ranking, ranking_by_own_scores
from accordant.certificates.threat import Threat
from accordant.errors import InputError
from accordant.utilities import ExpectedRewards

RULES = tuple(map(strategies.create, ("utilitarian", "maximin", "constant"), ({}, {}, {"action": "Deny"})))
WEIGHTS = {"accuracy": 0.5, "mean_reward": 0.5}


def test_the_counterexample_to_the_ranking_lemma_is_refused():
    """One action, so smoothing is free of bias, and 0.6 > 0.5; with δ = 0.2 the order still turns round."""
    first, second = (
        strategies.create("utilitarian", {"weights": (1, 0)}),
        strategies.create("utilitarian", {"weights": (0, 1)}),
    )
    expected = ExpectedRewards([[[0.6]], [[0.5]]], stakeholders=["one", "two"], actions=["only"])
    found = ranking_by_own_scores((first, second), expected, delta=0.2)
    assert found.nominal == pytest.approx([0.6, 0.5])
    assert found.low == pytest.approx([0.4, 0.3])
    assert found.high == pytest.approx([0.8, 0.7])
    assert not found.order_holds
    assert not found.best_holds
    close = ranking_by_own_scores((first, second), expected, delta=0.04)
    assert close.order_holds
    assert close.best_holds


def test_own_scores_are_attained(world, misreported):
    generator, rule = np.random.default_rng(0), strategies.create("maximin")
    expected = world(20, 0).expected
    found = ranking_by_own_scores((rule,), expected, delta=0.1, coalition=["Bank", "Press"])
    for _ in range(50):
        reported = misreported(expected, Threat(0.1, ("Bank", "Press")), generator)
        score = rule(reported).scores.max(axis=0).mean()
        assert found.low[0] - 1e-12 <= score <= found.high[0] + 1e-12
    low = np.where(
        np.array(expected.stakeholders)[:, None, None] == "Applicant", expected.values, expected.values - 0.1
    )
    low = ExpectedRewards(np.clip(low, 0, 1), stakeholders=expected.stakeholders, actions=expected.actions)
    assert rule(low).scores.max(axis=0).mean() == pytest.approx(found.low[0], abs=1e-12)
    with pytest.raises(InputError, match="does not score each action by its own column"):
        ranking_by_own_scores((strategies.create("kalai_smorodinsky"),), expected, delta=0.1)


@pytest.mark.long
@pytest.mark.parametrize("ranges", ["frozen", "live"])
def test_what_is_certified_holds(world, misreported, ranges):
    generator = np.random.default_rng(1)
    chosen = [metrics.create(name) for name in WEIGHTS]
    certified = refused = 0
    for seed in range(25):
        evidence = world(30, seed)
        delta = float(generator.choice([0.002, 0.01, 0.05]))
        found = ranking(RULES, evidence.expected, WEIGHTS, delta=delta, evidence=evidence, ranges=ranges)
        scales = honest_scales(RULES, evidence.expected, WEIGHTS, evidence=evidence)
        certified, refused = certified + found.best_holds, refused + (not found.best_holds)
        for attack in range(12):
            reported = misreported(evidence.expected, Threat(delta), generator) if attack else evidence.expected
            raw = np.array([[each.evaluate(rule(reported), evidence).value for each in chosen] for rule in RULES])
            if ranges == "live":
                low, span = raw.min(axis=0), np.ptp(raw, axis=0)
            else:
                low = np.array([scale.low for scale in scales.values()])
                span = np.array([scale.high for scale in scales.values()]) - low
            flat = span <= 1e-12
            scores = np.where(flat, 1.0, (raw - low) / np.where(flat, 1.0, span)).mean(axis=1)
            assert (scores >= found.low - 1e-9).all()
            assert (scores <= found.high + 1e-9).all()
            if not attack:
                assert scores == pytest.approx(found.nominal, abs=1e-9)
                assert found.order[0] == found.strategies[int(scores.argmax())]
            assert (scores[:, None] > scores)[found.ahead].all()
            if found.best_holds:
                assert found.strategies[int(scores.argmax())] == found.order[0]
            if found.order_holds:
                assert tuple(np.array(found.strategies)[np.argsort(-scores)]) == found.order
    assert certified > 0
    assert refused > 0


def test_nothing_is_ahead_of_itself():
    alone = Ranking(("one",), np.array([0.5]), np.array([0.5]), np.array([0.5]), Threat(0.1))
    assert alone.best_holds
    assert alone.order_holds
    assert not alone.ahead.any()
    twins = Ranking(("one", "two"), np.full(2, 0.5), np.full(2, 0.5), np.full(2, 0.5), Threat(0.1))
    assert not twins.best_holds
    assert not twins.order_holds


def test_undefined_scores_are_never_ahead():
    scores = np.array([np.nan, 0.1])
    found = Ranking(("one", "two"), scores, scores, scores, Threat(0.1))
    assert found.order == ("two", "one")
    assert not found.ahead.any()
    shown = found.to_json()
    assert shown["nominal"] == [None, 0.1]
    assert shown["threat"]["delta"] == 0.1
    assert shown["order"] == ["two", "one"]


def test_wrong_arguments_are_refused(world):
    expected = world(4, 0).expected
    with pytest.raises(InputError, match="no strategies"):
        ranking((), expected, delta=0.1)
    with pytest.raises(InputError, match="ranges is 'alive'"):
        ranking(RULES, expected, delta=0.1, ranges="alive")
    with pytest.raises(InputError, match="'live' without scales"):
        ranking(RULES, expected, delta=0.1, ranges="live", scales={"mean_reward": Scale("max", 0, 1)})
