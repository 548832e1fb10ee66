"""No attack gets past a certificate: every rule, whatever method serves it, against searches for misreports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import accordant as ac
from accordant import strategies
from accordant.certificates import Known, Threat, certify
from accordant.certificates.attacks import coordinate_attack, random_attack
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.selection import select_best
from accordant.strategies.strategy import strategies as registry

NAMES = ("P", "Q", "R", "S")
ACTIONS = ("a", "b", "c", "d", "e")
WEIGHTS = {"weights": (1.0, 2.0, 0.5)}
SILENT = {"weights": (0.0, 1.0, 1.0)}
QUO = {"disagreement": "status_quo", "status_quo": "b"}
BALLOTS = [name for name in registry if registry.factory(name).dependence == "ballots"]

RULES = [
    *[(name, parameters) for name in BALLOTS for parameters in ({}, WEIGHTS)],
    *[(name, SILENT) for name in ("plurality", "approval", "schulze")],
    ("range", {"normalised": True}), ("range", WEIGHTS), ("approval", {"threshold": 0.5}),
    ("majority_judgment", {}), ("majority_judgment", WEIGHTS),
    ("utilitarian", WEIGHTS), ("maximin", {}), ("leximin", {}), ("nash_social_welfare", {}), ("hurwicz", {}),
    ("alpha_fairness", {"alpha": 0.5}), ("atkinson", {"aversion": 1.0}), ("generalised_gini", WEIGHTS),
    ("sufficientarian", {}), ("stakeholder", {"stakeholder": "Q"}),
    *[("kalai_smorodinsky", parameters) for parameters in ({}, SILENT, QUO, {"disagreement": 0.2}, {"ideal": 0.9})],
    *[("nash_bargaining", parameters) for parameters in ({}, WEIGHTS, QUO, {"disagreement": 0.2})],
    *[("egalitarian_equivalent", parameters) for parameters in ({}, WEIGHTS, QUO)],
    *[("relative_utilitarian", parameters) for parameters in ({}, WEIGHTS, QUO, {"disagreement": 0.1, "ideal": 0.8})],
    *[("compromise_programming", parameters) for parameters in (
        {}, WEIGHTS, {"exponent": 1.0}, {"exponent": float("inf")}, {"two_sided": True}, {"ideal": 0.7, "two_sided": True},
    )],
    ("minimax_regret", {}), ("minimax_regret", WEIGHTS),
    ("constrained", {"rule": "utilitarian", "floors": 0.3}), ("constrained", {"rule": "schulze", "floors": {"P": 0.4}}),
    ("constrained", {"rule": "maximin", "vetoes": {"Q": "worst"}}),
    ("constrained", {"rule": "utilitarian", "budgets": {"a": 3}}),
    ("constrained", {"rule": "utilitarian", "forbidden": [{"actions": "a", "where": {"g": "x"}}]}),
    ("constrained", {"rule": "nash_social_welfare", "parity": {"attribute": "g", "within": 0.1, "favourable": ["a"]}}),
    ("constant", {"action": "b"}),
]  # fmt: skip
THREATS = [(0.02, None), (0.1, ("P",)), (0.1, ("Q", "R")), (0.3, ("P", "Q")), (1.0, ("R",))]


def named(case):
    return registry.create(*case).label


def world(values):
    return ac.ExpectedRewards(values, stakeholders=NAMES[: len(values)], actions=ACTIONS[: values.shape[1]])


def mixed(generator, n_stakeholders, n_actions, n_contexts):
    """Return E of which every other context is rounded to one decimal, so that ties are frequent."""
    values = generator.random((n_stakeholders, n_actions, n_contexts))
    values[:, :, ::2] = values[:, :, ::2].round(1)
    return world(values)


def known_of(expected):
    """Return a column that divides contexts into two groups."""
    groups = np.where(np.arange(expected.n_contexts) % 3 == 0, "x", "y")
    return Known(contexts=Contexts({"g": groups}))


def assert_nothing_gets_past(rule, expected, threat, generator, *, tries, restarts=1, witnesses=True):
    """Attack a rule and compare with its certificate; return the certificate."""
    known = known_of(expected)
    certificate = certify(rule, expected, threat, known=known)
    attacks = [random_attack(rule, expected, threat, tries=tries, generator=generator, known=known)]
    if restarts:
        attacks.append(
            coordinate_attack(rule, expected, threat, generator=generator, restarts=restarts, sweeps=1, known=known)
        )
    table = generator.normal(size=certificate.outer.shape)
    low = np.where(certificate.outer, table, np.inf).min(axis=0).sum()
    high = np.where(certificate.outer, table, -np.inf).max(axis=0).sum()
    assert (certificate.inner <= certificate.outer).all()
    for attack in attacks:
        past = np.argwhere(attack.won & ~certificate.outer)
        assert not len(past), (rule.label, threat, past[0], expected.values[:, :, past[0][1]].tolist())
        reached = attack.metric(table)
        assert low - 1e-9 <= reached.low <= reached.honest <= reached.high <= high + 1e-9
    if witnesses and not rule.whole_batch:
        columns = np.arange(expected.n_contexts)
        for action in range(len(expected.actions)):
            codes = np.where(certificate.inner[action], action, certificate.decided)
            reported = certificate.witness(codes)
            assert np.array_equal(rule(reported, **known.arguments(slice(None))).codes, codes)
            assert np.abs(reported.values - expected.values)[:, :, columns].max() <= threat.delta + 1e-12
    return certificate


@pytest.mark.long
@pytest.mark.parametrize("case", RULES, ids=named)
def test_no_attack_leaves_the_outer_set_and_no_metric_its_bounds(case):
    rule, generator = strategies.create(*case), np.random.default_rng([len(case[0]), len(str(case[1]))])
    for number, (delta, coalition) in enumerate(THREATS):
        expected = mixed(generator, 3, 3 + number % 2, 24)
        assert_nothing_gets_past(rule, expected, Threat(delta, coalition), generator, tries=40)


@pytest.mark.long
@pytest.mark.parametrize("case", RULES, ids=named)
def test_sets_grow_with_radius_and_coalition_and_start_from_the_decision(case):
    rule, generator = strategies.create(*case), np.random.default_rng(3)
    expected = mixed(generator, 3, 3, 30)
    known = known_of(expected)

    def outer(delta, coalition):
        return certify(rule, expected, Threat(delta, coalition), known=known).outer

    plain = rule(expected, **known.arguments(slice(None))).codes
    previous = np.arange(3)[:, None] == plain
    assert np.array_equal(outer(0.0, None), previous)
    assert np.array_equal(outer(0.4, ()), previous)
    for delta in (1e-4, 0.05, 0.1, 0.4, 1.0):
        small, large, everybody = outer(delta, ("Q",)), outer(delta, ("P", "Q")), outer(delta, None)
        assert (small <= large).all()
        assert (large <= everybody).all()
        assert (previous <= everybody).all()
        previous = everybody


@pytest.mark.long
def test_a_box_that_clips_honest_rewards_is_respected():
    generator = np.random.default_rng(4)
    for name in (*BALLOTS, "kalai_smorodinsky", "nash_bargaining", "compromise_programming", "utilitarian"):
        expected = mixed(generator, 3, 3, 20)
        clipped = world(np.clip(expected.values, 0.2, 0.8))
        threat = Threat(0.15, ("P", "R"), box=(0.2, 0.8))
        assert_nothing_gets_past(strategies.create(name), clipped, threat, generator, tries=30)


@pytest.mark.parametrize("name", ["kalai_smorodinsky", "nash_bargaining", "relative_utilitarian", "minimax_regret"])
def test_frozen_reference_points_are_attacked_as_frozen(name):
    generator = np.random.default_rng(6)
    expected, threat = mixed(generator, 3, 3, 40), Threat(0.1, ("P", "Q"), frozen=True)
    certificate = certify(strategies.create(name), expected, threat)
    attack = coordinate_attack(strategies.create(name), expected, threat, generator=generator, restarts=1)
    assert certificate.exact.all()
    assert (attack.won <= certificate.outer).all()


@dataclass(frozen=True)
class LeastLiked(ContextRule):
    """A rule of a third party that is not registered, and perverse: more is worse."""

    name = "least_liked"

    def decide(self, block):
        scores = -block.totals
        found = select_best(scores, block.totals, block.tolerance)
        return Decisions(self.label, block.actions, found.codes, found.tied, scores)


def test_nothing_is_ruled_out_for_a_rule_that_nobody_knows():
    generator = np.random.default_rng(5)
    expected = mixed(generator, 3, 3, 20)
    certificate = assert_nothing_gets_past(LeastLiked(), expected, Threat(0.01, ("P",)), generator, tries=30)
    assert certificate.outer.all()
    assert not certificate.certified.any()
    assert certify(LeastLiked(), expected, Threat(0.01, ())).certified.all()
