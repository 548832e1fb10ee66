"""Reward models q_i(x, a, o): stated rewards used as they are, or learned from what stakeholders said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.action_grid import ActionGrid
from accordant.arrays import Codes, Values
from accordant.contexts import Contexts
from accordant.learning.augmentation import RewardQueries
from accordant.learning.encoding import ContextEncoder, Encodings, action_columns, one_hot
from accordant.learning.trees.ensemble import read_ensemble
from accordant.learning.trees.sums import TreeSums
from accordant.problem import DecisionProblem
from accordant.rewards import Outcome, RewardSignal

Nodes = NDArray[np.float64] | None


class OutcomeRewardModel(ABC):
    """q of one or several stakeholders.

    Attributes
    ----------
    stakeholders
        Those it speaks for, in the order of its results.
    """

    stakeholders: tuple[str, ...]

    @abstractmethod
    def at(self, problem: DecisionProblem) -> OutcomeRewardModel:
        """Return the same model, asked about the actions of a finer grid."""

    @abstractmethod
    def predict(self, contexts: Contexts, nodes: Nodes, encodings: Encodings | None = None) -> NDArray[np.float64]:
        """Return q for every action and outcome, in [0, 1].

        Parameters
        ----------
        contexts
            Raw contexts.
        nodes
            Continuous outcomes, shape (action, node, context); None for the declared discrete outcomes.
        encodings
            Matrices of these contexts, shared with other models; None if there is nothing to share.

        Returns
        -------
        Array of shape (stakeholder, action, outcome or node, context).
        """


@dataclass(frozen=True)
class GridReward(RewardSignal):
    """A stated reward of the points of a grid, asked about those of a finer one: linear in the value between."""

    signal: RewardSignal
    grid: ActionGrid
    finer: ActionGrid

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Values:
        """Ask about the neighbours of the point."""
        value = self.finer.values[self.finer.names.index(action)]

        def at(point: int, rows: Codes) -> Values:
            """Return the rewards of a point of the grid."""
            return self.signal(contexts, self.grid.names[point], outcome)[rows]

        return self.grid.interpolated(at, np.full(contexts.n_contexts, value))


@dataclass(frozen=True)
class StatedReward(OutcomeRewardModel):
    """A reward that is known for every action and outcome, so nothing needs learning."""

    stakeholder: str
    signal: RewardSignal
    problem: DecisionProblem
    stakeholders: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stakeholders", (self.stakeholder,))

    def at(self, problem: DecisionProblem) -> StatedReward:
        """Return the reward with what lies between the points of its grid, linear in the value."""
        assert self.problem.grid is not None, "only a grid has values between its points"
        assert problem.grid is not None
        return StatedReward(self.stakeholder, GridReward(self.signal, self.problem.grid, problem.grid), problem)

    def predict(self, contexts: Contexts, nodes: Nodes, encodings: Encodings | None = None) -> NDArray[np.float64]:
        """Evaluate the signal."""
        del encodings
        outcomes = [self.problem.outcome_names] * len(self.problem.actions) if nodes is None else nodes
        cells = [
            (action, outcome) for action, row in zip(self.problem.actions, outcomes, strict=True) for outcome in row
        ]
        rewards = np.array(self.signal.rewards(contexts, cells))
        return rewards.reshape(1, len(self.problem.actions), -1, contexts.n_contexts)


@dataclass(frozen=True, eq=False)
class LearnedReward(OutcomeRewardModel):
    """A regressor on (context, action, outcome), clipped to [0, 1].

    A discrete outcome is one-hot encoded; a continuous one is a number, never a category. So is an action without
    a value, and one with a value, see `ActionGrid.columns`.

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
    asked
        Values of the actions that it is asked about, where these are not those of the problem, see `at`.
    """

    stakeholders: tuple[str, ...]
    encoder: ContextEncoder
    regressor: Any
    problem: DecisionProblem
    asked: tuple[float, ...] | None = None

    def at(self, problem: DecisionProblem) -> LearnedReward:
        """Return the model for the actions of a finer grid."""
        return replace(self, asked=problem.action_values)

    @property
    def _n_actions(self) -> int:
        return len(self.problem.actions if self.asked is None else self.asked)

    def _values(self, actions: Codes) -> Values | None:
        return None if self.asked is None else np.array(self.asked)[actions]

    def predict(self, contexts: Contexts, nodes: Nodes, encodings: Encodings | None = None) -> NDArray[np.float64]:
        """Predict all actions and outcomes of all contexts at once, by compiled code where the regressor is trees."""
        features = (encodings or Encodings(contexts)).by(self.encoder)
        values = self._by_trees(features, nodes)
        if values is None:
            return np.clip(self._by_regressor(features, nodes), 0.0, 1.0)
        return np.clip(values, 0.0, 1.0, out=values)

    def _by_regressor(self, features: Values, nodes: Nodes) -> NDArray[np.float64]:
        """Ask the regressor once, about every action and outcome of every context."""
        n_actions, n_contexts = self._n_actions, len(features)
        n_nodes = len(self.problem.outcome_names) if nodes is None else nodes.shape[1]
        shape = (n_actions, n_nodes, n_contexts)
        outcomes = np.broadcast_to(np.arange(n_nodes)[:, None], shape) if nodes is None else nodes
        actions = np.broadcast_to(np.arange(n_actions)[:, None, None], shape).ravel()
        queries = RewardQueries(
            np.broadcast_to(np.arange(n_contexts), shape).ravel(), actions, outcomes.ravel(), self._values(actions)
        )
        values = np.asarray(self.regressor.predict(design(features, queries, self.problem)))
        values = values.reshape(len(queries), len(self.stakeholders)).T
        return np.ascontiguousarray(values).reshape(len(self.stakeholders), *shape)

    def _by_trees(self, features: Values, nodes: Nodes) -> NDArray[np.float64] | None:
        """Return the same from the trees themselves, or None if they are not known or must not decide."""
        if self._trees is None:
            return None
        if nodes is None:
            sums = self._trees(features)  # shape (action · outcome, stakeholder, context)
            cells = self._n_actions, len(self.problem.outcome_names)
            return None if sums is None else sums.swapaxes(0, 1).reshape(len(self.stakeholders), *cells, len(features))
        rewards = np.empty((len(self.stakeholders), *nodes.shape))
        for action, of_action in enumerate(nodes):
            rows = np.column_stack([np.tile(features, (len(of_action), 1)), of_action.ravel()])
            sums = self._trees.group(action)(rows)
            if sums is None:
                return None
            rewards[:, action] = sums[0].reshape(len(self.stakeholders), *of_action.shape)
        return rewards

    @cached_property
    def _trees(self) -> TreeSums | None:
        """The trees under each action and discrete outcome, or under each action; made at first use, never saved."""
        ensemble = read_ensemble(self.regressor)
        if ensemble is None:
            return None
        n_actions = self._n_actions
        n_outcomes = 1 if self.problem.continuous else len(self.problem.outcome_names)
        actions = np.repeat(np.arange(n_actions), n_outcomes)
        queries = RewardQueries(
            np.zeros(n_actions * n_outcomes, dtype=np.intp),
            actions,
            np.full(n_actions, np.nan) if self.problem.continuous else np.tile(np.arange(n_outcomes), n_actions),
            self._values(actions),
        )
        varying = np.full((1, self.encoder.width), np.nan)
        return TreeSums.of(ensemble, design(varying, queries, self.problem))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return {name: value for name, value in vars(self).items() if name != "_trees"}


def design(features: Values, queries: RewardQueries, problem: DecisionProblem) -> Values:
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
    actions = action_columns(queries.actions, len(problem.actions), problem.grid, queries.values)
    return np.hstack([features[queries.rows], actions, outcomes])


def each_reward(
    models: Sequence[OutcomeRewardModel], contexts: Contexts, nodes: Nodes
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each stakeholder's name and q, shape (action, outcome or node, context), encoding contexts once."""
    encodings = Encodings(contexts)
    for model in models:
        yield from zip(model.stakeholders, model.predict(contexts, nodes, encodings), strict=True)
