"""`Micro`: one step down when somebody has offered something new."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from accordant.agents.concession.concession import Concession, Progress, register


@register("micro")
@dataclass(frozen=True)
class Micro(Concession):
    """The best utility first, then at most one level lower in each own turn, for offers received that were new.

    Knows neither time nor the others' utilities, and repeated offers move nothing. MiCRO of de Jonge (2022), which is
    for one opponent; for several it is ours: what they offer in one round counts once, so that three opponents do not
    draw three concessions for one of one's own. Rounds are told apart by own utilities: there an offer is new if no
    earlier round gave the same utility.
    """

    def target(self, progress: Progress) -> float:
        """Return the level that the number of rounds with a new offer stands for, at least the reservation."""
        level = min(rounds_with_news(progress), len(progress.made), len(progress.levels) - 1)
        return max(progress.reservation, float(progress.levels[level]))


def rounds_with_news(progress: Progress) -> int:
    """Return in how many rounds an opponent offered something new."""
    if len(progress.opponents) < 2:
        return progress.distinct_received
    known, found = set[float](), 0
    for offers in zip_longest(*progress.opponents):
        new = {each for each in offers if each is not None} - known
        known |= new
        found += bool(new)
    return min(found, progress.distinct_received)
