"""Outcome models f(o | x, a): fitted objects that turn contexts into predicted outcomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.action_grid import ActionGrid
from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.learning.encoding import ContextEncoder, action_columns
from accordant.learning.probabilities import Function, class_probabilities
from accordant.predictions import OutcomePrediction


class OutcomeModel(ABC):
    """A fitted f(o | x, a) or, without action-awareness, f(o | x)."""

    encoder: ContextEncoder
    n_actions: int
    action_aware: bool

    @property
    def calibrated(self) -> bool:
        """Whether predicted distributions rest on rows that were held out when levels or classes were fitted."""
        return True

    @abstractmethod
    def predict(self, contexts: Contexts) -> OutcomePrediction:
        """Return the predicted outcomes of every action."""

    @abstractmethod
    def at(self, values: tuple[float, ...]) -> OutcomeModel:
        """Return the same model, asked about these values of the action instead of the points of its grid."""


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
    grid
        The grid of actions on which it was fitted, if it reads one.
    asked
        Values of the actions that it is asked about, where these are not the points of the grid, see `at`.
    """

    encoder: ContextEncoder
    classifier: Any
    n_actions: int
    action_aware: bool
    grid: ActionGrid | None = None
    asked: tuple[float, ...] | None = None

    @property
    def calibrated(self) -> bool:
        """Whether the classifier was calibrated, or chosen and blended by held-out Brier scores."""
        return getattr(self.classifier, "method", None) != "raw"

    def at(self, values: tuple[float, ...]) -> DiscreteOutcomeModel:
        """Return the model for other values of the action."""
        return replace(self, n_actions=len(values), asked=values)

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
        values = None if self.asked is None else np.full(len(features), self.asked[action])
        return self._probabilities(action_design(features, codes, self.n_actions, self.grid, values))

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
        model is not action-aware, or if it reads the action among its columns because there is a grid.
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
    grid, asked
        See `DiscreteOutcomeModel`.
    """

    encoder: ContextEncoder
    learner: Any
    n_actions: int
    action_aware: bool
    offsets: NDArray[np.float64]
    weights: NDArray[np.float64]
    bounds: tuple[float, float]
    grid: ActionGrid | None = None
    asked: tuple[float, ...] | None = None

    def at(self, values: tuple[float, ...]) -> ContinuousOutcomeModel:
        """Return the model for other values of the action; its residuals lie between those of the neighbours."""
        offsets = self.offsets
        if self.grid is not None:
            offsets = np.stack([np.interp(values, self.grid.values, node) for node in self.offsets.T], axis=1)
        return replace(self, n_actions=len(values), asked=values, offsets=offsets)

    def levels_under(self, features: Values, values: Values) -> Values:
        """Return mean outcomes of encoded contexts under one value of a grid each, shape (context,)."""
        codes = np.zeros(len(features), dtype=np.intp)
        columns = action_design(features, codes, self.n_actions, self.grid, values)
        return np.asarray(self.learner.predict_levels(columns)[0])

    def _levels(self, features: Values) -> Values:
        if self.grid is None:
            return np.asarray(self.learner.predict_levels(features))
        values = self.grid.values if self.asked is None else self.asked
        return np.stack([self.levels_under(features, np.full(len(features), value)) for value in values])

    def predict(self, contexts: Contexts) -> OutcomePrediction:
        """Return nodes around the predicted level of every action."""
        levels = self._levels(self.encoder(contexts))
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


def action_design(
    features: Values,
    actions: NDArray[np.intp],
    n_actions: int,
    grid: ActionGrid | None = None,
    values: Values | None = None,
) -> Values:
    """Return contexts, columns of the action and their products, so that linear models can let effects vary.

    Shape (context, feature · n_actions + n_actions − 1): the first action is the reference. On a grid the columns are
    those of the value, see `accordant.learning.encoding.action_columns`.
    """
    indicators = action_columns(actions, n_actions, grid, values)
    if grid is None:
        indicators = indicators[:, 1:]
    (n_rows, width), more = features.shape, indicators.shape[1]
    design = np.empty((n_rows, width + more + width * more))
    design[:, :width], design[:, width : width + more] = features, indicators
    for column in range(more):
        start = width + more + width * column
        np.multiply(features, indicators[:, [column]], out=design[:, start : start + width])
    return design
