"""Evidence: everything besides decisions that a baseline or a metric may read about a batch of contexts.

Where rewards of actions not taken are estimates, two kinds of decisions are judged by different numbers. Decisions that
read contexts alone are judged by doubly robust estimates (Robins, Rotnitzky and Zhao 1994), whose means are right for
them. Decisions that are the log are judged by what was observed: the log draws from its own behaviour, so the
importance weight of every context is 1. Weighing them by 1/e once more would count rare actions twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.predictions import OutcomePrediction
from accordant.problem import ContinuousOutcome, DecisionProblem, value_label
from accordant.statistics import cluster_codes
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
        contexts are doubly robust for decisions that read contexts alone; single values may then leave [0, 1].
    prediction
        f on these contexts; None if E was brought from elsewhere.
    outcome_levels
        Continuous outcomes only: observed outcome of the logged action, predicted mean of the others,
        shape (action, context).
    robust_levels
        Doubly robust estimates of the same, for means over contexts; None if there are no propensities.
    estimated
        Whose rewards of actions not taken are estimates, shape (stakeholder,); None if every reward is known.
    true_levels
        Simulated data only: true mean outcome of every action, shape (action, context). Never reaches a model.
    observed_rewards
        What followed the logged action, shape (stakeholder, context), if `rewards` hold estimates in its place; else
        None.
    propensities
        Probability of each action under the logged behaviour, shape (action, context); None if nothing is estimated
        with them.
    outcome_limits
        Continuous outcomes only: smallest and largest outcome that is reckoned with, fixed before these contexts were
        seen; None takes what the problem declares, and else what the log holds.
    """

    problem: DecisionProblem
    log: Log
    expected: ExpectedRewards
    rewards: NDArray[np.float64]
    prediction: OutcomePrediction | None = None
    outcome_levels: NDArray[np.float64] | None = None
    true_levels: NDArray[np.float64] | None = None
    robust_levels: NDArray[np.float64] | None = None
    estimated: NDArray[np.bool_] | None = None
    observed_rewards: NDArray[np.float64] | None = None
    propensities: NDArray[np.float64] | None = None
    outcome_limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        shape = (len(self.problem.stakeholders), len(self.problem.actions), len(self.log))
        for name, given in (("expected rewards", self.expected.values.shape), ("rewards", self.rewards.shape)):
            if given != shape:
                raise InputError(f"{name} have shape {given}; the problem and its log need {shape}")
        for name, levels in (
            ("outcome levels", self.outcome_levels),
            ("true levels", self.true_levels),
            ("robust levels", self.robust_levels),
            ("propensities", self.propensities),
        ):
            if levels is not None and levels.shape != shape[1:]:
                raise InputError(f"{name} have shape {levels.shape}; the problem and its log need {shape[1:]}")
        if self.estimated is not None and self.estimated.shape != shape[:1]:
            raise InputError(
                f"whose rewards are estimated has shape {self.estimated.shape}; the problem needs {shape[:1]}"
            )
        observed = self.observed_rewards
        if observed is not None and observed.shape != shape[::2]:
            raise InputError(f"observed rewards have shape {observed.shape}; the problem and its log need {shape[::2]}")

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return len(self.log)

    @cached_property
    def clusters(self) -> NDArray[np.intp] | None:
        """Whose each context is, numbered from 0 without gaps, shape (context,); None if contexts are independent."""
        return None if self.log.groups is None else cluster_codes(self.log.groups)

    @property
    def n_independent(self) -> int:
        """Number of persons (or whatever `accordant.contexts.Log.groups` counts), else of contexts."""
        return self.n_contexts if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def hindsight(self) -> bool:
        """Whether the rewards of all stakeholders are known for every action rather than estimated."""
        return self.estimated is None or not self.estimated.any()

    def knows(self, stakeholder: int) -> bool:
        """Return whether the rewards of one stakeholder are known for every action rather than estimated."""
        return self.estimated is None or not self.estimated[stakeholder]

    @property
    def modelled(self) -> bool:
        """Whether rewards of actions not taken are the models' alone."""
        return not self.hindsight and self.propensities is None

    @property
    def outcome_range(self) -> tuple[float, float]:
        """Smallest and largest continuous outcome: as declared, else as limited, else as logged."""
        declared = self.problem.outcomes
        low, high = self.outcome_limits or (float(self.log.outcomes.min()), float(self.log.outcomes.max()))
        if isinstance(declared, ContinuousOutcome):
            low = low if declared.low is None else declared.low
            high = high if declared.high is None else declared.high
        return low, high

    def for_decisions(self, decisions: Decisions) -> Evidence:
        """Return what decisions are judged by: what was observed if they follow the log, else this evidence."""
        return self.as_observed() if decisions.follows_log else self

    def as_observed(self) -> Evidence:
        """Return the evidence with what was observed in place of estimates at the logged actions.

        It serves decisions that follow the log, and no others. Actions not taken keep what is predicted for them.
        """
        if self.observed_rewards is None and self.robust_levels is None:
            return self
        taken = (self.log.actions, np.arange(self.n_contexts))
        rewards, robust = self.rewards, self.robust_levels
        if self.observed_rewards is not None:
            rewards = rewards.copy()
            rewards[:, *taken] = self.observed_rewards
        if robust is not None:
            robust = robust.copy()
            robust[taken] = self.log.outcomes
        return replace(self, rewards=rewards, robust_levels=robust, observed_rewards=None)

    def groups(self, attributes: Sequence[str]) -> Groups:
        """Return the groups that the values of some columns make; several columns make intersections."""
        labels, codes = [""], np.zeros(len(self.log), dtype=np.intp)
        for attribute in attributes:
            values, inverse = np.unique(self.log.contexts[attribute], return_inverse=True)
            codes = codes * len(values) + inverse
            texts = [value_label(value) for value in values]
            labels = [f"{left} × {right}" if left else right for left in labels for right in texts]
        return Groups(tuple(attributes), tuple(labels), codes)
