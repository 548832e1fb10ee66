"""The ridge of all methods: best for the pooled reward on records that it did not learn from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.preferences.comparison.record_split import branch
from accordant.preferences.comparison.methods import FOLDS, RIDGES, choose_ridge
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.learners.shared_items import item_folds
from accordant.preferences.records import Comparisons


def answers(n, features, sharpness, seed=0):
    """Return records that only the first feature explains."""
    generator = np.random.default_rng(seed)
    items = generator.normal(size=(2 * n, features))
    gaps = sharpness * (items[::2] - items[1::2])[:, 0]
    first = generator.random(n) < 1 / (1 + np.exp(-gaps))
    one, other = np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)
    return Comparisons(items, np.where(first, one, other), np.where(first, other, one), np.zeros(n, dtype=np.intp))


def test_many_features_and_little_to_learn_want_a_larger_ridge():
    noisy, clear = choose_ridge(answers(80, 30, 0.2), seed=0), choose_ridge(answers(2000, 2, 2.0), seed=0)
    assert noisy.ridge > 10 * clear.ridge
    assert set(noisy.losses) == set(RIDGES)
    assert noisy.losses[noisy.ridge] == min(noisy.losses.values())


def test_losses_are_those_of_folds_by_hand():
    records = answers(40, 3, 1.0)
    weights = np.random.default_rng(1).integers(0, 3, 40).astype(float)
    found = choose_ridge(replace(records, weights=weights), seed=5)
    kept = np.flatnonzero(weights)
    folds = item_folds(records.take(kept), FOLDS, branch(5, "folds"))
    assert folds.judged.all()  # the items of these records occur once
    losses = []
    for place, row in enumerate(kept):
        others = kept[folds.known(folds.sides[0, place])]
        theta = BradleyTerry(ridge=0.01).fit(replace(records, weights=weights).take(others)).coefficients
        losses.append(weights[row] * np.log1p(np.exp(-(records.differences()[row] @ theta))))
    assert found.losses[0.01] == pytest.approx(sum(losses) / weights.sum())


def test_one_record_leaves_nothing_to_try():
    assert choose_ridge(answers(1, 2, 1.0), seed=0).losses == {}
    assert choose_ridge(answers(2, 2, 1.0), seed=0).ridge in RIDGES
