"""What a single stakeholder would choose alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from accordant.contexts import Log
from accordant.decisions import Decisions
from accordant.predictions import OutcomePrediction
from accordant.strategies.selection import select_best
from accordant.strategies.strategy import Kind, Strategy, register
from accordant.utilities import ExpectedRewards


@register("stakeholder")
@dataclass(frozen=True)
class SingleStakeholder(Strategy):
    """Maximise the expected reward of one stakeholder, argmax_a E[i, a, t]."""

    kind: ClassVar[Kind] = "stakeholder"

    stakeholder: str

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None
    ) -> Decisions:
        """Choose for this stakeholder."""
        del prediction, log
        scores = expected.of(self.stakeholder)
        selection = select_best(scores, expected.values.sum(axis=0))
        return Decisions(self.label, expected.actions, selection.codes, selection.tied, scores)

    @property
    def label(self) -> str:
        """``stakeholder:`` and the name."""
        return f"{self.name}:{self.stakeholder}"
