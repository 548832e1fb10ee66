"""Definition 11: the worked example, both variants, and what normalisation must never do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from accordant.errors import InputError
from accordant.evaluation import composite_score
from accordant.evaluation.composite import CompositeScale, added_up
from accordant.metrics.metric import metrics

GOALS = ("max", "zero", "min")
EXAMPLE = np.array([[0.9, 0.30, 0.20], [0.8, -0.10, 0.10], [0.6, 0.05, 0.15]])
WEIGHTS = (0.5, 0.3, 0.2)
ALL = np.ones(3, dtype=bool)


def test_worked_example():
    found = composite_score(EXAMPLE, goals=GOALS, weights=WEIGHTS, candidates=ALL)
    expected = [[1, 0, 0], [2 / 3, 0.8, 1], [0, 1, 0.5]]
    np.testing.assert_allclose(found.normalised, expected, atol=1e-6)
    np.testing.assert_allclose(found.scores, [0.5, 0.773333, 0.4], atol=1e-6)
    assert not found.uninformative.any()


def test_worked_example_in_the_reference_variant():
    found = composite_score(
        EXAMPLE,
        goals=GOALS,
        weights=WEIGHTS,
        candidates=ALL,
        normalisation="reference",
        accuracy=np.array([1, 0, 0], bool),
    )
    np.testing.assert_allclose(found.normalised[:, 1], [0, 2 / 3, 5 / 6], atol=1e-6)
    np.testing.assert_allclose(found.scores, [0.45, 0.8, 0.65], atol=1e-6)


def test_accuracy_stays_raw_in_the_reference_variant_and_so_does_what_is_called_so():
    named = {"Accuracy": "mean_reward", "Hits": "accuracy", "Mean": "mean_reward"}
    weighted = {label: (metrics.create(name), 1.0) for label, name in named.items()}
    scale = CompositeScale(weighted, ALL, "reference", ((0.0, 1.0),) * 3)
    found = scale.scores(np.tile([[0.4], [0.6], [0.8]], 3))
    np.testing.assert_allclose(found.normalised.T, [[0.4, 0.6, 0.8], [0.4, 0.6, 0.8], [0.0, 0.5, 1.0]], atol=1e-12)


def test_weights_are_divided_by_their_sum():
    one = composite_score(EXAMPLE, goals=GOALS, weights=WEIGHTS, candidates=ALL)
    ten = composite_score(EXAMPLE, goals=GOALS, weights=(5.0, 3.0, 2.0), candidates=ALL)
    np.testing.assert_allclose(one.scores, ten.scores, rtol=1e-14)
    np.testing.assert_allclose(ten.weights, WEIGHTS)


@pytest.mark.parametrize("weights", [(0, 0, 0), (1, -0.1, 1), (1, np.nan, 1), (1, 1)])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(InputError, match="weights"):
        composite_score(EXAMPLE, goals=GOALS, weights=weights, candidates=ALL)


def test_wrong_shapes_and_names_are_refused():
    with pytest.raises(InputError, match="do not fit"):
        composite_score(EXAMPLE, goals=GOALS, weights=WEIGHTS, candidates=np.ones(2, bool))
    with pytest.raises(InputError, match="no candidate"):
        composite_score(EXAMPLE, goals=GOALS, weights=WEIGHTS, candidates=~ALL)
    with pytest.raises(InputError, match="unknown normalisation"):
        composite_score(EXAMPLE, goals=GOALS, weights=WEIGHTS, candidates=ALL, normalisation="zscore")


def slow(column, goal):
    """Normalise one metric over its candidates, written out (all defined, not all equal)."""
    size = [abs(value) if goal == "zero" else value for value in column]
    low, high = min(size), max(size)
    return [((value - low) if goal == "max" else (high - value)) / (high - low) for value in size]


@settings(max_examples=150, deadline=None)
@given(raw=arrays(np.float64, (5, 3), elements=st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0, 3.0, 1e6, np.nan])))
def test_normalised_values(raw):
    """Acceptance test 7: within [0, 1], somebody at 1 and somebody at 0, None never best."""
    found = composite_score(raw, goals=GOALS, weights=WEIGHTS, candidates=np.ones(5, bool))
    for m, goal in enumerate(GOALS):
        column, normalised = raw[:, m], found.normalised[:, m]
        known = ~np.isnan(column)
        assert (np.isnan(normalised) == ~known).all()
        if not known.any():
            continue
        if found.uninformative[m]:
            assert (normalised[known] == 1).all()
            continue
        assert ((normalised[known] >= 0) & (normalised[known] <= 1)).all()
        assert normalised[known].max() == 1
        assert normalised[known].min() == 0
        np.testing.assert_allclose(normalised[known], slow(column[known], goal), atol=1e-12)
    assert (np.isnan(found.scores) == np.isnan(raw).any(axis=1)).all()


def test_undefined_metric_leaves_a_strategy_unranked_only_if_it_counts():
    raw = EXAMPLE.copy()
    raw[0, 1] = np.nan
    counted = composite_score(raw, goals=GOALS, weights=WEIGHTS, candidates=ALL)
    assert np.isnan(counted.scores).tolist() == [True, False, False]
    shown = composite_score(raw, goals=GOALS, weights=(0.5, 0.0, 0.5), candidates=ALL)
    assert not np.isnan(shown.scores).any()
    # the others are normalised as if the undefined value were not there
    np.testing.assert_allclose(counted.normalised[1:, 1], [0, 1])


def test_lines_outside_the_candidates_do_not_move_the_scale():
    """Pitfall 12: the oracle was inside the min–max set."""
    oracle = np.array([[1.0, 0.0, 0.0]])
    joined = composite_score(
        np.concatenate([EXAMPLE, oracle]),
        goals=GOALS,
        weights=WEIGHTS,
        candidates=np.array([True, True, True, False]),
    )
    alone = composite_score(EXAMPLE, goals=GOALS, weights=WEIGHTS, candidates=ALL)
    np.testing.assert_array_equal(joined.scores[:3], alone.scores)
    np.testing.assert_allclose(joined.normalised[3], [4 / 3, 1.2, 2.0])


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_equal_strategies_are_uninformative_not_noise(offset):
    raw = np.full((3, 2), 0.3 + offset)
    raw[1, 0] += 1e-13 * max(1.0, offset)
    raw[:, 1] = [1, 2, 3]
    found = composite_score(raw, goals=("max", "max"), weights=(1, 1), candidates=ALL)
    assert found.uninformative.tolist() == [True, False]
    np.testing.assert_array_equal(found.normalised[:, 0], [1, 1, 1])


def test_leading_axes_are_separate_resamples():
    raw = np.random.default_rng(0).normal(size=(4, 6, 5, 3))
    raw[1, 2, 0, 1] = np.nan
    together = composite_score(raw, goals=GOALS, weights=WEIGHTS, candidates=np.arange(5) < 4)
    for place in np.ndindex(4, 6):
        alone = composite_score(raw[place], goals=GOALS, weights=WEIGHTS, candidates=np.arange(5) < 4)
        np.testing.assert_array_equal(together.scores[place], alone.scores)
        np.testing.assert_array_equal(together.uninformative[place], alone.uninformative)


def test_order_of_strategies_and_metrics_does_not_matter():
    raw = np.random.default_rng(0).normal(size=(6, 3))
    base = composite_score(raw, goals=GOALS, weights=WEIGHTS, candidates=np.ones(6, bool))
    order, columns = [3, 1, 5, 0, 2, 4], [2, 0, 1]
    moved = composite_score(
        raw[order][:, columns],
        goals=[GOALS[m] for m in columns],
        weights=[WEIGHTS[m] for m in columns],
        candidates=np.ones(6, bool),
    )
    np.testing.assert_allclose(moved.scores, base.scores[order], rtol=1e-14)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 20)), elements=st.floats(-1e6, 1e6)), st.booleans()
)
def test_sums_are_added_in_the_order_of_the_metrics_whatever_the_layout(values, turned):
    given_values = np.asfortranarray(values) if turned else values
    by_hand = []
    for row in values.tolist():
        total = row[0]
        for value in row[1:]:
            total += value
        by_hand.append(total)
    assert added_up(given_values).tolist() == by_hand


def test_a_score_is_the_same_to_the_last_bit_when_added_by_hand():
    generator = np.random.default_rng(2)
    values, weights = generator.random((6, 11)), generator.integers(0, 4, 11) / 100
    found = composite_score(
        values, goals=["max"] * 11, weights=weights, candidates=np.ones(6, bool), normalisation="natural", ranges=[(0, 1)] * 11
    )  # fmt: skip
    total = 0.0
    for weight in weights.tolist():
        total += weight
    for row, score in zip(found.normalised.tolist(), found.scores.tolist(), strict=True):
        by_hand = 0.0
        for value, weight in zip(row, weights.tolist(), strict=True):
            by_hand += value * (weight / total) if weight > 0 else 0.0
        assert score == by_hand
