"""Bounds against full enumeration: no decision gets past them, and ends that are called exact are reached."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import metrics
from accordant.certificates.bounds.target import Subject, subject_of
from accordant.certificates.bounds.bound import bound_of
from accordant.metrics.expressions import Defaulted, Fraction, Largest, Magnitude, Smallest, Spread, together
from accordant.metrics.expressions import Ratio, Sum

SEX = {"attributes": ("sex",)}
EXACT_BOTH = [
    *((name, {}) for name in ("accuracy", "recall", "mean_reward", "welfare_regret", "true_positive_rate")),
    ("share_of_action", {"action": "Lower"}),
    ("stakeholder_reward", {"stakeholder": "Bank", "total": True}),
    ("selection_rate", {"actions": {"Grant": 1.0, "Lower": 0.5}}),
    *((name, {**SEX, "protected": "1"}) for name in ("demographic_parity", "equal_opportunity", "predictive_equality")),
]
EXACT_UNLIMITED = [("positive_predictive_value", {}), ("predictive_parity", {**SEX, "protected": "1"})]
EXACT_HIGH = [
    *((name, SEX) for name in ("demographic_parity", "predictive_parity", "equal_opportunity", "accuracy_parity")),
    ("demographic_parity", {"attributes": ("sex", "age")}),
    ("gini_reward", {}),
]
EXACT_LOW = [
    ("min_reward", {}),
    *((name, {**SEX, "aggregate": "ratio"}) for name in ("demographic_parity", "accuracy_parity")),
]
SOUND = [
    *((name, {}) for name in ("nash_welfare", "f1", "precision")),
    ("equalised_odds", SEX),
    ("equalised_odds", {**SEX, "protected": "1"}),
    ("equalised_odds", {**SEX, "aggregate": "ratio"}),
    ("predictive_parity", {**SEX, "aggregate": "ratio"}),
]


def assert_enclosed(subject, attacked, decisions):
    """Return the bounds and the ends of the enumeration; fail if anything gets past the bounds."""
    found = bound_of(subject, attacked)
    every = [subject.expression.value(each) for each in decisions]
    values = [value for value in every if value is not None]
    if len(values) < len(every):
        assert found.may_be_undefined
    if not values:
        assert found.attained_low is found.attained_high is None
        return found, None
    low, high = min(values), max(values)
    assert found.low <= low + 1e-9
    assert found.high >= high - 1e-9
    for attained in (found.attained_low, found.attained_high):
        assert attained is None or low - 1e-9 <= attained <= high + 1e-9
    if found.low_status == "exact":
        assert found.low == pytest.approx(low, abs=1e-9)
    if found.high_status == "exact":
        assert found.high == pytest.approx(high, abs=1e-9)
    return found, (low, high)


def run(cases, world, attack, enumerated, *, limited=None, trials=24):
    """Yield bounds and enumerated ends of random small problems."""
    for seed in range(trials):
        evidence = world(1 + seed % 7, seed, coarse=seed % 4 == 3)
        attacked = attack(evidence, seed, limited=limited)
        decisions = enumerated(attacked)
        for name, parameters in cases:
            subject = subject_of(metrics.create(name, parameters), evidence.expected, evidence)
            found, ends = assert_enclosed(subject, attacked, decisions)
            if ends is not None:
                yield found, ends


@pytest.mark.long
def test_sums_and_signed_gaps_are_exact(world, attack, enumerated):
    """Also where only some contexts may be attacked."""
    for found, ends in run(EXACT_BOTH, world, attack, enumerated, trials=40):
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)
        assert found.status == "exact"


@pytest.mark.long
def test_ratios_are_exact(world, attack, enumerated):
    for found, ends in run(EXACT_UNLIMITED, world, attack, enumerated, limited=False, trials=40):
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)
        assert found.status == "exact"


@pytest.mark.long
def test_high_ends_of_gaps_are_exact(world, attack, enumerated):
    for found, ends in run(EXACT_HIGH, world, attack, enumerated, limited=False):
        assert found.high == pytest.approx(ends[1], abs=1e-9)
        assert found.high_status == "exact"


@pytest.mark.long
def test_low_ends_of_smallest_parts_are_exact(world, attack, enumerated):
    for found, ends in run(EXACT_LOW, world, attack, enumerated, limited=False):
        assert found.low == pytest.approx(ends[0], abs=1e-9)
        assert found.low_status == "exact"


@pytest.mark.long
def test_everything_else_is_sound(world, attack, enumerated):
    assert sum(1 for _ in run(SOUND + EXACT_HIGH + EXACT_UNLIMITED, world, attack, enumerated)) > 100


def random_sum(generator, n, *, positive=False):
    theta = generator.integers(0 if positive else -3, 4, (3, n)).astype(float)
    return Sum.of(theta, 1.0 if positive else 0.5)


@pytest.mark.long
def test_ratios_of_any_numbers(world, attack, enumerated):
    """Dinkelbach against enumeration: tops of any sign, bottoms that may be 0 in some contexts or everywhere."""
    undefined = 0
    for seed in range(300):
        generator = np.random.default_rng(seed)
        evidence = world(1 + seed % 6, seed)
        attacked = attack(evidence, seed)
        n = evidence.n_contexts
        top, bottom = random_sum(generator, n), random_sum(generator, n, positive=True)
        if seed % 3 == 0:
            bottom = Sum.of(bottom.parts[0].theta * (generator.random((3, n)) < 0.4))
        if seed % 5 == 0:
            top, bottom = top.plus(Sum(offset=1.0)), bottom.plus(Sum(offset=0.5))
        found, ends = assert_enclosed(Subject("ratio", Ratio(top, bottom)), attacked, enumerated(attacked))
        undefined += found.may_be_undefined
        if ends is not None and not attacked.outer.limited:
            assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)
            assert found.may_be_undefined == any(bottom.value(each) == 0 for each in enumerated(attacked))
    assert undefined > 20


def test_bottoms_of_either_sign(world, attack, enumerated):
    for seed in range(60):
        generator, evidence = np.random.default_rng(seed), world(1 + seed % 5, seed)
        attacked = attack(evidence, seed)
        ratio = Ratio(random_sum(generator, evidence.n_contexts), random_sum(generator, evidence.n_contexts))
        assert_enclosed(Subject("ratio", ratio), attacked, enumerated(attacked))


@pytest.mark.long
def test_any_combination(world, attack, enumerated):
    """Combinations of combinations: nothing gets past, and linear ones with one −|x| are exact below."""
    for seed in range(70):
        generator, evidence = np.random.default_rng(seed), world(1 + seed % 6, seed)
        attacked = attack(evidence, seed)
        one, two, three = (random_sum(generator, evidence.n_contexts) for _ in range(3))
        fraction = Defaulted(Ratio(one, random_sum(generator, evidence.n_contexts, positive=True)), 0.25)
        decisions = enumerated(attacked)
        for expression in (
            together((one, Magnitude((two,)), Spread((two, three))), (1.0, 0.7, -0.4), 2.0),
            together((Largest((one, two)), Smallest((two, three)), fraction), (0.5, 0.5, -1.0)),
            Magnitude((together((one, fraction), (1.0, -1.0)),)),
            Fraction((Spread((one, two, three)), together((Magnitude((one,)),), (1.0,), 1.0))),
            Spread((fraction, one)),
        ):
            assert_enclosed(Subject("combination", expression), attacked, decisions)
        signed = together((one, Magnitude((two,)), Magnitude((three,))), (1.0, -0.7, -0.2))
        found, ends = assert_enclosed(Subject("composite", signed), attacked, decisions)
        assert found.low == pytest.approx(ends[0], abs=1e-9)
        assert found.low_status == "exact"
        found, ends = assert_enclosed(Subject("turned", together((signed,), (-1.0,))), attacked, decisions)


def test_defaults_are_reached(world, attack, enumerated):
    """A selection that leaves the ratio undefined gives the default, and is found."""
    reached = 0
    for seed in range(60):
        generator, evidence = np.random.default_rng(seed), world(1 + seed % 6, seed)
        attacked = attack(evidence, seed, limited=False)
        bottom = Sum.of((generator.random((3, evidence.n_contexts)) < 0.5).astype(float))
        top = Sum.of(bottom.parts[0].theta * generator.integers(1, 5, bottom.parts[0].theta.shape))
        found, ends = assert_enclosed(
            Subject("ratio", Defaulted(Ratio(top, bottom), 0.0)), attacked, enumerated(attacked)
        )
        assert not found.may_be_undefined
        assert found.low == pytest.approx(ends[0], abs=1e-9)
        assert found.low_status == "exact"
        reached += found.low == 0
    assert 5 < reached < 60
