"""Cones of weights in exact arithmetic: which weights meet linear inequalities, and what share of all they are.

A weight vector counts by its direction only, so a convex set of weights is a cone in the orthant and its corners are
the cone's extreme rays. In whole numbers every sign below is exact, and a region without volume is known to be one.

Source: double description method (Motzkin, Raiffa, Thompson and Thrall 1953; adjacency as in Fukuda and Prodon 1996);
volume by pulling a corner (Büeler, Enge and Fukuda 2000).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import Self

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.composite import EQUAL

Ray = tuple[int, ...]
Corners = frozenset[int]


@dataclass(frozen=True)
class Cone:
    """The weights that meet some linear inequalities.

    Attributes
    ----------
    rays
        Extreme rays, whole numbers without a common divisor.
    tight
        For each ray, the inequalities that it meets with equality.
    n_inequalities
        How many inequalities there are; the first are the signs of the weights.
    """

    rays: tuple[Ray, ...]
    tight: tuple[frozenset[int], ...]
    n_inequalities: int

    @classmethod
    def orthant(cls, n_weights: int) -> Self:
        """Return all weights that are not negative."""
        every = range(n_weights)
        rays = tuple(tuple(int(j == k) for j in every) for k in every)
        return cls(rays, tuple(frozenset(every) - {k} for k in every), n_weights)

    def clipped(self, coefficients: Sequence[int]) -> Cone:
        """Return the part with coefficients · w ≥ 0, coefficients in whole numbers."""
        row, new = _reduced(coefficients), self.n_inequalities
        values = [sum(c * w for c, w in zip(row, ray, strict=True)) for ray in self.rays]
        rays = {
            ray: tight | {new} if value == 0 else tight
            for ray, tight, value in zip(self.rays, self.tight, values, strict=True)
            if value >= 0
        }
        for p, q in combinations(range(len(self.rays)), 2):
            if values[p] * values[q] < 0 and self._adjacent(p, q):
                up, down = (p, q) if values[p] > 0 else (q, p)
                ray = [values[up] * b - values[down] * a for a, b in zip(self.rays[up], self.rays[down], strict=True)]
                rays[_reduced(ray)] = (self.tight[p] & self.tight[q]) | {new}
        return Cone(tuple(rays), tuple(rays.values()), new + 1)

    @property
    def full(self) -> bool:
        """Whether the cone has volume."""
        return bool(self.rays) and _rank(self.rays) == len(self.rays[0])

    def corners(self) -> tuple[tuple[float, ...], ...]:
        """Return the corners as weights that sum to 1."""
        return tuple(tuple(float(Fraction(w, sum(ray))) for w in ray) for ray in self.rays)

    def facets(self) -> tuple[int, ...]:
        """Return the inequalities that are met with equality on a whole side of a cone with volume."""
        return tuple(c for c in range(self.n_inequalities) if _rank(self._at(self._on(c))) == len(self.rays[0]) - 1)

    def share(self) -> Fraction:
        """Return the share of all weights that lie in the cone, by volume.

        A simplex with corners v_1, …, v_m (weights that sum to 1) is |det(v_1, …, v_m)| of the whole.
        """
        if not self.full:
            return Fraction(0)
        total = Fraction(0)
        for corners in self._simplices(frozenset(range(len(self.rays))), len(self.rays[0])):
            rays, size = self._at(corners), 1
            for ray in rays:
                size *= sum(ray)
            total += Fraction(abs(_determinant(rays)), size)
        return total

    def _simplices(self, corners: Corners, rank: int) -> Iterator[Corners]:
        """Yield the simplices of a face: its first corner with those of every side that does not hold it."""
        if len(corners) == rank:
            yield corners
            return
        apex = min(corners)
        sides = {corners & self._on(c) for c in range(self.n_inequalities)}
        for side in sorted(sides, key=sorted):
            if apex not in side and len(side) >= rank - 1 and _rank(self._at(side)) == rank - 1:
                for simplex in self._simplices(side, rank - 1):
                    yield simplex | {apex}

    def _on(self, inequality: int) -> Corners:
        return frozenset(k for k, tight in enumerate(self.tight) if inequality in tight)

    def _at(self, corners: Corners) -> tuple[Ray, ...]:
        return tuple(self.rays[k] for k in sorted(corners))

    def _adjacent(self, p: int, q: int) -> bool:
        """Whether no third ray lies on all sides that two rays share."""
        common = self.tight[p] & self.tight[q]
        return not any(common <= tight for k, tight in enumerate(self.tight) if k not in (p, q))


def _reduced(ray: Sequence[int]) -> Ray:
    divisor = gcd(*ray) or 1
    return tuple(value // divisor for value in ray)


def _rank(rays: Sequence[Ray]) -> int:
    """Return the rank by elimination in whole numbers."""
    rows, rank = [list(ray) for ray in rays], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        head = rows[rank]
        for r in range(rank + 1, len(rows)):
            if rows[r][column]:
                mixed = [head[column] * b - rows[r][column] * a for a, b in zip(head, rows[r], strict=True)]
                rows[r] = list(_reduced(mixed))
        rank += 1
    return rank


def _determinant(rays: Sequence[Ray]) -> int:
    """Return the determinant by elimination without fractions (Bareiss 1968)."""
    rows, sign, last = [list(ray) for ray in rays], 1, 1
    for k in range(len(rows) - 1):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for r in range(k + 1, len(rows)):
            for c in range(k + 1, len(rows)):
                rows[r][c] = (rows[r][c] * rows[k][k] - rows[r][k] * rows[k][c]) // last
        last = rows[k][k]
    return sign * rows[-1][-1]


@dataclass(frozen=True, eq=False)
class UndominatedScores:
    """Candidates by their normalised metrics.

    Attributes
    ----------
    places
        Strategies with equal rows share one place; names in the given order.
    rows
        Normalised metrics of each place, shape (place, metric). Values of a column that differ by rounding only
        (1e-12) are equal here.
    metrics
        The metrics whose weights are asked about.
    weights
        The chosen weights, shape (metric,), sum 1.
    left_out
        Strategy to the reason why it takes no part.
    """

    places: tuple[tuple[str, ...], ...]
    rows: Values
    metrics: tuple[str, ...]
    weights: Values
    left_out: Mapping[str, str]

    @classmethod
    def of(
        cls,
        normalised: Values,
        strategies: Sequence[str],
        metrics: Sequence[str],
        weights: Sequence[float],
        *,
        candidates: Sequence[str] | None = None,
        among: Sequence[str] | None = None,
    ) -> Self:
        """Check names and shapes, and join equal rows.

        Parameters
        ----------
        normalised
            Shape (strategy, metric), more is better; NaN where a metric is not defined.
        strategies, metrics
            Names of the axes.
        weights
            The chosen weights, one per metric, at least 0 and not all 0.
        candidates
            Who can win; None for everybody.
        among
            The metrics whose weights are asked about; None for those with positive weight.

        Raises
        ------
        InputError
            If shapes or weights do not fit, a value is infinite, or no candidate is defined on all metrics asked about.
        """
        values, shares = np.asarray(normalised, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        if values.shape != (len(strategies), len(metrics)) or shares.shape != (len(metrics),):
            raise InputError(
                f"values of shape {values.shape} and {shares.size} weights do not fit {len(strategies)} strategies "
                f"× {len(metrics)} metrics"
            )
        if not np.isfinite(shares).all() or (shares < 0).any():
            raise InputError(f"metric weights {tuple(weights)} are wrong; allowed: numbers of at least 0")
        chosen = tuple(m for m, w in zip(metrics, shares, strict=True) if w > 0) if among is None else tuple(among)
        columns = [_position("metric", name, metrics) for name in chosen]
        if not columns or shares[columns].sum() <= 0:
            raise InputError("the metrics asked about have no weight; at least one must be positive")
        for name in candidates or ():
            _position("candidate strategy", name, strategies)
        able = set(strategies if candidates is None else candidates)
        left_out = {name: "not a candidate" for name in strategies if name not in able}
        for s, name in enumerate(strategies):
            endless = [metrics[m] for m in columns if np.isinf(values[s, m])]
            if name in able and endless:
                raise InputError(
                    f"{name} is infinite on {', '.join(endless)}; allowed: finite values, NaN if undefined"
                )
            missing = [metrics[m] for m in columns if np.isnan(values[s, m])]
            if name in able and missing:
                left_out[name] = f"not defined: {', '.join(missing)}"
        kept = [s for s, name in enumerate(strategies) if name not in left_out]
        if not kept:
            raise InputError(f"no candidate is defined on all of {', '.join(chosen)}")
        rows = np.stack([_snapped(column) for column in values[np.ix_(kept, columns)].T], axis=1)
        places: dict[tuple[float, ...], list[str]] = {}
        for s, row in zip(kept, rows, strict=True):
            places.setdefault(tuple(row.tolist()), []).append(strategies[s])
        chosen_shares = shares[columns] / shares[columns].sum()
        return cls(tuple(map(tuple, places.values())), np.array(list(places)), chosen, chosen_shares, left_out)

    @property
    def leaders(self) -> tuple[int, ...]:
        """Places with the highest score at the chosen weights (within 1e-12)."""
        scores = self.rows @ self.weights
        return tuple(int(p) for p in np.flatnonzero(scores >= scores.max() - EQUAL))

    def dominator(self, place: int) -> int | None:
        """Return a place that is at least as good on every metric, the best of them in sum; None if there is none."""
        better = (self.rows >= self.rows[place]).all(axis=1)
        better[place] = False  # rows are distinct, so any other is better somewhere
        return int(np.where(better, self.rows.sum(axis=1), -np.inf).argmax()) if better.any() else None


def _snapped(column: Values) -> Values:
    """Return a column in which values that follow each other within 1e-12 are equal to the smallest of them."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    first = np.concatenate([[True], np.diff(ordered) > EQUAL])
    levels = np.empty_like(column)
    levels[order] = ordered[first][np.cumsum(first) - 1] + 0.0  # minus zero becomes zero
    return levels


def _position(kind: str, name: str, known: Sequence[str]) -> int:
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return list(known).index(name)
