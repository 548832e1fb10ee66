"""What strategies declare about themselves: every declared structure gives the sets that enumeration finds.

Certificates of rules that judge each action by its own column trust `Strategy.structure`. Here each strategy, with many
parameters, is enumerated on grids that hold both ends of every interval; coarse values make ties.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import accordant as ac
from accordant import strategies
from accordant.certificates import Threat, certify
from accordant.certificates.certificate import method_for
from accordant.strategies.block import block_of
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.strategy import strategies as registry

NAMES = ("P", "Q", "R")
ACTIONS = ("a", "b", "c")
WEIGHTS = {"weights": (1.0, 2.0, 0.5)}
SILENT = {"weights": (1.0, 0.0, 2.0)}
OPEN = {"disagreement": 0.0, "ideal": 1.0}
INNER = {"disagreement": 0.25, "ideal": 0.75}
QUO = {"disagreement": "status_quo", "status_quo": "b"}

# declared to judge columns by themselves, whatever reference points do
COLUMNS = [
    ("utilitarian", {}), ("utilitarian", WEIGHTS), ("utilitarian", SILENT),
    ("utilitarian", {"selection": "softmax", "temperature": 0.1}),
    ("maximin", {}), ("maximin", SILENT), ("leximin", {}), ("leximin", SILENT),
    ("nash_social_welfare", {}), ("nash_social_welfare", WEIGHTS), ("nash_social_welfare", {"selection": "proportional"}),
    *[("alpha_fairness", {"alpha": alpha}) for alpha in (0.0, 0.5, 1.0, 2.0, 3.5, float("inf"))],
    *[("atkinson", {"aversion": aversion}) for aversion in (0.0, 0.5, 1.0, 2.0, float("inf"))],
    ("atkinson", {"aversion": 2.0, **WEIGHTS}),
    ("generalised_gini", {}), ("generalised_gini", {"order_weights": (1.0, 0.0, 0.0)}),
    ("generalised_gini", {"order_weights": (0.2, 0.3, 0.5)}), ("generalised_gini", WEIGHTS),
    ("hurwicz", {}), ("hurwicz", {"optimism": 1.0}), ("hurwicz", {"optimism": 0.25}),
    ("sufficientarian", {}), ("sufficientarian", {"floor": (0.3, 0.5, 0.7)}), ("sufficientarian", {"floor": 0.6, **WEIGHTS}),
    ("stakeholder", {"stakeholder": "Q"}),
    ("population_maximin", {"multipliers": (0.5, 0.0, 2.5)}), ("population_leximin", {"multipliers": (0.5, 1.5, 1.0)}),
    ("population_nash", {"multipliers": (0.5, 1.5, 1.0), **WEIGHTS}),
    ("population_nash", {"multipliers": (0.5, 0.0, 1.0), **SILENT}),
    ("kalai_smorodinsky", OPEN), ("kalai_smorodinsky", INNER), ("kalai_smorodinsky", {**INNER, **SILENT}),
    ("kalai_smorodinsky", {"disagreement": (0.1, 0.2, 0.5), "ideal": (0.9, 0.4, 0.5)}),
    ("nash_bargaining", {"disagreement": 0.0}), ("nash_bargaining", {"disagreement": 0.5, **WEIGHTS}),
    ("egalitarian_equivalent", {"disagreement": 0.3}), ("egalitarian_equivalent", {"disagreement": 0.3, **WEIGHTS}),
    ("relative_utilitarian", OPEN), ("relative_utilitarian", {**INNER, **WEIGHTS}),
    ("compromise_programming", {"ideal": 1.0}), ("compromise_programming", {"ideal": 0.5}),
    ("compromise_programming", {"ideal": 0.6, "exponent": 1.0, **WEIGHTS}),
    ("compromise_programming", {"ideal": 0.6, "exponent": float("inf"), **WEIGHTS}),
    ("compromise_programming", {"ideal": 0.5, "exponent": 3.0}),
    ("compromise_programming", {"ideal": 0.5, "two_sided": True}),
    ("compromise_programming", {"ideal": 0.5, "two_sided": True, "exponent": 1.0, **WEIGHTS}),
    ("compromise_programming", {"ideal": 0.5, "two_sided": True, **SILENT}),
    ("range", {}), ("range", WEIGHTS), ("approval", {"threshold": 0.5}), ("approval", {"threshold": 0.3, **WEIGHTS}),
    ("majority_judgment", {}), ("majority_judgment", {"grades": 2}), ("majority_judgment", {"grades": 10, **WEIGHTS}),
    ("majority_judgment", SILENT),
    ("constrained", {"rule": "utilitarian", "floors": 0.4}),
    ("constrained", {"rule": "leximin", "floors": {"P": 0.5}}),
    ("constrained", {"rule": {"name": "population_maximin", "parameters": {"multipliers": (0.5, 0.5, 2.0)}}, "floors": 0.3}),
    ("constrained", {"rule": "maximin", "vetoes": {"Q": 0.5}}),
    ("constrained", {"rule": "nash_social_welfare", "floors": {"R": 0.3}, "vetoes": {"P": 0.4}}),
    ("constrained", {"rule": {"name": "kalai_smorodinsky", "parameters": OPEN}, "floors": 0.7}),
    ("constrained", {"rule": "majority_judgment", "floors": 0.3}),
    ("constrained", {"rule": {"name": "approval", "parameters": {"threshold": 0.5}}, "floors": {"Q": 0.5}}),
]  # fmt: skip

BOTTLENECK = ("compromise_programming", {"ideal": 0.5, "two_sided": True, "exponent": float("inf")})

# declared so only if reference points stay where honest reports put them
FROZEN = [
    ("debate", {}),
    ("kalai_smorodinsky", {}), ("kalai_smorodinsky", SILENT), ("kalai_smorodinsky", QUO),
    ("kalai_smorodinsky", {"disagreement": "context", "ideal": 1.0}),
    ("nash_bargaining", {}), ("nash_bargaining", WEIGHTS), ("nash_bargaining", QUO), ("nash_bargaining", {**QUO, **SILENT}),
    ("egalitarian_equivalent", {}), ("egalitarian_equivalent", {**QUO, **WEIGHTS}),
    ("relative_utilitarian", {}), ("relative_utilitarian", QUO),
    ("compromise_programming", {}), ("compromise_programming", {"exponent": float("inf")}),
    ("compromise_programming", {"two_sided": True}), ("compromise_programming", {"two_sided": True, **WEIGHTS}),
    ("minimax_regret", {}), ("minimax_regret", WEIGHTS),
]  # fmt: skip

# these depend on E in another way, so a method of their own, or none, must serve them
OTHERS = [
    ("debate", {}),
    ("kalai_smorodinsky", {}), ("nash_bargaining", {}), ("relative_utilitarian", {}), ("compromise_programming", {}),
    ("egalitarian_equivalent", {}), ("minimax_regret", {}), ("range", {"normalised": True}), ("approval", {}),
    ("kalai_smorodinsky", {"disagreement": 0.0}),
    ("constrained", {"rule": "kalai_smorodinsky", "floors": 0.3}),
    ("constrained", {"rule": "utilitarian", "floors": "status_quo", "status_quo": "a"}),
    ("constrained", {"rule": "utilitarian", "vetoes": {"Q": "worst"}}),
    ("constrained", {"rule": "utilitarian", "budgets": {"a": 1}}),
    ("population_by_group", {"attribute": "sex"}),
]  # fmt: skip

FIXED = [
    ("constant", {"action": "b"}),
    ("decided", {"column": "taken"}),
    ("logged", {}),
    ("oracle", {}),
    ("outcome_only", {}),
    ("random", {}),
]


def world(values):
    return ac.ExpectedRewards(values, stakeholders=NAMES[: len(values)], actions=ACTIONS[: values.shape[1]])


def named(case):
    return registry.create(*case).label


def grid_of(values, members, delta, levels, extra):
    """Return every combination of some levels of the entries of the members, shape (stakeholder, action, point)."""
    entries = [(i, a) for i in members for a in range(values.shape[1])]
    grids = []
    for i, a in entries:
        low, high = max(values[i, a] - delta, 0.0), min(values[i, a] + delta, 1.0)
        inside = [point for point in extra if low < point < high]
        grids.append(np.unique(np.concatenate([np.linspace(low, high, levels), inside])))
    points = np.array(list(itertools.product(*grids)))
    reported = np.repeat(values[:, :, None], len(points), axis=2)
    for (i, a), column in zip(entries, points.T, strict=True):
        reported[i, a] = column
    return reported


def situations(generator, n_cases):
    """Yield coarse E of different shapes with a coalition and a radius."""
    for case in range(n_cases):
        n, k = ((3, 3), (2, 2), (3, 3), (3, 2))[case % 4]
        values = np.round(generator.random((n, k)), 1 if case % 3 else 2)
        members = generator.choice(n, size=1 if k == 3 else 2, replace=False)
        yield values, members, float(generator.choice([0.05, 0.1, 0.2, 0.45]))


def fits(case, n_stakeholders):
    """Return whether parameters name no third stakeholder."""
    return n_stakeholders == 3 or not any(key in str(case[1]) for key in ("weights", "R'", "(0.", "status_quo': 'c"))


@pytest.mark.few(4)
@pytest.mark.parametrize("case", COLUMNS, ids=named)
def test_rules_that_judge_columns_have_exactly_the_enumerated_sets(case):
    rule = strategies.create(*case)
    assert rule.structure().startswith("column_")
    checked = 0
    for values, members, delta in situations(np.random.default_rng(len(rule.label)), 16):
        if not fits(case, len(values)):
            continue
        reported = grid_of(values, members, delta, 5 if values.shape[1] == 3 else 4, (0.3, 0.5, 0.6))
        won = np.bincount(rule(world(reported)).codes, minlength=values.shape[1]) > 0
        found = certify(rule, world(values), Threat(delta, tuple(NAMES[i] for i in members)))
        assert found.exact.all()
        assert found.outer[:, 0].tolist() == won.tolist(), (values.tolist(), members, delta)
        checked += 1
    assert checked >= 8


def test_two_sided_largest_shortfalls_that_tie_are_reached_by_sums():
    rule, values = strategies.create(*BOTTLENECK), np.array([[0.9, 0.6], [0.4, 0.7]])
    reported = grid_of(values, (0, 1), 0.1, 4, (0.5,))
    won = np.bincount(rule(world(reported)).codes, minlength=2) > 0
    assert won.all()
    assert certify(rule, world(values), Threat(0.1)).outer.all()


def test_a_constrained_rule_freezes_reference_points_or_says_that_it_does_not():
    rule = strategies.create("constrained", {"rule": "kalai_smorodinsky", "floors": 0.3})
    generator = np.random.default_rng(0)
    for _ in range(60):
        values = generator.random((3, 3)).round(1)
        points = {"disagreement": tuple(values.min(axis=1)), "ideal": tuple(values.max(axis=1))}
        inner = {"name": "kalai_smorodinsky", "parameters": points}
        declared = strategies.create("constrained", {"rule": inner, "floors": 0.3})
        frozen = certify(rule, world(values), Threat(0.1, frozen=True)).outer
        assert (certify(declared, world(values), Threat(0.1)).outer <= frozen).all()


@pytest.mark.few(6)
@pytest.mark.parametrize("case", FROZEN, ids=named)
def test_rules_with_frozen_reference_points_have_exactly_the_enumerated_sets(case):
    rule = strategies.create(*case)
    assert isinstance(rule, ContextRule)
    assert rule.structure() == "other"
    assert rule.structure(frozen=True).startswith("column_")
    for values, members, delta in situations(np.random.default_rng(len(rule.label)), 16):
        if not fits(case, len(values)):
            continue
        honest, extra = world(values), tuple(values.max(axis=1))
        reported = grid_of(values, members, delta, 5 if values.shape[1] == 3 else 4, extra)
        same = block_of(world(np.repeat(values[:, :, None], reported.shape[2], axis=2)), slice(0, reported.shape[2]))
        codes = rule.choose(replace(same, values=reported, honest=same)).codes
        won = np.bincount(codes, minlength=values.shape[1]) > 0
        found = certify(rule, honest, Threat(delta, tuple(NAMES[i] for i in members), frozen=True))
        assert found.exact.all()
        assert found.outer[:, 0].tolist() == won.tolist(), (values.tolist(), members, delta)


@pytest.mark.parametrize("case", OTHERS, ids=named)
def test_rules_that_do_not_judge_columns_say_so_and_would_be_judged_wrongly_if_they_did_not(case):
    rule = strategies.create(*case)
    assert rule.structure() in ("other", "ballots")
    assert method_for(rule, 3, frozen=False).words != method_for(strategies.leximin, 3, frozen=False).words


def test_a_relative_rule_shows_that_its_favourite_report_is_not_enough():
    rule, values = strategies.kalai_smorodinsky, np.array([[0.7, 0.4, 0.3], [0.8, 0.4, 0.3], [0.5, 0.4, 0.3]])
    best = np.maximum(values - 0.1, 0.0)
    best[:, 1] = values[:, 1] + 0.1
    better = best.copy()
    better[:, 2] = values[:, 2] + 0.1
    assert rule(world(best)).codes[0] == 0
    assert rule(world(better)).codes[0] == 1


@pytest.mark.parametrize("case", FIXED, ids=named)
def test_fixed_rules_do_not_read_rewards(case):
    assert strategies.create(*case).structure() == "fixed"


def test_every_registered_strategy_is_checked_here_or_counts_ballots():
    checked = {name for name, _ in [*COLUMNS, *FROZEN, *OTHERS, *FIXED]}
    ballots = {name for name in registry if registry.factory(name).dependence == "ballots"}
    assert {
        name for name in registry if registry.factory(name).__module__.startswith("accordant.")
    } <= checked | ballots


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [name for name in registry if registry.factory(name).kind == "voting"])
def test_with_two_actions_voting_rules_judge_columns(name):
    generator = np.random.default_rng(5)
    for case in range(40):
        values = np.round(generator.random((3, 2)), 1 if case % 2 else 2)
        weights = (None, (1.0, 2.0, 1.0), (0.3, 0.5, 0.9), (0.0, 1.0, 1.0))[case % 4]
        rule = strategies.create(name, {} if weights is None else {"weights": weights})
        members, delta = generator.choice(3, size=2, replace=False), float(generator.choice([0.05, 0.1, 0.3]))
        found = certify(rule, world(values), Threat(delta, tuple(NAMES[i] for i in members)))
        reported = grid_of(values, members, delta, 5, values.ravel())
        won = np.bincount(rule(world(reported)).codes, minlength=2) > 0
        assert found.exact.all()
        assert found.outer[:, 0].tolist() == won.tolist(), (values.tolist(), members, delta, weights)
