"""Nested cross-validation by leaving two folds out, as a race.

Ordinary nested cross-validation with K folds searches the grid anew inside every outer fold: K(K−1) fits per
grid point. A model that saw neither fold k nor fold l serves twice: it is scored on l for the search inside
outer fold k, and on k for the search inside outer fold l. No fold ever helps to choose the parameters of a model that
is scored on it.

Not every pair is needed. In a first round every fold has one partner, and all points are compared; those that are worse
than the best by more than two standard errors, row by row, drop out. In a second round, which closes the circle of
folds, the others are compared again. (Successive halving: Jamieson and Talwalkar 2016; racing: Maron and Moore 1994.)
A thorough search compares all points on all K(K−1)/2 pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from accordant.arrays import Codes, Mask, Values
from accordant.compute.fan_out import run_all
from accordant.errors import InputError, allowed_names
from accordant.learning.folds import all_but
from accordant.statistics import standard_error

Pair = tuple[int, int]

CLEARLY_WORSE = 2.0
"""Standard errors of the paired difference to the best beyond which a point drops out of a race."""
LEAST_GROUPS = 20
"""Fewest groups of rows from which anything does: a standard error of few says little."""


Point = Mapping[str, Any]
Model = TypeVar("Model")


class Learner(Protocol[Model]):
    """Something that fits a model on rows of the training log, along a grid of hyper-parameters."""

    @property
    def points(self) -> tuple[Point, ...]:
        """The grid."""

    def fit(self, rows: Codes, point: Point) -> Model:
        """Return the model to use, fitted on these rows."""

    def candidates(self, rows: Codes, points: Sequence[Point]) -> Sequence[Model]:
        """Return one model per point, or of what stands for it, fitted on these rows; only compared, never used."""

    def losses(self, model: Model, rows: Codes) -> Values:
        """Return the loss of a model on each of other rows, shape (row,); smaller is better."""


@dataclass(frozen=True, eq=False)
class Search:
    """Losses of grid points on the folds.

    Attributes
    ----------
    points
        The grid.
    losses
        ``losses[p, k, l]``: mean loss on fold l of point p, or of what stands for it in comparisons, fitted without
        folds k and l. NaN where k = l, where the two were not left out together, where the point had dropped out, and
        where it failed.
    """

    points: tuple[Point, ...]
    losses: NDArray[np.float64]

    def best_without(self, fold: int) -> Point:
        """Return the point with the smallest mean loss among models and scores that never saw `fold`."""
        return self._best([fold])

    @property
    def best(self) -> Point:
        """The point with the smallest mean loss over all folds."""
        return self._best(range(self.losses.shape[1]))

    @property
    def searched(self) -> bool:
        """Whether there was anything to choose from."""
        return len(self.points) > 1

    def mean_losses(self) -> NDArray[np.float64]:
        """Return the mean loss of each point, shape (point,); of one that dropped out, while it took part."""
        table = self.losses.reshape(len(self.points), -1)
        known = ~np.isnan(table)
        sums, counts = np.where(known, table, 0.0).sum(axis=1), known.sum(axis=1)
        return np.asarray(np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0))

    def _best(self, left_out: Sequence[int]) -> Point:
        """Return the point with the smallest mean loss where some point has one; who lacks any of them is out."""
        if not self.searched:
            return self.points[0]
        table = self.losses[:, list(left_out)].reshape(len(self.points), -1)
        means = table[:, ~np.isnan(table).all(axis=0)].mean(axis=1)
        return self.points[int(np.argmin(np.where(np.isnan(means), np.inf, means)))]


@dataclass(frozen=True, eq=False)
class Tuned(Generic[Model]):
    """What a search leaves: losses, and the model on all rows with the best point."""

    search: Search
    final: Model


@dataclass(frozen=True, eq=False)
class Nested(Tuned[Model]):
    """What nested cross-validation leaves: one model per outer fold, too."""

    by_fold: tuple[Model, ...]


Plan = Generator[Sequence[Callable[[], Any]], list[Any], Any]
"""Work in rounds: yields tasks, is sent their results, returns what came of it: a `Tuned`, if it is a learner's."""


def nested(
    learners: Sequence[Learner[Any]],
    folds: tuple[Codes, ...],
    n_jobs: int,
    *,
    groups: Codes | None = None,
    thorough: bool = False,
    beside: Sequence[Callable[[], Any]] = (),
) -> tuple[list[Any], list[Any]]:
    """Search, fit the outer models and the final model of several learners, and do what needs none, all side by side.

    Parameters
    ----------
    learners
        For example the outcome model and every reward model. One that compares its own candidates on the same folds has
        a method ``plan(folds, thorough)`` that returns its `Plan`, or None.
    folds
        From `make_folds`.
    n_jobs
        Processes.
    groups
        Whose each row is, shape (row,); None if rows are independent.
    thorough
        Whether all points are compared on all pairs of folds.
    beside
        Tasks that read no model, carried out in the first round.

    Returns
    -------
    What came of each learner, a `Nested` unless its own plan returns something else, and the results of other tasks.
    """
    plans = [_once(beside)]
    for learner in learners:
        own = getattr(learner, "plan", None)
        plan = None if own is None else own(folds, thorough)
        plans.append(searched(learner, folds, groups, thorough=thorough) if plan is None else plan)
    others, *fits = _side_by_side(plans, n_jobs)
    return fits, others


def _once(tasks: Sequence[Callable[[], Any]]) -> Plan:
    """Carry out tasks in one round."""
    return (yield tasks)


def _side_by_side(plans: Sequence[Plan], n_jobs: int) -> list[Any]:
    """Carry out the rounds of all plans together."""
    ended: dict[int, Any] = {}
    asked = {number: next(plan) for number, plan in enumerate(plans)}
    for step in itertools.count(1):
        tasks = [task for batch in asked.values() for task in batch]
        results = iter(run_all(tasks, n_jobs, f"fitting models, round {step}"))
        for number, batch in list(asked.items()):
            try:
                asked[number] = plans[number].send(list(itertools.islice(results, len(batch))))
            except StopIteration as stop:
                ended[number] = stop.value
                del asked[number]
        if not asked:
            break
    return [ended[number] for number in range(len(plans))]


def rounds(n_folds: int, *, thorough: bool) -> list[list[Pair]]:
    """Return pairs of folds: each fold with one partner, then those that close the circle; or all pairs at once."""
    if thorough:
        return [list(itertools.combinations(range(n_folds), 2))]
    first = [(fold, fold + 1) for fold in range(0, n_folds - 1, 2)]
    circle = [(fold, (fold + 1) % n_folds) for fold in range(n_folds)]
    if n_folds % 2:
        first.append((n_folds - 1, 0))
    return [first, [pair for pair in circle if pair not in first]]


def searched(
    learner: Learner[Any], folds: tuple[Codes, ...], groups: Codes | None = None, *, thorough: bool = False
) -> Plan:
    """Race the points of a learner's grid, then fit the outer models and the final one; return a `Nested`."""
    search: Search = yield from race(learner, folds, groups, thorough=thorough)
    fits: list[Callable[[], Any]] = [
        partial(learner.fit, all_but(folds, fold), search.best_without(fold)) for fold in range(len(folds))
    ]
    *by_fold, final = yield [*fits, partial(learner.fit, all_but(folds), search.best)]
    return Nested(search, final, tuple(by_fold))


def race(
    learner: Learner[Any], folds: tuple[Codes, ...], groups: Codes | None = None, *, thorough: bool = False
) -> Plan:
    """Race the points of a learner's grid; return the `Search`."""
    points, entries = learner.points, _Race(len(learner.points), folds, groups)
    for pairs in rounds(len(folds), thorough=thorough) if len(points) > 1 else ():
        entered = [(pair, entries.entered(pair)) for pair in pairs]
        entered = [(pair, which) for pair, which in entered if len(which)]
        if not entered:
            continue
        tasks = [partial(_pair_losses, learner, folds, pair, [points[p] for p in which]) for pair, which in entered]
        for (pair, which), (on_first, on_second) in zip(entered, (yield tasks), strict=True):
            entries.enter(pair, which, on_first, on_second)
    return Search(points, entries.means())


class _Race:
    """Losses by row of the points that are still in, for each outer fold and for the final model."""

    def __init__(self, n_points: int, folds: tuple[Codes, ...], groups: Codes | None) -> None:
        self.n_points, self.folds, self.groups = n_points, folds, groups
        self._losses: dict[Pair, Values] = {}  # (without, scored) → shape (point, row of the scored fold)

    def entered(self, pair: Pair) -> Codes:
        """Return the points to be compared on a pair: those still in for one of its folds, or for the final model."""
        racing = [self._still_in([fold]) for fold in (*pair,)] + [self._still_in(range(len(self.folds)))]
        if all(mask.sum() < 2 for mask in racing):  # a race takes two
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(np.any(racing, axis=0))

    def enter(self, pair: Pair, which: Codes, on_first: Sequence[Values], on_second: Sequence[Values]) -> None:
        """Keep the losses of some points."""
        for without, scored, losses in ((pair[1], pair[0], on_first), (pair[0], pair[1], on_second)):
            table = np.full((self.n_points, len(self.folds[scored])), np.nan)
            table[which] = losses
            self._losses[without, scored] = table

    def means(self) -> NDArray[np.float64]:
        """Return `Search.losses`."""
        n = len(self.folds)
        losses = np.full((self.n_points, n, n), np.nan)
        for (without, scored), table in self._losses.items():
            losses[:, without, scored] = table.mean(axis=1)
        return losses

    def _still_in(self, left_out: Sequence[int]) -> Mask:
        """Return which points are not clearly worse than the best, by what is known without some folds, (point,)."""
        tables: dict[int, list[Values]] = {}
        for (without, scored), table in self._losses.items():
            if without in left_out:
                tables.setdefault(scored, []).append(table)
        if not tables:
            return np.ones(self.n_points, dtype=bool)
        losses = np.concatenate([np.mean(repeats, axis=0) for repeats in tables.values()], axis=1)
        rows = np.concatenate([self.folds[scored] for scored in tables])
        return within_reach(losses, None if self.groups is None else self.groups[rows])


def within_reach(losses: Values, groups: Codes | None = None) -> Mask:
    """Return which of some competitors are not clearly worse than the best, shape (competitor,).

    Parameters
    ----------
    losses
        Shape (competitor, row); a competitor with a loss that is not finite is out, unless all are.
    groups
        Whose each row is, shape (row,); None if rows are independent. With fewer than `LEAST_GROUPS` all are kept.
    """
    if groups is not None and len(np.unique(groups)) < LEAST_GROUPS:
        return np.ones(len(losses), dtype=bool)
    means = losses.mean(axis=1)
    means = np.where(np.isfinite(means), means, np.inf)
    if not np.isfinite(means).any():
        return np.ones(len(means), dtype=bool)
    known = np.isfinite(means)
    gaps = losses[known] - losses[int(np.argmin(means))]
    errors = np.nan_to_num(standard_error(gaps, groups), nan=np.inf)
    kept = np.zeros(len(means), dtype=bool)
    kept[known] = gaps.mean(axis=1) <= CLEARLY_WORSE * errors
    return kept


def _pair_losses(
    learner: Learner[Any], folds: tuple[Codes, ...], pair: Pair, points: Sequence[Point]
) -> tuple[list[Values], list[Values]]:
    models = learner.candidates(all_but(folds, *pair), points)
    first, second = ([learner.losses(model, folds[fold]) for model in models] for fold in pair)
    return first, second


Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
"""Parameters to values, of which all combinations are meant; or several of these, one after the other."""


def grid_points(estimator: Any, grid: Grid | None) -> tuple[Point, ...]:
    """Return every combination of a grid; an unknown parameter name is an error that names the nearest."""
    if not grid:
        return ({},)
    if not isinstance(grid, Mapping):
        return tuple(point for part in grid for point in grid_points(estimator, part))
    valid = estimator.get_params()
    for name, values in grid.items():
        if name not in valid:
            raise InputError(
                f"grid of {type(estimator).__name__}: unknown parameter {name!r}; {allowed_names(valid, name)}"
            )
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise InputError(f"grid of {type(estimator).__name__}: {name!r} must be a list with at least one value")
    return tuple(ParameterGrid({name: list(values) for name, values in grid.items()}))
