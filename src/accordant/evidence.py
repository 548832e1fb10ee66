"""Evidence: everything besides decisions that a baseline or a metric may read about a batch of contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Log
from accordant.errors import InputError
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem, value_label
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of contexts.

    Attributes
    ----------
    attributes
        The sensitive attributes whose combinations make the groups.
    labels
        One label per group, such as ``"1"`` or ``"1 × young"``.
    codes
        Group of each context, shape (context,).
    """

    attributes: tuple[str, ...]
    labels: tuple[str, ...]
    codes: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about a batch of contexts after the fact.

    Attributes
    ----------
    problem
        The decision problem.
    log
        Contexts with the logged actions and observed outcomes.
    expected
        E on these contexts.
    rewards
        Reward of each action given what really followed, shape (stakeholder, action, context). If outcomes
        depend on the action and only that of the logged one was observed, these are estimates whose means over
        contexts are doubly robust; single values may then leave [0, 1].
    prediction
        f on these contexts; None if E was brought from elsewhere.
    outcome_levels
        Continuous outcomes only: observed outcome of the logged action, predicted mean of the others,
        shape (action, context).
    robust_levels
        Doubly robust estimates of the same, for means over contexts; None if there are no propensities.
    hindsight
        Whether `rewards` are known for every action rather than estimated.
    true_levels
        Simulated data only: true mean outcome of every action, shape (action, context). Never reaches a model.
    """

    problem: DecisionProblem
    log: Log
    expected: ExpectedRewards
    rewards: NDArray[np.float64]
    prediction: OutcomePrediction | None = None
    outcome_levels: NDArray[np.float64] | None = None
    true_levels: NDArray[np.float64] | None = None
    robust_levels: NDArray[np.float64] | None = None
    hindsight: bool = True

    def __post_init__(self) -> None:
        shape = (len(self.problem.stakeholders), len(self.problem.actions), len(self.log))
        for name, found in (("expected rewards", self.expected.values.shape), ("rewards", self.rewards.shape)):
            if found != shape:
                raise InputError(f"{name} have shape {found}; the problem and its log need {shape}")
        for name, levels in (
            ("outcome levels", self.outcome_levels),
            ("true levels", self.true_levels),
            ("robust levels", self.robust_levels),
        ):
            if levels is not None and levels.shape != shape[1:]:
                raise InputError(f"{name} have shape {levels.shape}; the problem and its log need {shape[1:]}")

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return len(self.log)

    def best_reward(self, rewards: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the reward of the best action in each context, shape (context,).

        Best with hindsight where every action's reward is known; else the action with the highest expected
        reward, because the largest of several noisy estimates is too large.

        Parameters
        ----------
        rewards, expected
            Of somebody, shape (action, context).
        """
        if self.hindsight:
            return np.asarray(rewards.max(axis=0))
        return np.asarray(rewards[expected.argmax(axis=0), np.arange(self.n_contexts)])

    def groups(self, attributes: Sequence[str]) -> Groups:
        """Return the groups that the values of some columns make; several columns make intersections."""
        labels, codes = [""], np.zeros(len(self.log), dtype=np.intp)
        for attribute in attributes:
            values, inverse = np.unique(self.log.contexts[attribute], return_inverse=True)
            codes = codes * len(values) + inverse
            texts = [value_label(value) for value in values]
            labels = [f"{left} × {right}" if left else right for left in labels for right in texts]
        return Groups(tuple(attributes), tuple(labels), codes)
