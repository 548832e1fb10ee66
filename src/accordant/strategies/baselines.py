"""Baselines and references: what every strategy must be compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from accordant.arrays import Floats
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.strategies.block import Block
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.selection import select_best
from accordant.strategies.strategy import Kind, Strategy, Structure, register
from accordant.utilities import ExpectedRewards


@register("constant")
@dataclass(frozen=True)
class Constant(Strategy):
    """Always take `action`."""

    kind: ClassVar[Kind] = "baseline"
    dependence: ClassVar[Structure] = "fixed"
    selectable: ClassVar[bool] = False

    action: str

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Take the action in every context."""
        del prediction, log, contexts
        if self.action not in expected.actions:
            raise UnknownNameError("action", self.action, expected.actions)
        codes = np.full(expected.n_contexts, expected.actions.index(self.action), dtype=np.intp)
        return Decisions(self.label, expected.actions, codes, np.zeros(expected.n_contexts, dtype=bool))

    @property
    def consults(self) -> str:
        """That nobody is consulted."""
        return f"It takes {self.action} for everybody and consults nobody."

    @property
    def label(self) -> str:
        """``constant:`` and the action."""
        return f"{self.name}:{self.action}"


@register("logged")
@dataclass(frozen=True)
class Logged(Strategy):
    """Repeat the logged actions. What followed them was observed, so no value of this line is estimated."""

    kind: ClassVar[Kind] = "baseline"
    dependence: ClassVar[Structure] = "fixed"
    selectable: ClassVar[bool] = False
    candidate: ClassVar[bool] = False
    follows_log: ClassVar[bool] = True

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Return the logged actions."""
        del prediction, contexts
        if log is None:
            raise InputError("the baseline 'logged' needs the logged actions")
        untied = np.zeros(len(log), dtype=bool)
        return Decisions(self.label, expected.actions, log.actions, untied, follows_log=self.follows_log)


@register("oracle")
@dataclass(frozen=True)
class Oracle(Strategy):
    """Take the action mapped from the outcome that really followed.

    Parameters
    ----------
    action_of_outcome
        Action code of each outcome; filled from the problem.
    """

    kind: ClassVar[Kind] = "reference"
    dependence: ClassVar[Structure] = "fixed"
    selectable: ClassVar[bool] = False
    candidate: ClassVar[bool] = False

    action_of_outcome: tuple[int, ...] | None = None

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Map the observed outcomes."""
        del prediction, contexts
        if log is None or self.action_of_outcome is None:
            raise InputError("the oracle needs observed outcomes and the problem's outcome_to_action")
        codes = np.array(self.action_of_outcome, dtype=np.intp)[log.outcomes.astype(np.intp)]
        return Decisions(self.label, expected.actions, codes, np.zeros(len(log), dtype=bool))

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take the mapping from the problem if none was given."""
        mapping = problem.action_of_outcome()
        if self.action_of_outcome is not None or mapping is None:
            return self
        return replace(self, action_of_outcome=tuple(map(int, mapping)))


@register("outcome_only")
@dataclass(frozen=True)
class OutcomeOnly(Strategy):
    """Ignore the stakeholders.

    * Discrete outcomes that do not depend on the action: the action mapped from the most probable outcome.
    * Discrete outcomes that do: the action with the highest probability of a favourable outcome.
    * Continuous outcomes: the action with the highest predicted mean.

    Ties go to the status quo if there is one, then to declared order.

    Parameters
    ----------
    action_of_outcome
        Action code of each outcome; filled from the problem.
    favourable
        Codes of the favourable outcomes; filled from the problem.
    status_quo
        Action that wins ties; filled from the problem.
    """

    kind: ClassVar[Kind] = "baseline"
    dependence: ClassVar[Structure] = "fixed"

    action_of_outcome: tuple[int, ...] | None = None
    favourable: tuple[int, ...] = ()
    status_quo: str | None = None

    @property
    def consults(self) -> str:
        """That nobody is consulted."""
        return "It decides by the predicted outcome alone and consults no stakeholder."

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Decide from f(o | x, a)."""
        del log, contexts
        if prediction is None:
            raise InputError("the strategy 'outcome_only' needs predicted outcomes, not only expected rewards")
        scores = self._scores(prediction)
        preferred = np.array(expected.actions) == self.status_quo
        selection = select_best(scores, np.broadcast_to(preferred[:, None].astype(np.float64), scores.shape))
        return Decisions(self.label, expected.actions, selection.codes, selection.tied, scores)

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take the mapping and the favourable outcomes from the problem if none were given."""
        mapping = self.action_of_outcome if self.action_of_outcome is not None else problem.action_of_outcome()
        favourable = self.favourable or problem.outcome_codes(problem.favourable_outcomes)
        return replace(
            self,
            action_of_outcome=None if mapping is None else tuple(map(int, mapping)),
            favourable=tuple(map(int, favourable)),
            status_quo=self.status_quo or problem.status_quo,
        )

    def _scores(self, prediction: OutcomePrediction) -> Floats:
        if prediction.nodes is not None:
            return prediction.levels()
        if prediction.depends_on_action:
            if not self.favourable:
                raise InputError("'outcome_only' with outcomes that depend on the action needs favourable_outcomes")
            return np.asarray(prediction.weights[:, list(self.favourable)].sum(axis=1))
        if self.action_of_outcome is None:
            raise InputError("'outcome_only' needs the problem's outcome_to_action")
        scores = np.full((prediction.weights.shape[0], prediction.weights.shape[2]), -np.inf)
        for outcome, action in enumerate(self.action_of_outcome):
            np.maximum(scores[action], prediction.weights[action, outcome], out=scores[action])
        return scores


@register("random")
@dataclass(frozen=True)
class Random(Strategy):
    """Draw every action with the same probability. Metrics are those of the draw's expectation.

    Parameters
    ----------
    seed
        Seed of the drawn actions.
    """

    kind: ClassVar[Kind] = "baseline"
    dependence: ClassVar[Structure] = "fixed"
    selectable: ClassVar[bool] = False
    candidate: ClassVar[bool] = False

    seed: int = 0

    @property
    def draws(self) -> bool:
        """Always."""
        return True

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Draw an action for every context."""
        del prediction, log, contexts
        n_actions, n_contexts = len(expected.actions), expected.n_contexts
        codes = np.random.default_rng(self.seed).integers(n_actions, size=n_contexts).astype(np.intp)
        policy = np.full((n_actions, n_contexts), 1.0 / n_actions)
        return Decisions(self.label, expected.actions, codes, np.zeros(n_contexts, dtype=bool), policy=policy)


@register("stakeholder")
@dataclass(frozen=True)
class SingleStakeholder(ContextRule):
    """Maximise the expected reward of `stakeholder` alone, argmax_a E[i, a, t]."""

    kind: ClassVar[Kind] = "stakeholder"
    dependence: ClassVar[Structure] = "column_score"

    stakeholder: str

    def decide(self, block: Block) -> Decisions:
        """Choose for this stakeholder."""
        if self.stakeholder not in block.stakeholders:
            raise UnknownNameError("stakeholder", self.stakeholder, block.stakeholders)
        scores = block.values[block.stakeholders.index(self.stakeholder)]
        selection = select_best(scores, block.totals, block.tolerance)
        return Decisions(self.label, block.actions, selection.codes, selection.tied, scores)

    @property
    def consults(self) -> str:
        """That one stakeholder decides alone."""
        return f"It decides by what {self.stakeholder} wants and consults nobody else."

    @property
    def label(self) -> str:
        """``stakeholder:`` and the name."""
        return f"{self.name}:{self.stakeholder}"
