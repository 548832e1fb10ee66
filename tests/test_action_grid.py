"""Points of a continuous action: what is read, which point is nearest, and what holds between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.action_grid import ActionGrid
from accordant.contexts import Contexts, Log
from accordant.errors import DataError, InputError, SpecError, UnknownNameError
from accordant.learning.log_input import read_log
from accordant.problem import DecisionProblem, row_place

GRID = ActionGrid(("none", "low", "medium", "high"), (0.0, 50.0, 100.0, 200.0), "EUR")
PROBLEM = DecisionProblem(
    stakeholders=["Recipient"],
    actions={"none": 0, "low": 50, "medium": 100, "high": 200},
    action_unit="EUR",
    outcomes=["no", "yes"],
)
rising = st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 2)), min_size=2, max_size=6, unique=True).map(sorted)


def grid_of(points):
    return ActionGrid(tuple(f"p{k}" for k in range(len(points))), tuple(points))


@pytest.mark.long
@given(rising, st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_nearest_point_and_interpolation_are_those_of_a_search(points, shares):
    grid, array = grid_of(points), np.array(points)
    values = np.clip(array[0] + np.array(shares) * (array[-1] - array[0]), array[0], array[-1])
    nearest = grid.nearest(values)
    distances = np.abs(values[:, None] - array)
    assert np.allclose(distances[np.arange(len(values)), nearest], distances.min(axis=1))
    heights = np.random.default_rng(len(points)).normal(size=len(points))
    found = grid.interpolated(lambda point, rows: np.full(len(rows), heights[point]), values)
    assert np.allclose(found, np.interp(values, array, heights))


def test_between_points_the_nearer_one_counts_more():
    heights = np.array([1.0, 3.0, 7.0])
    found = grid_of((0.0, 2.0, 10.0)).interpolated(
        lambda point, rows: np.full(len(rows), heights[point]), np.array([0, 0.5, 2, 8, 10])
    )
    assert found == pytest.approx([1.0, 1.5, 3.0, 6.0, 7.0])


@given(rising)
def test_columns_span_what_is_linear_between_points(points):
    """With an intercept, some linear model is any heights at the points, and is straight between them."""
    grid, array = grid_of(points), np.array(points)
    heights = np.random.default_rng(7).normal(size=len(points))
    at_points = np.column_stack([np.ones(len(points)), grid.columns(array)])
    model = np.linalg.solve(at_points, heights)
    values = np.linspace(array[0], array[-1], 31)
    between = np.column_stack([np.ones(31), grid.columns(values)]) @ model
    assert np.allclose(between, np.interp(values, array, heights), atol=1e-6)


def test_a_value_half_way_counts_as_the_lower_point():
    assert GRID.nearest(np.array([25.0, 25.1, 75.0, 150.0, 150.5])).tolist() == [0, 1, 1, 2, 3]


def test_names_and_numbers_are_read_alike():
    cells = ["low", "63.5", 63.5, " high ", 0]
    assert GRID.read(cells, row_place).tolist() == [50.0, 63.5, 63.5, 200.0, 0.0]
    numbered = ActionGrid(("0", "10"), (0.0, 100.0))
    assert numbered.read(["10", "10.0"], row_place).tolist() == [100.0, 10.0]  # a name goes before a number


@pytest.mark.parametrize("cell", ["201", "-0.1", "nan", "inf"])
def test_a_number_outside_is_refused_with_its_place(cell):
    with pytest.raises(DataError, match=r"row 1: column 'amount': found .*; allowed: a number within \[0, 200\] EUR"):
        GRID.read(["low", cell], row_place, "amount")


def test_a_text_that_is_neither_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"row 0: 'mediun'.*medium"):
        GRID.read(["mediun"], row_place)


def test_the_refined_grid_has_the_middles():
    finer = GRID.refined()
    assert finer.values == (0.0, 25.0, 50.0, 75.0, 100.0, 150.0, 200.0)
    assert finer.names[::2] == GRID.names


def test_a_problem_declares_names_and_values_at_once_and_reads_back_what_it_writes():
    assert PROBLEM.actions == GRID.names
    assert PROBLEM.grid == GRID
    assert DecisionProblem(**PROBLEM.model_dump()) == PROBLEM
    assert DecisionProblem(stakeholders=["a"], actions={0: 0, 5: 5}, outcomes=["o"]).actions == ("0", "5")
    assert DecisionProblem(stakeholders=["a"], actions=["x", "y"], outcomes=["o"]).grid is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": {"none": 0, "low": "much"}}, "'low' has the value 'much'; allowed: a number"),
        ({"actions": {"none": 0, "low": True}}, "allowed: a number"),
        ({"actions": {"none": 10, "low": 5}}, "value 5 after 10; allowed: finite values in rising order"),
        ({"actions": {"none": 0, "low": float("inf")}}, "rising"),
        ({"actions": {"only": 1}}, "1 points; allowed: at least 2"),
        ({"actions": {"none": 0, "low": 5}, "action_values": [0, 5]}, "leave action_values out"),
        ({"actions": ["none", "low"], "action_values": [0]}, "1 values for 2 actions"),
        ({"actions": ["none", "low"], "action_unit": "EUR"}, "action_unit needs values"),
    ],
)
def test_what_is_no_grid_is_refused(changes, message):
    with pytest.raises(SpecError, match=message):
        DecisionProblem(**({"stakeholders": ["a"], "outcomes": ["o"]} | changes))
    assert issubclass(SpecError, InputError)


def test_a_log_keeps_values_beside_the_nearest_points():
    log, _ = read_log(PROBLEM, {"x": [1.0, 2.0, 3.0]}, ["low", 63.5, 199], ["no", "yes", "no"], {"Recipient": len})
    assert log.actions.tolist() == [1, 1, 3]
    assert log.action_values.tolist() == [50.0, 63.5, 199.0]
    part = log.take(np.array([2, 0]))
    assert part.action_values.tolist() == [199.0, 50.0]
    with pytest.raises(DataError, match="values of actions 1"):
        Log(Contexts({"x": [1.0, 2.0]}), np.zeros(2, int), np.zeros(2, int), action_values=np.zeros(1))
