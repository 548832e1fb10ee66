"""`Tough`: never concede."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.agents.concession.concession import Concession, Progress, register


@register("tough")
@dataclass(frozen=True)
class Tough(Concession):
    """u(t) = 1, whatever happens: like `Hardheaded`, but no band that a time-based rule could read."""

    def target(self, progress: Progress) -> float:
        """Return 1."""
        del progress
        return 1.0
