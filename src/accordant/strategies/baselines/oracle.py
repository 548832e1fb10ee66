"""The oracle sees the outcome: a line to measure against, never a candidate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.strategies.strategy import Kind, Strategy, Structure, register
from accordant.utilities import ExpectedRewards


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
        self,
        expected: ExpectedRewards,
        *,
        prediction: OutcomePrediction | None = None,
        log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:
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
