"""How far learned rewards are from what stakeholders state, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes
from accordant.contexts import Log
from accordant.learning.augmentation import RewardQueries, elicit
from accordant.learning.reward_models import LearnedReward, design
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal


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
        part = RewardQueries(queries.rows[chosen], queries.actions[chosen], queries.outcomes[chosen])
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
