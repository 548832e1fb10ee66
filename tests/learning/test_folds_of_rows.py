"""Folds: disjoint, complete, balanced, and fair to rare labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.contexts import Contexts, Log
from accordant.errors import DataError, InputError
from accordant.learning.cross_fitting import LearningSettings, training_folds
from accordant.learning.folds import all_but, make_folds
from accordant.problem import DecisionProblem


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 60), st.integers(3, 8), st.integers(0, 5), st.booleans())
def test_folds_are_a_balanced_partition(n_rows, n_folds, seed, stratified):
    if n_rows < n_folds:
        return
    generator = np.random.default_rng(seed)
    strata = generator.choice(4, n_rows, p=(0.7, 0.2, 0.08, 0.02)) if stratified else None
    folds = make_folds(n_rows, n_folds, np.random.default_rng(seed), strata)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(n_rows))  # disjoint and complete
    sizes = [len(rows) for rows in folds]
    assert max(sizes) - min(sizes) <= 1
    if strata is not None:
        for label in np.unique(strata):
            held = [int((strata[rows] == label).sum()) for rows in folds]
            assert max(held) - min(held) <= 1  # as even as it can be


def test_a_rare_label_is_spread_over_the_folds():
    strata = np.repeat([0, 1], [297, 3])
    folds = make_folds(300, 3, np.random.default_rng(0), strata)
    assert [int(strata[rows].sum()) for rows in folds] == [1, 1, 1]


@pytest.mark.parametrize("stratified", [True, False])
def test_every_action_with_every_outcome_is_spread_over_the_folds(stratified):
    problem = DecisionProblem(stakeholders=["P"], actions=["A", "B", "C"], outcomes=["good", "bad"])
    pairs = np.repeat(np.arange(6), [60, 3, 4, 90, 5, 3])
    log = Log(Contexts({"x": np.zeros(len(pairs))}), pairs // 2, pairs % 2)
    folds = training_folds(problem, log, LearningSettings(None, None, folds=3, random_state=0, stratified=stratified))
    held = np.array([np.bincount(pairs[rows], minlength=6) for rows in folds])
    assert (np.ptp(held, axis=0).max() <= 1) == stratified


def test_folds_are_shuffled_and_seeded():
    first, same, other = (make_folds(50, 5, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(first, same, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert not np.array_equal(first[0], np.arange(0, 50, 5))


def test_all_but():
    folds = make_folds(20, 4, np.random.default_rng(0))
    kept = all_but(folds, 1, 3)
    assert np.array_equal(kept, np.sort(np.concatenate([folds[0], folds[2]])))


def test_too_few_rows_or_folds():
    with pytest.raises(DataError, match="4 training rows are too few for 5 folds"):
        make_folds(4, 5, np.random.default_rng(0))
    with pytest.raises(InputError, match="folds is 2; allowed: at least 3"):
        make_folds(10, 2, np.random.default_rng(0))
