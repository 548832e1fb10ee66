"""Nested cross-validation by leaving two folds out.

Ordinary nested cross-validation with K folds searches the grid anew inside every outer fold: K(K−1) fits per
grid point. A model that saw neither fold k nor fold l serves twice: it is scored on l for the search inside
outer fold k, and on k for the search inside outer fold l. That halves the fits, and no fold ever helps to
choose the parameters of a model that is scored on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble._forest import BaseForest
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

from accordant.arrays import Codes
from accordant.errors import InputError, allowed_names
from accordant.learning.folds import all_but
from accordant.progress import steps

Result = TypeVar("Result")


def run_all(tasks: Sequence[Callable[[], Result]], n_jobs: int, doing: str) -> list[Result]:
    """Run tasks on `n_jobs` threads, return their results in order, and tell how far they are.

    Threads suffice because the estimators release the interpreter lock while they fit. Inner pools are
    held at one thread: histogram boosting on small data slows down by orders of magnitude otherwise.
    """

    def alone(task: Callable[[], Result]) -> Result:
        with threadpool_limits(1, user_api="openmp"):  # OpenMP keeps its limit per calling thread
            return task()

    if n_jobs == 0:
        raise InputError("n_jobs is 0; allowed: a number of threads, or -1 for all")
    with threadpool_limits(1):
        arriving = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(alone)(task) for task in tasks
        )
        results = []
        with steps(doing, len(tasks)) as advance:
            for result in arriving:
                results.append(result)
                advance()
    return results


Point = Mapping[str, Any]
Model = TypeVar("Model")


class Learner(Protocol[Model]):
    """Something that fits a model on rows of the training log, along a grid of hyper-parameters."""

    @property
    def points(self) -> tuple[Point, ...]:
        """The grid."""

    def fit(self, rows: Codes, point: Point) -> Model:
        """Return the model to use, fitted on these rows."""

    def candidates(self, rows: Codes) -> Sequence[Model]:
        """Return one model per point, fitted on these rows; only compared with each other, never used."""

    def loss(self, model: Model, rows: Codes) -> float:
        """Return the mean loss of a model on other rows; smaller is better."""


@dataclass(frozen=True, eq=False)
class Search:
    """Losses of every grid point on every fold.

    Attributes
    ----------
    points
        The grid.
    losses
        ``losses[p, k, l]``: loss on fold l of point p, fitted without folds k and l; NaN where k = l.
    """

    points: tuple[Point, ...]
    losses: NDArray[np.float64]

    def best_without(self, fold: int) -> Point:
        """Return the point with the smallest mean loss among models and scores that never saw `fold`."""
        return self.points[_smallest(self._means([fold]))] if self.searched else self.points[0]

    @property
    def best(self) -> Point:
        """The point with the smallest mean loss over all folds."""
        return self.points[_smallest(self.mean_losses())] if self.searched else self.points[0]

    @property
    def searched(self) -> bool:
        """Whether there was anything to choose from."""
        return len(self.points) > 1

    def mean_losses(self) -> NDArray[np.float64]:
        """Return the mean loss of each point, shape (point,)."""
        return self._means(range(self.losses.shape[1]))

    def _means(self, left_out: Sequence[int]) -> NDArray[np.float64]:
        """Return the mean loss of each point over pairs of folds with one of `left_out`, shape (point,)."""
        pairs = [(k, score) for k in left_out for score in range(self.losses.shape[2]) if score != k]
        return np.asarray(np.mean([self.losses[:, k, score] for k, score in pairs], axis=0))


def _smallest(losses: NDArray[np.float64]) -> int:
    """Return the position of the smallest loss; one that is not a number is never chosen over one that is."""
    return int(np.argmin(np.where(np.isnan(losses), np.inf, losses)))


@dataclass(frozen=True, eq=False)
class Nested(Generic[Model]):
    """What nested cross-validation leaves: one model per outer fold, and one on all rows."""

    search: Search
    by_fold: tuple[Model, ...]
    final: Model


def nested(learners: Sequence[Learner[Any]], folds: tuple[Codes, ...], n_jobs: int) -> list[Nested[Any]]:
    """Search, fit the outer models and the final model of several learners, all side by side.

    Parameters
    ----------
    learners
        For example the outcome model and every reward model.
    folds
        From `make_folds`.
    n_jobs
        Threads.
    """
    searches = _search(learners, folds, n_jobs)
    everything = np.sort(np.concatenate(folds))
    tasks: list[Callable[[], Any]] = []
    for learner, search in zip(learners, searches, strict=True):
        tasks += [partial(learner.fit, all_but(folds, fold), search.best_without(fold)) for fold in range(len(folds))]
        tasks.append(partial(learner.fit, everything, search.best))
    fitted = run_all(tasks, n_jobs, "fitting models")
    width = len(folds) + 1
    return [
        Nested(search, tuple(fitted[width * each : width * each + len(folds)]), fitted[width * each + len(folds)])
        for each, search in enumerate(searches)
    ]


def _search(learners: Sequence[Learner[Any]], folds: tuple[Codes, ...], n_jobs: int) -> list[Search]:
    pairs = list(itertools.combinations(range(len(folds)), 2))
    searching = [each for each, learner in enumerate(learners) if len(learner.points) > 1]
    tasks = [partial(_pair_losses, learners[each], folds, *pair) for each in searching for pair in pairs]
    results = iter(run_all(tasks, n_jobs, "searching hyper-parameters"))
    searches = []
    for each, learner in enumerate(learners):
        losses = np.full((len(learner.points), len(folds), len(folds)), np.nan)
        if each in searching:
            for first, second in pairs:
                on_first, on_second = next(results)
                losses[:, second, first], losses[:, first, second] = on_first, on_second
        searches.append(Search(learner.points, losses))
    return searches


def _pair_losses(
    learner: Learner[Any], folds: tuple[Codes, ...], first: int, second: int
) -> tuple[list[float], list[float]]:
    models = learner.candidates(all_but(folds, first, second))
    return (
        [learner.loss(model, folds[first]) for model in models],
        [learner.loss(model, folds[second]) for model in models],
    )


def grid_points(estimator: Any, grid: Mapping[str, Sequence[Any]] | None) -> tuple[Point, ...]:
    """Return every combination of a grid; an unknown parameter name is an error that names the nearest."""
    if not grid:
        return ({},)
    valid = estimator.get_params()
    for name, values in grid.items():
        if name not in valid:
            raise InputError(
                f"grid of {type(estimator).__name__}: unknown parameter {name!r}; {allowed_names(valid, name)}"
            )
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise InputError(f"grid of {type(estimator).__name__}: {name!r} must be a list with at least one value")
    return tuple(ParameterGrid({name: list(values) for name, values in grid.items()}))


def fit_grid(estimator: Any, points: Sequence[Point], features: Any, target: Any) -> list[Any]:
    """Return one fitted estimator per point.

    The first n trees of a forest are the forest with n trees and the same random state, so points of a
    forest that differ only in ``n_estimators`` share one fit.
    """
    if not isinstance(estimator, BaseForest) or estimator.random_state is None:
        return [clone(estimator).set_params(**point).fit(features, target) for point in points]
    sizes = [int(point.get("n_estimators", estimator.n_estimators)) for point in points]
    # with its type: as max_features, 1 is one feature and 1.0 is all of them
    rest = [{name: (type(value), value) for name, value in point.items() if name != "n_estimators"} for point in points]
    largest: dict[int, Any] = {}
    fitted = []
    for size, others in zip(sizes, rest, strict=True):
        same = next(index for index, each in enumerate(rest) if each == others)
        if same not in largest:
            most = max(number for number, each in zip(sizes, rest, strict=True) if each == others)
            own = {name: value for name, (_, value) in others.items()}
            largest[same] = clone(estimator).set_params(**own, n_estimators=most).fit(features, target)
        fitted.append(_first_trees(largest[same], size))
    return fitted


def _first_trees(forest: Any, n_trees: int) -> Any:
    smaller = clone(forest).set_params(n_estimators=n_trees)
    smaller.__dict__.update({name: value for name, value in vars(forest).items() if name.endswith("_")})
    smaller.estimators_ = forest.estimators_[:n_trees]
    return smaller
