"""Reward models q_i(x, a, o): stated rewards used as they are, or learned from what stakeholders said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Contexts
from accordant.learning.augmentation import RewardQueries
from accordant.learning.encoding import ContextEncoder, Matrix, one_hot
from accordant.problem import DecisionProblem
from accordant.rewards import RewardSignal

Nodes = NDArray[np.float64] | None


class RewardModel(ABC):
    """q of one or several stakeholders.

    Attributes
    ----------
    stakeholders
        Those it speaks for, in the order of its results.
    """

    stakeholders: tuple[str, ...]

    @abstractmethod
    def predict(self, contexts: Contexts, nodes: Nodes) -> NDArray[np.float64]:
        """Return q for every action and outcome, in [0, 1].

        Parameters
        ----------
        contexts
            Raw contexts.
        nodes
            Continuous outcomes, shape (action, node, context); None for the declared discrete outcomes.

        Returns
        -------
        Array of shape (stakeholder, action, outcome or node, context).
        """


@dataclass(frozen=True)
class StatedReward(RewardModel):
    """A reward that is known for every action and outcome, so nothing needs learning."""

    stakeholder: str
    signal: RewardSignal
    problem: DecisionProblem
    stakeholders: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stakeholders", (self.stakeholder,))

    def predict(self, contexts: Contexts, nodes: Nodes) -> NDArray[np.float64]:
        """Evaluate the signal."""
        actions = self.problem.actions
        if nodes is None:
            cells = [
                [self.signal(contexts, action, outcome) for outcome in self.problem.outcome_names] for action in actions
            ]
        else:
            cells = [
                [self.signal(contexts, action, node) for node in nodes[code]] for code, action in enumerate(actions)
            ]
        return np.array(cells)[None]


@dataclass(frozen=True, eq=False)
class LearnedReward(RewardModel):
    """A regressor on (context, one-hot action, outcome), clipped to [0, 1].

    A discrete outcome is one-hot encoded; a continuous one is a number, never a category.

    Parameters
    ----------
    stakeholders
        One, or several that share a multi-output regressor.
    encoder
        Fixed on training rows.
    regressor
        A fitted scikit-learn regressor on the columns of `design`.
    problem
        Declares actions and outcomes.
    """

    stakeholders: tuple[str, ...]
    encoder: ContextEncoder
    regressor: Any
    problem: DecisionProblem

    def predict(self, contexts: Contexts, nodes: Nodes) -> NDArray[np.float64]:
        """Predict all actions and outcomes of all contexts in one call of the regressor."""
        n_actions, n_contexts = len(self.problem.actions), contexts.n_contexts
        n_nodes = len(self.problem.outcome_names) if nodes is None else nodes.shape[1]
        shape = (n_actions, n_nodes, n_contexts)
        outcomes = np.broadcast_to(np.arange(n_nodes)[:, None], shape) if nodes is None else nodes
        queries = RewardQueries(
            np.broadcast_to(np.arange(n_contexts), shape).ravel(),
            np.broadcast_to(np.arange(n_actions)[:, None, None], shape).ravel(),
            outcomes.ravel(),
        )
        values = np.asarray(self.regressor.predict(design(self.encoder(contexts), queries, self.problem)))
        values = values.reshape(len(queries), len(self.stakeholders)).T
        return np.ascontiguousarray(np.clip(values, 0.0, 1.0).reshape(len(self.stakeholders), *shape))


def design(features: Matrix, queries: RewardQueries, problem: DecisionProblem) -> Matrix:
    """Return the columns that reward regressors take, shape (query, feature + action + outcome).

    Parameters
    ----------
    features
        Encoded contexts, shape (context, feature).
    queries
        Which row, action and outcome each line is about.
    problem
        Declares actions and outcomes.
    """
    outcomes = (
        queries.outcomes[:, None].astype(np.float64)
        if problem.continuous
        else one_hot(queries.outcomes.astype(np.intp), len(problem.outcome_names))
    )
    return np.hstack([features[queries.rows], one_hot(queries.actions, len(problem.actions)), outcomes])


def predict_rewards(
    models: Sequence[RewardModel], contexts: Contexts, nodes: Nodes, problem: DecisionProblem
) -> NDArray[np.float64]:
    """Return q of all stakeholders in declared order, shape (stakeholder, action, outcome or node, context)."""
    found = {
        name: values
        for model in models
        for name, values in zip(model.stakeholders, model.predict(contexts, nodes), strict=True)
    }
    return np.stack([found[name] for name in problem.stakeholder_names])
