"""Decide from the predicted outcome alone, as most deployed models do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from accordant.arrays import Floats
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.strategies.selection import select_best
from accordant.strategies.strategy import Kind, Strategy, Structure, register
from accordant.utilities import ExpectedRewards


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
        self,
        expected: ExpectedRewards,
        *,
        prediction: OutcomePrediction | None = None,
        log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:
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
