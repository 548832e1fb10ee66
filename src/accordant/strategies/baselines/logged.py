"""What was actually done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.predictions import OutcomePrediction
from accordant.strategies.strategy import Kind, Strategy, Structure, register
from accordant.utilities import ExpectedRewards


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
        self,
        expected: ExpectedRewards,
        *,
        prediction: OutcomePrediction | None = None,
        log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:
        """Return the logged actions."""
        del prediction, contexts
        if log is None:
            raise InputError("the baseline 'logged' needs the logged actions")
        untied = np.zeros(len(log), dtype=bool)
        return Decisions(self.label, expected.actions, log.actions, untied, follows_log=self.follows_log)
