"""`Micro`: one step down for every new offer received."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.agents.concession.concession import Concession, Progress, register


@register("micro")
@dataclass(frozen=True)
class Micro(Concession):
    """The best utility first, then one level lower for each offer received that was new.

    Knows neither time nor the others' utilities, and repeated offers move nothing. MiCRO of de Jonge (2022).
    """

    def target(self, progress: Progress) -> float:
        """Return the level that the number of new offers received stands for, at least the reservation."""
        level = min(progress.distinct_received, len(progress.levels) - 1)
        return max(progress.reservation, float(progress.levels[level]))
