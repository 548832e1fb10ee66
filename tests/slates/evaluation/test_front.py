"""Fronts: dominance by a loop over pairs, and how sure it is."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates.evaluation import front, scores
from accordant.slates.evaluation.board import Board, BoardColumn, BoardRow
from accordant.slates.evaluation.front import dominance
from accordant.evaluation.composite import EQUAL
from accordant.statistics import dominates
from accordant.slates import measures

MEASURES = {
    "user": measures.create("attained", {"stakeholder": "guest"}),
    "worst off": measures.create("worst_off"),
    "regret": measures.create("regret", {"stakeholder": "town"}),
}


def board_of(points, draws=None, goals=("max", "max")):
    """A board with given values, shape (rule, measure)."""
    points = np.asarray(points, dtype=float)
    rows = tuple(BoardRow(f"r{i}", {}, 0.0, 0.0) for i in range(len(points)))
    columns = tuple(BoardColumn(f"m{m}", goal, "") for m, goal in enumerate(goals))
    draws = np.empty((0, *points.shape)) if draws is None else np.asarray(draws, dtype=float)
    return Board(rows, columns, 1, 1, len(draws), 0.95, 0, points, draws, np.arange(len(points))[:, None])


def test_by_hand():
    found = front(board_of([[1, 0], [0, 1], [0.5, 0.5], [0.5, 0.4], [0.5, 0.5], [np.nan, 1]]), ("m0", "m1"))
    assert found.rules == ("r0", "r1", "r2", "r4")
    assert found.rows[3].dominated_by == ("r2", "r4")
    assert found.rows[5].values == (None, 1.0)
    assert not found.rows[5].on_front
    assert [row.probability for row in found.rows] == [None] * 6
    json.dumps(found.to_json(), allow_nan=False)


def test_goals():
    found = front(board_of([[1, 1], [0, 0], [1, 0]], goals=("max", "min")), ("m0", "m1"))
    assert found.rules == ("r2",)
    assert found.rows[0].dominated_by == ("r2",)
    assert front(board_of([[1, 1], [0, 0], [1, 0]], goals=("max", "min")), ("m1",)).rules == ("r1", "r2")


def test_probability_counts_resamples_with_values():
    draws = [[[1, 1], [0, 0]], [[0, 0], [1, 1]], [[1, 1], [np.nan, 0]], [[1, 1], [0, 0]]]
    found = front(board_of([[1, 1], [0, 0]], draws), ("m0", "m1"))
    assert [row.probability for row in found.rows] == [0.75, pytest.approx(1 / 3)]
    for r, row in enumerate(found.rows):
        other = found.rows[1 - r]
        shown = {other.rule: 1 - row.probability} if row.probability < 1 else {}
        assert row.dominators == pytest.approx(shown)
        assert f"some rule does ({other.rule} in {1 - row.probability:.0%})" in row.words


@pytest.mark.parametrize(("by", "often", "probability", "words"), [
    ("", {}, None, "No rule dominates it on these requests."),
    ("", {}, 1.0, "No rule dominates it on these requests, and none does in any resample."),
    ("", {}, 0.98, "No rule dominates it on these requests; in 2% of resamples some rule does."),
    ("", {"a": 0.07}, 0.9, "No rule dominates it on these requests; in 10% of resamples some rule does (a in 7%)."),
    ("", dict.fromkeys("abcd", 0.1), 0.5,
     "No rule dominates it on these requests; in 50% of resamples some rule does (a in 10%, b in 10%, c in 10%, and 1 more)."),
    ("a", {}, None, "a dominates it on these requests."),
    ("abc", {}, None, "a, b, c dominate it on these requests."),
    ("abcd", {}, None, "a, b, c and 1 more dominate it on these requests."),
    ("b", {"b": 0.6, "a": 0.1, "c": 0.06}, 0.25,
     "b dominates it on these requests; in 75% of resamples some rule does (b in 60%, a in 10%, c in 6%)."),
    ("ab", {"b": 0.6, "a": 0.2, "c": 0.1, "d": 0.1, "e": 0.1}, 0.25,
     "a, b dominate it on these requests; in 75% of resamples some rule does (b in 60%, a in 20%, c in 10%, and 2 more)."),
])  # fmt: skip
def test_at_most_three_rules_are_named(by, often, probability, words):
    assert dominance(tuple(by), often, probability) == words


def test_whoever_dominates_seldom_is_named_only_if_it_does_on_the_data():
    """Of 20 resamples r1 dominates r0 in one, r2 in two, r3 in three; on the data r1 alone or r2 alone does."""
    draws = np.zeros((20, 4, 1))
    draws[0, 1] = draws[1:3, 2] = draws[3:6, 3] = 1
    for by, named in (("r1", {"r3": 0.15, "r2": 0.1, "r1": 0.05}), ("r2", {"r3": 0.15, "r2": 0.1})):
        found = front(board_of([[0.0], [by == "r1"], [by == "r2"], [0.0]], draws), ("m0",)).rows[0]
        assert found.dominated_by == (by,)
        assert list(found.dominators) == list(named) and found.dominators == pytest.approx(named)


def test_rounding_dominates_nobody():
    assert front(board_of([[1, 1], [1 - 1e-14, 1 - 1e-14]]), ("m0", "m1")).rules == ("r0", "r1")


@pytest.mark.long
@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7))
def test_dominance_against_loop(points):
    values = np.array(points, dtype=float)
    for i, one in enumerate(points):
        for j, other in enumerate(points):
            right = all(a >= b for a, b in zip(one, other, strict=True)) and one != other
            assert dominates(values, EQUAL)[i, j] == right
    assert not dominates(values, EQUAL).all(axis=0).any()
    assert (~dominates(values, EQUAL).any(axis=0)).any()  # somebody is on the front


def test_front_of_served(served):
    board = scores(served, MEASURES, resamples=80, seed=2)
    found = front(board, ("user", "worst off"))
    guest = next(row for row in found.rows if row.rule == "guest")
    assert guest.on_front and guest.probability == 1.0  # nothing serves the user better
    for row, point in zip(found.rows, board.points, strict=True):
        better = [
            rule
            for rule, other in zip(board.rules, board.points, strict=True)
            if (other[:2] >= point[:2] - 1e-12).all() and (other[:2] > point[:2] + 1e-12).any()
        ]
        assert list(row.dominated_by) == better
        held = 0
        for draw in board.draws[:, :, :2]:
            own = draw[board.place(row.rule)]
            held += not any((other >= own - 1e-12).all() and (other > own + 1e-12).any() for other in draw)
        assert math.isclose(row.probability, held / 80)
        assert all(share > 0.05 or rule in row.dominated_by for rule, share in row.dominators.items())
        assert set(row.dominated_by) <= set(row.dominators)


def test_wrong_axes(served):
    board = scores(served, MEASURES, resamples=0)
    with pytest.raises(UnknownNameError, match="did you mean 'user'"):
        front(board, ("users", "worst off"))
    with pytest.raises(InputError, match="at least one measure"):
        front(board, ())


@pytest.mark.parametrize("goal", ["max", "min"])
@pytest.mark.parametrize(("gap", "told"), [(0.75, False), (1.0, False), (1.25, True)])
def test_values_up_to_rounding_apart_are_equal_whatever_the_goal(goal, gap, told):
    points = [[0.0], [gap * EQUAL]]
    found = front(board_of(points, [points] * 4, goals=(goal,)), ("m0",))
    worse = found.rows[0 if goal == "max" else 1]
    assert bool(worse.dominated_by) == told
    assert worse.probability == (0.0 if told else 1.0)
    assert worse.on_front != told and found.axes == ("m0",)
    assert worse.values == (0.0 if goal == "max" else gap * EQUAL,)
