"""A forged model is refused before any compiled code follows it: not one of these files ends the process."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree

from accordant.errors import RunFolderError
from accordant.runs.models.index_checks import CHECKS
from accordant.runs.models.files import _skops, dump_model, load_model
from accordant.runs.models.trusted_types import CHECKED

skops = _skops()  # importing it whole walks through all of scikit-learn
GENERATOR = np.random.default_rng(0)
X, CODES, LEVELS = GENERATOR.normal(size=(120, 3)), GENERATOR.integers(0, 3, 120), GENERATOR.random(120)
FAR = 2_000_000_000  # a number of a node, feature or class that lies in nobody's memory


def boosting():
    return HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(X, LEVELS)


def tree():
    return DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, LEVELS)


def with_node(field, value, node=0):
    """Forge a field of a node of histogram boosting."""

    def forge(model):
        model._predictors[1][0].nodes[field][node] = value

    return forge


def with_category(model):
    nodes = model._predictors[0][0].nodes
    nodes["is_categorical"][0], nodes["bitset_idx"][0] = 1, FAR


def with_state(n_features=3, **changes):
    """Forge the state from which a tree is made."""

    def forge(model):
        state = model.tree_.__getstate__()
        made = Tree(n_features, np.array([1], dtype=np.intp), 1)
        made.__setstate__(state | changes)
        model.tree_ = made

    return forge


def with_nodes(field, value, node=0):
    """Forge a field of a node of a tree."""

    def forge(model):
        nodes = model.tree_.__getstate__()["nodes"].copy()
        nodes[field][node] = value
        with_state(nodes=nodes)(model)

    return forge


def with_attributes(**changes):
    """Forge attributes."""

    def forge(model):
        vars(model).update(changes)

    return forge


def without(name):
    """Take an attribute away."""

    def forge(model):
        del vars(model)[name]

    return forge


def with_wider_stage(model):
    """Let trees add to columns of sums that are not there."""
    model.estimators_ = np.concatenate([model.estimators_] * 40, axis=1)


def with_one_class(model):
    model.init_ = DummyClassifier().fit(X, np.zeros(len(X)))


def with_far_trees(model):
    model.estimators_[0, 0].tree_.feature[0] = FAR


def with_far_child(model):
    model.estimators_[2].tree_.children_left[0] = FAR


def with_code(value):
    """Forge the class of a training point."""

    def forge(model):
        model._y = model._y.copy()
        model._y[:] = value

    return forge


def support_vectors(**parameters):
    return SVC(**parameters).fit(X, CODES)


FORGERIES = {
    "bit set of categories": (boosting, with_category),
    "left child": (boosting, with_node("left", 2**31)),
    "right child is the root": (boosting, with_node("right", 0)),
    "feature below 0": (boosting, with_node("feature_idx", -1)),
    "feature too high": (boosting, with_node("feature_idx", 3)),
    "no number of columns": (boosting, without("n_features_in_")),
    "another number of columns": (boosting, with_attributes(n_features_in_=40)),
    "taken for fitting": (boosting, with_attributes(_in_fit=True)),
    "categories of a feature": (boosting, lambda model: model._bin_mapper.is_categorical_.__setitem__(0, 1)),
    "child of a tree": (tree, with_nodes("left_child", FAR)),
    "child above its parent": (tree, with_nodes("left_child", 0, node=1)),
    "leaf with a child": (tree, with_nodes("right_child", 1, node=-1)),
    "feature of a tree": (tree, with_nodes("feature", FAR)),
    "features of a tree": (tree, with_state(n_features=40)),
    "columns of a tree": (tree, with_attributes(n_features_in_=40)),
    "method of a tree": (tree, with_attributes(_validate_X_predict="numpy")),
    "child in a forest": (lambda: RandomForestRegressor(3, random_state=0).fit(X, LEVELS), with_far_child),
    "stages of boosting": (lambda: GradientBoostingRegressor(n_estimators=2).fit(X, LEVELS), with_wider_stage),
    "classes of boosting": (lambda: GradientBoostingClassifier(n_estimators=2).fit(X, CODES), with_one_class),
    "trees of boosting": (lambda: GradientBoostingRegressor(n_estimators=2).fit(X, LEVELS), with_far_trees),
    "class of a neighbour": (lambda: KNeighborsClassifier(algorithm="brute").fit(X, CODES), with_code(FAR)),
    "class below 0": (lambda: KNeighborsClassifier(algorithm="brute").fit(X, CODES), with_code(-FAR)),
    "number of neighbours": (lambda: KNeighborsRegressor().fit(X, LEVELS), with_attributes(n_neighbors=FAR)),
    "number of points": (lambda: KNeighborsRegressor().fit(X, LEVELS), with_attributes(n_samples_fit_=FAR)),
    "width of points": (lambda: KNeighborsRegressor().fit(X, LEVELS), with_attributes(_fit_X=X[:, :1].copy())),
    "vectors of a class": (support_vectors, with_attributes(_n_support=np.array([FAR, -FAR, 0], dtype=np.int32))),
    "number of classes": (support_vectors, with_attributes(_n_support=np.full(3000, 0, dtype=np.int32))),
    "coefficients": (support_vectors, with_attributes(_dual_coef_=np.zeros((1, 1)))),
    "intercepts": (support_vectors, with_attributes(_intercept_=np.zeros(0))),
    "width of vectors": (support_vectors, with_attributes(support_vectors_=np.zeros((0, 3)))),
    "kernel of training rows": (support_vectors, with_attributes(kernel="precomputed")),
    "kind of machine": (lambda: SVR().fit(X, LEVELS), with_attributes(_impl="c_svc")),
}

READ = """
import sys
from pathlib import Path
import numpy as np
from accordant.errors import RunFolderError
from accordant.runs.models.files import load_model
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        model = load_model(path.read_bytes(), path.name)
    except RunFolderError:
        print("refused", flush=True)
    else:
        for asked in (np.full((500, 3), -9.0), np.full((500, 3), 9.0)):
            model.predict(asked)
        print("answered", flush=True)
"""


def forged(name):
    """Return the bytes of a forged model file."""
    build, forge = FORGERIES[name]
    model = build()
    forge(model)
    return skops.dumps(model)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_model_is_refused(name):
    with pytest.raises(RunFolderError, match=r"model holds a \w+ whose|is no model file|trust list"):
        load_model(forged(name), "model")


@pytest.mark.long
def test_no_forged_model_ends_the_process(tmp_path):
    for number, name in enumerate(FORGERIES):
        (tmp_path / f"{number:02}.skops").write_bytes(forged(name))
    (tmp_path / "99.skops").write_bytes(skops.dumps(boosting()))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path)], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["refused"] * len(FORGERIES) + ["answered"]


def test_a_forged_part_deep_inside_is_refused():
    model = boosting()
    with_category(model)
    with pytest.raises(RunFolderError, match="HistGradientBoostingRegressor|TreePredictor"):
        load_model(skops.dumps(make_pipeline(StandardScaler(), model)), "model")


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
        DecisionTreeClassifier(max_depth=1),
        HistGradientBoostingClassifier(max_iter=3),
        GradientBoostingClassifier(n_estimators=3),
        KNeighborsClassifier(),
        SVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sound_models_pass(model):
    model.fit(X, CODES)
    assert (load_model(dump_model(model), "model").predict(X) == model.predict(X)).all()


def test_every_type_that_is_said_to_be_checked_has_a_check():
    assert {name for names in CHECKED.values() for name in names.split()} == set(CHECKS)
