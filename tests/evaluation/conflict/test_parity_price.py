"""The price of parity: each bound holds, the ends are known, the curve agrees with a fresh solution."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant import metrics, strategies
from accordant.evaluation.conflict import conflicts
from accordant.strategies.constraints import Constrained, price_of


@pytest.fixture(scope="module")
def unequal(evidence_of):
    """Evidence in which a is much better for the first group; realised rewards are expected ones with noise."""
    generator = np.random.default_rng(8)
    sex = generator.integers(0, 2, 200)
    expected = generator.uniform(size=(2, 2, 200))
    expected[:, 0] = np.clip(expected[:, 0] + 0.3 * sex - 0.1, 0, 1)
    return evidence_of(np.clip(expected + generator.normal(scale=0.1, size=expected.shape), 0, 1), expected, sex)


WEIGHTED = {
    "gap": (metrics.create("demographic_parity", {"attributes": ["sex"], "protected": "1"}), 0.5),
    "mean": (metrics.create("mean_reward"), 0.5),
    "ages": (metrics.create("demographic_parity", {"attributes": ["age"], "protected": "old"}), 0.0),
    "opportunity": (metrics.create("equal_opportunity", {"attributes": ["sex"]}), 0.0),
    "both": (metrics.create("demographic_parity", {"attributes": ["sex", "age"]}), 0.0),
    "graded": (metrics.create("demographic_parity", {"attributes": ["sex"], "actions": {"a": 1.0, "b": 0.5}}), 0.0),
}


def price(evidence, lines, **more):
    decisions = lines(evidence, x=0, y=1)
    given = {"candidates": ["x", "y"], "generator": np.random.default_rng(0), "resamples": 80} | more
    return {each.metric: each for each in conflicts(decisions, evidence, WEIGHTED, **given).prices}


@pytest.fixture(scope="module")
def found(unequal, lines):
    return price(unequal, lines)


def test_every_gap_is_priced_or_has_a_reason(found):
    assert list(found) == ["gap", "ages", "opportunity", "both", "graded"]
    assert found["gap"].reason == ""
    assert found["gap"].same
    assert not found["ages"].same  # the constraint bounds all pairs of three groups
    assert "without knowing outcomes" in found["opportunity"].reason
    assert "intersections" in found["both"].reason
    assert "grades actions" in found["graded"].reason
    assert all(found[name].points == () for name in ("opportunity", "both", "graded"))


def test_from_no_bound_to_zero(found, unequal):
    points = found["gap"].points
    assert points[0].within is None
    assert points[-1].within == 0
    free = strategies.utilitarian(unequal.expected)
    gap = WEIGHTED["gap"][0].evaluate(free, unequal).value
    assert points[0].values["gap"] == pytest.approx(gap)
    assert abs(gap) > 0.2
    assert points[1].within == pytest.approx(abs(gap))
    assert points[1].score_lost == pytest.approx(0, abs=1e-12)
    assert points[0].change["mean"].value == 0
    assert (points[0].score_lost, points[0].hopeless, points[0].changed) == (0, 0, 0)
    for point in points[1:]:
        assert abs(point.values["gap"]) <= point.within + 1e-9
    lost = [point.score_lost for point in points]
    assert lost == sorted(lost)
    assert lost[-1] > 0.005
    # convex: each tenth costs more than the one before
    assert (np.diff(np.diff(lost[1:])) >= -1e-9).all()


def test_each_point_against_a_fresh_solution(found, unequal):
    known = {"contexts": unequal.log.contexts}
    for point in found["gap"].points[1::3]:
        rule = Constrained("utilitarian", parity={"attribute": "sex", "within": point.within, "favourable": ["a"]})
        decisions, free = rule(unequal.expected, **known), strategies.utilitarian(unequal.expected)
        for label in ("mean", "gap", "opportunity"):
            value = WEIGHTED[label][0].evaluate(decisions, unequal).value
            before = WEIGHTED[label][0].evaluate(free, unequal).value
            assert point.values[label] == pytest.approx(value)
            assert point.change[label].value == pytest.approx(value - before)
        assert point.change["mean"].low <= point.change["mean"].high
        cost = price_of(rule, unequal.expected, **known)
        assert point.score_lost == pytest.approx(cost.score_lost_per_context)
        assert point.hopeless == cost.hopeless == 0
        moved = np.abs(decisions.probabilities() - free.probabilities()).sum(axis=0) / 2
        assert point.changed == pytest.approx(moved.mean())
        for name, change in cost.reward_change.items():
            assert point.rewards[name] - found["gap"].points[0].rewards[name] == pytest.approx(change, abs=1e-12)


def test_a_bound_on_all_pairs_implies_the_metric(found):
    for point in found["ages"].points[1:]:
        assert abs(point.values["ages"]) <= point.within + 1e-9


def test_bounded_rules_are_among_the_attainable_ones(unequal, lines):
    decisions = lines(unequal, x=0, y=np.asarray(strategies.utilitarian(unequal.expected).codes))
    found = conflicts(
        decisions, unequal, WEIGHTED, candidates=["x", "y"], generator=np.random.default_rng(0), resamples=50
    )
    pair = found.between("gap", "mean")
    assert any(point.kind == "bounded" for point in pair.rule_front)
    assert pair.concessions.rules < pair.concessions.strategies


def test_a_rule_without_scores_or_already_constrained_is_a_reason(unequal, lines):
    logged = price(unequal, lines, rule=strategies.create("logged"), resamples=0)["gap"]
    assert logged.points[0].reason == ""
    assert all("score" in point.reason for point in logged.points[1:])
    bound = Constrained("maximin", floors=0.1)
    assert "itself constrained" in price(unequal, lines, rule=bound, resamples=0)["gap"].reason


def test_without_resamples_there_are_no_intervals(unequal, lines):
    gap = price(unequal, lines, resamples=0)["gap"]
    assert gap.points[3].change["mean"].low is None
    json.dumps(gap.to_json(), allow_nan=False)


def test_a_rule_without_a_gap_has_one_bound(evidence_of, lines):
    expected = np.zeros((2, 2, 40))
    expected[:, 0] = 1.0
    gap = price(evidence_of(expected), lines, resamples=0)["gap"]
    assert [point.within for point in gap.points] == [None, 0.0]
    assert gap.points[1].score_lost == 0


def test_a_single_group_is_a_reason(evidence_of, lines):
    evidence = evidence_of(np.random.default_rng(0).uniform(size=(2, 2, 30)), sex=np.ones(30))
    assert "single group" in price(evidence, lines, resamples=0)["gap"].reason
