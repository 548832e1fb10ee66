"""The same action for everybody: the baseline that any strategy must beat to earn its cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import UnknownNameError
from accordant.predictions import OutcomePrediction
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
        self,
        expected: ExpectedRewards,
        *,
        prediction: OutcomePrediction | None = None,
        log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:
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
