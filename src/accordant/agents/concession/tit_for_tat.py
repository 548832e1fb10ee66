"""`TitForTat`: concede as much as the others did."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from accordant.agents.concession.concession import Concession, Progress, register


@register("tit_for_tat")
@dataclass(frozen=True)
class TitForTat(Concession):
    """Start at 1, then go below one's own last offer by what the opponents' last offer gave, in own utility.

    Of several opponents, the least generous one is mirrored. Who took something back, or offered only once, has given
    nothing. Behaviour-dependent tactics of Faratin, Sierra and Jennings (1998), absolute form with a window of one.
    """

    def target(self, progress: Progress) -> float:
        """Return one's last offer less the smallest last concession of an opponent."""
        if not progress.made:
            return 1.0
        given = min(map(last_concession, progress.opponents or (progress.received,)))
        return min(1.0, max(progress.reservation, progress.made[-1] - given))


def last_concession(received: tuple[float, ...]) -> float:
    """Return by how much an opponent's last offer was better than the one before, at least 0."""
    return max(0.0, max((after - before for before, after in pairwise(received[-2:])), default=0.0))
