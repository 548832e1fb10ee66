"""Contest: who is compared on which metrics, with strategies that no weights can tell apart in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.composite import EQUAL


@dataclass(frozen=True, eq=False)
class Contest:
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
        found = shares[columns] / shares[columns].sum()
        return cls(tuple(map(tuple, places.values())), np.array(list(places)), chosen, found, left_out)

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
    found = np.empty_like(column)
    found[order] = ordered[first][np.cumsum(first) - 1] + 0.0  # minus zero becomes zero
    return found


def _position(kind: str, name: str, known: Sequence[str]) -> int:
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return list(known).index(name)
