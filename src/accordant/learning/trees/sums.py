"""`TreeSums`: the sums over an ensemble's trees, for many rows and every group, in blocks and on several threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from accordant.learning.trees.ensemble import Ensemble
from accordant.learning.trees.specialisation import SpecialisedTrees, specialise
from accordant.learning.trees.traversal import TILE, rank, sum_one_row, sum_rows
from accordant.threads import free_cores, on_threads

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
            raise ValueError(f"rows have {n_free} columns; these trees read {len(self.trees.free)}")
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
