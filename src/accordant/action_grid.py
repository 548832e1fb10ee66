"""`ActionGrid`: a continuous action, such as a dose or an amount, by named points in rising order of their value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import DataError, InputError, UnknownNameError


@dataclass(frozen=True)
class ActionGrid:
    """Points of a continuous action.

    Attributes
    ----------
    names
        Names of the points, at least two.
    values
        Their values, finite and rising.
    unit
        Unit of the values, for reports.

    Raises
    ------
    InputError
        If there are fewer than two points, or values do not rise.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    unit: str = ""

    def __post_init__(self) -> None:
        if len(self.names) != len(self.values):
            raise InputError(f"{len(self.values)} values for {len(self.names)} actions; allowed: one for each")
        if len(self.values) < 2:
            raise InputError(f"a grid of actions has {len(self.values)} points; allowed: at least 2")
        for name, low, high in zip(self.names[1:], self.values, self.values[1:], strict=False):
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise InputError(
                    f"the action {name!r} has the value {high:g} after {low:g}; allowed: finite values in rising order"
                )

    @property
    def points(self) -> Values:
        """The values as an array, shape (action,)."""
        return np.array(self.values)

    def words(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value:g} {self.unit}".rstrip()

    def read(self, cells: Sequence[Any], place: Callable[[int], str], column: str = "") -> Values:
        """Return the values of logged actions, each written as a number or as the name of a point, shape (context,).

        Parameters
        ----------
        cells
            Numbers or texts; a text that is a name is read as one, even if it looks like a number.
        place
            Where a row stands, for messages.
        column
            Name of the column, for messages.

        Raises
        ------
        UnknownNameError, DataError
            If a cell is neither a name nor a number, or its number lies outside the grid.
        """
        named = dict(zip(self.names, self.values, strict=True))
        values = np.empty(len(cells))
        known: dict[str, float] = {}
        for row, cell in enumerate(cells):
            text = str(cell).strip()
            if text not in known:
                known[text] = named[text] if text in named else self._number(text, place(row), column)
            values[row] = known[text]
        return values

    def _number(self, text: str, where: str, column: str) -> float:
        cell = f"{where}: column {column!r}" if column else where
        try:
            value = float(text)
        except ValueError:
            raise UnknownNameError(f"action in {cell}:", text, self.names) from None
        low, high = self.values[0], self.values[-1]
        if not low <= value <= high:
            raise DataError(
                f"action in {cell}: found {text}; allowed: a number within [{low:g}, {high:g}]"
                f"{f' {self.unit}' if self.unit else ''}, or one of {', '.join(self.names)}"
            )
        return value

    def nearest(self, values: Values) -> Codes:
        """Return the position of the point nearest to each value, the lower one of two; shape as `values`."""
        middles = (self.points[:-1] + self.points[1:]) / 2
        return np.searchsorted(middles, values, side="left").astype(np.intp)

    def between(self, values: Values) -> tuple[Codes, Values]:
        """Return the point at or below each value, and the share of the way from there to the next point.

        The last point is the upper end of the last interval: its share is 1.
        """
        lower = np.clip(np.searchsorted(self.points, values, side="right") - 1, 0, len(self.values) - 2)
        return lower.astype(np.intp), (values - self.points[lower]) / np.diff(self.points)[lower]

    def interpolated(self, ask: Callable[[int, Codes], Values], values: Values) -> Values:
        """Return what is linear in the value between points, shape as `values`.

        Parameters
        ----------
        ask
            From the position of a point and positions in `values` to what holds there at this point.
        values
            Within the grid, shape (query,).
        """
        lower, share = self.between(values)
        sums = np.zeros(len(values))
        for point in range(len(self.values)):
            for part, weight in ((lower == point, 1 - share), (lower + 1 == point, share)):
                queries = np.flatnonzero(part & (weight > 0))
                if queries.size:
                    sums[queries] += weight[queries] * ask(point, queries)
        return sums

    def columns(self, values: Values) -> Values:
        """Return the columns by which models read the action, shape (row, action − 1).

        The first is the value, in shares of the range of the grid. The others are 1 at a point inside the grid and
        fall linearly to 0 at its neighbours (linear B-splines), so that linear models can bend at the points.
        """
        lower, share = self.between(values)
        hats = np.zeros((len(values), len(self.values)))
        rows = np.arange(len(values))
        hats[rows, lower], hats[rows, lower + 1] = 1 - share, share
        low, high = self.values[0], self.values[-1]
        return np.column_stack([(values - low) / (high - low), hats[:, 1:-1]])

    def refined(self) -> ActionGrid:
        """Return the grid with the middle of every two neighbours between them."""
        names, values = [self.names[0]], [self.values[0]]
        for position, name in enumerate(self.names[1:]):
            middle = (self.values[position] + self.values[position + 1]) / 2
            names += [f"between {self.names[position]} and {name}", name]
            values += [middle, self.values[position + 1]]
        return ActionGrid(tuple(names), tuple(values), self.unit)
