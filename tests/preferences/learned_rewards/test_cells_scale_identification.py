"""Features of cells, the map to [0, 1], and what comparisons leave open."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.contexts import Contexts, Log
from accordant.errors import DataError, UnknownNameError
from accordant.preferences.learned_rewards import read_answers
from accordant.preferences.learned_rewards.fitted_reward import CellFeatures
from accordant.preferences.learned_rewards.comparison_reward import Agreement
from accordant.preferences.learned_rewards.gaps import gaps
from accordant.preferences.learners.shared_items import connected_parts
from accordant.preferences.learned_rewards.fitted_reward import Scale

# --- cells -----------------------------------------------------------------------------------------------------


def test_features_of_discrete_cells_by_hand():
    features = CellFeatures(("a", "b"), ("x", "y", "z"), {"income": (10.0, 2.0)})
    assert features.shape == (6, 2)
    contexts = Contexts({"income": [10.0, 14.0, np.nan]})
    np.testing.assert_array_equal(
        features.of_contexts(contexts), [[1, 0], [1, 2], [1, 0]]
    )  # a missing value is the mean
    np.testing.assert_array_equal(features.of_cell("b", "y", 3), [[0, 0, 0, 0, 1, 0]])


def test_features_of_continuous_cells_by_hand():
    features = CellFeatures(("a", "b"), (), {}, (5.0, 2.0, 1.0, 9.0))
    np.testing.assert_array_equal(features.of_cell("b", 7.0, 2), [[0, 0, 0, 1, 1, 1]])
    np.testing.assert_array_equal(
        features.of_cell("a", np.array([1.0, 9.0]), 2), [[1, -2, 4, 0, 0, 0], [1, 2, 4, 0, 0, 0]]
    )
    np.testing.assert_array_equal(
        features.of_cell("a", 99.0, 1), features.of_cell("a", 9.0, 1)
    )  # beyond what was compared
    np.testing.assert_array_equal(features.of_cell("a", -99.0, 1), features.of_cell("a", 1.0, 1))


def test_items_are_products_of_cell_and_context(tmp_path, problem, log, write_rows):
    columns = ("chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome", "income")
    rows = [("Offer", "Done", "Trial", "Left", 13), ("Decline", "Left", "Offer", "Done", 7)]
    answers = read_answers(write_rows(tmp_path / "a.csv", rows, columns), problem, context=["income"])
    features = CellFeatures.fit(log, problem, ("income",), answers)
    mean, spread = features.context["income"]
    known = log.contexts["income"][np.isfinite(log.contexts["income"])]
    assert (mean, spread) == (pytest.approx(known.mean()), pytest.approx(known.std()))
    found = features.items(answers)
    for side in (0, 1):
        for row, (*cells, income) in enumerate(rows):
            action, outcome = cells[2 * side : 2 * side + 2]
            cell = problem.actions.index(action) * 2 + problem.outcome_names.index(outcome)
            twin = np.zeros((6, 2))
            twin[cell] = 1.0, (income - mean) / spread
            np.testing.assert_allclose(found[2 * side + row], twin.ravel())


def test_wrong_questions(problem, log):
    features = CellFeatures(("a", "b"), ("x",), {})
    with pytest.raises(UnknownNameError, match="unknown action 'c'"):
        features.of_cell("c", "x", 1)
    with pytest.raises(UnknownNameError, match="unknown outcome '3.0'"):
        features.of_cell("a", 3.0, 1)
    numbers = CellFeatures(("a",), (), {}, (0.0, 1.0, -1.0, 1.0))
    for wrong in ("x", np.nan, np.zeros(3), np.zeros((2, 1))):
        with pytest.raises(DataError, match="a number, or one per context"):
            numbers.of_cell("a", wrong, 2)


@pytest.mark.parametrize(("column", "message"), [
    ("school", "must be numeric"), ("incme", "did you mean it by 'income'"), ("empty", "no value in any training row"),
])  # fmt: skip
def test_wrong_context_columns(problem, log, column, message):
    with pytest.raises(ValueError, match=message):
        CellFeatures.fit(log, problem, (column,), None)


def test_a_constant_column_has_spread_one(problem):
    log = Log(Contexts({"x": [0.1] * 7}), np.zeros(7, int), np.zeros(7, int))
    assert CellFeatures.fit(log, problem, ("x",), None).context["x"] == (pytest.approx(0.1), 1.0)


# --- scale -----------------------------------------------------------------------------------------------------


def test_range_without_contexts_is_lowest_to_highest():
    scale = Scale.by_range(np.array([[3.0], [-1.0], [1.0]]))
    np.testing.assert_array_equal(scale(np.array([3.0, -1.0, 1.0, 9.0, -9.0])), [1.0, 0.0, 0.5, 1.0, 0.0])


def test_one_odd_row_does_not_squeeze_the_others():
    rewards = np.tile(np.linspace(-1, 1, 1000), (2, 1))
    rewards[0, 0] = -1e6
    scale = Scale.by_range(rewards)
    assert scale.low == pytest.approx(-0.98, abs=0.01) and scale.high == pytest.approx(0.98, abs=0.01)


def test_anchors_are_means_and_must_be_in_order():
    scale = Scale.by_anchors(np.array([0.0, 2.0]), np.array([4.0, 6.0]))
    assert scale == Scale(1.0, 5.0)
    assert scale.outside(np.array([[0.0, 1.0], [5.0, 6.0]])) == (0.25, 0.25)
    with pytest.raises(DataError, match="highest above lowest"):
        Scale.by_anchors(np.array([1.0]), np.array([1.0]))


@pytest.mark.parametrize("rounding", [0.0, 1e-9])
def test_nothing_preferred_to_anything_is_the_middle(rounding):
    scale = Scale.by_range(rounding * np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(scale(np.array([0.0, 5.0])), [0.5, 0.5])
    assert scale.outside(np.array([5.0])) == (0.0, 0.0)


@given(
    st.lists(st.floats(-50, 50), min_size=2, max_size=9),
    st.floats(0.01, 100),
    st.floats(-100, 100),
)
@settings(max_examples=60, deadline=None)
def test_rewards_do_not_depend_on_what_is_not_identified(learned, times, plus):
    values = np.array(learned)[:, None]
    if np.ptp(values) * min(1.0, times) < 0.002:
        return  # rounding
    one, other = Scale.by_range(values), Scale.by_range(times * values + plus)
    np.testing.assert_allclose(one(values), other(times * values + plus), atol=1e-6)


# --- what is left open -----------------------------------------------------------------------------------------


def connected_by_search(one, other, n):
    """Return the lowest node that each node reaches, by walking."""
    found = []
    for start in range(n):
        reached, front = {start}, [start]
        while front:
            node = front.pop()
            for a, b in zip(one, other, strict=True):
                for here, there in ((a, b), (b, a)):
                    if here == node and there not in reached:
                        reached.add(there)
                        front.append(there)
        found.append(min(reached))
    return found


@given(st.integers(1, 8), st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=9))
@settings(max_examples=80, deadline=None)
def test_components_are_those_of_a_search(n, edges):
    one = np.array([a % n for a, _ in edges], dtype=np.intp)
    other = np.array([b % n for _, b in edges], dtype=np.intp)
    count, part = connected_parts(one, other, n)
    lowest = [part.tolist().index(each) for each in part]
    assert lowest == connected_by_search(one, other, n) and count == len(set(lowest))


def test_gaps_name_what_was_not_compared_and_what_is_not_connected(tmp_path, problem, write_rows):
    rows = [("u", "Offer", "Done", "Trial", "Done"), ("u", "Offer", "Left", "Trial", "Left")]
    never, parts = gaps(read_answers(write_rows(tmp_path / "a.csv", rows), problem), problem)
    assert "nobody compared 'Decline' with 'Done', 'Decline' with 'Left'" in never and "they are" in never
    assert "2 parts" in parts and "('Offer' with 'Done', 'Trial' with 'Done') and (" in parts


def test_records_without_weight_connect_nothing(tmp_path, problem, write_rows, asked, truth):
    columns = ("user_id", "chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome", "weight")
    rows = [(*row, 0 if "Trial" in row[1::2] and "Left" in row[2::2] else 1) for row in asked("u", truth)]
    assert gaps(read_answers(write_rows(tmp_path / "a.csv", [row[:-1] for row in rows]), problem), problem) == []
    (never,) = gaps(read_answers(write_rows(tmp_path / "b.csv", rows, columns), problem), problem)
    assert "nobody compared 'Trial' with 'Left': " in never and "it is" in never


def test_with_numbers_it_is_actions_that_must_be_connected(tmp_path, visits, write_rows):
    inside = [("u", "Visit", 5, "Visit", 3), ("u", "None", 4, "None", 2)]
    (parts,) = gaps(read_answers(write_rows(tmp_path / "a.csv", inside), visits), visits)
    assert "('Visit') and ('None')" in parts
    across = [*inside, ("u", "Visit", 4, "None", 4)]
    assert gaps(read_answers(write_rows(tmp_path / "b.csv", across), visits), visits) == []


def test_agreement_by_hand():
    found = Agreement.of(np.array([1.0, -1.0, 0.0, 2.0]), np.array([1.0, 1.0, 2.0, 0.0]))
    assert found.share == pytest.approx((1 + 0 + 1) / 4)
    losses = [np.log1p(np.exp(-1.0)), np.log1p(np.exp(1.0)), np.log(2)]
    assert found.log_loss == pytest.approx((losses[0] + losses[1] + 2 * losses[2]) / 4)
    assert found.warnings() and not Agreement(0.9, 0.3).warnings()
