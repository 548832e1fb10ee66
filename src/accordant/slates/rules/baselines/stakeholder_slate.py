"""What a single stakeholder would choose alone: the list that is ideal for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from accordant.errors import UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.rules.welfare.best import best_items
from accordant.slates.slates import Slates


@register("stakeholder_slate")
@dataclass(frozen=True)
class StakeholderSlate(SlateRule):
    """The best k items of one stakeholder, who may have weight 0.

    Parameters
    ----------
    stakeholder
        Name.
    """

    kind: ClassVar[Kind] = "baseline"

    stakeholder: str

    @classmethod
    def line_up(cls, stakeholders: Sequence[str], user: str | None, n_items: int) -> tuple[SlateRule, ...]:
        """Return the list of each stakeholder."""
        del user, n_items
        return tuple(cls(name) for name in stakeholders)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the best items of the stakeholder."""
        if self.stakeholder not in candidates.stakeholders:
            raise UnknownNameError("stakeholder", self.stakeholder, candidates.stakeholders)
        scores = candidates.values[candidates.stakeholders.index(self.stakeholder)]
        found = best_items(scores, candidates, k)
        return Slates(self.label, candidates.items, found.items, found.tied)

    @property
    def label(self) -> str:
        """``stakeholder:`` and the name, as among strategies."""
        return f"stakeholder:{self.stakeholder}"
