"""Cones of weights in exact arithmetic: which weights meet linear inequalities, and what share of all they are.

A weight vector counts by its direction only, so a convex set of weights is a cone in the orthant and its corners are
the cone's extreme rays. In whole numbers every sign below is exact, and a region without volume is known to be one.

Source: double description method (Motzkin, Raiffa, Thompson and Thrall 1953; adjacency as in Fukuda and Prodon 1996);
volume by pulling a corner (Büeler, Enge and Fukuda 2000).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import Self

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
        found = {
            ray: tight | {new} if value == 0 else tight
            for ray, tight, value in zip(self.rays, self.tight, values, strict=True)
            if value >= 0
        }
        for p, q in combinations(range(len(self.rays)), 2):
            if values[p] * values[q] < 0 and self._adjacent(p, q):
                up, down = (p, q) if values[p] > 0 else (q, p)
                ray = [values[up] * b - values[down] * a for a, b in zip(self.rays[up], self.rays[down], strict=True)]
                found[_reduced(ray)] = (self.tight[p] & self.tight[q]) | {new}
        return Cone(tuple(found), tuple(found.values()), new + 1)

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
