"""Reachable sets of rules with reference points of the context, against enumeration, published numbers and theorems."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Threat, certify, radius, reachable
from accordant.certificates.certificate import method_for
from accordant.certificates.method import Unknown
from accordant.certificates.pairwise.pairs import Pairwise
from accordant.certificates.reports import Reports
from accordant.strategies.block import block_of

NAMES = ("P", "Q", "R")
EXAMPLE = np.array([[0.70, 0.50, 0.30], [0.40, 0.60, 0.50], [0.60, 0.55, 0.35]])


def reports_of(expected, threat):
    return Reports.of(block_of(expected, slice(0, expected.n_contexts)), threat)


def test_every_mode_is_served(rule):
    assert isinstance(method_for(rule, 3, frozen=False), Pairwise)
    assert not isinstance(method_for(rule, 3, frozen=True), Unknown)


def test_a_subclass_that_may_score_differently_is_not_served():
    class Other(type(strategies.kalai_smorodinsky)):
        """Scores in its own way."""

    assert isinstance(method_for(Other(), 3, frozen=False), Unknown)


@pytest.mark.few(3)
def test_enumeration_finds_nothing_outside_and_the_inner_set_is_attained(rule, world, enumerated):
    generator = np.random.default_rng(7)
    for case in range(24):
        n_actions, n_members = ((2, 2), (3, 1), (2, 3))[case % 3]
        values = np.round(generator.random((3, n_actions)), 1 if case % 2 else 2)
        members = generator.choice(3, size=n_members, replace=False)
        delta = float(generator.choice([0.05, 0.1, 0.2, 0.3]))
        found = enumerated(rule, values, members, delta, 4 if n_members == 3 else 5)
        certificate = certify(rule, world(values), Threat(delta, tuple(NAMES[i] for i in members)))
        assert (found <= certificate.outer[:, 0]).all(), (values, members, delta)
        assert (certificate.inner <= certificate.outer).all()
        if method_for(rule, n_actions, frozen=False).exact(rule, n_actions):
            assert certificate.exact.all()
            assert np.array_equal(found, certificate.outer[:, 0]), (values, members, delta)


@pytest.mark.few(4)
def test_the_outer_set_is_what_enumeration_finds_in_most_contexts(context_rule, world, enumerated):
    generator, equal = np.random.default_rng(8), 0
    for case in range(16):
        values = np.round(generator.random((3, 3)), 1 if case % 2 else 2)
        found = enumerated(context_rule, values, (case % 3,), 0.2, 9)
        equal += np.array_equal(
            found, reachable(context_rule, world(values), delta=0.2, coalition=NAMES[case % 3])[:, 0]
        )
    assert equal >= 14


def test_the_corner_that_promotes_an_action_is_not_enough(world):
    rule = strategies.kalai_smorodinsky
    expected = world([[0.7, 0.4, 0.3], [0.8, 0.4, 0.3], [0.5, 0.4, 0.3]])
    threat = Threat(0.1)
    reports = reports_of(expected, threat)
    assert reports.choose(rule, reports.promoting(1)).tolist() == [0]
    certificate = certify(rule, expected, threat)
    assert certificate.outer[:, 0].tolist() == certificate.inner[:, 0].tolist() == [True, True, False]
    assert rule(certificate.witness(np.array([1]))).codes.tolist() == [1]


@pytest.mark.parametrize(
    ("name", "radii"),
    [
        ("compromise_programming", (0.001393, 0.003175, 0.003078, 0.025)),
        ("kalai_smorodinsky", (0.06, 0.10, 0.075, 0.10)),
        ("nash_bargaining", (0.054196, 0.10, 0.07, 0.10)),
    ],
)
def test_radii_of_the_worked_example(name, radii, world):
    rule = strategies.create(name)
    found = [radius(rule, world(EXAMPLE), coalition=coalition)[0] for coalition in (None, "P", "Q", "R")]
    assert np.allclose(found, radii, atol=1e-6)


def test_an_attack_beyond_the_certified_nash_radius_is_found(world):
    rule = strategies.nash_bargaining
    assert not certify(rule, world(EXAMPLE), Threat(0.05419)).attackable.any()
    assert certify(rule, world(EXAMPLE), Threat(0.0562)).attackable.all()


@pytest.mark.few(2)
def test_sets_grow_with_radius_and_coalition(rule, world):
    expected = world(np.round(np.random.default_rng(4).random((3, 3, 200)), 1))
    previous = np.arange(3)[:, None] == rule(expected).codes
    assert np.array_equal(reachable(rule, expected, delta=0.0), previous)
    assert np.array_equal(reachable(rule, expected, delta=0.3, coalition=[]), previous)
    for delta in (1e-6, 0.01, 0.1, 0.3, 1.0):
        alone, two, everybody = (
            reachable(rule, expected, delta=delta, coalition=coalition) for coalition in (["Q"], ["Q", "R"], None)
        )
        assert (alone <= two).all()
        assert (two <= everybody).all()
        assert (previous <= everybody).all()
        previous = everybody


@pytest.mark.few(5)
def test_a_witness_lies_in_the_box_and_makes_its_action_win(rule, world):
    values = np.random.default_rng(5).random((3, 4, 120))
    values[:, :, :60] = np.round(values[:, :, :60], 1)
    expected = world(values)
    certificate = certify(rule, expected, Threat(0.15, ("P", "R")))
    assert certificate.attackable.any()
    for action in range(4):
        codes = np.where(certificate.inner[action], action, certificate.decided)
        reported = certificate.witness(codes)
        assert np.array_equal(rule(reported).codes, codes)
        assert np.abs(reported.values - values).max() <= 0.15 + 1e-15
        assert np.array_equal(reported.values[1], values[1])
        assert 0 <= reported.values.min() <= reported.values.max() <= 1


@pytest.mark.few(6)
def test_changeable_says_whether_another_action_is_left(rule, world):
    values = np.random.default_rng(6).random((3, 4, 300))
    values[:, :, :150] = np.round(values[:, :, :150], 1)
    expected = world(values)
    decided, method = rule(expected).codes, method_for(rule, 4, frozen=False)
    for delta in (1e-3, 0.03, 0.1):
        reports = reports_of(expected, Threat(delta, ("P", "Q")))
        outer = method.outer(rule, reports)
        left = outer.sum(axis=0) > outer[decided, np.arange(300)]
        changeable = method.changeable(rule, reports, decided)
        assert (left <= changeable).all()
        assert (left == changeable).mean() > 0.99


@pytest.mark.few(2)
def test_radii_are_where_certification_ends(rule, world):
    expected = world(np.round(np.random.default_rng(3).random((3, 3, 40)), 2))
    found = radius(rule, expected, coalition=["P", "Q"])
    for t in range(40):
        one = expected.take(np.array([t]))
        within, beyond = found[t] - 1e-6, found[t] + 1e-6
        if np.isinf(found[t]):
            assert reachable(rule, one, delta=1.0, coalition=["P", "Q"]).sum() == 1
        else:
            assert within <= 0 or reachable(rule, one, delta=within, coalition=["P", "Q"]).sum() == 1
            assert not method_for(rule, 3, frozen=False).has_anchor(rule) or (
                reachable(rule, one, delta=beyond, coalition=["P", "Q"]).sum() > 1
            )


def test_stakeholders_without_a_say_cannot_change_anything(world):
    expected = world(np.random.default_rng(9).random((3, 3, 50)))
    for name in ("kalai_smorodinsky", "nash_bargaining", "relative_utilitarian", "minimax_regret"):
        rule = strategies.create(name, {"weights": (1.0, 0.0, 1.0)})
        assert (reachable(rule, expected, delta=1.0, coalition=["Q"]).sum(axis=0) == 1).all()


def test_tied_scores_leave_both_actions(world):
    expected = world([[0.5, 0.6, 0.2], [0.6, 0.5, 0.2]])
    for name in ("compromise_programming", "minimax_regret", "relative_utilitarian"):
        rule = strategies.create(name)
        assert radius(rule, expected, coalition=["P"])[0] == pytest.approx(0.0, abs=1e-9)
        assert reachable(rule, expected, delta=1e-6, coalition=["P"])[:, 0].tolist() == [True, True, False]


@pytest.mark.few(4)
def test_indifferent_stakeholders_are_on_the_safe_side(rule, world):
    generator = np.random.default_rng(11)
    values = np.repeat(np.round(generator.random((3, 1, 100)), 1), 3, axis=1)
    values[0] = generator.random((3, 100))
    values[1] += generator.choice([0.0, 5e-13, 2e-12], size=(3, 100)) * (values[1] < 1)
    expected, delta = world(np.clip(values, 0, 1)), 1e-12
    outer = reachable(rule, expected, delta=delta)
    for _ in range(60):
        moved = expected.values + generator.choice([-delta, 0.0, delta], size=values.shape)
        codes = rule(world(np.clip(moved, 0, 1))).codes
        assert outer[codes, np.arange(100)].all()


@pytest.mark.few(2)
def test_blocks_and_empty_batches(rule, world):
    values = np.random.default_rng(10).random((3, 3, 30_000))
    whole = certify(rule, world(values), Threat(0.05, ("P",)))
    part = certify(rule, world(values[:, :, -11:]), Threat(0.05, ("P",)))
    assert np.array_equal(whole.outer[:, -11:], part.outer)
    assert np.array_equal(whole.inner[:, -11:], part.inner)
    assert reachable(rule, world(np.empty((3, 3, 0))), delta=0.1).shape == (3, 0)
