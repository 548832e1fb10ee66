"""No attack leaves the outer sets, and every comparison of two actions is attained."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates import Threat
from accordant.certificates.certificate import method_for
from accordant.certificates.pairwise.attacks import attack_reports, plans
from accordant.certificates.pairwise.comparison import AHEAD, BEHIND, LEVEL, PairwiseComparison, beside
from accordant.certificates.reports import Reports
from accordant.strategies.block import block_of
from accordant.utilities import ExpectedRewards

NAMES = ("P", "Q", "R")
CLOSE = 2e-12


def points(generator, reports, number):
    """Random reports: inside, at corners, half-way, in favour of one action, and a row's top action near its rivals."""
    low, high, honest = reports.lowest, reports.highest, reports.honest.values
    for each in range(number):
        draw = generator.random(low.shape)
        corner = np.where(draw < 0.5, low, high)
        if each % 5 == 0:
            yield low + draw * (high - low)
        elif each % 5 == 1:
            yield corner
        elif each % 5 == 2:
            yield np.where(draw < 0.3, honest, corner)
        elif each % 5 == 3:
            action, rival = generator.permutation(low.shape[1])[:2]
            corner[:, action], corner[:, rival] = high[:, action], low[:, rival]
            yield corner
        else:
            moved = generator.integers(low.shape[1])
            others = np.delete(corner, moved, axis=1).max(axis=1) - generator.choice([0.0, 1e-12, 1e-9, 1e-3, 0.02])
            corner[:, moved] = np.clip(others, low[:, moved], high[:, moved])
            yield corner


@pytest.mark.long
@pytest.mark.parametrize("shape", [(3, 2, 100), (3, 3, 200), (3, 4, 100)], ids=str)
def test_no_attack_leaves_the_outer_set(rule, shape, world):
    generator = np.random.default_rng(shape[1])
    values = generator.random(shape)
    values[:, :, : shape[2] // 2] = np.round(values[:, :, : shape[2] // 2], 1)
    method, columns = method_for(rule, shape[1], frozen=False), np.arange(shape[2])
    for delta, coalition in ((0.05, None), (0.2, ("P", "R"))):
        block = block_of(world(values), slice(0, shape[2]))
        reports = Reports.of(block, Threat(delta, coalition))
        exact = method.exact(rule, shape[1])
        outer = method.reach(rule, reports).outer if exact else method.outer(rule, reports)
        inner = method.reach(rule, reports).inner
        outer[rule(world(values)).codes, columns] = True
        assert (inner <= outer).all()
        for reported in points(generator, reports, 60):
            assert outer[rule(world(reported)).codes, columns].all()


@pytest.mark.few(1)
def test_coordinate_search_does_not_leave_the_outer_set(rule, world):
    """From a random corner, entries move to an end or the middle wherever that helps an action."""
    generator = np.random.default_rng(12)
    values = generator.random((3, 3, 60))
    values[:, :, :30] = np.round(values[:, :, :30], 1)
    reports = Reports.of(block_of(world(values), slice(0, 60)), Threat(0.1, ("P", "R")))
    outer = method_for(rule, 3, frozen=False).outer(rule, reports)
    outer[rule(world(values)).codes, np.arange(60)] = True
    ends = (reports.lowest, (reports.lowest + reports.highest) / 2, reports.highest)
    for action in range(3):
        reported = np.where(generator.random(values.shape) < 0.5, *ends[::2])
        best = np.full(60, -np.inf)
        for i, c, end in [(i, c, end) for i in (0, 2) for c in range(3) for end in ends] * 2:
            kept = reported[i, c].copy()
            reported[i, c] = end[i, c]
            codes = rule(world(reported)).codes
            assert outer[codes, np.arange(60)].all()
            scores = np.maximum(reports.scores(rule, reported), -60.0) + 1e-3 * reports.totals(rule, reported)
            found = scores[action] - np.delete(scores, action, axis=0).max(axis=0)
            reported[i, c] = np.where(found >= best, reported[i, c], kept)
            best = np.maximum(best, found)


@pytest.mark.few(4)
def test_single_precision_ties_are_on_the_safe_side(rule):
    generator = np.random.default_rng(13)
    values = np.round(generator.random((3, 3, 200)), 1) + generator.normal(0, 3e-7, size=(3, 3, 200))
    single = ExpectedRewards(np.clip(values, 0, 1).astype(np.float32), stakeholders=NAMES, actions=("a1", "a2", "a3"))
    block = block_of(single, slice(0, 200))
    assert block.tolerance == 1e-6
    for delta in (1e-6, 0.1):
        reports = Reports.of(block, Threat(delta, ("P", "R")))
        outer = method_for(rule, 3, frozen=False).outer(rule, reports)
        outer[rule(single).codes, np.arange(200)] = True
        for reported in points(generator, reports, 30):
            assert outer[reports.choose(rule, reported), np.arange(200)].all()


@pytest.mark.few(2)
@pytest.mark.parametrize("n_actions", [2, 3, 4])
def test_marks_of_pairs_are_attained_and_never_surpassed(context_rule, n_actions, world):
    """The best of the thirds are at an end, or level with the rival: 3^(thirds) reports of every row have it."""
    rule, generator = context_rule, np.random.default_rng(n_actions)
    values = generator.random((3, n_actions, 80))
    values[:, :, :40] = np.round(values[:, :, :40], 1)
    block = block_of(world(values), slice(0, 80))
    reports = Reports.of(block, Threat(0.1, ("P", "Q")))
    marks = method_for(rule, n_actions, frozen=False).compare(rule, PairwiseComparison.of(rule, reports), reports)
    for action, rival in itertools.permutations(range(n_actions), 2):
        thirds = [c for c in range(n_actions) if c not in (action, rival)]
        attained = np.full(80, BEHIND)
        near = np.clip(reports.lowest[:, rival][:, None], reports.lowest, reports.highest)
        ends = (reports.lowest, reports.highest, near)
        entries = [(i, c) for i in range(2) for c in thirds]
        for chosen in itertools.product(range(3), repeat=len(entries)):
            reported = reports.promoting(action)
            for (i, c), end in zip(entries, chosen, strict=True):
                reported[i, c] = ends[end][i, c]
            attained = np.maximum(attained, standing(reports.scores(rule, reported), action, rival))
        assert (attained <= marks[action, rival]).all(), (action, rival)
        equal = attained == marks[action, rival]
        assert equal[40:].all(), (action, rival)
        assert (
            equal.mean() > 0.85
        )  # ends that meet exactly leave somebody indifferent, where marks are on the safe side
        for reported in points(generator, reports, 30):
            assert (standing(reports.scores(rule, reported), action, rival) <= marks[action, rival]).all()


def standing(scores, action, rival):
    """Return where an action stands beside a rival, up to rounding."""
    mine, other = scores[action], scores[rival]
    with np.errstate(invalid="ignore"):
        lead = np.where(mine == other, 0.0, mine - other)
    return np.where(lead > 1e-13, AHEAD, np.where(lead >= -CLOSE, LEVEL, BEHIND))


@pytest.mark.long
def test_extremes_beside_each_entry():
    values = np.round(np.random.default_rng(0).random((2, 4, 30)), 1)
    for a in range(4):
        assert np.array_equal(beside(values, True)[:, a], np.delete(values, a, axis=1).max(axis=1))
        assert np.array_equal(beside(values, False)[:, a], np.delete(values, a, axis=1).min(axis=1))
    assert (beside(values[:, :1], False) == np.inf).all()
    assert (beside(values[:, :1], True) == -np.inf).all()


def test_large_problems_try_fewer_attacks():
    assert len(plans(3, 3, tailored=True, levelled=True)) == 1 + 1 + 3 + 3 + 9 + 1
    assert len(plans(10, 10, tailored=False, levelled=False)) == 1 + 20
    assert [len(plans(n, 2, tailored=False, levelled=False)) for n in (125, 126)] == [1 + 2 + 250 + 1, 1 + 2]


def test_an_attack_raises_a_rival_or_all_but_it_for_everybody_or_for_one_only(world):
    """By hand: the action at its highest, the others at their lowest but where the plan says otherwise."""
    reports = Reports.of(block_of(world(np.full((3, 4, 1), 0.5)), slice(0, 1)), Threat(0.25))
    tried = [plan for plan in plans(3, 4, tailored=False, levelled=False) if plan.column is not None]
    assert len(tried) == 2 * 4 * (1 + 3)
    for plan in tried:
        raised = {plan.column} if plan.raised == "it" else {0, 1, 2, 3} - {plan.column}
        rows = range(3) if plan.stakeholder is None else [plan.stakeholder]
        expected = np.full((3, 4), 0.25)
        expected[np.ix_(rows, sorted(raised))] = 0.75
        expected[:, 1] = 0.75
        reported = attack_reports(strategies.utilitarian, reports, 1, plan, None)
        assert reported[:, :, 0].tolist() == expected.tolist()


def test_from_four_actions_on_all_but_a_rival_are_raised_too():
    four = plans(3, 4, tailored=False, levelled=False)
    assert [sum(plan.raised == way for plan in four) for way in ("it", "others", "climb")] == [1 + 4 + 12, 4 + 12, 1]
    assert not any(plan.raised == "others" for plan in plans(3, 3, tailored=False, levelled=False))


@pytest.mark.few(5)
@pytest.mark.parametrize("weights", [(1.0, 1e-300, 1e-12), (1e9, 1.0, 1e-3), (1e-9, 1e-9, 1e-9)], ids=str)
@pytest.mark.parametrize(
    "name", ["compromise_programming", "minimax_regret", "nash_bargaining", "relative_utilitarian", "kalai_smorodinsky"]
)
def test_extreme_weights_are_on_the_safe_side(name, weights, world):
    rule, generator = strategies.create(name, {"weights": weights}), np.random.default_rng(14)
    expected = world(np.round(generator.random((3, 3, 100)), 1))
    reports = Reports.of(block_of(expected, slice(0, 100)), Threat(0.1))
    outer = method_for(rule, 3, frozen=False).outer(rule, reports)
    outer[rule(expected).codes, np.arange(100)] = True
    for reported in points(generator, reports, 60):
        assert outer[rule(world(reported)).codes, np.arange(100)].all()
