"""`Nice`: concede everything at once."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.agents.concession.concession import Concession, Progress, register


@register("nice")
@dataclass(frozen=True)
class Nice(Concession):
    """u(t) = the reservation, from the start."""

    def target(self, progress: Progress) -> float:
        """Return the reservation."""
        return progress.reservation
