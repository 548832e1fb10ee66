"""From named raw columns to the numeric matrix that estimators take; everything is fixed at fit time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant import limits
from accordant.action_grid import ActionGrid
from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.errors import DataError
from accordant.problem import value_label

MANY_CATEGORIES = 50  # a text column with more of them, most occurring once, is an identifier or a date


@dataclass(frozen=True)
class ContextEncoder:
    """Columns and what was learned about them on training rows.

    Numeric columns pass through unscaled (an estimator that needs scaling brings its own scaler); missing
    numbers become the training median, with an indicator column if any were missing in training. Text
    becomes one column per training category; a category not seen in training is a row of zeros there.

    Attributes
    ----------
    medians
        Training median of each numeric column, in the order of the matrix.
    indicated
        Numeric columns that get an indicator of missingness.
    categories
        Training categories of each text column, sorted.
    """

    medians: Mapping[str, float]
    indicated: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]

    @classmethod
    def fit(cls, contexts: Contexts, columns: tuple[str, ...]) -> ContextEncoder:
        """Learn medians and categories from training contexts."""
        if not columns:
            raise DataError("no feature columns")
        medians, indicated, categories = {}, [], {}
        for name in columns:
            values = contexts[name]
            if values.dtype != np.float64:
                levels = tuple(str(value) for value in np.unique(values))
                if len(levels) > MANY_CATEGORIES and 2 * len(levels) > len(values):
                    raise DataError(
                        f"feature column {name!r} holds {len(levels)} different texts in {len(values)} rows, such as "
                        f"{levels[0]!r}: identifiers and dates are no categories; leave it out or make it a number"
                    )
                categories[name] = levels
                continue
            missing = np.isnan(values)
            if missing.all():
                raise DataError(f"feature column {name!r} has no values in training rows")
            _check_finite(name, values)
            medians[name] = float(np.median(values[~missing]))
            if missing.any():
                indicated.append(name)
        return cls(medians, tuple(indicated), categories)

    def __call__(self, contexts: Contexts) -> Values:
        """Return the matrix, shape (context, feature)."""
        matrix = np.empty((contexts.n_contexts, self.width))
        for column, name in enumerate(self.medians):
            matrix[:, column] = contexts.numeric(name)
        column = len(self.medians)
        if not np.isfinite(matrix[:, :column]).all():
            self._impute(matrix)
        for name in self.indicated:
            matrix[:, column] = np.isnan(contexts.numeric(name))
            column += 1
        for name, categories in self.categories.items():
            values = contexts[name]
            # a batch whose values all look like numbers is read as numbers: "1" and 1.0 are the same category
            texts = np.array([_text(value) for value in values]) if values.dtype == np.float64 else values
            for category in categories:
                matrix[:, column] = texts == category
                column += 1
        return matrix

    def _impute(self, matrix: Values) -> None:
        """Put medians where numbers are missing."""
        for column, (name, median) in enumerate(self.medians.items()):
            _check_finite(name, matrix[:, column])
            matrix[np.isnan(matrix[:, column]), column] = median

    @property
    def width(self) -> int:
        """Number of columns of the matrix."""
        return len(self.medians) + len(self.indicated) + sum(map(len, self.categories.values()))

    @property
    def positions(self) -> dict[str, list[int]]:
        """Columns of the matrix that each raw column fills."""
        places = {name: [place] for place, name in enumerate(self.medians)}
        place = len(places)
        for name in self.indicated:
            places[name].append(place)
            place += 1
        for name, categories in self.categories.items():
            places[name] = list(range(place, place + len(categories)))
            place += len(categories)
        return places

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that are read."""
        return (*self.medians, *self.categories)


class Encodings:
    """The matrices of one batch of contexts: models that share an encoder share its matrix."""

    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        self._made: list[tuple[ContextEncoder, Values]] = []

    def by(self, encoder: ContextEncoder) -> Values:
        """Return the matrix that an encoder makes, shape (context, feature); nobody may write into it."""
        for known, matrix in self._made:
            if known is encoder or known == encoder:
                return matrix
        self._made.append((encoder, encoder(self.contexts)))
        return self._made[-1][1]


def _text(value: float) -> str:
    return "" if np.isnan(value) else value_label(value)


def _check_finite(name: str, values: NDArray[np.float64]) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        raise DataError(f"feature column {name!r} has an infinite value in row {infinite.argmax()}")
    huge = np.abs(values) > limits.MAGNITUDE.most
    if huge.any():
        row = int(huge.argmax())
        raise DataError(
            f"feature column {name!r} has {values[row]:g} in row {row}; allowed: at most {limits.MAGNITUDE.written}"
        )


def one_hot(codes: NDArray[np.intp], n_levels: int) -> Values:
    """Return indicator columns, shape (context, level)."""
    return np.eye(n_levels)[codes]


def action_columns(
    codes: NDArray[np.intp], n_actions: int, grid: ActionGrid | None, values: Values | None = None
) -> Values:
    """Return the columns by which models read actions: one per action, or those of a grid, shape (row, column).

    Parameters
    ----------
    codes
        Codes of actions, shape (row,).
    n_actions
        Number of declared actions.
    grid
        The grid, if actions are points of one.
    values
        Values of the actions on the grid, shape (row,); None for those of the points.
    """
    if grid is None:
        return one_hot(codes, n_actions)
    return grid.columns(grid.points[codes] if values is None else values)
