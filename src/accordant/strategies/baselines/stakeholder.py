"""What a single stakeholder would choose alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from accordant.decisions import Decisions
from accordant.errors import UnknownNameError
from accordant.strategies.block import Block
from accordant.strategies.deciding import ContextRule
from accordant.strategies.selection import select_best
from accordant.strategies.strategy import Kind, Structure, register


@register("stakeholder")
@dataclass(frozen=True)
class SingleStakeholder(ContextRule):
    """Maximise the expected reward of one stakeholder, argmax_a E[i, a, t]."""

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
