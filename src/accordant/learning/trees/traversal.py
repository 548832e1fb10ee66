"""Compiled walks through specialised trees: many rows side by side, or many trees side by side for one row.

A walk waits for memory at each step; several walks that are interleaved hide each other's waiting. Two arrangements
make a step cheap.

A node is one 64-bit number, from the highest bit: the rank of its threshold, the free column that it reads, the number
of its left child. The right child is the next node. A row goes right if its rank is above the node's: value ≤ threshold
says the same as rank(value) ≤ rank(threshold), because the rank counts the thresholds strictly below. A leaf is its own
left child and has a rank that no value passes, so that a walk may go on for as many steps as the tree is deep.

Ranks lie in tiles of eight rows: the eight ranks of one column, then those of the next. So a node's column is an offset
in a tile, and a row a constant on top of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.kernels import compiled

TILE = 8
CHILD_BITS, COLUMN_BITS, RANK_BITS = 30, 14, 19  # the sign bit stays free
RANK_SHIFT = CHILD_BITS + COLUMN_BITS
LEAF_RANK = (1 << RANK_BITS) - 1

# unsigned: an unsigned index is not checked for counting from the end
CHILD_MASK = np.uint64((1 << CHILD_BITS) - 1)
TO_RANK = np.uint64(RANK_SHIFT)
TO_OFFSET = np.uint64(CHILD_BITS - 3)  # three bits less, and the column comes out times eight
OFFSET_MASK = np.uint64(((1 << COLUMN_BITS) - 1) * TILE)


@compiled
def rank(
    rows: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    ends: NDArray[np.int64],
    single_precision: bool,
    ranks: NDArray[np.uint32],
) -> bool:
    """Write how many thresholds of its column lie below each value; return whether all values were finite.

    Parameters
    ----------
    rows
        Values of the free columns, shape (row, column).
    thresholds, ends
        See `SpecialisedTrees`.
    single_precision
        Whether to round values to float32 first.
    ranks
        For the result, shape (tile · column · 8,); rows that the last tile lacks are left out.
    """
    n_rows, n_columns = rows.shape
    finite = True
    for column in range(n_columns):
        first, n_thresholds = ends[column], ends[column + 1] - ends[column]
        for row in range(n_rows):
            value = np.float64(np.float32(rows[row, column])) if single_precision else rows[row, column]
            finite &= np.isfinite(value)
            low, length = first, n_thresholds
            while length > 1:  # halves without a branch that could be guessed wrong
                half = length >> 1
                low += half if thresholds[low + half - 1] < value else 0
                length -= half
            below = 1 if length == 1 and thresholds[low] < value else 0
            ranks[((row // TILE) * n_columns + column) * TILE + row % TILE] = low + below - first
    return finite


@compiled
def sum_rows(
    nodes: NDArray[np.uint64],
    values: NDArray[np.float64],
    roots: NDArray[np.uint64],
    depths: NDArray[np.int64],
    baseline: NDArray[np.float64],
    divisor: float,
    ranks: NDArray[np.uint32],
    n_columns: int,
    n_rows: int,
    start: int,
    sums: NDArray[np.float64],
) -> None:
    """Write ``(baseline + leaf_1 + leaf_2 + …) / divisor`` of every group for the full tiles of a block of rows.

    Parameters
    ----------
    nodes, values, roots, depths, baseline, divisor
        See `SpecialisedTrees`.
    ranks
        From `rank`, shape (tile · column · 8,).
    n_columns
        Number of free columns.
    n_rows
        Rows of the block; those beyond the last full tile are left out.
    start
        Where the block begins in `sums`.
    sums
        For the result, shape (group, output, row).
    """

    def below(place: np.uint64, row: np.uint64) -> np.uint64:  # numba writes it into the loop
        """Return the child that a row goes to: the right one if its rank is above the node's."""
        node = nodes[place]
        right = ranks[((node >> TO_OFFSET) & OFFSET_MASK) + row] > (node >> TO_RANK)
        return np.uint64((node & CHILD_MASK) + np.uint64(right))

    n_outputs, outputs, n_tiles = len(baseline), np.uint64(len(baseline)), n_rows // TILE
    for group in range(roots.shape[0]):
        for output in range(n_outputs):
            total = sums[group, output]
            for row in range(start, start + n_tiles * TILE):
                total[row] = baseline[output]
        for tree in range(roots.shape[1]):
            root, depth = roots[group, tree], depths[group, tree]
            for tile in range(n_tiles):
                r0 = np.uint64(tile * n_columns * TILE)
                r1, r2, r3, r4 = r0 + np.uint64(1), r0 + np.uint64(2), r0 + np.uint64(3), r0 + np.uint64(4)
                r5, r6, r7 = r0 + np.uint64(5), r0 + np.uint64(6), r0 + np.uint64(7)
                a = b = c = d = e = f = g = h = root
                for _ in range(depth):
                    a, b, c, d = below(a, r0), below(b, r1), below(c, r2), below(d, r3)
                    e, f, g, h = below(e, r4), below(f, r5), below(g, r6), below(h, r7)
                for output in range(n_outputs):
                    o, total = np.uint64(output), sums[group, output, start + TILE * tile :]
                    total[0] += values[a * outputs + o]
                    total[1] += values[b * outputs + o]
                    total[2] += values[c * outputs + o]
                    total[3] += values[d * outputs + o]
                    total[4] += values[e * outputs + o]
                    total[5] += values[f * outputs + o]
                    total[6] += values[g * outputs + o]
                    total[7] += values[h * outputs + o]
        for output in range(n_outputs):
            total = sums[group, output]
            for row in range(start, start + n_tiles * TILE):
                total[row] /= divisor


@compiled
def sum_one_row(
    nodes: NDArray[np.uint64],
    values: NDArray[np.float64],
    roots: NDArray[np.uint64],
    depths: NDArray[np.int64],
    baseline: NDArray[np.float64],
    divisor: float,
    ranks: NDArray[np.uint32],
    n_columns: int,
    row: int,
    start: int,
    sums: NDArray[np.float64],
) -> None:
    """Write the same as `sum_rows` for one row of a block: all trees of a group take a step, then the next step."""
    n_groups, n_trees = roots.shape
    n_outputs, own = len(baseline), np.uint64((row // TILE) * n_columns * TILE + row % TILE)
    places = np.empty(n_trees, dtype=np.uint64)
    for group in range(n_groups):
        deepest = 0
        for tree in range(n_trees):
            places[tree] = roots[group, tree]
            deepest = max(deepest, depths[group, tree])
        for _ in range(deepest):
            for tree in range(n_trees):
                node = nodes[places[tree]]
                right = ranks[((node >> TO_OFFSET) & OFFSET_MASK) + own] > (node >> TO_RANK)
                places[tree] = (node & CHILD_MASK) + np.uint64(right)
        for output in range(n_outputs):
            total = baseline[output]
            for tree in range(n_trees):
                total += values[places[tree] * np.uint64(n_outputs) + np.uint64(output)]
            sums[group, output, start + row] = total / divisor
