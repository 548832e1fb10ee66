"""The plain walk: one row, one tree, one node after the other, as the estimators' documentation describes it."""

from __future__ import annotations

import math

import numpy as np
import pytest


def walked(left, right, column, threshold, row):
    """The leaf that a row reaches."""
    node = 0
    while left[node] != -1:
        node = left[node] if row[column[node]] <= threshold[node] else right[node]
    return node


def forest_mean(trees, row):
    """Mean leaf value of scikit-learn trees: float32 features, float64 thresholds, sum in order, one division."""
    row = [float(np.float32(value)) for value in row]
    total = 0.0
    for tree in trees:
        leaf = walked(tree.children_left, tree.children_right, tree.feature, tree.threshold, row)
        total = total + tree.value[leaf]
    return total / len(trees)


def boosting_sum(model, row):
    """Baseline plus the leaf value of each round, in float64."""
    totals = [float(each) for each in np.ravel(model._baseline_prediction)]
    for trees in model._predictors:
        for output, tree in enumerate(trees):
            node = tree.nodes[0]
            while not node["is_leaf"]:
                value = float(row[node["feature_idx"]])
                assert not math.isnan(value)
                node = tree.nodes[node["left"] if value <= float(node["num_threshold"]) else node["right"]]
            totals[output] += float(node["value"])
    return totals


def data(n=200, n_columns=4, seed=0, outputs=1):
    """Columns with many equal values, so that new rows hit thresholds and their neighbours, and a noisy target."""
    generator = np.random.default_rng(seed)
    rows = np.round(generator.normal(size=(n, n_columns)), 1)
    rows[:, -1] = generator.integers(0, 2, n)
    target = np.clip(rows[:, 0] * rows[:, -1] + rows[:, 1] ** 2 + 0.2 * generator.normal(size=n), -1, 2) / 3
    targets = np.column_stack([target, *(target * 0.5**k + k for k in range(1, outputs))])
    return rows, (target if outputs == 1 else targets)


def at_thresholds(thresholds, rows):
    """Rows whose values are thresholds, and the nearest numbers below and above, in both precisions."""
    thresholds = np.asarray(thresholds, dtype=np.float64)
    near = np.concatenate(
        [thresholds, np.nextafter(thresholds, -np.inf), np.nextafter(thresholds, np.inf)]
        + [np.nextafter(thresholds.astype(np.float32), np.float32(end)) for end in (-np.inf, np.inf)]
    )
    out = np.resize(rows, (len(near), rows.shape[1])).copy()
    for column in range(rows.shape[1]):
        out[:, column] = np.roll(near, column)
    return out


@pytest.fixture
def plain():
    """The functions above by name."""

    class Plain:
        forest_mean = staticmethod(forest_mean)
        boosting_sum = staticmethod(boosting_sum)
        data = staticmethod(data)
        at_thresholds = staticmethod(at_thresholds)

    return Plain
