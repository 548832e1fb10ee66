"""Learning f(o | x, a) from logged rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from accordant.action_grid import ActionGrid
from accordant.arrays import Codes, Values
from accordant.contexts import Log
from accordant.errors import DataError, InputError
from accordant.learning.causal import BASE_REGRESSORS, LevelLearner, SelectedCausalLearner, TLearner
from accordant.learning.causal import default_candidates as causal_candidates
from accordant.learning.classification import CalibratedProbabilities, SelectedClassifier, default_candidates
from accordant.learning.classification.brier import brier_contributions
from accordant.learning.classification.fold_selection import FoldSelection, counted_rows
from accordant.learning.effort import EffortLimits
from accordant.learning.encoding import ContextEncoder
from accordant.learning.named_columns import encoder_for
from accordant.learning.outcome_models import ContinuousOutcomeModel, DiscreteOutcomeModel, action_design
from accordant.learning.residuals import Integration, held_out_residuals, residual_nodes
from accordant.learning.shared_forests import fit_grid
from accordant.learning.tuning import Plan, Point, grid_points
from accordant.problem import ContinuousOutcome, DecisionProblem

GRID_BASES = ("ridge", "interactions", "gaussian process", "boosting", "deep boosting", "forest")
"""Base regressors that are compared where one regressor reads the value of the action."""


@dataclass(frozen=True, eq=False)
class DiscreteOutcomeLearner:
    """Fits class probabilities.

    Parameters
    ----------
    classifier
        Any scikit-learn classifier; None for `SelectedClassifier`, which picks and averages by cross-validated Brier
        score.
    grid
        Hyper-parameters to search, by Brier score.
    calibrated
        Calibrate a given classifier. Grid points are compared uncalibrated.
    action_aware
        Whether the classifier reads the action.
    log, features, problem, random_state
        Training rows, columns that the model reads, declarations, seed.
    limits
        How much work the default may take.
    """

    classifier: Any | None
    grid: Mapping[str, Sequence[Any]]
    calibrated: bool
    action_aware: bool
    log: Log
    features: tuple[str, ...]
    problem: DecisionProblem
    random_state: int
    limits: EffortLimits = field(default_factory=EffortLimits)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The grid."""
        if self.classifier is None:
            return ({},)
        return grid_points(self.classifier, self.grid)

    def plan(self, folds: tuple[Codes, ...], thorough: bool) -> Plan | None:
        """Return how the default candidates are compared on shared fits; None for a given classifier, or odd folds."""
        if self.classifier is not None:
            return None
        everything = np.sort(np.concatenate(folds))
        _, columns, codes = self._training(everything)
        counted = counted_rows(columns, codes, folds, self.log.groups)
        if counted is None:
            return None
        selector = self._selector(columns.shape[1])
        selection = FoldSelection(
            selector, selector.tried(columns.shape[1]), self._fitted_candidates, self._columns_of, codes, folds,
            counted, self.log.groups, self.limits.race_rows,
        )  # fmt: skip
        return selection.plan(self._model, thorough=thorough)

    def _selector(self, n_columns: int) -> SelectedClassifier:
        tried = None
        if self.limits.candidates is not None or not self.forests:
            tried = default_candidates(
                n_columns, self.random_state, names=self.limits.candidates, forests=self.forests
            )  # fmt: skip
        return SelectedClassifier(tried, classes=self._classes, random_state=self.random_state)

    @property
    def forests(self) -> bool:
        """Whether there are few enough rows for forests among the default candidates."""
        return self.limits.forest_rows is None or len(self.log) <= self.limits.forest_rows

    def _fitted_candidates(
        self, rows: Codes, unfitted: Sequence[CalibratedProbabilities]
    ) -> tuple[ContextEncoder, list[CalibratedProbabilities]]:
        encoder, columns, codes = self._training(rows)
        return encoder, [self._fitted(candidate, columns, codes, self._groups(rows)) for candidate in unfitted]

    def _columns_of(self, encoder: ContextEncoder, rows: Codes) -> Values:
        part = self.log.take(rows)
        return self._columns(encoder(part.contexts), part)

    def fit(self, rows: Codes, point: Point) -> DiscreteOutcomeModel:
        """Fit with one point of the grid, calibrated."""
        encoder, columns, codes = self._training(rows)
        if self.classifier is None:
            estimator: Any = self._selector(columns.shape[1])
        else:
            estimator = CalibratedProbabilities(
                clone(self.classifier).set_params(**point),
                method="sigmoid" if self.calibrated else "raw",
                classes=self._classes,
                random_state=self.random_state,
            )
        return self._model(encoder, self._fitted(estimator, columns, codes, self._groups(rows)))

    def candidates(self, rows: Codes, points: Sequence[Point]) -> list[DiscreteOutcomeModel]:
        """Fit points of the grid, uncalibrated."""
        encoder, columns, codes = self._training(rows)
        if not hasattr(self.classifier, "predict_proba"):
            raise InputError(
                f"{type(self.classifier).__name__} has no predict_proba; a grid of it cannot be compared by Brier score"
            )
        try:
            each_fitted = fit_grid(self.classifier, points, columns, codes)
        except ValueError as error:
            raise InputError(f"the outcome model cannot be fitted: {error}") from error
        models = []
        for fitted in each_fitted:
            raw = CalibratedProbabilities(fitted, method="raw", classes=self._classes)
            raw.classes_, raw.columns_, raw.model_ = self._classes, fitted.classes_.astype(np.intp), fitted
            raw.n_features_in_ = columns.shape[1]
            models.append(self._model(encoder, raw))
        return models

    def losses(self, model: DiscreteOutcomeModel, rows: Codes) -> Values:
        """Return what each row adds to the multiclass Brier score of the logged actions' outcomes, in [0, 2]."""
        part = self.log.take(rows)
        columns = self._columns(model.encoder(part.contexts), part)
        return brier_contributions(model.classifier.predict_proba(columns), part.outcomes.astype(np.intp))

    @property
    def _classes(self) -> NDArray[np.intp]:
        return np.arange(len(self.problem.outcome_names))

    def _training(self, rows: Codes) -> tuple[ContextEncoder, Values, NDArray[np.intp]]:
        part = self.log.take(rows)
        codes = part.outcomes.astype(np.intp)
        if len(np.unique(codes)) == 1:
            only = self.problem.outcome_names[codes[0]]
            raise DataError(
                f"every training row has the outcome {only!r}; an outcome model needs at least two outcomes"
            )
        encoder = encoder_for(self.classifier, part.contexts, self.features)
        return encoder, self._columns(encoder(part.contexts), part), codes

    def _groups(self, rows: Codes) -> NDArray[np.intp] | None:
        return None if self.log.groups is None else self.log.groups[rows]

    def _columns(self, features: Values, part: Log) -> Values:
        if not self.action_aware:
            return features
        return action_design(features, part.actions, len(self.problem.actions), self.problem.grid, part.action_values)

    def _model(self, encoder: ContextEncoder, classifier: Any) -> DiscreteOutcomeModel:
        grid = self.problem.grid if self.action_aware else None
        return DiscreteOutcomeModel(encoder, classifier, len(self.problem.actions), self.action_aware, grid)

    def _fitted(self, estimator: Any, columns: Values, codes: NDArray[np.intp], groups: NDArray[np.intp] | None) -> Any:
        try:
            return estimator.fit(columns, codes, groups=groups)
        except ValueError as error:
            raise InputError(f"the outcome model cannot be fitted: {error}") from error


@dataclass(frozen=True, eq=False)
class ContinuousOutcomeLearner:
    """Fits outcome levels per action and the distribution around them.

    Parameters
    ----------
    learner
        An estimator with ``fit(X, actions, outcomes, n_actions=…)`` and ``predict_levels(X)``; None for
        `SelectedCausalLearner`, which compares many by a cross-fitted loss. On a grid of actions the learner sees one
        action and reads the value as columns of X, and None compares `GRID_BASES` in one `TLearner`.
    grid
        Hyper-parameters to search, by squared error of the logged action's level.
    integration, n_nodes
        See `accordant.learning.residuals.residual_nodes`.
    action_aware
        Whether levels depend on the action.
    log, features, problem, random_state
        Training rows, columns that the model reads, declarations, seed.
    limits
        How much work the default may take.
    """

    learner: Any | None
    grid: Mapping[str, Sequence[Any]]
    integration: Integration
    n_nodes: int
    action_aware: bool
    log: Log
    features: tuple[str, ...]
    problem: DecisionProblem
    random_state: int
    limits: EffortLimits

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The grid."""
        if self._action_grid is not None and self.learner is None and not self.grid:
            columns = self._training(np.arange(len(self.log)))[1]
            tried = GRID_BASES if self.limits.grid_bases is None else self.limits.grid_bases
            suited = [base for base in tried if not BASE_REGRESSORS[base].refusal(*columns.shape)]
            return grid_points(self._unfitted(), {"base": suited})
        return grid_points(self._unfitted(), self.grid)

    def fit(self, rows: Codes, point: Point) -> ContinuousOutcomeModel:
        """Fit with one point of the grid, and its residuals on rows it did not see."""
        encoder, columns, actions, outcomes = self._training(rows)
        groups = self._groups(rows)
        learner = self._fitted(point, columns, actions, outcomes, groups)
        with self._named_actions():
            residuals = held_out_residuals(
                learner, columns, actions, outcomes, self._n_levels, self.random_state, groups
            )
        nearest = actions if self._action_grid is None else self.log.actions[rows]
        offsets, weights = residual_nodes(residuals, nearest, self._n_offsets, self.integration, self.n_nodes)
        return self._model(encoder, learner, offsets, weights)

    def candidates(self, rows: Codes, points: Sequence[Point]) -> list[ContinuousOutcomeModel]:
        """Fit points of the grid, without a residual distribution."""
        encoder, columns, actions, outcomes = self._training(rows)
        groups = self._groups(rows)
        fitted = [self._fitted(point, columns, actions, outcomes, groups) for point in points]
        return [self._model(encoder, learner, np.zeros((self._n_offsets, 1)), np.ones(1)) for learner in fitted]

    def losses(self, model: ContinuousOutcomeModel, rows: Codes) -> Values:
        """Return the squared error of the logged action's level in each row."""
        part = self.log.take(rows)
        if model.grid is not None and part.action_values is not None:
            levels = model.levels_under(model.encoder(part.contexts), part.action_values)
            return np.asarray((levels - part.outcomes) ** 2)
        levels = model.predict(part.contexts).levels()
        return np.asarray((levels[part.actions, np.arange(len(part))] - part.outcomes) ** 2)

    @property
    def _action_grid(self) -> ActionGrid | None:
        return self.problem.grid if self.action_aware else None

    @property
    def _n_levels(self) -> int:
        return 1 if self._action_grid is not None else self._n_offsets

    @property
    def _n_offsets(self) -> int:
        return len(self.problem.actions) if self.action_aware else 1

    def _unfitted(self) -> Any:
        if self._action_grid is not None:
            return self._on_grid()
        if self.learner is not None:
            return self.learner
        if not self.action_aware:
            return TLearner("boosting")
        names = self.limits.level_candidates
        tried = None if names is None else {name: causal_candidates()[name] for name in names}
        return SelectedCausalLearner(tried, race=not self.limits.all_pairs, random_state=self.random_state)

    def _on_grid(self) -> Any:
        """Return a learner that can read the action as columns of X: of effects between names there are none."""
        learner = TLearner(random_state=self.random_state) if self.learner is None else self.learner
        if isinstance(learner, LevelLearner) and not isinstance(learner, TLearner):
            raise InputError(
                f"the outcome model {type(learner).__name__} learns one effect per action; on a grid of actions "
                "allowed: auto, or t_learner with a regressor that reads the value as a feature"
            )
        return learner

    def _training(self, rows: Codes) -> tuple[ContextEncoder, Values, NDArray[np.intp], NDArray[np.float64]]:
        part = self.log.take(rows)
        encoder = encoder_for(self.learner, part.contexts, self.features)
        if self._action_grid is not None:
            columns = action_design(
                encoder(part.contexts), part.actions, len(self.problem.actions), self._action_grid, part.action_values
            )
            return encoder, columns, np.zeros_like(part.actions), part.outcomes.astype(np.float64)
        actions = part.actions if self.action_aware else np.zeros_like(part.actions)
        return encoder, encoder(part.contexts), actions, part.outcomes.astype(np.float64)

    def _fitted(
        self,
        point: Point,
        columns: Values,
        actions: NDArray[np.intp],
        outcomes: NDArray[np.float64],
        groups: NDArray[np.intp] | None,
    ) -> Any:
        learner = clone(self._unfitted()).set_params(**point)
        # learners of others fit without groups, and cannot be told
        told = {"groups": groups} if groups is not None and isinstance(learner, LevelLearner) else {}
        with self._named_actions():
            return learner.fit(columns, actions, outcomes, n_actions=self._n_levels, **told)

    def _groups(self, rows: Codes) -> NDArray[np.intp] | None:
        return None if self.log.groups is None else self.log.groups[rows]

    @contextmanager
    def _named_actions(self) -> Iterator[None]:
        """Say in errors of learners, which know codes only, what the actions are called."""
        try:
            yield
        except ValueError as error:
            names = ", ".join(f"{code} is {name!r}" for code, name in enumerate(self.problem.actions))
            raise InputError(f"the outcome model cannot be fitted: {error} (action {names})") from error

    def _model(
        self, encoder: ContextEncoder, learner: Any, offsets: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> ContinuousOutcomeModel:
        outcome = self.problem.outcomes
        assert isinstance(outcome, ContinuousOutcome)
        bounds = (-np.inf if outcome.low is None else outcome.low, np.inf if outcome.high is None else outcome.high)
        n_actions = len(self.problem.actions)
        return ContinuousOutcomeModel(
            encoder, learner, n_actions, self.action_aware, offsets, weights, bounds, self._action_grid
        )
