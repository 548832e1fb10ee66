"""Sums over trees equal those of scikit-learn and of a walk in plain Python, bit for bit."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from accordant.learning.trees import sums as module
from accordant.learning.trees.ensemble import read_ensemble
from accordant.learning.trees.sums import FEWEST_ROWS, MOST_ROWS, TreeSums
from accordant.threads import free_cores, on_threads

REGRESSORS = {
    "random forest": RandomForestRegressor(7, random_state=0),
    "depth 1": RandomForestRegressor(9, max_depth=1, random_state=1),
    "extra trees": ExtraTreesRegressor(5, random_state=0),
    "tree": DecisionTreeRegressor(random_state=0),
    "extra tree": ExtraTreeRegressor(random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=12, max_leaf_nodes=9),
    "boosting, absolute error": HistGradientBoostingRegressor(loss="absolute_error", max_iter=6),
}
CLASSIFIERS = {
    "random forest": RandomForestClassifier(6, random_state=0),
    "extra trees": ExtraTreesClassifier(4, min_samples_leaf=5, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "extra tree": ExtraTreeClassifier(random_state=0),
}
SIZES = (1, 2, 7, 8, 9, 150)


def sums_of(estimator, constants=None):
    return TreeSums.of(read_ensemble(estimator), constants)


def new_rows(plain, estimator, rows):
    thresholds = read_ensemble(estimator).thresholds
    return np.vstack([rows, plain.at_thresholds(np.unique(thresholds)[:150], rows)])


@pytest.mark.parametrize(
    ("kind", "outputs"),
    [(kind, outputs) for kind in REGRESSORS for outputs in (1, 3) if outputs == 1 or not kind.startswith("boosting")],
)
def test_regressors_bit_for_bit(kind, outputs, plain):
    rows, target = plain.data(outputs=outputs)
    model = REGRESSORS[kind].fit(rows, target)
    asked = new_rows(plain, model, rows)
    expected = model.predict(asked).reshape(len(asked), outputs)
    sums = sums_of(model)
    assert np.array_equal(sums(asked)[0].T, expected)
    for size in SIZES:
        assert np.array_equal(sums(asked[-size:])[0].T, expected[-size:])
    for row in (0, len(rows), len(asked) - 1):
        if kind.startswith("boosting"):
            assert plain.boosting_sum(model, asked[row]) == expected[row].tolist()
        else:
            trees = [each.tree_ for each in getattr(model, "estimators_", [model])]
            assert plain.forest_mean(trees, asked[row])[:, 0].tolist() == expected[row].tolist()


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_class_shares_bit_for_bit(kind, plain):
    rows, target = plain.data()
    model = CLASSIFIERS[kind].fit(rows, np.digitize(target, [0.1, 0.4]))
    asked = new_rows(plain, model, rows)
    assert np.array_equal(sums_of(model)(asked)[0].T, model.predict_proba(asked))
    trees = [each.tree_ for each in getattr(model, "estimators_", [model])]
    assert plain.forest_mean(trees, asked[-1])[0].tolist() == model.predict_proba(asked)[-1].tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_raw_predictions_of_boosting_that_classifies(n_classes, plain):
    rows, target = plain.data()
    model = HistGradientBoostingClassifier(max_iter=8).fit(rows, np.digitize(target, [0.1, 0.4][: n_classes - 1]))
    raw = sums_of(model)(rows)[0].T
    assert np.array_equal(raw, model.decision_function(rows).reshape(len(rows), -1))
    assert plain.boosting_sum(model, rows[3]) == raw[3].tolist()


def test_a_constant_target_makes_trees_of_one_leaf(plain):
    rows, _ = plain.data()
    for model in (RandomForestRegressor(4), HistGradientBoostingRegressor(max_iter=3), DecisionTreeRegressor()):
        model.fit(rows, np.full(len(rows), 0.3))
        assert np.array_equal(sums_of(model)(rows)[0, 0], model.predict(rows))


@pytest.mark.parametrize("kind", ["random forest", "boosting"])
def test_many_rows_on_any_number_of_threads(kind, plain, monkeypatch):
    rows, target = plain.data()
    model = REGRESSORS[kind].fit(rows, target)
    asked = np.resize(rows, (10_000, rows.shape[1])) + np.arange(10_000)[:, None] * 1e-4
    expected = model.predict(asked)
    sums = sums_of(model)
    for threads in (1, 2, 3):
        assert np.array_equal(sums(asked, threads=threads)[0, 0], expected)
    monkeypatch.setattr(module, "WALKS_PER_THREAD", 1000)
    monkeypatch.setattr(module, "free_cores", lambda: 2)
    assert np.array_equal(sums(asked)[0, 0], expected)
    for n_rows in (FEWEST_ROWS - 1, FEWEST_ROWS, FEWEST_ROWS + 1, MOST_ROWS, MOST_ROWS + 1):
        assert np.array_equal(sums(asked[:n_rows])[0, 0], expected[:n_rows])


def test_values_that_only_the_estimator_can_judge(plain):
    """NaN and infinity, and for forests what overflows float32, wherever in the batch they stand."""
    rows, target = plain.data()
    forest, boosting = (sums_of(REGRESSORS[kind].fit(rows, target)) for kind in ("random forest", "boosting"))
    for value, by_forest, by_boosting in ((np.nan, False, False), (-np.inf, False, False), (1e300, False, True)):
        asked = np.resize(rows, (MOST_ROWS + 3, rows.shape[1])).copy()
        asked[MOST_ROWS + 1, 2] = value
        assert (forest(asked) is not None, boosting(asked) is not None) == (by_forest, by_boosting)


def test_the_number_of_columns_is_checked(plain):
    rows, target = plain.data()
    sums = sums_of(REGRESSORS["tree"].fit(rows, target))
    with pytest.raises(ValueError, match="rows have 3 columns; these trees read 4"):
        sums(rows[:, :3])
    with pytest.raises(ValueError, match="fitted on 4 columns, not on 3"):
        sums_of(REGRESSORS["tree"], np.full((1, 3), np.nan))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    depth=st.sampled_from([1, 2, 4, None]),
    n_free=st.integers(1, 3),
    boosted=st.booleans(),
    scale=st.sampled_from([1.0, 0.1, 1e-3]),
)
def test_holding_columns_constant_changes_no_prediction(seed, depth, n_free, boosted, scale):
    generator = np.random.default_rng(seed)
    rows = np.round(generator.normal(size=(60, 4)) / scale) * scale
    target = rows[:, 0] - rows[:, 3] * rows[:, 1] + generator.normal(size=60)
    model = (
        HistGradientBoostingRegressor(max_iter=5, max_depth=depth, min_samples_leaf=3)
        if boosted
        else RandomForestRegressor(4, max_depth=depth, random_state=seed)
    ).fit(rows, target)
    free = np.sort(generator.choice(4, n_free, replace=False))
    constants = rows[generator.integers(0, 60, 3)].copy()
    constants[:, free] = np.nan
    found = sums_of(model, constants)(rows[:, free])
    for group, given_values in enumerate(constants):
        asked = np.where(np.isnan(given_values), rows, given_values)
        assert np.array_equal(found[group, 0], model.predict(asked))
        assert np.array_equal(sums_of(model, constants).group(group)(rows[:, free])[0], found[group])


def test_all_columns_constant_leaves_one_leaf_a_tree(plain):
    rows, target = plain.data()
    model = REGRESSORS["random forest"].fit(rows, target)
    sums = sums_of(model, rows[:5])
    assert sums.trees.depths.max() == 0 and len(sums.trees.nodes) == 5 * 7
    assert np.array_equal(sums(np.empty((1, 0)))[:, 0, 0], model.predict(rows[:5]))


class OwnForest(RandomForestRegressor):
    """A subclass that predicts otherwise."""

    def predict(self, X):
        return super().predict(X) + 1


@pytest.mark.parametrize(
    "model",
    [
        OwnForest(2),
        GradientBoostingRegressor(n_estimators=2),
        HistGradientBoostingRegressor(loss="poisson", max_iter=2),
        HistGradientBoostingRegressor(categorical_features=[3], max_iter=2),
    ],
)
def test_what_is_not_known_is_left_alone(model, plain):
    rows, target = plain.data()
    assert read_ensemble(model.fit(rows, target + 1)) is None
    assert read_ensemble(BaseEstimator()) is None


def test_several_labels_at_once_are_left_alone(plain):
    rows, target = plain.data()
    labels = np.column_stack([target > 0.1, target > 0.4])
    for model in (RandomForestClassifier(2), DecisionTreeClassifier()):
        assert read_ensemble(model.fit(rows, labels)) is None


def test_trees_that_do_not_fit_are_left_alone(plain, monkeypatch):
    rows, target = plain.data()
    model = REGRESSORS["random forest"].fit(rows, target)
    for limit in ("LEAF_RANK", "MOST_NODES", "COLUMN_BITS"):
        with monkeypatch.context() as changed:
            changed.setattr(f"accordant.learning.trees.sums.{limit}", 2)
            assert sums_of(model) is None


def test_blocks_are_worked_on_at_the_same_time():
    together = threading.Barrier(3, timeout=30)  # passes only if three threads wait at it
    assert on_threads(lambda block: (together.wait() >= 0) * block, [1, 2, 3], 3) == [1, 2, 3]
    names = on_threads(lambda _: threading.current_thread().name, range(4), 1)
    assert set(names) == {threading.main_thread().name}
    assert on_threads(lambda block: block, [], 4) == []


def test_a_worker_starts_no_threads_of_its_own(monkeypatch):
    found = []
    worker = threading.Thread(target=lambda: found.append(free_cores()))
    worker.start()
    worker.join()
    monkeypatch.setenv("LOKY_WORKER", "1")
    assert [*found, free_cores()] == [1, 1]
    monkeypatch.delenv("LOKY_WORKER")
    assert free_cores() >= 1


def test_little_work_starts_no_threads(plain, monkeypatch):
    rows, target = plain.data()
    sums = sums_of(REGRESSORS["random forest"].fit(rows, target))
    monkeypatch.setattr(module, "free_cores", lambda: pytest.fail("asked for cores"))
    assert sums(np.resize(rows, (2 * FEWEST_ROWS, 4))) is not None
