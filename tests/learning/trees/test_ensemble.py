"""Damaged trees are refused before compiled code follows them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from accordant.learning.reward_models import LearnedReward
from accordant.learning.trees.ensemble import Ensemble
from accordant.learning.trees.ensemble import read_ensemble


def two_trees():
    """A stump on column 1, and a single leaf."""
    return Ensemble(
        starts=np.array([0, 3, 4]),
        columns=np.array([1, -2, -2, -2]),
        thresholds=np.array([0.5, -2.0, -2.0, -2.0]),
        left=np.array([1, -1, -1, -1]),
        right=np.array([2, -1, -1, -1]),
        values=np.array([[0.0], [1.0], [2.0], [4.0]]),
        baseline=np.zeros(1),
        divisor=2.0,
        n_columns=2,
        single_precision=True,
    )


def test_numbers_of_trees_and_outputs():
    assert (two_trees().n_trees, two_trees().n_outputs) == (2, 1)


@pytest.mark.parametrize(
    ("field", "node", "value"),
    [
        ("left", 0, 0),  # round in circles
        ("right", 0, 0),
        ("left", 0, 3),  # into the next tree
        ("right", 0, 4),  # outside the arrays
        ("right", 0, 10**12),
        ("left", 0, -7),
        ("right", 0, -1),  # half a leaf
        ("left", 0, -1),
        ("right", 2, 0),
        ("columns", 0, 2),  # no such column
        ("columns", 0, -2),
        ("thresholds", 0, np.nan),
    ],
)
def test_damaged_nodes(field, node, value):
    sound = two_trees()
    changed = getattr(sound, field).copy()
    changed[node] = value
    with pytest.raises(ValueError, match=r"node \d of tree 0 .* damaged or forged"):
        dataclasses.replace(sound, **{field: changed})


@pytest.mark.parametrize("starts", [[0, 3], [0, 0, 4], [1, 3, 4], [0], [0, 4, 3, 4]])
def test_damaged_starts(starts):
    with pytest.raises(ValueError, match="damaged or forged"):
        dataclasses.replace(two_trees(), starts=np.array(starts))


def test_arrays_of_different_length():
    with pytest.raises(ValueError, match="different length"):
        dataclasses.replace(two_trees(), values=np.zeros((3, 1)))
    with pytest.raises(ValueError, match="different length"):
        dataclasses.replace(two_trees(), baseline=np.zeros(2))


def test_a_forged_boosting_model_is_refused(plain):
    rows, target = plain.data()
    model = HistGradientBoostingRegressor(max_iter=3).fit(rows, target)
    model._predictors[1][0].nodes["left"][0] = 0
    with pytest.raises(ValueError, match="node 0 of tree 1"):
        read_ensemble(model)


def test_a_reward_model_with_a_damaged_tree_says_so(loans):
    """The error reaches whoever asks for rewards; nothing is predicted."""
    from accordant.learning.encoding import ContextEncoder

    encoder = ContextEncoder.fit(loans.contexts, ("income", "amount"))
    model = HistGradientBoostingRegressor(max_iter=2).fit(np.random.default_rng(0).random((90, 8)), np.arange(90.0))
    model._predictors[0][0].nodes["right"][0] = 999
    with pytest.raises(ValueError, match="damaged or forged"):
        LearnedReward(("Bank",), encoder, model, loans.problem).predict(loans.contexts, None)


def test_a_sound_forest_is_read(plain):
    rows, target = plain.data()
    forest = RandomForestRegressor(3, random_state=0).fit(rows, target)
    assert read_ensemble(forest).n_trees == 3
