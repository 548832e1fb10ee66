"""Which ballots a box of rewards allows, against grids and random points; reports that are made for a ballot have it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant.certificates.ballots.approvals import approvals
from accordant.certificates.ballots.orders import orders
from accordant.certificates.ballots.patterns import IMPOSSIBLE, SURE

TOLERANCE = 1e-12
KINDS = {
    "orders": lambda n: orders(n, by_rank=False),
    "ranks": lambda n: orders(n, by_rank=True),
    "approvals": approvals,
}


def boxes(generator, n_actions, n_contexts, digits):
    """Return random boxes of one member, some entries of which do not move, shape (1, action, context) each."""
    middle = generator.random((1, n_actions, n_contexts)).round(digits)
    delta = generator.choice([0.0, 0.1, 0.2], size=(1, 1, n_contexts))
    return np.maximum(middle - delta, 0.0), np.minimum(middle + delta, 1.0)


@pytest.mark.parametrize(
    ("n", "weak", "sequences"), [(1, 1, 1), (2, 3, 3), (3, 13, 16), (4, 75, 125), (5, 541, 1296), (6, 4683, 16807)]
)
def test_there_are_as_many_ballots_as_combinatorics_says(n, weak, sequences):
    assert len(orders(n, by_rank=False)) == weak
    assert len(orders(n, by_rank=True)) == sequences
    assert len(approvals(n)) == 2**n - 1


@pytest.mark.few(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("digits", [1, 6])
@pytest.mark.parametrize("n_actions", [2, 3, 4])
def test_no_report_has_a_ballot_that_was_ruled_out(kind, digits, n_actions):
    generator, patterns = np.random.default_rng(n_actions), KINDS[kind](n_actions)
    low, high = boxes(generator, n_actions, 150, digits)
    verdicts = patterns.allowed(low, high, TOLERANCE)[0]
    columns = np.arange(low.shape[2])
    changes = np.zeros(len(columns), dtype=bool)
    first = patterns.of(low, TOLERANCE)[0]
    for number in range(300):
        report = low + generator.random(low.shape) * (high - low)
        if number % 2:  # corners and level entries, where ties are
            level = generator.random((1, 1, len(columns))).round(1)
            report = np.clip(
                np.where(generator.random(low.shape) < 0.5, level, generator.choice([0, 1], low.shape)), low, high
            )
        codes = patterns.of(report, TOLERANCE)[0]
        assert (verdicts[codes, columns] != IMPOSSIBLE).all()
        changes |= codes != first
    movable = patterns.movable(low, high, TOLERANCE)
    assert (changes <= movable).all()
    assert (((verdicts > 0).sum(axis=0) > 1) <= movable).all() or kind == "approvals"
    assert movable.sum() < len(columns)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["orders", "approvals"])
def test_ballots_in_generic_boxes_are_those_that_a_grid_finds(kind):
    generator, patterns = np.random.default_rng(1), KINDS[kind](3)
    for _ in range(40):
        middle = generator.random(3)
        low, high = np.maximum(middle - 0.15, 0.0), np.minimum(middle + 0.15, 1.0)
        axes = [np.unique(np.concatenate([np.linspace(a, b, 25), [x for x in (*low, *high) if a < x < b]]))
                for a, b in zip(low, high, strict=True)]  # fmt: skip
        points = np.array(list(itertools.product(*axes))).T[None]
        found = np.unique(patterns.of(points, TOLERANCE))
        allowed = np.flatnonzero(patterns.allowed(low[None, :, None], high[None, :, None], TOLERANCE)[0, :, 0])
        assert set(found) <= set(allowed)
        # a cell that is smaller than the grid may be missed; there are few
        assert len(set(allowed) - set(found)) <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_actions", [2, 3, 4])
def test_reports_made_for_a_ballot_have_it_and_lie_in_the_box(kind, n_actions):
    generator, patterns = np.random.default_rng(2), KINDS[kind](n_actions)
    low, high = boxes(generator, n_actions, 60, 1)
    verdicts = patterns.allowed(low, high, TOLERANCE)
    made = 0
    for code in range(len(patterns)):
        where = np.flatnonzero(verdicts[0, code] == SURE)
        codes = np.full((1, len(where)), code)
        box = np.ascontiguousarray(low[:, :, where]), np.ascontiguousarray(high[:, :, where])
        reports = [patterns.middle(*box, codes, TOLERANCE)]
        reports += [patterns.favouring(*box, codes, action, TOLERANCE) for action in range(n_actions)]
        for report in reports:
            assert (report >= box[0]).all()
            assert (report <= box[1] + 1e-15).all()
            if report is reports[0] or kind != "approvals":
                assert (patterns.of(report, TOLERANCE) == code).all()
        made += len(where)
    assert made > 60


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("digits", [1, 6])
def test_no_report_has_a_larger_lead_than_allowed(kind, digits):
    generator, patterns = np.random.default_rng(3), KINDS[kind](3)
    low, high = boxes(generator, 3, 80, digits)
    verdicts = patterns.allowed(low, high, TOLERANCE)
    leads, columns = patterns.leads(low, high, verdicts, TOLERANCE)[0], np.arange(80)
    for _ in range(200):
        share = generator.random(low.shape).round(generator.integers(0, 2))
        report = np.clip(low + share * (high - low), low, high)
        codes = patterns.of(report, TOLERANCE)[0]
        for a, b in itertools.permutations(range(3), 2):
            assert (report[0, a] - report[0, b] <= leads[codes, a, b, columns] + 1e-15).all()


def test_a_favouring_report_has_the_largest_lead_over_every_other_action_at_once():
    generator, patterns = np.random.default_rng(4), orders(4, by_rank=False)
    low, high = boxes(generator, 4, 100, 6)
    verdicts = patterns.allowed(low, high, TOLERANCE)
    leads = patterns.leads(low, high, verdicts, TOLERANCE)[0]
    for code in range(len(patterns)):
        where = np.flatnonzero(verdicts[0, code] == SURE)
        box = np.ascontiguousarray(low[:, :, where]), np.ascontiguousarray(high[:, :, where])
        for a, b in itertools.permutations(range(4), 2):
            report = patterns.favouring(*box, np.full((1, len(where)), code), a, TOLERANCE)[0]
            assert np.allclose(report[a] - report[b], leads[code, a, b, where], atol=10 * TOLERANCE)


def test_ranks_that_are_no_weak_order_come_from_chains_of_nearly_level_rewards():
    chain = np.array([[[0.5 + 1.6e-12], [0.5 + 0.8e-12], [0.5]]])
    by_rank, weak = orders(3, by_rank=True), orders(3, by_rank=False)
    assert by_rank.ranks[by_rank.of(chain, TOLERANCE)[0, 0]].tolist() == [0, 0, 1]
    assert weak.ranks[weak.of(chain, TOLERANCE)[0, 0]].tolist() == [0, 0, 2]
    allowed = by_rank.allowed(chain - 1e-12, chain + 1e-12, TOLERANCE)[0, :, 0]
    assert allowed[by_rank.of(chain, TOLERANCE)[0, 0]] != IMPOSSIBLE


def test_leads_where_a_set_is_approved_are_those_of_a_linear_program():
    from scipy.optimize import linprog

    generator, patterns = np.random.default_rng(5), approvals(3)
    low, high = boxes(generator, 3, 12, 6)
    verdicts = patterns.allowed(low, high, TOLERANCE)
    leads = patterns.leads(low, high, verdicts, TOLERANCE)[0]
    checked = 0
    for code, t in np.argwhere(verdicts[0] == SURE):
        inside = patterns.approvals[code]
        above_mean = np.full((3, 3), 1 / 3) - np.eye(3)  # mean − reward, at most 0 in the set, at least 0 outside
        rows = above_mean * np.where(inside, 1.0, -1.0)[:, None]
        for a, b in itertools.permutations(range(3), 2):
            goal = np.zeros(3)
            goal[a], goal[b] = -1.0, 1.0
            found = linprog(goal, rows, np.zeros(3), bounds=list(zip(low[0, :, t], high[0, :, t], strict=True)))
            assert leads[code, a, b, t] == pytest.approx(-found.fun, abs=1e-9)
            checked += 1
    assert checked > 100


@pytest.mark.parametrize(
    ("ranks", "first", "second", "third"),
    [([0, 1, 2], [0.3, 0.4], [0.0, 0.4], [0.0, 0.0]), ([0, 0, 2], [0.125, 0.4], [0.125, 0.525], [0.0, 0.0])],
)
def test_leads_by_hand(ranks, first, second, third):
    """Who is below another is worth no more than it; who is level with another, by no more than the tolerance."""
    patterns = orders(3, by_rank=False)
    low, high = np.array([[[0.3], [0.2], [0.1]]]), np.array([[[0.5], [0.9], [0.6]]])
    leads = patterns.leads(low, high, patterns.allowed(low, high, 0.125), 0.125)
    table = leads[0, patterns.ranks.tolist().index(ranks), :, :, 0]
    for a, expected in enumerate((first, second, third)):
        assert np.delete(table[a], a) == pytest.approx(expected)
