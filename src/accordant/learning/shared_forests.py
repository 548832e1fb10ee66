"""Fits of one estimator along a grid; forests that differ in size or depth only share one.

The first n trees of a forest are the forest with n trees and the same random state. A tree that grows depth first,
cut at a depth, is distributed as one that was grown to this depth: each node draws its features by itself, and its
value and its split depend on its own rows alone. (The random numbers of its nodes are others, so the two trees are
the same only where a node of a random forest sees all features and nothing ties.) So points of a grid are compared by
one pass through the largest and deepest forest. What is used afterwards is fitted by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from accordant.arrays import Codes, Values
from accordant.learning.tuning import Point

FORESTS = (RandomForestRegressor, RandomForestClassifier, ExtraTreesRegressor, ExtraTreesClassifier)
"""Types whose prediction is the mean of their trees; a subclass may predict otherwise."""

Cut = tuple[int, int | None]
"""How many trees, and how deep; None as deep as they are."""


def fit_grid(estimator: Any, points: Sequence[Point], features: Any, target: Any) -> list[Any]:
    """Return what predicts for each point of a grid, only to compare them: a fitted estimator, or a `CutForest`.

    Raises
    ------
    ValueError
        By scikit-learn, if a point or the data do not suit the estimator.
    """
    if type(estimator) not in FORESTS or estimator.random_state is None:
        return [clone(estimator).set_params(**point).fit(features, target) for point in points]
    fitted: list[Any] = [None] * len(points)
    for group in _sharing(estimator, points):
        cuts = [_cut(estimator, points[number]) for number in group]
        depths = [depth for _, depth in cuts if depth is not None]
        largest = dict(points[group[0]]) | {
            "n_estimators": max(size for size, _ in cuts),
            "max_depth": max(depths) if len(depths) == len(cuts) else None,
        }
        shared = SharedForest(clone(estimator).set_params(**largest).fit(features, target), cuts)
        for place, number in enumerate(group):
            fitted[number] = CutForest(shared, place)
    return fitted


def _sharing(estimator: Any, points: Sequence[Point]) -> list[list[int]]:
    """Return the numbers of the points of each shared fit."""
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for number, point in enumerate(points):
        alone = clone(estimator).set_params(**point)
        alone._validate_params()  # noqa: SLF001 - a wrong size or depth would be hidden by the largest
        own = {"n_estimators"}
        if alone.max_leaf_nodes is None and alone.ccp_alpha == 0.0:  # else depth decides about other nodes too
            own.add("max_depth")
        # with its type: as max_features, 1 is one feature and 1.0 is all of them
        rest = {name: (type(value), value) for name, value in point.items() if name not in own}
        same = next((members for parameters, members in groups if parameters == rest), None)
        if same is None:
            groups.append((rest, [number]))
        else:
            same.append(number)
    return [members for _, members in groups]


def _cut(estimator: Any, point: Point) -> Cut:
    return point.get("n_estimators", estimator.n_estimators), point.get("max_depth", estimator.max_depth)


@dataclass(eq=False)
class SharedForest:
    """A fitted forest that stands for smaller and shallower ones.

    Parameters
    ----------
    forest
        Fitted, of one of `FORESTS`.
    cuts
        What it stands for.
    """

    forest: Any
    cuts: Sequence[Cut]
    _last: tuple[Values, list[Values]] | None = field(default=None, init=False, repr=False)

    def predictions(self, rows: Values) -> list[Values]:
        """Return what each cut predicts, shape (row, output), or (row, class) of a classifier; the last is kept."""
        if self._last is None or not np.array_equal(self._last[0], rows, equal_nan=True):
            self._last = rows.copy(), self._walked(rows)
        return self._last[1]

    def _walked(self, rows: Values) -> list[Values]:
        columns = self.forest._validate_X_predict(rows)  # noqa: SLF001 - once for all trees
        depths = {depth for _, depth in self.cuts}
        sums: dict[int | None, Any] = dict.fromkeys(depths, 0.0)
        means: dict[Cut, Values] = {}
        for size, estimator in enumerate(self.forest.estimators_, start=1):
            tree = estimator.tree_
            leaves, values = tree.apply(columns), _per_node(tree)
            for depth in depths:
                ends = leaves if depth is None else ends_at(tree, depth)[leaves]
                sums[depth] = sums[depth] + values[ends]
                if (size, depth) in self.cuts:
                    means[size, depth] = sums[depth] / size
        return [means[cut] for cut in self.cuts]


def _per_node(tree: Any) -> Values:
    """Return the outputs of a regression tree, or class shares, shape (node, output or class)."""
    return np.asarray(tree.value[:, :, 0] if tree.max_n_classes == 1 else tree.value[:, 0, :])


def ends_at(tree: Any, depth: int) -> Codes:
    """Return the node where a walk ends that would reach each node, if the tree is cut at a depth, shape (node,)."""
    ends, nodes, level = np.arange(tree.node_count), np.zeros(1, dtype=np.intp), 0
    while len(inner := nodes[tree.children_left[nodes] >= 0]):
        nodes = np.concatenate([tree.children_left[inner], tree.children_right[inner]])
        if level >= depth:
            ends[nodes] = np.tile(ends[inner], 2)
        level += 1
    return ends


@dataclass(frozen=True, eq=False)
class CutForest:
    """One cut of a shared forest, which predicts as an estimator does.

    Parameters
    ----------
    shared
        The fitted forest.
    number
        Which of its cuts.
    """

    shared: SharedForest
    number: int

    @property
    def classes_(self) -> Codes:
        """Classes of a classifier."""
        return np.asarray(self.shared.forest.classes_)

    def predict_proba(self, rows: Values) -> Values:
        """Return class probabilities, shape (row, class)."""
        return self.shared.predictions(rows)[self.number]

    def predict(self, rows: Values) -> Values:
        """Return a regressor's predictions, shape (row,) or (row, output)."""
        predictions = self.shared.predictions(rows)[self.number]
        return predictions[:, 0] if predictions.shape[1] == 1 else predictions
