"""Outcome models f(o | x, a): fitted objects that turn contexts into predicted outcomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.learning.encoding import ContextEncoder, one_hot
from accordant.learning.probabilities import Function, class_probabilities
from accordant.predictions import OutcomePrediction


class OutcomeModel(ABC):
    """A fitted f(o | x, a) or, without action-awareness, f(o | x)."""

    encoder: ContextEncoder
    n_actions: int
    action_aware: bool

    @abstractmethod
    def predict(self, contexts: Contexts) -> OutcomePrediction:
        """Return the predicted outcomes of every action."""


@dataclass(frozen=True, eq=False)
class DiscreteOutcomeModel(OutcomeModel):
    """Class probabilities of a fitted classifier whose classes are the outcome codes.

    Parameters
    ----------
    encoder
        Fixed on training rows.
    classifier
        With one column of probabilities per declared outcome.
    n_actions
        Number of declared actions.
    action_aware
        Whether the classifier reads the action, see `action_design`.
    """

    encoder: ContextEncoder
    classifier: Any
    n_actions: int
    action_aware: bool

    def predict(self, contexts: Contexts) -> OutcomePrediction:
        """Predict once per action, or once for all actions."""
        features = self.encoder(contexts)
        if not self.action_aware:
            probabilities = np.ascontiguousarray(self._probabilities(features).T)
            weights = np.broadcast_to(probabilities, (self.n_actions, *probabilities.shape))
        else:
            weights = np.stack([self._under(action, features).T for action in range(self.n_actions)])
        return OutcomePrediction(weights, None, self.action_aware)

    def _under(self, action: int, features: Values) -> NDArray[np.float64]:
        codes = np.full(len(features), action, dtype=np.intp)
        return self._probabilities(action_design(features, codes, self.n_actions))

    @cached_property
    def _probabilities(self) -> Function:
        return class_probabilities(self.classifier)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return {name: value for name, value in vars(self).items() if name != "_probabilities"}


@dataclass(frozen=True, eq=False)
class ContinuousOutcomeModel(OutcomeModel):
    """Predicted levels plus residuals of training rows that the levels had not seen.

    Parameters
    ----------
    encoder
        Fixed on training rows.
    learner
        Fitted; ``predict_levels(X)`` returns mean outcomes, shape (action, context), or (1, context) if the
        model is not action-aware.
    n_actions
        Number of declared actions.
    action_aware
        Whether levels depend on the action.
    offsets
        Nodes of the residual distribution of each action, around 0, shape (action, node).
    weights
        Their probabilities, shape (node,).
    bounds
        Outcomes cannot pass these; clipping leaves predicted means as they are.
    """

    encoder: ContextEncoder
    learner: Any
    n_actions: int
    action_aware: bool
    offsets: NDArray[np.float64]
    weights: NDArray[np.float64]
    bounds: tuple[float, float]

    def predict(self, contexts: Contexts) -> OutcomePrediction:
        """Return nodes around the predicted level of every action."""
        levels = self.learner.predict_levels(self.encoder(contexts))
        means = np.ascontiguousarray(np.broadcast_to(levels, (self.n_actions, contexts.n_contexts)))
        means = np.clip(means, *self.bounds)
        nodes = within_bounds(means[:, None, :] + self.offsets[:, :, None], self.weights, means, self.bounds)
        weights = np.broadcast_to(self.weights[:, None], nodes.shape)
        return OutcomePrediction(weights, nodes, self.action_aware, means)


BISECTIONS = 50  # halve the range of shifts to rounding


def within_bounds(
    nodes: NDArray[np.float64], weights: NDArray[np.float64], means: NDArray[np.float64], bounds: tuple[float, float]
) -> NDArray[np.float64]:
    """Return nodes clipped to bounds and shifted before clipping so that their mean stays what it was.

    Parameters
    ----------
    nodes
        Shape (action, node, context).
    weights
        Shape (node,), summing to 1.
    means
        Means to keep, within the bounds, shape (action, context).
    bounds
        Lowest and highest possible outcome.
    """
    clipped = np.clip(nodes, *bounds)
    moved = np.abs(np.tensordot(weights, clipped, axes=(0, 1)) - means) > 1e-12  # more than rounding
    if not moved.any():
        return clipped
    # one column of nodes per (action, context) whose mean was moved; its mean rises with the shift
    columns, goal = np.moveaxis(nodes, 1, 0)[:, moved], means[moved]
    reach = columns.max(axis=0) - columns.min(axis=0) + np.abs(columns.mean(axis=0) - goal) + 1.0
    low, high = -reach, reach
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = weights @ np.clip(columns + middle, *bounds) < goal
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    clipped = np.moveaxis(clipped, 1, 0)
    clipped[:, moved] = np.clip(columns + (low + high) / 2, *bounds)
    return np.ascontiguousarray(np.moveaxis(clipped, 0, 1))


def action_design(features: Values, actions: NDArray[np.intp], n_actions: int) -> Values:
    """Return contexts, action indicators and their products, so that linear models can let effects vary.

    Shape (context, feature · n_actions + n_actions − 1): the first action is the reference.
    """
    indicators = one_hot(actions, n_actions)[:, 1:]
    products = [features * indicators[:, [column]] for column in range(indicators.shape[1])]
    return np.hstack([features, indicators, *products])
