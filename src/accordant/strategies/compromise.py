"""`Compromise`: what every compromise function has in common, a score Φ and a selection Ψ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

import numpy as np

from accordant.arrays import Floats, Mask, Values
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.strategies.block import Block
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.fold import Formula
from accordant.strategies.reference_points import ReferencePoints
from accordant.strategies.selection import (
    Selection,
    epsilon_greedy_policy,
    proportional_policy,
    select_best,
    softmax_policy,
)
from accordant.strategies.strategy import Kind, Structure, stakeholder_weights
from accordant.utilities import ExpectedRewards

Operator = Literal["argmax", "softmax", "proportional", "epsilon_greedy"]
PARAMETER_OF: dict[str, str | None] = {
    "argmax": None, "softmax": "temperature", "proportional": None, "epsilon_greedy": "epsilon"
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of shape (action, context) with what led to them (see `Decisions`)."""

    scores: Floats
    flags: Mapping[str, Mask] = field(default_factory=dict)
    quantities: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Compromise(ContextRule):
    """A score and a selection; a rule brings a `formula`, or a `score`, or both if Φ is a function of a fold.

    Class attributes
    ----------------
    logarithmic
        Whether scores are logarithms of a product, so that shares of them are shares of the product.

    Parameters
    ----------
    weights
        One weight of at least 0 per stakeholder; None takes them from the problem, or 1 for everybody.
    selection
        ``"argmax"``, or an operator that gives probabilities: ``"softmax"`` (needs `temperature`),
        ``"proportional"`` to the score, ``"epsilon_greedy"`` (needs `epsilon`). A randomised strategy is scored by
        its probabilities; its `Decisions.codes` hold the best action until `Decisions.draw` draws one.
    temperature
        τ of the softmax, above 0, in units of the score.
    epsilon
        Share of decisions drawn uniformly, above 0 and at most 1.
    """

    kind: ClassVar[Kind] = "compromise"
    logarithmic: ClassVar[bool] = False

    weights: tuple[float, ...] | None = None
    selection: Operator = "argmax"
    temperature: float | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.selection not in PARAMETER_OF:
            raise UnknownNameError("selection", str(self.selection), tuple(PARAMETER_OF))
        for operator, name, highest in (("softmax", "temperature", np.inf), ("epsilon_greedy", "epsilon", 1.0)):
            value = getattr(self, name)
            if self.selection != operator and value is not None:
                raise InputError(f"{name} {value} has no effect with selection {self.selection!r}, only {operator!r}")
            if self.selection == operator and not (value is not None and 0 < value <= highest and value < np.inf):
                allowed = "above 0" if highest == np.inf else "above 0, at most 1"
                raise InputError(f"{operator.replace('_', '-')} {name} is {value}; allowed: {allowed}")

    def score(self, block: Block, weights: Values) -> Scored:
        """Return Φ of every action in every context of the block; as its `formula` says, if a rule says no more."""
        formula = self.formula(block, weights)
        if formula is None:
            raise NotImplementedError(f"{type(self).__name__} needs a method score or formula")
        return Scored(formula.scores(block.with_weight(weights)))

    def formula(self, block: Block, weights: Values) -> Formula | None:
        """Return Φ as a fold over those with weight above 0, which chooses in one reading of E; None if it is no fold.

        Parameters
        ----------
        block
            E of everybody, and where reference points come from.
        weights
            Shape (stakeholder,), of at least 0.
        """
        del block, weights
        return None

    def choose(self, block: Block) -> Selection:
        """Return the best actions and ties."""
        weights = stakeholder_weights(self.weights, len(block.stakeholders))
        formula = self.formula(block, weights)
        if formula is not None:
            chosen = formula.choose(block.with_weight(weights), lambda where: self._scored(block.some(where))[1])
            if chosen is not None:
                return chosen
        return self._scored(block)[1]

    def decide(self, block: Block) -> Decisions:
        """Score every action in every context and select."""
        scored, chosen = self._scored(block)
        return Decisions(
            self.label, block.actions, chosen.codes, chosen.tied, scored.scores,
            self._policy(scored.scores, chosen, block.tolerance), scored.flags, scored.quantities,
        )  # fmt: skip

    @property
    def label(self) -> str:
        """Name, and the selection if it is not argmax."""
        operator = self.selection.replace("_", "-")
        parameter = PARAMETER_OF[self.selection]
        shown = f"{operator} {getattr(self, parameter):g}" if parameter else operator
        return self.name if self.selection == "argmax" else f"{self.name}[{shown}]"

    @property
    def draws(self) -> bool:
        """Whether the selection gives probabilities."""
        return self.selection != "argmax"

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take stakeholder weights from the problem if none were given."""
        return self if self.weights is not None else replace(self, weights=tuple(map(float, problem.weights)))

    def _scored(self, block: Block) -> tuple[Scored, Selection]:
        weights = stakeholder_weights(self.weights, len(block.stakeholders))
        scored = self.score(block, weights)
        return scored, select_best(scored.scores, block.with_weight(weights).totals, block.tolerance)

    def _policy(self, scores: Floats, chosen: Selection, tolerance: float) -> Values | None:
        if self.selection == "softmax":
            assert self.temperature is not None
            return softmax_policy(scores, self.temperature, tolerance)
        if self.selection == "proportional":
            return proportional_policy(scores, logarithmic=self.logarithmic)
        if self.selection == "epsilon_greedy":
            assert self.epsilon is not None
            return epsilon_greedy_policy(chosen.codes, len(scores), self.epsilon)
        return None


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

    def structure(self, *, frozen: bool = False) -> Structure:
        """Columns are judged by themselves if the reference points do not move."""
        if not (frozen or self.fixed):
            return "other"
        return "column_order" if self.disagreement == "status_quo" else "column_score"

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take weights and status quo from the problem."""
        return super().for_problem(problem).fill(problem)

    def fit(self, expected: ExpectedRewards, contexts: Contexts | None = None) -> Self:
        """Take global reference points from training contexts."""
        del contexts
        return self.learn(expected)
