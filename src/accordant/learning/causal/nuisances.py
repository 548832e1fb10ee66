"""Cross-fitted outcome levels and propensities, and losses that judge levels without ever seeing the truth.

All losses want predictions, propensities and outcome regressions for contexts that were not used to fit them
(cross-fitting). They return one loss per context; the mean is the loss, its spread gives the standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import RegressorMixin

from accordant.arrays import Values, WholeNumbers
from accordant.learning.causal.base_learners import fitted_regressor
from accordant.learning.causal.level_learner import LoggedData, action_folds
from accordant.learning.causal.propensity import PropensityModel, clip_propensities


@dataclass(frozen=True)
class Nuisances:
    """Estimates for every training context from models that did not see it.

    Attributes
    ----------
    levels
        Outcome regressions mu_a(x), shape (action, context).
    propensities
        Clipped e_a(x), columns summing to one, shape (action, context).
    """

    levels: Values
    propensities: Values

    @property
    def mean_outcome(self) -> Values:
        """m(x) = sum_a e_a(x) mu_a(x), shape (context,)."""
        return np.asarray(np.sum(self.propensities * self.levels, axis=0), dtype=np.float64)


def cross_fit(
    data: LoggedData, base: str | RegressorMixin, propensity: PropensityModel, folds: int, random_state: int
) -> Nuisances:
    """Held-out levels of one regressor per action, next to the propensity model's held-out probabilities.

    Levels are clipped to the range of the outcomes observed under their action.
    """
    levels = np.empty((data.n_actions, data.actions.size))
    for train, test in action_folds(data.actions, folds, random_state, data.groups):
        part = data.rows(train)
        for action in range(data.n_actions):
            X, outcomes = part.arm(action)
            fitted = fitted_regressor(base, random_state, X, outcomes, part.arm_groups(action))
            predicted = fitted.predict(data.X[test])
            levels[action, test] = np.clip(predicted, outcomes.min(), outcomes.max())
    return Nuisances(levels, clip_propensities(propensity.held_out_))


def full_mean_outcome(regressors: list[RegressorMixin], bounds: Values, X: Values, e: Values) -> Values:
    """m(x) from regressors fitted on all contexts, shape (context,)."""
    levels = np.stack([np.asarray(regressor.predict(X)) for regressor in regressors])
    return np.asarray(np.sum(e * np.clip(levels, bounds[0][:, None], bounds[1][:, None]), axis=0))


def fit_arms(data: LoggedData, base: str | RegressorMixin, random_state: int) -> list[RegressorMixin]:
    """One regressor per action, fitted on all contexts in which it was taken."""
    return [fit_arm(data, action, base, random_state) for action in range(data.n_actions)]


def fit_arm(data: LoggedData, action: int, base: str | RegressorMixin, random_state: int) -> RegressorMixin:
    """The regressor of one action, fitted once for all learners that see the same data."""
    return data.once(
        ("arm", action, base, random_state),
        lambda: fitted_regressor(base, random_state, *data.arm(action), data.arm_groups(action)),
    )


def fit_propensities(data: LoggedData, folds: int, random_state: int) -> PropensityModel:
    """The propensity model, fitted once for all learners that see the same data."""
    return data.once(
        ("propensity", folds, random_state),
        lambda: PropensityModel(folds, random_state).fit(data.X, data.actions, data.groups),
    )


def most_frequent(actions: WholeNumbers) -> int:
    """Code of the most frequent action: the reference the others are compared with."""
    return int(np.argmax(np.bincount(actions)))


def r_losses(
    levels: Values, mean_outcome: Values, propensities: Values, actions: WholeNumbers, outcomes: Values
) -> Values:
    """R-loss of every context, shape (context,).

    (y - m(x) - (level_A(x) - sum_b e_b(x) level_b(x)))^2: Nie and Wager (2021, equation 4) for two
    actions, written for any number. Adding any function of x to all levels leaves it unchanged: it
    judges effects, not levels.

    Parameters
    ----------
    levels
        Predicted levels, shape (action, context).
    mean_outcome
        Expected outcome m(x) under the logged behaviour, shape (context,).
    propensities
        Propensities e_a(x), columns summing to one, shape (action, context).
    actions
        Codes of the actions taken, shape (context,).
    outcomes
        Outcomes observed, shape (context,).
    """
    taken = levels[actions, np.arange(actions.size)]
    surprise = taken - np.sum(propensities * levels, axis=0)
    return np.asarray((outcomes - mean_outcome - surprise) ** 2, dtype=np.float64)


def pseudo_levels(outcome_levels: Values, propensities: Values, actions: WholeNumbers, outcomes: Values) -> Values:
    """Doubly robust pseudo-outcome of every action, shape (action, context).

    psi_a = mu_a(x) + 1[A = a] (y - mu_a(x)) / e_a(x), the AIPW score (Robins, Rotnitzky and Zhao 1994):
    its conditional mean is E[y | x, a] if either mu or e is right.
    """
    scores = outcome_levels.copy()
    rows = np.arange(actions.size)
    residual = outcomes - outcome_levels[actions, rows]
    scores[actions, rows] += residual / propensities[actions, rows]
    return scores


def dr_losses(levels: Values, scores: Values, reference: int = 0) -> Values:
    """DR-loss of every context, shape (context,).

    Mean over the other actions a of ((psi_a - psi_ref) - (level_a - level_ref))^2 (Kennedy 2023, section 3,
    as a validation loss: Saito and Yasui 2020).

    Parameters
    ----------
    levels
        Predicted levels, shape (action, context).
    scores
        Doubly robust pseudo-outcomes from `pseudo_levels`, shape (action, context).
    reference
        Code of the action that the others are compared with.
    """
    gap = (scores - scores[reference]) - (levels - levels[reference])
    others = np.arange(levels.shape[0]) != reference
    return np.asarray(np.mean(gap[others] ** 2, axis=0), dtype=np.float64)


def level_losses(levels: Values, propensities: Values, actions: WholeNumbers, outcomes: Values) -> Values:
    """Squared error of the level of the action taken, reweighted to all contexts, shape (context,).

    Each context counts 1 / e_A(x), normalised within its action so that every action has the same say; up
    to noise the mean is the average over actions of E[(level_a(x) - E[y | x, a])^2] (Shalit, Johansson and
    Sontag 2017: twice this bounds the error of effects).
    """
    rows = np.arange(actions.size)
    weights = 1.0 / propensities[actions, rows]
    for action in range(levels.shape[0]):
        taken = actions == action
        weights[taken] *= actions.size / (levels.shape[0] * weights[taken].sum())
    return np.asarray(weights * (outcomes - levels[actions, rows]) ** 2, dtype=np.float64)
