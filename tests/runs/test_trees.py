"""A forged tree is refused before any compiled code follows it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from accordant.errors import RunFolderError
from accordant.runs.models import check_trees

GENERATOR = np.random.default_rng(0)
X, Y = GENERATOR.normal(size=(200, 3)), GENERATOR.integers(0, 2, 200)


def test_sound_trees_pass():
    check_trees(make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)).fit(X, Y), "model")
    check_trees([HistGradientBoostingRegressor(max_iter=3).fit(X, Y)], "model")


@pytest.mark.parametrize(("field", "value"), [("left", 2**31), ("right", 0), ("feature_idx", -1)])
def test_a_forged_boosting_tree_is_refused(field, value):
    model = HistGradientBoostingRegressor(max_iter=2).fit(X, Y)
    model._predictors[1][0].nodes[field][0] = value
    with pytest.raises(RunFolderError, match="model holds a tree"):
        check_trees({"deep": [model]}, "model")


def test_a_forged_forest_is_refused():
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    forest.estimators_[2].tree_.children_left[0] = 2_000_000_000
    with pytest.raises(RunFolderError, match="do not hang together"):
        check_trees(forest, "model")
