"""Composite scores under attack, on frozen and on live scales."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics, strategies
from accordant.certificates.bounds import Scale, composite_bounds, honest_scales, live_composite
from accordant.certificates.bounds.bound import bound_of
from accordant.certificates.bounds.composite import Criteria
from accordant.certificates.bounds.composite import live_range
from accordant.certificates.bounds.rule_choices import attackable
from accordant.certificates.threat import Threat
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.composite import composite_score

GAP = metrics.create("demographic_parity", {"attributes": ("sex",)})
SIGNED = metrics.create("equal_opportunity", {"attributes": ("sex",), "protected": "1"})
WEIGHTS = {"accuracy": ("accuracy", 0.4), "reward": ("mean_reward", 0.3), "gap": (GAP, 0.3)}
RULES = tuple(map(strategies.create, ("utilitarian", "maximin", "nash_social_welfare")))


def defined(evidence, *named):
    """Return whether metrics are defined whatever is decided."""
    return {0.0, 1.0} == set(evidence.log.contexts["sex"]) and len(evidence.log) > 2


@pytest.mark.long
def test_frozen_scales_against_enumeration(world, attack, enumerated):
    """Lower ends are exact, upper ones sound; one metric of every goal, scales of three strategies."""
    tried = tight = 0
    for seed in range(120):
        evidence = world(2 + seed % 6, seed, coarse=seed % 4 == 3)
        if not defined(evidence):
            continue
        criteria = Criteria.of(WEIGHTS, evidence.expected, evidence)
        scales = honest_scales(RULES, evidence.expected, WEIGHTS, evidence=evidence)
        attacked = attack(evidence, seed)
        subject = criteria.composite(scales)
        found = bound_of(subject, attacked)
        values = [subject.expression.value(each) for each in enumerated(attacked)]
        assert found.low == pytest.approx(min(values), abs=1e-9)
        assert found.low_status == "exact"
        assert found.high >= max(values) - 1e-9
        tried, tight = tried + 1, tight + (found.high <= max(values) + 1e-9)
    assert tried > 60
    assert tight > tried / 2


@pytest.mark.long
def test_two_gaps_are_exact_below(world, attack, enumerated):
    """Two metrics with goal zero, one a signed gap: four combinations of signs."""
    weights = {"gap": (GAP, 0.3), "signed": (SIGNED, 0.3), "reward": ("min_reward", 0.4)}
    scales = {"gap": Scale("zero", 0.0, 0.5), "signed": Scale("zero", 0.1, 0.7), "reward": Scale("max", 0.2, 0.8)}
    tried = 0
    for seed in range(60):
        evidence = world(3 + seed % 5, seed)
        attacked = attack(evidence, seed)
        subject = Criteria.of(weights, evidence.expected, evidence).composite(scales)
        values = [subject.expression.value(each) for each in enumerated(attacked)]
        found = bound_of(subject, attacked)
        if values[0] is None:
            assert found.low is None
            continue
        assert found.low == pytest.approx(min(values), abs=1e-9)
        assert found.low_status == "exact"
        assert found.high >= max(values) - 1e-9
        tried += 1
    assert tried > 10


@pytest.mark.parametrize("normalisation", ["relative", "reference"])
@pytest.mark.parametrize("goal", ["max", "min", "zero"])
def test_scales_are_those_of_the_leaderboard(goal, normalisation):
    """A scale gives every candidate the normalised value that evaluation gives it."""
    generator = np.random.default_rng(0)
    for values in (*generator.normal(size=(20, 4)), np.full(4, 0.3), np.zeros(4)):
        raw, candidates = values[:, None], np.ones(4, dtype=bool)
        expected = composite_score(
            raw, goals=[goal], weights=[1.0], candidates=candidates, normalisation=normalisation
        ).normalised[:, 0]
        frame = Scale.over(values, goal)
        offset, slope = Scale(goal, frame.low, frame.high, normalisation).line
        size = np.abs(values) if goal == "zero" else values
        assert offset + slope * size == pytest.approx(expected, abs=1e-6)  # 1e-9 is the smallest divisor


@pytest.mark.parametrize(
    ("low", "span", "flat"),
    [(0.0, 1e-12, True), (0.0, 2e-12, False), (1e6, 9e-7, True), (1e6, 2e-6, False), (-1e6, 9e-7, True)],
)
def test_candidates_that_rounding_alone_sets_apart_are_all_the_best(low, span, flat):
    assert (Scale("max", low, low + span).line == (1.0, 0.0)) == flat


def test_raw_and_missing_scales():
    assert Scale("max", 0.2, 0.7, "reference", raw=True).line == (0.0, 1.0)
    assert Scale.over(np.array([np.nan, 1.0, 3.0]), "max") == Scale("max", 1.0, 3.0)
    assert Scale.over(np.array([np.nan]), "max").line == (1.0, 0.0)
    with pytest.raises(InputError, match="low at most high"):
        Scale("max", 1.0, 0.0)


def test_a_metric_without_a_scale_is_refused(world):
    evidence = world(5, 0)
    with pytest.raises(UnknownNameError, match="metric with a scale: 'min_reward'"):
        composite_bounds(RULES[0], evidence.expected, None, {"mean_reward": Scale("max", 0, 1)}, delta=0.1)


def test_default_metrics_need_no_evidence(world):
    expected = world(40, 0).expected
    scales = honest_scales(RULES, expected, None)
    found = composite_bounds(RULES[1], expected, None, scales, delta=0.1, coalition=["Bank"])
    assert found.low < found.nominal < found.high
    assert found.low_status == "exact"
    nothing = composite_bounds(RULES[1], expected, None, scales, delta=0.0)
    assert tuple(nothing) == (nothing.nominal, nothing.nominal, "exact")


def test_live_ranges_by_hand():
    """Three strategies in [0, 1], [2, 3] and [2, 4]: the first is always worst, the others may each be best."""
    low, high = live_range(np.array([0.0, 2.0, 2.0]), np.array([1.0, 3.0, 4.0]))
    assert low.tolist() == [0.0, pytest.approx(1 / 3), pytest.approx(0.5)]
    assert high.tolist() == [0.0, 1.0, 1.0]
    assert [each.tolist() for each in live_range(np.array([0.3]), np.array([0.5]))] == [[1.0], [1.0]]
    meeting = live_range(np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    assert [each.tolist() for each in meeting] == [[0.0, 0.0], [1.0, 1.0]]
    assert np.isnan(live_range(np.array([0.0, np.nan]), np.array([1.0, np.nan]))).all()
    assert [each.tolist() for each in live_range(np.array([-np.inf, 0]), np.array([1.0, 1.0]))] == [[0, 0], [1, 1]]


@pytest.mark.long
def test_live_ranges_enclose_what_independent_values_give():
    """Random intervals, corners among them, coarse numbers so that values are often equal."""
    generator = np.random.default_rng(0)
    for _ in range(400):
        n = int(generator.integers(2, 5))
        ends = np.sort(generator.integers(0, 5, (2, n)) / 4, axis=0)
        low, high = live_range(*ends)
        for _ in range(30):
            drawn = np.where(generator.random(n) < 0.3, ends[0], ends[0] + generator.random(n) * (ends[1] - ends[0]))
            drawn = np.where(generator.random(n) < 0.3, ends[1], drawn)
            span = drawn.max() - drawn.min()
            normalised = (drawn - drawn.min()) / span if span > 1e-12 else np.ones(n)
            assert (normalised >= low - 1e-9).all()
            assert (normalised <= high + 1e-9).all()


@pytest.mark.long
def test_live_scores_enclose_attacks(world, misreported):
    """All strategies read the same misreports, and the scales follow them."""
    generator = np.random.default_rng(3)
    tried = 0
    for seed in range(12):
        evidence = world(12, seed)
        if not defined(evidence):
            continue
        threat = Threat(0.15, ("Bank",))
        found = live_composite(RULES, evidence.expected, WEIGHTS, delta=0.15, coalition=["Bank"], evidence=evidence)
        chosen = [pair[0] if not isinstance(pair[0], str) else metrics.create(pair[0]) for pair in WEIGHTS.values()]
        for attack in range(40):
            reported = misreported(evidence.expected, threat, generator) if attack else evidence.expected
            raw = np.array([[each.evaluate(rule(reported), evidence).value for each in chosen] for rule in RULES])
            scores = composite_score(
                raw, goals=[each.goal for each in chosen], weights=[0.4, 0.3, 0.3], candidates=np.ones(3, dtype=bool)
            ).scores
            if not attack:
                assert found.nominal == pytest.approx(scores, abs=1e-9)
            assert (scores >= found.low - 1e-9).all()
            assert (scores <= found.high + 1e-9).all()
            tried += 1
    assert tried > 300


def test_undefined_metrics_leave_scores_undefined(world):
    """Everybody has the same sex: there is no gap."""
    evidence = world(1, 0)
    attacked = attackable(RULES[0], evidence.expected, Threat(0.1))
    criteria = Criteria.of(WEIGHTS, evidence.expected, evidence)
    found = bound_of(criteria.composite({label: Scale("max", 0, 1) for label in WEIGHTS}), attacked)
    assert (found.low, found.high, found.nominal) == (None, None, None)
    live = live_composite(RULES, evidence.expected, WEIGHTS, delta=0.1, evidence=evidence)
    assert np.isnan(live.low).all()
    assert np.isnan(live.high).all()
