"""The logged behaviour: how likely each action was, given everything that was known beforehand.

Evaluation may see what decisions may not: propensities read the features, the sensitive attributes and the declared
confounders, so that actions not taken are judged rightly although past decisions followed a column that the models are
kept from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from accordant import randomness
from accordant.contexts import Contexts, Log
from accordant.errors import DataError
from accordant.learning.causal import CausalDataError, PropensityModel
from accordant.learning.causal.propensity import FOLDS, held_out_probabilities
from accordant.learning.encoding import ContextEncoder
from accordant.problem import DecisionProblem
from accordant.statistics import standard_error

FALSE_ALARMS = 0.01  # probability of naming any column where none matters
CLEAR_GAIN = 1.64  # standard errors by which log loss must fall as well, so that a misfit of the null is not enough
LEAST_PROBABILITY = 1e-12  # of which a logarithm is taken


@dataclass(frozen=True, eq=False)
class LoggedBehaviour:
    """Propensities of the logged actions.

    Attributes
    ----------
    encoder
        Fixed on training rows.
    model
        Fitted on training rows.
    """

    encoder: ContextEncoder
    model: PropensityModel

    @classmethod
    def fit(
        cls, problem: DecisionProblem, log: Log, columns: tuple[str, ...], random_state: int
    ) -> LoggedBehaviour | None:
        """Learn propensities from some columns; None if there is one action, or one is too rare to hold anything out.

        Where rows come in groups, whole groups are held out, and an action is rare that few groups took.
        """
        n_actions = len(problem.actions)
        cases = log.actions if log.groups is None else np.unique(np.stack([log.actions, log.groups]), axis=1)[0]
        if n_actions == 1 or np.bincount(cases, minlength=n_actions).min() < FOLDS:
            return None
        encoder = ContextEncoder.fit(log.contexts, columns)
        model = PropensityModel(FOLDS, randomness.model_seed(random_state))
        try:
            return cls(encoder, model.fit(encoder(log.contexts), log.actions, log.groups))
        except CausalDataError:  # all that took one action came to one fold
            return None

    @property
    def held_out(self) -> NDArray[np.float64]:
        """Propensities of the training rows from models that did not see them, shape (action, context)."""
        return np.asarray(self.model.held_out_)

    def predict(self, contexts: Contexts) -> NDArray[np.float64]:
        """Return the propensities in other contexts, shape (action, context).

        Raises
        ------
        DataError
            If a column that propensities read is missing.
        """
        for name in self.encoder.columns:
            if name not in contexts:
                raise DataError(
                    f"the rows have no column {name!r}: the propensities by which actions not taken are judged read it "
                    "(recommendations do not)"
                )
        return np.asarray(self.model.predict(self.encoder(contexts)))


def audit_columns(
    problem: DecisionProblem, contexts: Contexts, features: tuple[str, ...], confounders: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns that propensities read: features, sensitive attributes, declared confounders.

    No other column is read, because some hold what was known only after the decision. A sensitive attribute that no
    model could read, such as a column of names, is left out.

    Raises
    ------
    DataError
        If a declared confounder is no column or cannot be used.
    """
    sensitive = [attribute.name for attribute in problem.sensitive_attributes if attribute.name in contexts]
    for name in confounders:
        ContextEncoder.fit(contexts, (name,))
    usable = [name for name in sensitive if name not in features and _can_be_encoded(contexts, name)]
    return tuple(dict.fromkeys((*features, *usable, *confounders)))


def followed_columns(
    log: Log, features: tuple[str, ...], behaviour: LoggedBehaviour, random_state: int
) -> tuple[str, ...]:
    """Return the columns beyond the features that the logged actions followed.

    For each column, the chosen classifier predicts the logged actions with and without it, on held-out rows of the same
    folds. A column counts if log loss falls by more than its error (paired, one-sided), and if a score test speaks for
    it, one-sided, Bonferroni over columns. The score of a row is what the action taken gains in log propensity, less
    what the model without the column expects, and less the part of the gain that the features tell: its mean is 0, if
    decisions followed the features alone, as soon as either the propensities or that part are right (Shah and Peters
    2020). So a column that stands in for a misfit of the propensities is not named. The paired test alone, at the same
    level, would need up to four times the rows.

    Parameters
    ----------
    log
        Training rows.
    features
        What the models may read.
    behaviour
        Propensities from the features and the other columns.
    random_state
        Seed of the policy.
    """
    others = [name for name in behaviour.encoder.columns if name not in features]
    if not others:
        return ()
    critical = NormalDist().inv_cdf(1 - FALSE_ALARMS / len(others))
    seed = randomness.model_seed(random_state)

    def held_out(columns: tuple[str, ...]) -> NDArray[np.float64]:
        """Return the logarithms of propensities from some columns, shape (action, context)."""
        matrix = ContextEncoder.fit(log.contexts, columns)(log.contexts)
        probabilities = held_out_probabilities(behaviour.model.best_, matrix, log.actions, FOLDS, seed, log.groups)
        return np.asarray(np.log(np.maximum(probabilities, LEAST_PROBABILITY)))

    without, matrix = held_out(features), ContextEncoder.fit(log.contexts, features)(log.contexts)
    return tuple(name for name in others if _matters(without, held_out((*features, name)), log, matrix, critical, seed))


def _matters(
    null: NDArray[np.float64],
    other: NDArray[np.float64],
    log: Log,
    matrix: NDArray[np.float64],
    critical: float,
    seed: int,
) -> bool:
    """Return whether other held-out propensities know more about the logged actions than the features tell.

    Parameters
    ----------
    null, other
        Logarithms of held-out propensities, shape (action, context).
    log
        Logged actions; rows of one person are one case.
    matrix
        Encoded features, shape (context, feature).
    critical
        Quantile of the standard normal distribution.
    seed
        Of the folds in which the part that features tell is learned.
    """
    direction = other - null
    gains = direction[log.actions, np.arange(len(log))]
    if gains.mean() <= CLEAR_GAIN * float(standard_error(gains, log.groups)):
        return False
    if _z(direction, null, log) <= critical:
        return False
    regressor = HistGradientBoostingRegressor(max_iter=30, max_leaf_nodes=8, early_stopping=False, random_state=0)
    folds = KFold(FOLDS, shuffle=True, random_state=seed) if log.groups is None else GroupKFold(FOLDS)
    told = np.stack([cross_val_predict(regressor, matrix, gain, groups=log.groups, cv=folds) for gain in direction])
    return _z(direction - told, null, log) > critical


def _z(direction: NDArray[np.float64], null: NDArray[np.float64], log: Log) -> float:
    """Return the mean of Σ_a (1[A = a] − e_a) δ_a in its standard errors."""
    scores = direction[log.actions, np.arange(len(log))] - (np.exp(null) * direction).sum(axis=0)
    error = float(standard_error(scores, log.groups))
    return float(scores.mean()) / error if error > 0 else 0.0


def _can_be_encoded(contexts: Contexts, name: str) -> bool:
    try:
        ContextEncoder.fit(contexts, (name,))
    except DataError:
        return False
    return True
