"""`Compromise`: what every compromise function has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Log
from accordant.decisions import Decisions
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.strategies.reference_points import ReferencePoints
from accordant.strategies.selection import select_best, softmax_policy
from accordant.strategies.strategy import Kind, Scores, Strategy, stakeholder_weights
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of shape (action, context) with what led to them (see `Decisions`)."""

    scores: Scores
    flags: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    quantities: Mapping[str, NDArray[np.floating[Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Compromise(Strategy):
    """A score and a selection.

    Parameters
    ----------
    weights
        One weight of at least 0 per stakeholder; None takes them from the problem, or 1 for everybody.
    temperature
        None chooses the best action. A positive number gives softmax probabilities, by which the strategy is
        scored; its `Decisions.codes` hold the best action, and it is never selected as D*.
    """

    kind: ClassVar[Kind] = "compromise"

    weights: tuple[float, ...] | None = None
    temperature: float | None = None

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None
    ) -> Decisions:
        """Score every action in every context and select."""
        del prediction, log
        weights = stakeholder_weights(self.weights, len(expected.stakeholders))
        scored = self.score(expected, weights)
        say = expected.values if (weights > 0).all() else expected.values[weights > 0]
        selection = select_best(scored.scores, say.sum(axis=0))
        policy = None if self.temperature is None else softmax_policy(scored.scores, self.temperature)
        return Decisions(
            self.label, expected.actions, selection.codes, selection.tied, scored.scores, policy, scored.flags,
            scored.quantities,
        )  # fmt: skip

    @abstractmethod
    def score(self, expected: ExpectedRewards, weights: NDArray[np.float64]) -> Scored:
        """Return Φ of every action in every context."""

    @property
    def label(self) -> str:
        """Name, and the temperature if there is one."""
        return self.name if self.temperature is None else f"{self.name}[softmax {self.temperature:g}]"

    @property
    def may_be_selected(self) -> bool:
        """Not if it is randomised: the strategy that was scored must be the one that decides."""
        return self.selectable and self.temperature is None

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take stakeholder weights from the problem if none were given."""
        return self if self.weights is not None else replace(self, weights=tuple(map(float, problem.weights)))


@dataclass(frozen=True)
class PointCompromise(ReferencePoints, Compromise):
    """A compromise that measures from reference points; see `ReferencePoints` for their parameters."""

    def __post_init__(self) -> None:
        Compromise.__post_init__(self)
        ReferencePoints.__post_init__(self)

    @property
    def label(self) -> str:
        """Name with the mode of its reference points."""
        return super().label.replace(self.name, f"{self.name}[{self.mode}]", 1)

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take weights and status quo from the problem."""
        return super().for_problem(problem).fill(problem)

    def fit(self, expected: ExpectedRewards) -> Self:
        """Take global reference points from training contexts."""
        return self.learn(expected)
