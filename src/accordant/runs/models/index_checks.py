"""Checks of numbers that compiled code follows unseen: every index lies in the arrays of its own model.

scikit-learn checks the width of the rows it is asked about against ``n_features_in_``, and nothing behind that: a node
number, a feature number or a class code outside its array reads, or writes, foreign memory. So each check asks that
what is followed fits ``n_features_in_`` and the arrays beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree._tree import Tree

from accordant.errors import RunFolderError

LIBSVM_KERNELS = ("linear", "poly", "rbf", "sigmoid")
NO_CHILD = -1


def check_part(part: Any, name: str) -> None:
    """Raise `RunFolderError` if compiled code that follows a part of a model would leave its arrays.

    Parameters
    ----------
    part
        Any object inside a loaded model.
    name
        Name of the file, for the message.
    """
    if isinstance(part, BaseEstimator):
        hidden = sorted(key for key in vars(part) if _is_fixed(getattr(type(part), key, None)))
        if hidden:
            raise RunFolderError(
                f"{name} holds a {type(part).__name__} whose {hidden[0]!r} was replaced; it was forged"
            )
    followed, check = CHECKS.get(type(part).__name__, ("", None))
    if check is None or (followed and followed not in vars(part)):  # without it there is nothing to follow
        return
    try:
        sound = check(part)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError):
        sound = False
    if not sound:
        raise RunFolderError(
            f"{name} holds a {type(part).__name__} whose numbers point outside its arrays; it was damaged or forged"
        )


def _is_fixed(attribute: Any) -> bool:
    """Return whether a class gives all its objects this attribute: a method, or the name of what it calls."""
    return callable(attribute) or isinstance(attribute, str)


def _tree(tree: Any) -> bool:
    """Return whether a tree of scikit-learn hangs together; the number of its nodes is what was read, see `Tree`."""
    followed = _followed(tree.children_left, tree.children_right, tree.feature, tree.n_features)
    return tree.n_outputs > 0 and len(tree.value) == len(tree.feature) and followed


def _followed(left: Any, right: Any, feature: Any, n_features: int) -> bool:
    """Return whether every inner node leads to two later nodes of its tree and reads a feature that exists.

    Always further down: no walk can go round in circles.
    """
    left, right, feature = (np.asarray(array).astype(np.int64) for array in (left, right, feature))
    own, inner = np.arange(len(left)), left != NO_CHILD
    below = (left > own) & (left < len(own)) & (right > own) & (right < len(own))
    sound = below & (feature >= 0) & (feature < n_features)
    return len(own) > 0 and bool(sound[inner].all() and (right[~inner] == NO_CHILD).all())


def _tree_estimator(model: Any) -> bool:
    return type(model.tree_) is Tree and model.tree_.n_features == _width(model) and _tree(model.tree_)


def _width(model: Any) -> int:
    """Return the number of columns that scikit-learn lets through."""
    if not isinstance(model.n_features_in_, int | np.integer):
        raise TypeError(model.n_features_in_)
    return int(model.n_features_in_)


def _gradient_boosting(model: Any) -> bool:
    """Trees are added to a column of sums each, at their own features: widths and numbers of columns must agree."""
    trees = model.estimators_
    of_one_kind = all(type(tree) is DecisionTreeRegressor and _tree_estimator(tree) for tree in trees.ravel())
    constant = model.init_ == "zero" or type(model.init_) in {DummyClassifier, DummyRegressor}
    if trees.ndim != 2 or trees.size == 0 or not of_one_kind or not constant:
        return False
    width = _width(model)
    fitting = all(tree.n_features_in_ == width and tree.tree_.value.shape[1:] == (1, 1) for tree in trees.ravel())
    start = model._raw_predict_init(np.zeros((1, width)))  # the same columns for any rows
    return fitting and start.shape == (1, trees.shape[1])


def _histogram_boosting(model: Any) -> bool:
    """Splits are numeric ones: bit sets of categories are neither saved nor followed."""
    mapper, width = model._bin_mapper, _width(model)
    categorical = np.asarray(mapper.is_categorical_)
    numeric = model._preprocessor is None and model.is_categorical_ is None
    if not numeric or categorical.shape != (width,) or categorical.any() or "_in_fit" in vars(model):
        return False
    return all(
        type(tree) is TreePredictor and _predictor(tree) and _reads_below(tree, width)
        for trees in model._predictors
        for tree in trees
    )


def _predictor(tree: Any) -> bool:
    nodes = tree.nodes
    inner = nodes["is_leaf"] == 0
    left, right = (np.where(inner, nodes[side].astype(np.int64), NO_CHILD) for side in ("left", "right"))
    unbounded = int(np.iinfo(np.int64).max)  # the features are compared with their model's, see `_histogram_boosting`
    return (
        nodes.ndim == 1
        and not nodes["is_categorical"].any()
        and _followed(left, right, nodes["feature_idx"], unbounded)
    )


def _reads_below(tree: Any, width: int) -> bool:
    features = tree.nodes["feature_idx"][tree.nodes["is_leaf"] == 0].astype(np.int64)
    return bool((features < width).all())


def _neighbours(model: Any) -> bool:
    """The search tree is made anew from the points, see `files`."""
    points, codes = model._fit_X, np.asarray(model._y)
    n_points = len(points)
    if type(points) is not np.ndarray or points.shape != (n_points, _width(model)) or points.dtype.kind != "f":
        return False
    if model.n_samples_fit_ != n_points or len(codes) != n_points or not 1 <= model.n_neighbors <= n_points:
        return False
    if model.metric == "precomputed" or not isinstance(model.effective_metric_, str) or model._tree is not None:
        return False
    if type(model).__name__ == "KNeighborsRegressor":
        return True
    return (
        model.outputs_2d_ is False
        and codes.ndim == 1
        and codes.dtype == np.intp
        and bool(((codes >= 0) & (codes < len(model.classes_))).all())
    )


def _support_vectors(model: Any) -> bool:
    """The compiled code takes the number of classes from ``_n_support`` and reads all other arrays by it."""
    vectors, per_class = model.support_vectors_, np.asarray(model._n_support)
    n_vectors, n_classes = len(vectors), len(per_class)
    pairs = n_classes * (n_classes - 1) // 2
    classifies = type(model).__name__.endswith("SVC")
    counted = per_class.sum() == n_vectors if classifies else (per_class == n_vectors).all()
    probabilities = {len(model._probA), len(model._probB)}
    return (
        model.kernel in LIBSVM_KERNELS
        and model._sparse is False
        and vectors.shape == (n_vectors, _width(model))
        and n_classes == (len(model.classes_) if classifies else 2)
        and bool((per_class >= 0).all() and counted)
        and len(model.support_) == n_vectors
        and model._dual_coef_.shape == (n_classes - 1, n_vectors)
        and model._intercept_.shape == (pairs,)
        and probabilities in ({0}, {pairs})
    )


CHECKS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "DecisionTreeClassifier": ("tree_", _tree_estimator),
    "DecisionTreeRegressor": ("tree_", _tree_estimator),
    "ExtraTreeClassifier": ("tree_", _tree_estimator),
    "ExtraTreeRegressor": ("tree_", _tree_estimator),
    "GradientBoostingClassifier": ("estimators_", _gradient_boosting),
    "GradientBoostingRegressor": ("estimators_", _gradient_boosting),
    "HistGradientBoostingClassifier": ("_predictors", _histogram_boosting),
    "HistGradientBoostingRegressor": ("_predictors", _histogram_boosting),
    "KNeighborsClassifier": ("_fit_X", _neighbours),
    "KNeighborsRegressor": ("_fit_X", _neighbours),
    "NuSVC": ("support_vectors_", _support_vectors),
    "NuSVR": ("support_vectors_", _support_vectors),
    "SVC": ("support_vectors_", _support_vectors),
    "SVR": ("support_vectors_", _support_vectors),
    "Tree": ("", _tree),
    "TreePredictor": ("nodes", _predictor),
}
"""Name of a type to the attribute that compiled code follows, which an unfitted object lacks, and its check.

`trusted_types.CHECKED` lists the same types.
"""
