"""Propensities under the logged behaviour, and the overlap that they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from accordant.arrays import Values, WholeNumbers
from accordant.errors import check_fitted
from accordant.learning.causal.level_learner import action_folds

FOLDS = 5
"""Cross-fitting folds of propensities."""

CLIP = 0.02
"""Smallest propensity used as a divisor: no logged context counts for more than fifty."""


def _logistic(strength: float) -> ClassifierMixin:
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=2000))


def _boosting() -> ClassifierMixin:
    return HistGradientBoostingClassifier(
        max_iter=60, learning_rate=0.1, max_leaf_nodes=4, early_stopping=False, random_state=0
    )


PROPENSITY_MODELS = {
    "logistic, strong penalty": lambda: _logistic(0.003),
    "logistic, medium penalty": lambda: _logistic(0.03),
    "logistic, weak penalty": lambda: _logistic(1.0),
    "boosting": _boosting,
}
"""Classifiers among which the cross-validated log loss decides."""


class PropensityModel(BaseEstimator):  # type: ignore[misc]
    """Cross-fitted probabilities of every action, from the classifier with the least log loss.

    Parameters
    ----------
    folds
        Number of cross-fitting folds.
    random_state
        Seed of the folds.

    Attributes
    ----------
    log_losses_
        Cross-validated log loss per classifier name (nats per context).
    best_
        Name of the classifier chosen.
    held_out_
        Probabilities of the training contexts from models that did not see them, unclipped, shape (action, context).
    classifier_
        The chosen classifier fitted on all contexts.
    """

    def __init__(self, folds: int = FOLDS, random_state: int = 0) -> None:
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Values, actions: WholeNumbers, groups: WholeNumbers | None = None) -> Self:
        """Learn from features (context, feature) and action codes 0 .. (context,), each code present.

        Contexts of one group (context,) are never in two folds.
        """
        held_out = {}
        self.log_losses_ = {}
        for name in PROPENSITY_MODELS:
            probabilities = held_out_probabilities(name, X, actions, self.folds, self.random_state, groups)
            taken = probabilities[actions, np.arange(actions.size)]
            held_out[name] = probabilities
            self.log_losses_[name] = float(-np.mean(np.log(np.maximum(taken, 1e-12))))
        self.best_ = min(self.log_losses_, key=lambda name: self.log_losses_[name])
        self.held_out_ = held_out[self.best_]
        self.classifier_ = PROPENSITY_MODELS[self.best_]().fit(X, actions)
        return self

    def predict(self, X: Values) -> Values:
        """Probabilities of every action, shape (action, context), columns summing to one."""
        check_fitted(self)
        return np.ascontiguousarray(self.classifier_.predict_proba(X).T)


def held_out_probabilities(
    name: str, X: Values, actions: WholeNumbers, folds: int, random_state: int, groups: WholeNumbers | None = None
) -> Values:
    """Probabilities of every action from a classifier of the table that did not see the context.

    Parameters
    ----------
    name
        Name of the classifier.
    X
        Features, shape (context, feature).
    actions
        Action codes 0 .., each code present, shape (context,).
    folds
        Number of cross-fitting folds.
    random_state
        Seed of the folds.
    groups
        Whose each context is, shape (context,); nobody is in two folds.

    Returns
    -------
    Shape (action, context).
    """
    probabilities = np.empty((int(actions.max()) + 1, actions.size))
    for train, test in action_folds(actions, folds, random_state, groups):
        classifier = PROPENSITY_MODELS[name]().fit(X[train], actions[train])
        probabilities[:, test] = classifier.predict_proba(X[test]).T
    return probabilities


def clip_propensities(propensities: Values, clip: float = CLIP) -> Values:
    """Propensities raised to at least `clip` and renormalised so that columns sum to one."""
    raised = np.maximum(propensities, clip)
    return np.asarray(raised / raised.sum(axis=0), dtype=np.float64)


@dataclass(frozen=True)
class OverlapDiagnostics:
    """How well each action is represented across contexts. All sequences have one entry per action.

    Attributes
    ----------
    counts
        Contexts in which the action was taken.
    lowest, highest
        Range of its propensity over all contexts, in [0, 1].
    clipped_shares
        Share of all contexts in which its propensity lies below `clip`.
    effective_sample_sizes
        (sum w)^2 / sum w^2 with w = 1 / propensity over the contexts in which the action was taken (Kish 1965).
    clip
        The smallest propensity used as a divisor.
    """

    counts: tuple[int, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    clipped_shares: tuple[float, ...]
    effective_sample_sizes: tuple[float, ...]
    clip: float


def overlap_diagnostics(propensities: Values, actions: WholeNumbers, clip: float = CLIP) -> OverlapDiagnostics:
    """Diagnose overlap.

    Parameters
    ----------
    propensities
        Held-out, unclipped propensities, shape (action, context).
    actions
        Codes of the actions taken, shape (context,).
    clip
        Smallest propensity used as a divisor, in (0, 1).
    """
    counts, sizes = [], []
    for action in range(propensities.shape[0]):
        weights = 1.0 / np.maximum(propensities[action, actions == action], clip)
        counts.append(int(weights.size))
        sizes.append(float(weights.sum() ** 2 / np.sum(weights**2)) if weights.size else 0.0)
    shares = [float(share) for share in np.mean(propensities < clip, axis=1)]
    return OverlapDiagnostics(
        counts=tuple(counts),
        lowest=tuple(float(value) for value in propensities.min(axis=1)),
        highest=tuple(float(value) for value in propensities.max(axis=1)),
        clipped_shares=tuple(shares),
        effective_sample_sizes=tuple(sizes),
        clip=clip,
    )
