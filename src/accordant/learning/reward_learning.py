"""Learning q_i from what stakeholders said about logged and augmented rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from accordant.arrays import Codes, Values
from accordant.contexts import Log
from accordant.errors import InputError
from accordant.learning.augmentation import RewardQueries, elicit
from accordant.learning.expectation import expected_values
from accordant.learning.folds import all_but, some_rows
from accordant.learning.named_columns import encoder_for
from accordant.learning.reward_models import LearnedReward, design
from accordant.learning.shared_forests import fit_grid
from accordant.learning.tuning import Grid, Plan, Point, Search, Tuned, grid_points, race
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal

DEFAULT_GRID: Grid = (
    {"max_leaf_nodes": [8], "learning_rate": [0.1], "max_iter": [100]},
    {"max_leaf_nodes": [31], "learning_rate": [0.2], "max_iter": [50]},
)
"""Small trees in small steps for rewards that are smooth or noisy, large ones in large steps for sharp ones."""
RACE_GRID: Grid = (
    {"max_leaf_nodes": [8], "learning_rate": [0.2], "max_iter": [50]},
    {"max_leaf_nodes": [31], "learning_rate": [0.4], "max_iter": [25]},
)
"""What stands for these points where they are only compared: steps twice as large, half as many, tell them apart."""
QUICK_GRID: Grid = {"max_leaf_nodes": [31], "learning_rate": [0.4], "max_iter": [20]}
"""One point: half the work of the default regressor, and root mean squared errors that are up to an eighth larger."""
THOROUGH_GRID: Grid = {"max_leaf_nodes": [8, 31], "learning_rate": [0.1], "max_iter": [100]}


def default_regressor(random_state: int, *, shared: bool) -> Any:
    """Return the regressor that learns rewards unless told otherwise.

    Histogram boosting; where stakeholders share one regressor, a forest, because it can have several outputs.
    """
    if shared:
        return RandomForestRegressor(min_samples_leaf=3, random_state=random_state)
    return HistGradientBoostingRegressor(
        max_leaf_nodes=31, learning_rate=0.2, max_iter=50, early_stopping=False, random_state=random_state
    )


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
        Hyper-parameters to search, name to values, or several such grids; empty for none.
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
    most_queries
        Most queries that a fit learns from, those about randomly chosen rows; None for all.
    race_grid
        What stands for the points of the grid, in their order, where they are only compared; None for themselves.
    """

    stakeholders: tuple[str, ...]
    regressor: Any
    grid: Grid
    log: Log
    queries: RewardQueries
    answers: NDArray[np.float64]
    features: tuple[str, ...]
    problem: DecisionProblem
    most_queries: int | None = None
    race_grid: Grid | None = None

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The grid."""
        return grid_points(self.regressor, self.grid)

    def fit(self, rows: Codes, point: Point) -> LearnedReward:
        """Fit the regressor with one point of the grid."""
        return self._models(rows, [clone(self.regressor).set_params(**point)], None)[0]

    def plan(self, folds: tuple[Codes, ...], thorough: bool) -> Plan:
        """Race the grid and fit the final model; return a `Tuned`. Models without a fold come by `held_out`."""
        search: Search = yield from race(self, folds, self.log.groups, thorough=thorough)
        [final] = yield [partial(self.fit, all_but(folds), search.best)]
        return Tuned(search, final)

    def held_out(
        self, search: Search, folds: tuple[Codes, ...], fold: int, prediction: OutcomePrediction
    ) -> tuple[Values, Values]:
        """Fit a model without a fold, ask it, and forget it: together they may take more memory than all else.

        Parameters
        ----------
        search
            Of this learner.
        folds, fold
            The folds, and which is left out.
        prediction
            What the outcome model without the fold says of all rows.

        Returns
        -------
        E on all rows, shape (stakeholder, action, row), and q in each query about the fold, shape (stakeholder, query).
        """
        model = self.fit(all_but(folds, fold), search.best_without(fold))
        return (
            expected_values(self.log.contexts, prediction, [model], self.stakeholders),
            self._predicted(model, self._about(folds[fold])[0]),
        )

    def candidates(self, rows: Codes, points: Sequence[Point]) -> list[LearnedReward]:
        """Fit the regressor at points of the grid, or at what stands for them in comparisons."""
        if self.race_grid is not None:
            stand_ins = grid_points(self.regressor, self.race_grid)
            points = [stand_ins[self.points.index(point)] for point in points]
        return self._models(rows, [], points)

    def losses(self, model: LearnedReward, rows: Codes) -> Values:
        """Return the mean squared error over all queries about each row: every action that was asked about."""
        queries, answers = self._about(rows)
        errors = ((self._predicted(model, queries) - answers) ** 2).mean(axis=0)
        sums, asked = (np.bincount(queries.rows, weights, len(self.log))[rows] for weights in (errors, None))
        return np.asarray(sums / asked)

    def _predicted(self, model: LearnedReward, queries: RewardQueries) -> Values:
        """Return the learned reward in each query, shape (stakeholder, query)."""
        columns = design(model.encoder(self.log.contexts), queries, self.problem)
        rewards = np.asarray(model.regressor.predict(columns)).reshape(len(queries), len(self.stakeholders))
        return np.clip(rewards, 0.0, 1.0).T

    def _models(self, rows: Codes, regressors: list[Any], points: Sequence[Point] | None) -> list[LearnedReward]:
        encoder = encoder_for(self.regressor, self.log.contexts.take(rows), self.features)
        queries, answers = self._about(self._some(rows))
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

    def _some(self, rows: Codes) -> Codes:
        """Return rows with no more queries than allowed."""
        n_rows, most = len(self.log), self.most_queries
        return some_rows(rows, n_rows, None if most is None else max(1, most * n_rows // len(self.queries)))

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
    predicted: Values, log: Log, learner: RewardLearner, signals: Mapping[str, RewardSignal], problem: DecisionProblem
) -> list[CellError]:
    """Return one error per stakeholder, action and outcome that was asked about.

    Parameters
    ----------
    predicted
        Learned reward in each query, from the model that did not see its row, shape (stakeholder, query).
    log, learner
        Training rows, and who learned from what was asked about them.
    signals
        Stated rewards.
    problem
        Declares actions and outcomes.
    """
    queries, errors = learner.queries, []
    for name, values in zip(learner.stakeholders, predicted, strict=True):
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
