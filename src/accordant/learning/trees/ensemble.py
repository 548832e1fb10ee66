"""`Ensemble`: decision trees as flat arrays, checked so that compiled code can follow them unseen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    ValueError
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
        if any(len(each) != n_nodes for each in per_node) or self.values.shape[1:] != self.baseline.shape:
            raise ValueError("a tree has arrays of different length; it was damaged or forged")
        if len(sizes) == 0 or self.starts[0] != 0 or self.starts[-1] != n_nodes or (sizes <= 0).any():
            raise ValueError("an ensemble holds no tree, or a tree without nodes; it was damaged or forged")
        own, end = np.arange(n_nodes), np.repeat(self.starts[1:], sizes)
        inner = self.left != NO_CHILD
        sound = (self.columns >= 0) & (self.columns < self.n_columns) & ~np.isnan(self.thresholds)
        for child in (self.left, self.right):
            sound &= (child > own) & (child < end)  # always further down: no walk can go round in circles
        wrong = np.where(inner, ~sound, self.right != NO_CHILD)
        if wrong.any():
            node = int(wrong.argmax())
            tree = int(np.searchsorted(self.starts, node, side="right")) - 1
            raise ValueError(
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
