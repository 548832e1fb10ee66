"""The Brier score against its definition, scikit-learn and worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from accordant.learning.classification.brier import (
    brier_contributions,
    calibration_in_the_large,
    class_codes,
    expected_calibration_error,
    mean_with_error,
)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(2, 5))
def test_against_the_double_loop_and_scikit_learn(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    p, codes = rng.dirichlet(np.ones(k), n), rng.integers(0, k, n)
    loop = [sum((p[t, o] - (codes[t] == o)) ** 2 for o in range(k)) for t in range(n)]
    np.testing.assert_allclose(brier_contributions(p, codes), loop, atol=1e-12)
    theirs = brier_score_loss(codes, p if k > 2 else p[:, 1], labels=np.arange(k), scale_by_half=False)
    assert brier_contributions(p, codes).mean() == pytest.approx(theirs, abs=1e-12)


def test_range_and_worked_numbers() -> None:
    assert brier_contributions([[1.0, 0.0]], [0]).mean() == 0.0
    assert brier_contributions([[1.0, 0.0]], [1]).mean() == 2.0
    # 0.09 + 0.01 + 0.04 for the first row, 0.49 + 0.01 + 0.64 for the second.
    assert brier_contributions([[0.7, 0.1, 0.2], [0.7, 0.1, 0.2]], [0, 2]).mean() == pytest.approx((0.14 + 1.14) / 2)


def test_mean_and_error_of_few_rows_and_of_groups() -> None:
    one, three = mean_with_error([0.4]), mean_with_error([0.0, 0.3, 0.6])
    assert (one.value, one.standard_error, one.n) == (0.4, 0.0, 1)
    assert (three.value, three.n) == (pytest.approx(0.3), 3)
    assert three.standard_error == pytest.approx(0.3 / np.sqrt(3))  # s of 0, 0.3, 0.6 is 0.3
    assert np.isnan(mean_with_error([0.0, 0.3], np.array([4, 4])).standard_error)


def test_standard_error_covers_the_true_score() -> None:
    # Constant prediction p for a coin with probability p: the expected Brier score is 2 p (1 - p).
    rng, p, n, covered = np.random.default_rng(0), 0.3, 200, 0
    for _ in range(400):
        codes = (rng.random(n) < p).astype(int)
        score = mean_with_error(brier_contributions(np.tile([1 - p, p], (n, 1)), codes))
        covered += abs(score.value - 2 * p * (1 - p)) <= 1.96 * score.standard_error
    assert 0.92 <= covered / 400 <= 0.98


def test_calibration_in_the_large_accepts_the_truth_and_rejects_balanced_classes() -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet([8, 1, 0.1], 2000)
    codes = (rng.random(2000)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    assert all(each.within(3) for each in calibration_in_the_large(p, codes))
    balanced = p / p.mean(axis=0)
    balanced /= balanced.sum(axis=1, keepdims=True)
    assert not all(each.within(3) for each in calibration_in_the_large(balanced, codes))


def test_calibration_error_worked_numbers() -> None:
    # Two groups: predicted 0.2 / happened 0.5, and predicted 0.8 / happened 0.5; both classes are off by 0.3.
    p = np.array([[0.8, 0.2]] * 4 + [[0.2, 0.8]] * 4)
    assert expected_calibration_error(p, [0, 0, 1, 1] * 2, n_bins=2) == pytest.approx(0.3)
    assert expected_calibration_error(p, [0, 0, 0, 1, 1, 1, 1, 0], n_bins=2) == pytest.approx(0.05)
    assert expected_calibration_error(np.full((4, 2), 0.5), [0, 1, 0, 1]) == 0.0


@pytest.mark.parametrize(
    ("p", "codes", "message"),
    [
        ([[0.5, 0.6]], [0], "sum to 1"),
        ([[1.5, -0.5]], [0], "lie in"),
        ([[np.nan, 1.0]], [0], "NaN"),
        ([[0.5, 0.5]], [0, 1], "codes must be 1"),
        ([[0.5, 0.5]], [2], "0..1"),
        ([[0.5, 0.5]], [0.0], "integers"),
        ([0.5, 0.5], [0], "rows, classes"),
    ],
)
def test_wrong_input_is_refused(p: list[object], codes: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        brier_contributions(p, codes)  # type: ignore[arg-type]


def test_class_codes_keep_the_declared_order_and_name_strangers() -> None:
    assert class_codes(["b", "a", "c"], ["c", "b", "a"]).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match=r"\['d'\]"):
        class_codes(["a", "d"], ["b", "a"])
    with pytest.raises(ValueError, match="twice"):
        class_codes(["a"], ["a", "a"])
