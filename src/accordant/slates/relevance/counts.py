"""`Rows`: a sparse matrix of users and items, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from accordant.arrays import Codes, Values
from accordant.slates.relevance.interactions import Interactions


@dataclass(frozen=True, eq=False)
class Rows:
    """Entries above 0 of a matrix, sorted by row and column; every pair occurs once.

    Attributes
    ----------
    shape
        Numbers of rows and columns.
    rows, columns
        Positions, shape (entry,).
    values
        Shape (entry,).
    """

    shape: tuple[int, int]
    rows: Codes
    columns: Codes
    values: Values

    @classmethod
    def of(cls, interactions: Interactions) -> Rows:
        """Return sums of counts by user and item."""
        shape = (interactions.n_users, interactions.n_items)
        keys, inverse = np.unique(interactions.users * shape[1] + interactions.items, return_inverse=True)
        values = np.bincount(inverse, interactions.counts, len(keys)).astype(np.float64)
        return cls(shape, keys // shape[1], keys % shape[1], values)

    @cached_property
    def bounds(self) -> Codes:
        """Where the entries of each row begin, and where the last end, shape (row + 1,)."""
        return np.searchsorted(self.rows, np.arange(self.shape[0] + 1))

    def row(self, position: int) -> tuple[Codes, Values]:
        """Return columns and values of a row; nothing for position −1."""
        if position < 0:
            return self.columns[:0], self.values[:0]
        part = slice(self.bounds[position], self.bounds[position + 1])
        return self.columns[part], self.values[part]

    def __iter__(self) -> Iterator[tuple[Codes, Values]]:
        """Return columns and values row by row."""
        return (self.row(position) for position in range(self.shape[0]))

    @property
    def turned(self) -> Rows:
        """Columns as rows."""
        order = np.lexsort((self.rows, self.columns))
        return Rows(self.shape[::-1], self.columns[order], self.rows[order], self.values[order])

    @property
    def dense(self) -> Values:
        """The whole matrix, shape (row, column)."""
        filled = np.zeros(self.shape)
        filled[self.rows, self.columns] = self.values
        return filled
