"""Reachable sets and radii of rules that judge each action by its own column, against enumeration and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import accordant as ac
from accordant import strategies
from accordant.certificates import Threat, certify, certify_each, radius, reachable
from accordant.errors import InputError, UnknownNameError

NAMES = ("P", "Q", "R")
ACTIONS = ("a1", "a2", "a3")
EXAMPLE = np.array([[0.70, 0.50, 0.30], [0.40, 0.60, 0.50], [0.60, 0.55, 0.35]])
DECLARED = {"disagreement": 0.0, "ideal": 1.0}
RULES = [
    strategies.utilitarian,
    strategies.create("utilitarian", {"weights": (1.0, 2.0, 0.0)}),
    strategies.maximin,
    strategies.leximin,
    strategies.nash_social_welfare,
    strategies.create("alpha_fairness", {"alpha": 0.5}),
    strategies.create("generalised_gini"),
    strategies.hurwicz,
    strategies.create("kalai_smorodinsky", DECLARED),
    strategies.create("nash_bargaining", {"disagreement": 0.25}),
    strategies.create("compromise_programming", {"ideal": 0.75}),
    strategies.create("compromise_programming", {"ideal": 0.5, "two_sided": True}),
    strategies.create("stakeholder", {"stakeholder": "Q"}),
]


def world(values):
    values = np.asarray(values, dtype=float)
    return ac.ExpectedRewards(values, stakeholders=NAMES[: len(values)], actions=ACTIONS[: values.shape[1]])


def enumerated(rule, values, members, delta, levels=5):
    """Every action that some report on a grid of the box makes win, by trying them all."""
    n, k = values.shape
    entries = [(i, a) for i in members for a in range(k)]
    grids = [np.unique(np.clip(values[i, a] + np.linspace(-delta, delta, levels), 0.0, 1.0)) for i, a in entries]
    points = np.array(list(itertools.product(*grids)))
    reported = np.repeat(values[:, :, None], len(points), axis=2)
    for (i, a), column in zip(entries, points.T, strict=True):
        reported[i, a] = column
    return np.bincount(rule(world(reported)).codes, minlength=k) > 0


@pytest.mark.few(4)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.label)
def test_reachable_actions_are_those_that_enumeration_finds(rule):
    generator = np.random.default_rng(7)
    for case in range(24):
        shape = (3, 3) if case % 3 == 0 else (3, 2)
        values = np.round(generator.random(shape), 1 if case % 2 else 2)
        members = (0,) if shape == (3, 3) else generator.choice(3, size=2, replace=False)
        delta = float(generator.choice([0.05, 0.1, 0.2]))
        certificate = certify(rule, world(values), Threat(delta, tuple(NAMES[i] for i in members)))
        truth = enumerated(rule, values, members, delta)
        assert (certificate.inner[:, 0] <= truth).all()
        assert (truth <= certificate.outer[:, 0]).all()
        if not getattr(rule, "two_sided", False):
            assert certificate.outer[:, 0].tolist() == truth.tolist(), (values, members, delta)


@pytest.mark.parametrize(
    ("rule", "radii"),
    [
        (strategies.utilitarian, (0.008333, 0.025, 0.025, 0.025)),
        (strategies.maximin, (0.05, 0.10, 0.10, 0.15)),
        (strategies.create("kalai_smorodinsky", DECLARED), (0.05, 0.10, 0.10, 0.15)),
        (strategies.nash_social_welfare, (0.001626, 0.005263, 0.004317, 0.005172)),
        (strategies.create("nash_bargaining", {"disagreement": 0.0}), (0.001626, 0.005263, 0.004317, 0.005172)),
        (strategies.create("compromise_programming", {"ideal": 1.0}), (0.000472, 0.001562, 0.001250, 0.001471)),
    ],
    ids=lambda each: getattr(each, "label", ""),
)
def test_radii_of_the_worked_example(rule, radii):
    found = [radius(rule, world(EXAMPLE), coalition=coalition)[0] for coalition in (None, ["P"], ["Q"], ["R"])]
    assert np.allclose(found, radii, atol=1e-6)


def test_the_utilitarian_radius_is_half_the_gap_where_the_box_does_not_bind():
    values = 0.4 + 0.2 * np.random.default_rng(1).random((3, 3, 400))
    scores = np.sort(values.mean(axis=0), axis=0)
    assert np.allclose(radius(strategies.utilitarian, world(values)), (scores[-1] - scores[-2]) / 2, atol=2e-9)


def test_the_maximin_radius_has_the_closed_form_where_the_box_does_not_bind():
    values = 0.4 + 0.2 * np.random.default_rng(2).random((3, 3, 300))
    decided = strategies.maximin(world(values)).codes
    for members in ([0], [1, 2], [0, 1, 2]):
        found = radius(strategies.maximin, world(values), coalition=[NAMES[i] for i in members])
        outside = [i for i in range(3) if i not in members]
        for t in range(values.shape[2]):
            p = values[outside, :, t].min(axis=0, initial=np.inf)
            q = values[members, :, t].min(axis=0)
            a = decided[t]
            bounds = []
            for b in range(3):
                if b != a:
                    late = 0.0 if p[b] >= p[a] else q[a] - p[b]
                    bounds.append(max(late, min(p[a] - q[b], (q[a] - q[b]) / 2), 0.0))
            assert found[t] == pytest.approx(min(bounds), abs=2e-9)


@pytest.mark.few(4)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.label)
def test_radius_is_where_the_reachable_set_grows(rule):
    values = np.round(np.random.default_rng(3).random((3, 3, 60)), 2)
    expected, found = world(values), radius(rule, world(values), coalition=["P", "Q"])
    for t in range(values.shape[2]):
        one = expected.take(np.array([t]))
        if np.isinf(found[t]):
            assert reachable(rule, one, delta=1.0, coalition=["P", "Q"]).sum() == 1
            continue
        beyond, within = found[t] + 1e-6, found[t] - 1e-6
        assert reachable(rule, one, delta=beyond, coalition=["P", "Q"]).sum() > 1
        assert within <= 0 or reachable(rule, one, delta=within, coalition=["P", "Q"]).sum() == 1


@pytest.mark.few(4)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.label)
def test_reachable_sets_grow_with_radius_and_coalition(rule):
    expected = world(np.round(np.random.default_rng(4).random((3, 3, 300)), 1))
    plain = rule(expected).codes
    previous = np.arange(3)[:, None] == plain
    assert np.array_equal(reachable(rule, expected, delta=0.0), previous)
    assert np.array_equal(reachable(rule, expected, delta=0.3, coalition=[]), previous)
    for delta in (1e-6, 0.01, 0.1, 0.3, 1.0):
        small = reachable(rule, expected, delta=delta, coalition=["Q"])
        large = reachable(rule, expected, delta=delta, coalition=["Q", "R"])
        everybody = reachable(rule, expected, delta=delta)
        assert (small <= large).all()
        assert (large <= everybody).all()
        assert (previous <= everybody).all()
        previous = everybody


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.label)
def test_a_witness_lies_in_the_box_and_makes_its_action_win(rule):
    expected = world(np.random.default_rng(5).random((3, 3, 100)))
    certificate = certify(rule, expected, Threat(0.15, ("P", "R")))
    assert certificate.exact.all()
    for action in range(3):
        codes = np.where(certificate.inner[action], action, certificate.decided)
        reported = certificate.witness(codes)
        assert np.array_equal(rule(reported).codes, codes)
        assert np.abs(reported.values - expected.values).max() <= 0.15 + 1e-15
        assert np.array_equal(reported.values[1], expected.values[1])
        assert 0 <= reported.values.min() <= reported.values.max() <= 1


FLOORED = strategies.create("constrained", {"rule": "utilitarian", "floors": {"P": 0.0}})


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "rule",
    [
        strategies.utilitarian, strategies.maximin, strategies.leximin, strategies.nash_social_welfare, FLOORED,
        strategies.nash_bargaining, strategies.kalai_smorodinsky, strategies.relative_utilitarian,
        strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "a2"}),
    ],
    ids=lambda rule: rule.label,
)  # fmt: skip
def test_witnesses_of_single_precision_are_replayed_in_it(rule):
    values = np.round(np.random.default_rng(12).random((3, 3, 400)), 1).astype(np.float32)
    values[0, 1] += 3e-7
    expected = ac.ExpectedRewards(np.clip(values, 0, 1), stakeholders=NAMES, actions=ACTIONS)
    for coalition in (("P",), ("P", "Q", "R")):
        certificate = certify(rule, expected, Threat(0.1, coalition))
        for action in range(3):
            codes = np.where(certificate.inner[action], action, certificate.decided)
            reported = certificate.witness(codes)
            assert reported.values.dtype == np.float32
            assert np.array_equal(rule(reported).codes, codes)


def test_rules_under_constraints_tie_in_single_precision_too():
    values = np.array([[0.2, 0.8], [0.7, 0.5]], dtype=np.float32)
    expected = ac.ExpectedRewards(values, stakeholders=NAMES[:2], actions=ACTIONS[:2])
    assert certify(FLOORED, expected, Threat(0.1)).outer.all()


def test_flat_peaks_and_farther_ends_that_rounding_tells_apart_are_not_ruled_out():
    rule = strategies.create("compromise_programming", {"ideal": 0.5, "two_sided": True})
    assert certify(rule, world([[0.5, 0.0], [0.0, 0.5]]), Threat(0.1, ("Q",))).outer.all()
    rule = strategies.create("compromise_programming", {"ideal": 0.3, "two_sided": True, "exponent": 1.0})
    assert certify(rule, world([[0.25, 0.75]]), Threat(0.25, box=(0.1, 0.9))).outer.all()


def test_frozen_points_that_are_exceeded_keep_inner_within_outer_and_witnesses_true():
    rule = strategies.create("compromise_programming", {"two_sided": True, "exponent": float("inf")})
    expected = world(np.random.default_rng(13).random((2, 3, 300)))
    certificate = certify(rule, expected, Threat(0.1, frozen=True))
    assert (certificate.inner <= certificate.outer).all()
    ideal = expected.values.max(axis=1)
    for t in range(0, 300, 5):
        fixed = strategies.create(
            "compromise_programming", {"two_sided": True, "exponent": float("inf"), "ideal": tuple(ideal[:, t])}
        )
        one = expected.take(np.array([t]))
        assert np.array_equal(certify(fixed, one, Threat(0.1)).outer[:, 0], certificate.outer[:, t])


@pytest.mark.parametrize("codes", [0, [-1, 0, 0], [0.7, 0, 0], [3, 0, 0], [0, 0]])
def test_witnesses_need_one_action_number_per_context(codes):
    certificate = certify(strategies.utilitarian, world(np.full((2, 3, 3), 0.5)), Threat(0.1))
    with pytest.raises(InputError, match="codes"):
        certificate.witness(codes)


@pytest.mark.parametrize(
    "arguments", [{"box": (0.9, 0.1)}, {"box": None}, {"box": (0.1,)}, {"precision": 5}, {"precision": float("nan")}]
)
def test_wrong_boxes_and_precisions_are_refused(arguments):
    with pytest.raises(InputError, match="box is|precision is"):
        radius(strategies.utilitarian, world(EXAMPLE), **arguments)


def test_tied_scores_have_radius_zero_and_both_actions_are_reachable():
    expected = world([[0.5, 0.6], [0.6, 0.5]])
    assert radius(strategies.utilitarian, expected)[0] == pytest.approx(0.0, abs=1e-9)
    assert reachable(strategies.utilitarian, expected, delta=1e-6, coalition=["P"]).all()


def test_a_box_clips_honest_rewards_first():
    expected = world([[1.0, 0.0], [0.0, 0.9]])
    certificate = certify(strategies.utilitarian, expected, Threat(0.05, box=(0.2, 0.8)))
    assert certificate.expected.values.min() == 0.2
    assert certificate.expected.values.max() == 0.8
    assert certificate.witness(np.array([1])).values.max() <= 0.8


def test_frozen_reference_points_stay_where_honest_reports_put_them():
    rule = strategies.create("kalai_smorodinsky")
    values = np.random.default_rng(6).random((3, 3, 50))
    frozen = reachable(rule, world(values), delta=0.1, frozen=True)
    for t in range(50):
        fixed = strategies.create(
            "kalai_smorodinsky",
            {"disagreement": tuple(values[:, :, t].min(axis=1)), "ideal": tuple(values[:, :, t].max(axis=1))},
        )
        assert np.array_equal(reachable(fixed, world(values[:, :, [t]]), delta=0.1)[:, 0], frozen[:, t])


def test_rules_that_do_not_read_rewards_cannot_be_changed():
    expected = world(EXAMPLE)
    rule = strategies.create("constant", {"action": "a3"})
    assert np.isinf(radius(rule, expected)).all()
    assert reachable(rule, expected, delta=1.0)[:, 0].tolist() == [False, False, True]


def test_nothing_is_ruled_out_for_an_unknown_rule_unless_nobody_may_misreport():
    batch = strategies.create("constrained", {"rule": "utilitarian", "budgets": {"a1": 1}})
    expected = world(np.random.default_rng(8).random((3, 3, 5)))
    assert reachable(batch, expected, delta=0.01, coalition=["P"]).all()
    assert (radius(batch, expected, coalition=["P"]) == 0).all()
    assert reachable(batch, expected, delta=0.01, coalition=[]).sum() == 5


def test_many_threats_in_one_reading_equal_single_ones():
    expected = world(np.random.default_rng(9).random((3, 3, 40)))
    threats = [Threat(0.1, names) for names in (("P",), ("P", "Q"), None)] + [Threat(0.0, ("R",))]
    for certificate, threat in zip(certify_each(strategies.maximin, expected, threats), threats, strict=True):
        assert np.array_equal(certificate.outer, certify(strategies.maximin, expected, threat).outer)


@pytest.mark.long
def test_blocks_do_not_change_the_result():
    values = np.random.default_rng(10).random((3, 3, 70_001))
    whole = reachable(strategies.nash_social_welfare, world(values), delta=0.05, coalition=["P"])
    part = reachable(strategies.nash_social_welfare, world(values[:, :, -11:]), delta=0.05, coalition=["P"])
    assert np.array_equal(whole[:, -11:], part)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": -0.1}, "delta is -0.1"),
        ({"delta": float("nan")}, "delta is nan"),
        ({"delta": 0.1, "box": (0.6, 0.4)}, "box is"),
        ({"delta": 0.1, "coalition": ["p"]}, "did you mean 'P'|nearest|valid"),
    ],
)
def test_wrong_threats_are_refused(arguments, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        reachable(strategies.utilitarian, world(EXAMPLE), **arguments)


def test_single_precision_edges_and_empty_batches():
    values = np.random.default_rng(11).random((3, 3, 20)).astype(np.float32)
    assert reachable(strategies.utilitarian, world(values.astype(float)), delta=0.0).shape == (3, 20)
    single = ac.ExpectedRewards(values, stakeholders=NAMES, actions=ACTIONS)
    assert np.allclose(radius(strategies.utilitarian, single), radius(strategies.utilitarian, world(values)), atol=1e-5)
    nobody = world(np.empty((3, 3, 0)))
    assert radius(strategies.utilitarian, nobody).shape == (0,)
    assert reachable(strategies.utilitarian, nobody, delta=0.1).shape == (3, 0)
    alone = world([[0.5], [0.2]])
    assert np.isinf(radius(strategies.utilitarian, alone)).all()


@pytest.mark.few(6)
@pytest.mark.parametrize("precision", [1e-4, 1e-9])
@pytest.mark.parametrize("rule", [*RULES, strategies.create("kalai_smorodinsky"), strategies.create("nash_bargaining")])
def test_few_contexts_have_the_radii_that_they_have_among_many(rule, precision):
    values = np.random.default_rng(3).random((3, 3, 40)).round(2)
    many = radius(rule, world(values), precision=precision)
    assert len({*many}) > 1
    for some in (slice(0, 1), slice(5, 12), slice(30, 40)):
        assert np.array_equal(radius(rule, world(values[:, :, some]), precision=precision), many[some])
