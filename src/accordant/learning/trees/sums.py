"""`TreeSums`: the sums over an ensemble's trees, for many rows and every group, in blocks and on several threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.kernels import compiled
from accordant.learning.trees.ensemble import Ensemble
from accordant.learning.trees.traversal import (
    CHILD_BITS,
    COLUMN_BITS,
    LEAF_RANK,
    RANK_SHIFT,
    TILE,
    rank,
    sum_one_row,
    sum_rows,
)
from accordant.threads import free_cores, on_threads

MOST_NODES = 1 << 26  # nodes and values take 1 GiB; a larger ensemble is left to its estimator


@dataclass(frozen=True, eq=False)
class SpecialisedTrees:
    """What the walks of `traversal` read: every tree of every group, node after node.

    Attributes
    ----------
    nodes
        Packed nodes, shape (node,), see `traversal`.
    values
        What a leaf adds to each output, shape (node · output,).
    roots, depths
        Root of each tree and the longest way down from it, shape (group, tree).
    thresholds
        Distinct thresholds of one free column after the other, ascending in each, shape (threshold,).
    ends
        Where the thresholds of each free column begin, and where the last ones end, shape (free column + 1,).
    free
        Columns of the estimator that vary from row to row, shape (free column,).
    baseline, divisor, single_precision
        As in `Ensemble`.
    """

    nodes: NDArray[np.uint64]
    values: NDArray[np.float64]
    roots: NDArray[np.uint64]
    depths: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    ends: NDArray[np.int64]
    free: NDArray[np.int64]
    baseline: NDArray[np.float64]
    divisor: float
    single_precision: bool


def specialise(ensemble: Ensemble, constants: NDArray[np.float64]) -> SpecialisedTrees | None:
    """Return the trees that are left when columns are held constant, or None if they are too many or too large.

    Parameters
    ----------
    ensemble
        Checked trees.
    constants
        Value of each column in each group, NaN for the columns that are free in all of them, shape (group, column).

    Raises
    ------
    InputError
        If the trees were fitted on another number of columns.
    """
    if ensemble.single_precision:
        constants = constants.astype(np.float32).astype(np.float64)
    if constants.shape[1:] != (ensemble.n_columns,):
        raise InputError(f"the trees were fitted on {ensemble.n_columns} columns, not on {constants.shape[1]}")
    free = np.flatnonzero(np.isnan(constants[0]))
    position = np.zeros(ensemble.n_columns, dtype=np.int64)
    position[free] = np.arange(len(free))
    ranks, thresholds, ends = _ranked_thresholds(ensemble, free)
    most = len(ensemble.columns) * len(constants)
    if most > MOST_NODES or len(free) >= 1 << COLUMN_BITS or np.diff(ends).max(initial=0) >= LEAF_RANK:
        return None
    shape = (len(constants), ensemble.n_trees)
    roots, depths = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    nodes, sources = [], []
    packed = np.empty(len(ensemble.columns), dtype=np.int64)
    source, level = np.empty_like(packed), np.empty_like(packed)
    base = 0
    for group in range(len(constants)):
        size = specialise_group(
            ensemble.starts, ensemble.columns, ensemble.thresholds, ensemble.left, ensemble.right,
            ranks, position, np.ascontiguousarray(constants[group]), (LEAF_RANK, RANK_SHIFT, CHILD_BITS),
            base, packed, source, level, roots[group], depths[group],
        )  # fmt: skip
        nodes.append(packed[:size].copy())
        sources.append(source[:size].copy())
        base += size
    return SpecialisedTrees(
        np.concatenate(nodes).view(np.uint64),
        ensemble.values[np.concatenate(sources)].ravel(),
        roots.view(np.uint64),
        depths,
        thresholds,
        ends,
        free,
        ensemble.baseline,
        ensemble.divisor,
        ensemble.single_precision,
    )


def _ranked_thresholds(
    ensemble: Ensemble, free: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the rank of each node's threshold, and the distinct thresholds of each free column with their ends."""
    ranks = np.zeros(len(ensemble.columns), dtype=np.int64)
    tables, inner = [], ensemble.left >= 0
    for column in free:
        reads = np.flatnonzero(inner & (ensemble.columns == column))
        distinct, ranks[reads] = np.unique(ensemble.thresholds[reads], return_inverse=True)
        tables.append(distinct)
    ends = np.cumsum([0, *map(len, tables)])
    return ranks, np.concatenate([*tables, np.empty(0)]), ends


@compiled
def specialise_group(
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    thresholds: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    ranks: NDArray[np.int64],
    position: NDArray[np.int64],
    constants: NDArray[np.float64],
    layout: tuple[int, int, int],
    base: int,
    packed: NDArray[np.int64],
    source: NDArray[np.int64],
    level: NDArray[np.int64],
    roots: NDArray[np.int64],
    depths: NDArray[np.int64],
) -> int:
    """Write the nodes of one group, level by level in each tree with siblings side by side; return their number.

    Parameters
    ----------
    starts, columns, thresholds, left, right
        The checked trees, see `Ensemble`.
    ranks
        Rank of each node's threshold, shape (node,).
    position
        Number of each free column among the free ones, shape (column,).
    constants
        Value of each column, NaN for free ones, shape (column,).
    layout
        The rank of leaves, and where the rank and the column begin in a packed node.
    base
        Number of nodes in the groups before this one.
    packed, source, level
        For the packed node, the node that it came from, and its level, shape (node,): no group has more nodes.
    roots, depths
        For the root and the depth of each tree, shape (tree,).
    """
    leaf_rank, to_rank, to_column = layout
    size = 0
    for tree in range(len(starts) - 1):
        head = size
        roots[tree] = base + head
        node = starts[tree]
        while left[node] >= 0 and not np.isnan(constants[columns[node]]):
            node = left[node] if constants[columns[node]] <= thresholds[node] else right[node]
        source[size], level[size] = node, 0
        size += 1
        while head < size:
            node = source[head]
            if left[node] < 0:  # a leaf leads to itself
                packed[head] = (leaf_rank << to_rank) | (base + head)
            else:
                packed[head] = (ranks[node] << to_rank) | (position[columns[node]] << to_column) | (base + size)
                for side in range(2):
                    below = left[node] if side == 0 else right[node]
                    while left[below] >= 0 and not np.isnan(constants[columns[below]]):
                        below = left[below] if constants[columns[below]] <= thresholds[below] else right[below]
                    source[size], level[size] = below, level[head] + 1
                    size += 1
            head += 1
        depths[tree] = level[size - 1]
    return size


FEWEST_ROWS, MOST_ROWS = 1024, 4096  # per block: with fewer, trees are read from memory too often; more gains nothing
WALKS_PER_THREAD = 500_000  # about 3 ms of work; less does not repay the start of a thread


@dataclass(frozen=True, eq=False)
class TreeSums:
    """Calls compiled code on specialised trees."""

    trees: SpecialisedTrees

    @classmethod
    def of(cls, ensemble: Ensemble, constants: NDArray[np.float64] | None = None) -> Self | None:
        """Specialise an ensemble; None if it is too large for the packed nodes.

        Parameters
        ----------
        ensemble
            Checked trees.
        constants
            Value of each column in each group, NaN for free columns, shape (group, column); None leaves all free.
        """
        if constants is None:
            constants = np.full((1, ensemble.n_columns), np.nan)
        trees = specialise(ensemble, constants)
        return None if trees is None else cls(trees)

    def group(self, number: int) -> TreeSums:
        """Return the sums of one group alone."""
        part = slice(number, number + 1)
        return TreeSums(replace(self.trees, roots=self.trees.roots[part], depths=self.trees.depths[part]))

    def __call__(self, rows: NDArray[np.float64], threads: int | None = None) -> NDArray[np.float64] | None:
        """Return the sums, shape (group, output, row), or None if a value is not finite (float32: too large).

        What happens then differs from estimator to estimator, so the estimator itself must decide.

        Parameters
        ----------
        rows
            Values of the free columns, shape (row, free column).
        threads
            Threads over blocks of rows; None chooses. The result does not depend on it.
        """
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        n_rows, n_free = rows.shape
        if n_free != len(self.trees.free):
            raise InputError(f"rows have {n_free} columns; these trees read {len(self.trees.free)}")
        n_groups, n_trees = self.trees.roots.shape
        sums = np.empty((n_groups, len(self.trees.baseline), n_rows))
        if threads is None:
            walks = n_rows * n_groups * n_trees
            threads = min(free_cores(), walks // WALKS_PER_THREAD) if walks >= 2 * WALKS_PER_THREAD else 1
        step = min(MOST_ROWS, max(FEWEST_ROWS, -(-n_rows // (threads * TILE)) * TILE))
        finite = on_threads(
            lambda start: self._block(rows[start : start + step], start, sums), range(0, n_rows, step), threads
        )
        return sums if all(finite) else None

    def _block(self, rows: NDArray[np.float64], start: int, sums: NDArray[np.float64]) -> bool:
        trees, (n_rows, n_columns) = self.trees, rows.shape
        ranks = np.empty(-(-n_rows // TILE) * n_columns * TILE, dtype=np.uint32)
        if not rank(rows, trees.thresholds, trees.ends, trees.single_precision, ranks):
            return False
        of_trees = trees.nodes, trees.values, trees.roots, trees.depths, trees.baseline, trees.divisor
        in_tiles = n_rows - n_rows % TILE
        if in_tiles:
            sum_rows(*of_trees, ranks, n_columns, n_rows, start, sums)
        for row in range(in_tiles, n_rows):
            sum_one_row(*of_trees, ranks, n_columns, row, start, sums)
        return True
