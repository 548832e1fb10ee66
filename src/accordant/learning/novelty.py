"""What is unusual about a context: values that training rows did not have, and distance from all of them.

A row is *far* if the distance to its k-th nearest reference row is large (Ramaswamy, Rastogi and Shim 2000): larger
than all but `FAR_SHARE` of the same distances of the reference rows, each to the others. That is a conformal test
(Laxhammar and Falkman 2010, 2015). The test would count the new row among the neighbours of the reference rows; leaving
it out can only raise their distances, so fewer rows are called far. Of new rows that come from where the training rows
came from, at most `FAR_SHARE` are called far on average over training sets, but for the scales of the columns, which
the training rows give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Self, get_args

import numpy as np

from accordant import randomness
from accordant.arrays import AnyArray, Codes, Mask, Values
from accordant.contexts import Contexts, Log
from accordant.json_values import field_values
from accordant.learning.encoding import ContextEncoder
from accordant.unusual import Kind, Unusual

FAR_SHARE = 0.01  # of rows like the training rows that may be called far
RARE_SHARE = 0.01  # of training rows that lack a value, below which a missing one is unusual
NEIGHBOURS = 5
REFERENCE_ROWS = 2000  # that are kept with the policy
STEP = 1e-4  # of a standard deviation, to which numbers in reference rows are rounded
LARGEST = 1e6  # scaled value beyond which nothing is nearer or farther: squares stay finite
FIRST_BLOCK = 64  # reference rows that are looked at first; most rows have near ones among them
ROWS_AT_ONCE = 4096
ROUNDING = 1e-9  # by which two ways to compute one squared distance may differ

Finding = tuple[Kind, Mask, Callable[[int], str]]
"""What is unusual about some rows, and words for each of them."""


@dataclass(frozen=True, eq=False)
class TrainingProfile:
    """What the features of the training rows were like.

    Attributes
    ----------
    encoder
        Fixed on the training rows.
    n_rows
        Their number.
    ranges
        Column of numbers to its smallest and largest value.
    counts
        Column of categories to each level's number of rows.
    missing
        Column to the number of rows without a value.
    deviations
        Column of numbers to its standard deviation, 1 where it is constant.
    reference
        Columns of the reference rows: numbers, or positions of levels.
    radius
        Squared distance to the k-th nearest reference row beyond which a row is far; None if there are too few rows to
        tell.
    """

    encoder: ContextEncoder
    n_rows: int
    ranges: Mapping[str, tuple[float, float]]
    counts: Mapping[str, tuple[int, ...]]
    missing: Mapping[str, int]
    deviations: Mapping[str, float]
    reference: Mapping[str, AnyArray] = field(repr=False)
    radius: float | None

    @classmethod
    def fit(cls, log: Log, features: tuple[str, ...], random_state: int) -> Self:
        """Learn from training rows; where rows come in groups, one row of each drawn group is a reference row."""
        contexts = log.contexts
        encoder = ContextEncoder.fit(contexts, features)
        numbers = {name: contexts.numeric(name) for name in encoder.medians}
        levels = {name: _positions(contexts[name], encoder.categories[name]) for name in encoder.categories}
        deviations = {name: _deviation(values) for name, values in numbers.items()}
        rows = _drawn(log, random_state)
        reference: dict[str, AnyArray] = {
            name: _rounded(values[rows], deviations[name] * STEP) for name, values in numbers.items()
        }
        profile = cls(
            encoder,
            len(log),
            {name: (float(np.nanmin(values)), float(np.nanmax(values))) for name, values in numbers.items()},
            {name: tuple(np.bincount(positions, minlength=len(encoder.categories[name])).tolist())
             for name, positions in levels.items()},
            {name: int(_lacking(contexts[name]).sum()) for name in features},
            deviations,
            reference | {name: positions[rows] for name, positions in levels.items()},
            None,
        )  # fmt: skip
        return replace(profile, radius=profile._own_radius())

    def comparable(self, contexts: Contexts) -> dict[str, Values]:
        """Return features as they stand in `reference`: numbers rounded alike, and positions of levels.

        A level that no training row has stands behind all others.
        """
        columns: dict[str, Values] = {
            name: _rounded(contexts.numeric(name), self.deviations[name] * STEP) for name in self.encoder.medians
        }
        for name, levels in self.encoder.categories.items():
            known = np.array(levels, dtype=str)
            places = np.minimum(_positions(contexts[name], levels), len(levels) - 1)
            columns[name] = np.where(known[places] == contexts[name], places, len(levels)).astype(np.float64)
        return columns

    def state(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return field_values(self)

    @classmethod
    def restored(cls, encoder: ContextEncoder, state: Mapping[str, Any]) -> Self:
        """Return the profile from its `state`, with the encoder of that state.

        Raises
        ------
        KeyError, TypeError, ValueError
            If the state is none, or does not hang together.
        """
        deviations = {name: float(state["deviations"][name]) for name in encoder.medians}
        if not all(0 < deviation < math.inf for deviation in deviations.values()):
            raise ValueError("standard deviations that are none")
        reference: dict[str, AnyArray] = {
            name: np.array(state["reference"][name], dtype=np.float64) for name in encoder.medians
        }
        for name, levels in encoder.categories.items():
            positions = np.array(state["reference"][name], dtype=np.intp)
            if positions.size and not 0 <= positions.min() <= positions.max() < len(levels):
                raise ValueError(f"levels of {name} that are none")
            reference[name] = positions
        profile = cls(
            encoder,
            int(state["n_rows"]),
            {name: (float(state["ranges"][name][0]), float(state["ranges"][name][1])) for name in encoder.medians},
            {name: tuple(map(int, state["counts"][name])) for name in encoder.categories},
            {name: int(state["missing"][name]) for name in encoder.columns},
            deviations,
            reference,
            None if state["radius"] is None else float(state["radius"]),
        )
        if not np.isfinite(profile._points).all():
            raise ValueError("reference rows that are no numbers")
        return profile

    def __call__(self, contexts: Contexts) -> Unusual:
        """Return what is unusual about each context, which has the types of the training rows."""
        matrix, positions = self.encoder(contexts), self.encoder.positions
        kinds = {kind: np.zeros(contexts.n_contexts, dtype=bool) for kind in get_args(Kind)}
        remarks = np.full(contexts.n_contexts, "", dtype=object)
        by_column = (self._in_column(name, contexts[name], matrix[:, positions[name]]) for name in self.encoder.columns)
        for kind, rows, words in chain(*by_column, self._afar(matrix)):
            kinds[kind] |= rows
            for row in np.flatnonzero(rows):
                remarks[row] += ("; " if remarks[row] else "") + words(row)
        return Unusual(kinds, remarks)

    def usualness(self, name: str, value: float | str) -> tuple[float | None, float, int]:
        """Return how usual a value of a column is among training rows.

        Parameters
        ----------
        name
            Column.
        value
            Number or text; NaN and ``""`` are missing.

        Returns
        -------
        Share of the reference rows with a smaller number (None for texts and missing values), share with the same
        value, and the rows that were compared: reference rows with a number, or all training rows.
        """
        if value == "" or value != value:  # noqa: PLR0124 - NaN differs from itself
            return None, self.missing[name] / self.n_rows, self.n_rows
        if name not in self.ranges:
            levels = dict(zip(self.encoder.categories[name], self.counts[name], strict=True))
            return None, levels.get(str(value), 0) / self.n_rows, self.n_rows
        known = self.reference[name][~np.isnan(self.reference[name])]
        if not len(known):
            return None, 0.0, 0
        here = _rounded(np.array([value], dtype=np.float64), self.deviations[name] * STEP)[0]
        return float((known < here).mean()), float((known == here).mean()), len(known)

    @property
    def reference_rows(self) -> Contexts:
        """Features of the training rows that are kept, numbers rounded to 1e-4 standard deviations."""
        columns: dict[str, AnyArray] = {name: self.reference[name] for name in self.encoder.medians}
        for name, levels in self.encoder.categories.items():
            columns[name] = np.array(levels, dtype=str)[self.reference[name]]
        return Contexts(columns)

    def _in_column(self, name: str, values: AnyArray, block: Values) -> Iterator[Finding]:
        """Yield what is unusual about the values of one column, whose part of the matrix is given."""
        lacking = _lacking(values)
        if self.missing[name] < RARE_SHARE * self.n_rows:
            yield "missing", lacking, lambda _: f"missing: {name}"
        if name in self.ranges:
            low, high = self.ranges[name]
            outside = (values < low) | (values > high)
            yield "out_of_range", outside, lambda row: f"out of range: {name} {values[row]:g} ({low:g} to {high:g})"
        else:
            unseen = ~block.any(axis=1) & ~lacking
            yield "unseen", unseen, lambda row: f"unseen: {name} {str(values[row])!r:.80}"

    def _afar(self, matrix: Values) -> Iterator[Finding]:
        """Yield which rows are far, with their distance to the k-th nearest reference row."""
        far = self._far(matrix)
        if self.radius is None or not far.any():
            return
        squared = _squared_distances(self._scaled(matrix[far]), self._points)
        nearest = np.sqrt(np.partition(squared, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1])
        distances, limit = dict(zip(np.flatnonzero(far), nearest, strict=True)), math.sqrt(self.radius)
        yield (
            "far",
            far,
            lambda row: f"far from all training rows: distance {distances[row]:.3g} (up to {limit:.3g})",
        )

    def _far(self, matrix: Values) -> Mask:
        """Return whether fewer than k reference rows are within the radius.

        Reference rows are looked at in growing blocks, and a context no longer once k of them were near.
        """
        far = np.zeros(len(matrix), dtype=bool)
        if self.radius is None:
            return far
        limit = self.radius * (1 + ROUNDING) + ROUNDING
        for start in range(0, len(matrix), ROWS_AT_ONCE):
            points = self._scaled(matrix[start : start + ROWS_AT_ONCE])
            factors = np.column_stack([points, np.ones(len(points)), (points**2).sum(axis=1)])
            near, open_rows, first = np.zeros(len(points), dtype=np.intp), np.arange(len(points)), 0
            while len(open_rows) and first < len(self._points):
                block = self._terms[:, first : max(2 * first, FIRST_BLOCK)]
                within = factors[open_rows] @ block <= limit
                near[open_rows] += within.view(np.uint8).sum(axis=1, dtype=np.uint16)  # sooner than as booleans
                open_rows = open_rows[near[open_rows] < NEIGHBOURS]
                first += block.shape[1]
            far[start + open_rows] = True
        return far

    def _own_radius(self) -> float | None:
        """Return the squared distance that at most `FAR_SHARE` of the reference rows and a new one exceed."""
        n_rows = len(self._points)
        may_be_far = int(FAR_SHARE * (n_rows + 1))
        if may_be_far < 1 or n_rows <= NEIGHBOURS:
            return None
        squared = _squared_distances(self._points, self._points)
        np.fill_diagonal(squared, np.inf)
        own = np.sort(np.partition(squared, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1])
        return float(own[n_rows - may_be_far])

    @cached_property
    def _points(self) -> Values:
        """The reference rows, scaled, shape (row, feature)."""
        return self._scaled(self.encoder(self.reference_rows))

    @cached_property
    def _terms(self) -> Values:
        """What a squared distance |p|² − 2 p·q + |q|² takes from each reference row q, shape (−2 q, |q|², 1; row)."""
        squares = (self._points**2).sum(axis=1)
        return np.vstack([-2 * self._points.T, squares, np.ones(len(squares))])

    def _scaled(self, matrix: Values) -> Values:
        """Return encoded contexts with numbers in standard deviations; another level is at distance √2."""
        scaled = matrix.copy()
        for column, (name, median) in enumerate(self.encoder.medians.items()):
            scaled[:, column] = np.clip((scaled[:, column] - median) / self.deviations[name], -LARGEST, LARGEST)
        return scaled


def _drawn(log: Log, random_state: int) -> Codes:
    """Return the reference rows in random order."""
    order = randomness.generator(random_state, "reference").permutation(len(log))
    if log.groups is not None:
        order = order[np.sort(np.unique(log.groups[order], return_index=True)[1])]
    return order[:REFERENCE_ROWS]


def _deviation(values: Values) -> float:
    """Return the standard deviation of the values that are there, 1 if they are all the same."""
    largest = float(np.nanmax(np.abs(values))) or 1.0  # squares of what is divided by it are finite
    return float(np.nanstd(values / largest)) * largest or 1.0


def _rounded(values: Values, step: float) -> Values:
    """Return values to the decimal that is nearest to a step."""
    return np.asarray(np.round(values, -math.floor(math.log10(step))))


def _positions(values: AnyArray, levels: tuple[str, ...]) -> Codes:
    """Return the position of each text among sorted levels."""
    return np.searchsorted(np.array(levels, dtype=str), values)


def _lacking(values: AnyArray) -> Mask:
    """Return where a value is missing, shape (context,)."""
    return np.isnan(values) if values.dtype == np.float64 else values == ""


def _squared_distances(points: Values, others: Values) -> Values:
    """Return squared Euclidean distances, shape (point, other)."""
    squares = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * (points @ others.T), 0.0))
