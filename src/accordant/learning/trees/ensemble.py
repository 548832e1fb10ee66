"""`Ensemble`: decision trees as flat arrays, checked so that compiled code can follow them unseen.

`read_ensemble` makes one from a fitted scikit-learn estimator, with one reader per type. Types are matched exactly,
because a subclass may predict otherwise. Gradient boosting (not the histogram kind) is left out: it adds a product,
which scikit-learn's compiler may round once or twice depending on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError

NO_CHILD = -1


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees whose leaf values are added up in order: ``(baseline + leaf_1 + leaf_2 + …) / divisor``.

    An inner node sends a row left if its value is at most the threshold.

    Parameters
    ----------
    starts
        First node of each tree, and the number of nodes at the end, shape (tree + 1,). A tree begins with its root.
    columns
        Column that each node reads, shape (node,); anything for leaves.
    thresholds
        Shape (node,); anything for leaves.
    left, right
        Number of each node's children in the arrays, shape (node,); −1 for leaves.
    values
        What a leaf adds to each output, shape (node, output).
    baseline
        What the sum starts with, shape (output,).
    divisor
        What the sum is divided by.
    n_columns
        Number of columns that the estimator was fitted on.
    single_precision
        Whether values are rounded to float32 before they are compared.

    Raises
    ------
    InputError
        If a child lies outside its tree or not below its parent, a node reads a column that does not exist, or a
        threshold is NaN: such a tree was damaged, and to follow it would read foreign memory or never end.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    values: NDArray[np.float64]
    baseline: NDArray[np.float64]
    divisor: float
    n_columns: int
    single_precision: bool

    def __post_init__(self) -> None:
        n_nodes, sizes = len(self.columns), np.diff(self.starts)
        per_node = (self.columns, self.thresholds, self.left, self.right, self.values)
        if any(len(array) != n_nodes for array in per_node) or self.values.shape[1:] != self.baseline.shape:
            raise InputError("a tree has arrays of different length; it was damaged or forged")
        if len(sizes) == 0 or self.starts[0] != 0 or self.starts[-1] != n_nodes or (sizes <= 0).any():
            raise InputError("an ensemble holds no tree, or a tree without nodes; it was damaged or forged")
        own, end = np.arange(n_nodes), np.repeat(self.starts[1:], sizes)
        inner = self.left != NO_CHILD
        sound = (self.columns >= 0) & (self.columns < self.n_columns) & ~np.isnan(self.thresholds)
        for child in (self.left, self.right):
            sound &= (child > own) & (child < end)  # always further down: no walk can go round in circles
        wrong = np.where(inner, ~sound, self.right != NO_CHILD)
        if wrong.any():
            node = int(wrong.argmax())
            tree = int(np.searchsorted(self.starts, node, side="right")) - 1
            raise InputError(
                f"node {node - self.starts[tree]} of tree {tree} does not hang together with the others: "
                "the tree was damaged or forged"
            )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.starts) - 1

    @property
    def n_outputs(self) -> int:
        """Number of values per leaf."""
        return len(self.baseline)


def read_ensemble(estimator: Any) -> Ensemble | None:
    """Return the trees of a fitted estimator, or None if it has none or predicts in a way that is not known here.

    The outputs are the targets of a regressor, the class probabilities of a forest or tree that classifies, and the
    raw predictions (before the softmax) of histogram boosting that classifies.

    Raises
    ------
    InputError
        If a tree was damaged.
    """
    reader = _READERS.get(f"{type(estimator).__module__}.{type(estimator).__qualname__}")
    return None if reader is None else reader(estimator)


def _forest_of_regressors(forest: Any) -> Ensemble:
    return _summed([tree.tree_ for tree in forest.estimators_], 0)


def _forest_of_classifiers(forest: Any) -> Ensemble | None:
    return _summed([tree.tree_ for tree in forest.estimators_], 1) if forest.n_outputs_ == 1 else None


def _regression_tree(tree: Any) -> Ensemble:
    return _summed([tree.tree_], 0)


def _classification_tree(tree: Any) -> Ensemble | None:
    return _summed([tree.tree_], 1) if tree.n_outputs_ == 1 else None


def _summed(trees: list[Any], axis: int) -> Ensemble:
    """Return the mean of trees, whose values have shape (node, output, class); `axis` says which of the two counts."""
    starts = _starts([tree.node_count for tree in trees])
    values = [tree.value[:, :, 0] if axis == 0 else tree.value[:, 0, :] for tree in trees]
    return Ensemble(
        starts,
        np.concatenate([tree.feature for tree in trees]).astype(np.int64),
        np.concatenate([tree.threshold for tree in trees]),
        _children([tree.children_left for tree in trees], starts),
        _children([tree.children_right for tree in trees], starts),
        np.ascontiguousarray(np.concatenate(values)),
        np.zeros(values[0].shape[1]),
        float(len(trees)),
        trees[0].n_features,
        single_precision=True,
    )


def _boosting_regressor(boosting: Any) -> Ensemble | None:
    # losses with a logarithmic link transform the sum
    identity = type(boosting._loss.link).__name__ == "IdentityLink"  # noqa: SLF001 - has no public name
    return _boosted(boosting) if identity else None


def _boosting_classifier(boosting: Any) -> Ensemble | None:
    return _boosted(boosting)


def _boosted(boosting: Any) -> Ensemble | None:
    rounds = boosting._predictors  # noqa: SLF001 - has no public name
    parts = [(tree.nodes, output) for trees in rounds for output, tree in enumerate(trees)]
    if not parts or boosting._preprocessor is not None:  # noqa: SLF001
        return None
    baseline = np.asarray(boosting._baseline_prediction, dtype=np.float64).ravel()  # noqa: SLF001
    starts = _starts([len(nodes) for nodes, _ in parts])
    nodes = np.concatenate([tree for tree, _ in parts])
    leaf = nodes["is_leaf"] != 0
    if nodes["is_categorical"].any():
        return None
    values = np.zeros((len(nodes), len(baseline)))  # adding 0 to the other outputs leaves their bits alone
    output = np.repeat([column for _, column in parts], np.diff(starts))
    values[np.arange(len(nodes)), output] = nodes["value"]
    offsets = np.repeat(starts[:-1], np.diff(starts))
    left, right = (np.where(leaf, NO_CHILD, nodes[side].astype(np.int64) + offsets) for side in ("left", "right"))
    return Ensemble(
        starts,
        nodes["feature_idx"].astype(np.int64),
        nodes["num_threshold"].astype(np.float64),
        left,
        right,
        values,
        baseline,
        1.0,
        boosting.n_features_in_,
        single_precision=False,
    )


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _children(of_trees: list[NDArray[Any]], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return children numbered through all trees; what is no child number stays negative."""
    numbered = [np.where(tree < 0, tree, tree + start) for tree, start in zip(of_trees, starts[:-1], strict=True)]
    return np.asarray(np.concatenate(numbered), dtype=np.int64)


_FOREST, _TREE = "sklearn.ensemble._forest", "sklearn.tree._classes"
_BOOSTING_MODULE = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting"
_READERS: Mapping[str, Callable[[Any], Ensemble | None]] = {
    f"{_FOREST}.RandomForestRegressor": _forest_of_regressors,
    f"{_FOREST}.ExtraTreesRegressor": _forest_of_regressors,
    f"{_FOREST}.RandomForestClassifier": _forest_of_classifiers,
    f"{_FOREST}.ExtraTreesClassifier": _forest_of_classifiers,
    f"{_TREE}.DecisionTreeRegressor": _regression_tree,
    f"{_TREE}.ExtraTreeRegressor": _regression_tree,
    f"{_TREE}.DecisionTreeClassifier": _classification_tree,
    f"{_TREE}.ExtraTreeClassifier": _classification_tree,
    f"{_BOOSTING_MODULE}.HistGradientBoostingRegressor": _boosting_regressor,
    f"{_BOOSTING_MODULE}.HistGradientBoostingClassifier": _boosting_classifier,
}  # by name, so that nothing heavy is imported
