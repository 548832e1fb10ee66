"""Learning q_i from what stakeholders said about logged and augmented rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from accordant.arrays import Codes
from accordant.contexts import Log
from accordant.errors import InputError
from accordant.learning.augmentation import RewardQueries, elicit
from accordant.learning.named_columns import encoder_for
from accordant.learning.reward_models import LearnedReward, design
from accordant.learning.tuning import Point, fit_grid, grid_points
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal

DEFAULT_GRID: Mapping[str, Sequence[Any]] = {"max_leaf_nodes": [8, 31]}


def default_regressor(random_state: int, *, shared: bool) -> Any:
    """Return the regressor that learns rewards unless told otherwise.

    Histogram boosting; where stakeholders share one regressor, a forest, because it can have several outputs.
    """
    if shared:
        return RandomForestRegressor(min_samples_leaf=3, random_state=random_state)
    return HistGradientBoostingRegressor(learning_rate=0.1, early_stopping=False, random_state=random_state)


@dataclass(frozen=True, eq=False)
class RewardLearner:
    """Fits q of one stakeholder, or of several that share a regressor.

    Parameters
    ----------
    stakeholders
        Whose rewards.
    regressor
        Any scikit-learn regressor; multi-output if stakeholders share it.
    grid
        Hyper-parameters to search, name to values; empty for none.
    log
        Training rows.
    queries
        What was asked, about which rows of the log.
    answers
        Rewards in [0, 1], shape (stakeholder, query).
    features
        Columns that the model reads.
    problem
        Declares actions and outcomes.
    """

    stakeholders: tuple[str, ...]
    regressor: Any
    grid: Mapping[str, Sequence[Any]]
    log: Log
    queries: RewardQueries
    answers: NDArray[np.float64]
    features: tuple[str, ...]
    problem: DecisionProblem

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The grid."""
        return grid_points(self.regressor, self.grid)

    def fit(self, rows: Codes, point: Point) -> LearnedReward:
        """Fit the regressor with one point of the grid."""
        return self._models(rows, [clone(self.regressor).set_params(**point)], None)[0]

    def candidates(self, rows: Codes) -> list[LearnedReward]:
        """Fit the regressor at every point of the grid."""
        return self._models(rows, [], self.points)

    def loss(self, model: LearnedReward, rows: Codes) -> float:
        """Return the mean squared error over all queries about these rows: every action that was asked about."""
        queries, answers = self._about(rows)
        columns = design(model.encoder(self.log.contexts), queries, self.problem)
        predicted = np.asarray(model.regressor.predict(columns)).reshape(len(queries), len(self.stakeholders))
        return float(np.mean((np.clip(predicted, 0.0, 1.0) - answers.T) ** 2))

    def _models(self, rows: Codes, regressors: list[Any], points: Sequence[Point] | None) -> list[LearnedReward]:
        encoder = encoder_for(self.regressor, self.log.contexts.take(rows), self.features)
        queries, answers = self._about(rows)
        columns = design(encoder(self.log.contexts), queries, self.problem)
        target = answers[0] if len(self.stakeholders) == 1 else answers.T
        try:
            fitted = (
                [regressor.fit(columns, target) for regressor in regressors]
                if points is None
                else fit_grid(self.regressor, points, columns, target)
            )
        except ValueError as error:
            raise InputError(f"reward model of {', '.join(self.stakeholders)} cannot be fitted: {error}") from error
        return [LearnedReward(self.stakeholders, encoder, regressor, self.problem) for regressor in fitted]

    def _about(self, rows: Codes) -> tuple[RewardQueries, NDArray[np.float64]]:
        member = np.zeros(len(self.log), dtype=bool)
        member[rows] = True
        chosen = member[self.queries.rows]
        part = self.queries.take(chosen)
        return part, self.answers[:, chosen]


@dataclass(frozen=True)
class CellError:
    """Error of a learned reward on held-out rows.

    Attributes
    ----------
    stakeholder, action
        Whose reward, of which action.
    outcome
        Which outcome; None if outcomes are continuous.
    mean_absolute_error
        Mean distance of q from the stated reward without noise, in [0, 1]; from the observed reward where
        none is stated.
    n
        Number of held-out queries.
    """

    stakeholder: str
    action: str
    outcome: str | None
    mean_absolute_error: float
    n: int


def reward_errors(
    models: Sequence[LearnedReward],
    folds: tuple[Codes, ...],
    log: Log,
    queries: RewardQueries,
    signals: Mapping[str, RewardSignal],
    problem: DecisionProblem,
) -> list[CellError]:
    """Return one error per stakeholder, action and outcome that was asked about.

    Parameters
    ----------
    models
        One per fold, fitted without it.
    folds
        The folds.
    log, queries
        Training rows and what was asked about them.
    signals
        Stated rewards.
    problem
        Declares actions and outcomes.
    """
    fold_of = np.empty(len(log), dtype=np.intp)
    for fold, rows in enumerate(folds):
        fold_of[rows] = fold
    names = models[0].stakeholders
    predicted = np.empty((len(names), len(queries)))
    for fold, model in enumerate(models):
        chosen = np.flatnonzero(fold_of[queries.rows] == fold)
        part = queries.take(chosen)
        columns = design(model.encoder(log.contexts), part, problem)
        values = np.clip(np.asarray(model.regressor.predict(columns)), 0.0, 1.0)
        predicted[:, chosen] = values.reshape(len(chosen), len(names)).T
    errors = []
    for name, values in zip(names, predicted, strict=True):
        signal = signals[name]
        target = (
            log.rewards[name]
            if isinstance(signal, ObservedReward)
            else elicit(signal, log.contexts, queries, problem, None)
        )
        errors += _by_cell(name, np.abs(values - target), queries, problem)
    return errors


def _by_cell(
    name: str, errors: NDArray[np.float64], queries: RewardQueries, problem: DecisionProblem
) -> list[CellError]:
    cells = []
    for code, action in enumerate(problem.actions):
        for outcome_code, outcome in enumerate(problem.outcome_names or (None,)):
            cell = queries.actions == code
            if outcome is not None:
                cell &= queries.outcomes == outcome_code
            if cell.any():
                cells.append(CellError(name, action, outcome, float(errors[cell].mean()), int(cell.sum())))
    return cells
