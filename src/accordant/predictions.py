"""Predicted outcomes: the distribution f(o | x, a) that expectations are taken over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError


@dataclass(frozen=True, eq=False)
class OutcomePrediction:
    """f(o | x, a) as weighted nodes, for every action and context.

    Attributes
    ----------
    weights
        Probabilities, shape (action, node, context); at least 0, summing to 1 over nodes within 1e-9.
        For discrete outcomes the nodes are the declared outcomes.
    nodes
        Outcome values of the nodes, shape (action, node, context); None for discrete outcomes.
    depends_on_action
        Whether f was allowed to depend on the action.
    means
        Predicted mean of a continuous outcome, shape (action, context); None for discrete outcomes. It is kept
        beside the nodes because these are clipped to the outcome's bounds.
    """

    weights: NDArray[np.float64]
    nodes: NDArray[np.float64] | None
    depends_on_action: bool
    means: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.weights.ndim != 3 or (self.nodes is not None and self.nodes.shape != self.weights.shape):
            raise InputError("outcome predictions have shape (action, node, context) in weights and nodes")
        if (self.nodes is None) != (self.means is None):
            raise InputError("continuous outcome predictions need both nodes and means, discrete ones neither")
        sums = self.weights.sum(axis=1)
        if not (np.abs(sums - 1) <= 1e-9).all() or (self.weights < 0).any():
            raise InputError("outcome probabilities must be at least 0 and sum to 1 for every action and context")

    def levels(self) -> NDArray[np.float64]:
        """Return the mean of a continuous outcome, shape (action, context)."""
        if self.means is None:
            raise InputError("discrete outcomes have no level")
        return self.means

    def take(self, contexts: NDArray[np.intp] | slice) -> OutcomePrediction:
        """Return the prediction in some contexts."""
        nodes = None if self.nodes is None else self.nodes[:, :, contexts]
        means = None if self.means is None else self.means[:, contexts]
        return OutcomePrediction(self.weights[:, :, contexts], nodes, self.depends_on_action, means)
