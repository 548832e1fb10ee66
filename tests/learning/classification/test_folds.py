"""Folds: every class stays learnable, copies stay together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.learning.folds import ALWAYS_TRAINING, copied_records, deal_folds, splits


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(2, 6), st.integers(0, 99))
def test_every_training_part_holds_every_class(labels: list[int], n_folds: int, seed: int) -> None:
    codes = np.array(labels, dtype=np.intp)
    if np.bincount(codes).max() < 2:
        return
    folds = deal_folds(codes, n_folds, seed)
    parts = list(splits(folds))
    for training, held_back in parts:
        assert set(codes[training]) == set(codes)
        assert not set(training) & set(held_back)
    everyone = np.sort(np.concatenate([held_back for _, held_back in parts]))
    assert everyone.tolist() == np.flatnonzero(folds != ALWAYS_TRAINING).tolist()
    for code in set(labels):
        sizes = [int((codes[held_back] == code).sum()) for _, held_back in parts]
        assert max(sizes) - min(sizes) <= 1


def test_a_class_of_one_row_is_always_in_training() -> None:
    folds = deal_folds(np.array([0, 0, 0, 1]), 2, 0)
    assert folds[3] == ALWAYS_TRAINING
    with pytest.raises(ValueError, match="two different rows"):
        deal_folds(np.array([0, 1]), 2, 0)
    with pytest.raises(ValueError, match="at least 2"):
        deal_folds(np.array([0, 0]), 1, 0)


def test_copies_share_a_fold_unless_features_are_coarse() -> None:
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 2)), np.arange(40) % 2
    X, codes = np.vstack([X, X[:15]]), np.r_[codes, codes[:15]]
    records = copied_records(X, codes)
    folds = deal_folds(codes, 5, 0, records=records)
    assert np.array_equal(folds[:15], folds[40:])
    coarse = copied_records(np.arange(55).reshape(-1, 1) % 3 * 1.0, codes)
    assert np.array_equal(coarse, np.arange(55))


def test_observations_with_equal_features_and_other_classes_are_no_copies() -> None:
    """Else held-back rows of one class would be predicted from the rows of the other class only."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 500, 1100)
    codes = (rng.random(1100) < np.where(x % 2, 0.8, 0.2)).astype(np.intp)
    assert np.array_equal(copied_records(x[:, None] * 1.0, codes), np.arange(1100))
