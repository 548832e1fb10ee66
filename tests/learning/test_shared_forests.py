"""Forests that differ in size or depth share a fit where they are only compared."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from accordant.learning.shared_forests import CutForest, fit_grid
from accordant.learning.tuning import grid_points

DATA = np.random.default_rng(0).normal(size=(80, 4))
TARGET = DATA[:, 0] + np.random.default_rng(1).normal(size=80)
CODES = (TARGET > 0).astype(int)
FORESTS = [
    (RandomForestRegressor(random_state=3), TARGET),
    (ExtraTreesRegressor(random_state=3), TARGET),
    (RandomForestClassifier(random_state=3), CODES),
    (ExtraTreesClassifier(random_state=3), CODES),
    (RandomForestRegressor(random_state=3), np.column_stack([TARGET, -TARGET])),
]


def by_walking(forest, point, rows):
    """Walk down node by node, no further than the depth of a point, in its first trees."""
    found = []
    for estimator in forest.estimators_[: point["n_estimators"]]:
        tree, of_rows = estimator.tree_, []
        for row in rows.astype(np.float32):
            node = level = 0
            while tree.children_left[node] >= 0 and level != point["max_depth"]:
                left = row[tree.feature[node]] <= tree.threshold[node]
                node, level = (tree.children_left if left else tree.children_right)[node], level + 1
            of_rows.append(tree.value[node])
        found.append(of_rows)
    return np.mean(found, axis=0)


@pytest.mark.parametrize(("forest", "target"), FORESTS)
def test_smaller_forests_equal_forests_fitted_alone(forest, target):
    points = grid_points(forest, {"n_estimators": [5, 12, 8], "min_samples_leaf": [1, 4]})
    for point, found in zip(points, fit_grid(forest, points, DATA, target), strict=True):
        alone = type(forest)(random_state=3, **point).fit(DATA, target)
        assert isinstance(found, CutForest)
        predict = "predict_proba" if hasattr(alone, "predict_proba") else "predict"
        assert np.array_equal(getattr(found, predict)(DATA), getattr(alone, predict)(DATA))


@pytest.mark.parametrize(("forest", "target"), FORESTS)
def test_cut_forests_predict_by_the_nodes_at_their_depth(forest, target):
    points = grid_points(forest, {"n_estimators": [5, 12, 8], "max_depth": [None, 1, 4, 100]})
    deepest = type(forest)(12, random_state=3).fit(DATA, target)
    rows = np.random.default_rng(2).normal(size=(30, 4))
    for point, found in zip(points, fit_grid(forest, points, DATA, target), strict=True):
        nodes = by_walking(deepest, point, rows)
        if hasattr(deepest, "classes_"):
            assert found.predict_proba(rows) == pytest.approx(nodes[:, 0])
            assert found.classes_.tolist() == [0, 1]
        else:
            assert found.predict(rows) == pytest.approx(nodes[:, :, 0].reshape(target[:30].shape))


def test_trees_that_see_all_features_are_cut_to_what_they_would_have_been():
    forest = RandomForestRegressor(10, max_features=1.0, random_state=3)
    deep, shallow = fit_grid(forest, grid_points(forest, {"max_depth": [None, 2]}), DATA, TARGET)
    alone = RandomForestRegressor(10, max_depth=2, random_state=3).fit(DATA, TARGET)
    assert shallow.predict(DATA) == pytest.approx(alone.predict(DATA))
    assert not np.allclose(deep.predict(DATA), alone.predict(DATA))


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_errors_of_cut_forests_are_those_of_forests_grown_to_the_depth(kind):
    """Over seeds the mean difference is within three standard errors of 0; that to another depth is not."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(600, 4))
    codes = (rows[:, 0] * rows[:, 1] + rng.normal(size=600) > 0).astype(int)
    gaps = {2: [], 4: []}
    for seed in range(25):
        forest = kind(8, random_state=seed)
        _, cut = fit_grid(forest, grid_points(forest, {"max_depth": [None, 4]}), rows[:200], codes[:200])
        for depth, found in gaps.items():
            alone = kind(8, max_depth=depth, random_state=1000 + seed).fit(rows[:200], codes[:200])
            errors = [((each.predict_proba(rows[200:])[:, 1] - codes[200:]) ** 2).mean() for each in (cut, alone)]
            found.append(errors[0] - errors[1])
    in_errors = {depth: abs(np.mean(each)) / (np.std(each, ddof=1) / 5) for depth, each in gaps.items()}
    assert in_errors[4] < 3 < in_errors[2]


@pytest.mark.parametrize(
    ("parameters", "fits"),
    [({}, [(6, None)]), ({"max_leaf_nodes": 9}, [(6, 3), (6, None)]), ({"ccp_alpha": 0.01}, [(6, 3), (6, None)])],
)
def test_fits_are_shared_where_depth_decides_about_nothing_above_it(parameters, fits, monkeypatch):
    made = []
    original = RandomForestRegressor.fit

    def spy(self, X, y):
        made.append((self.n_estimators, self.max_depth))
        return original(self, X, y)

    monkeypatch.setattr(RandomForestRegressor, "fit", spy)
    forest = RandomForestRegressor(random_state=0, **parameters)
    fit_grid(forest, grid_points(forest, {"n_estimators": [2, 6, 4], "max_depth": [None, 3]}), DATA, TARGET)
    assert sorted(made, key=str) == fits


def test_rows_are_walked_once_for_all_points():
    forest = RandomForestRegressor(random_state=0)
    one, other = fit_grid(forest, grid_points(forest, {"n_estimators": [2, 4]}), DATA, TARGET)
    assert one.shared is other.shared
    assert one.shared.predictions(DATA) is other.shared.predictions(DATA.copy())
    assert other.predict(DATA[:3]) == pytest.approx(other.predict(DATA)[:3])


def test_values_that_are_equal_but_mean_something_else():
    """max_features=1 is one feature, 1.0 is all of them."""
    forest = RandomForestRegressor(5, random_state=0)
    points = grid_points(forest, {"max_features": [1, 1.0]})
    one, everything = fit_grid(forest, points, DATA, TARGET)
    assert not np.array_equal(one.predict(DATA), everything.predict(DATA))


@pytest.mark.parametrize("point", [{"max_depth": 0}, {"n_estimators": 0}, {"max_depth": 2.5}])
def test_a_point_that_cannot_be_is_not_hidden_by_the_largest(point):
    with pytest.raises(ValueError, match=next(iter(point))):
        fit_grid(RandomForestRegressor(random_state=0), [{"n_estimators": 4, "max_depth": 3}, point], DATA, TARGET)


class OtherForest(RandomForestRegressor):
    def predict(self, X):
        return np.median([tree.predict(X) for tree in self.estimators_], axis=0)


@pytest.mark.parametrize(
    "estimator", [RandomForestRegressor(), DecisionTreeRegressor(random_state=0), OtherForest(random_state=0)]
)
def test_unseeded_forests_and_other_estimators_are_fitted_one_by_one(estimator):
    fitted = fit_grid(estimator, grid_points(estimator, {"max_depth": [1, 3]}), DATA, TARGET)
    assert [(type(each), each.max_depth) for each in fitted] == [(type(estimator), 1), (type(estimator), 3)]
    assert not hasattr(estimator, "tree_") and not hasattr(estimator, "estimators_")
