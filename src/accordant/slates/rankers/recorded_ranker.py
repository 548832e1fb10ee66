"""`RecordedRanker`: rankings that people or other systems made before."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

from accordant.agents.parameters import text
from accordant.errors import DataError, allowed_names, nearest
from accordant.slates.rankers.ranker import Ranker, rankers
from accordant.slates.rankers.recorded import Recorded, read_rankings
from accordant.slates.rankers.view import RankingView
from accordant.voting.ranking import Ranking


@rankers.register("recorded_ranker")
class RecordedRanker(Ranker):
    """Says what a file says about each request; of a request that is not in the file it says nothing.

    Parameters
    ----------
    file
        CSV, see `accordant.slates.rankers.recorded.read_rankings`.
    stakeholder
        Whose lines are read; None for all of a file without the column ``stakeholder``.
    made_by
        Who ranked: ``person``, ``rule`` or ``model NAME``.
    name
        Stands in every ranking as the voter.

    Raises
    ------
    DataError
        If the file cannot be read, is of another form, or holds nothing of that stakeholder.
    """

    kind: ClassVar[str] = "recorded"
    reads_requests: ClassVar[bool] = True

    def __init__(
        self, file: str, stakeholder: str | None = None, made_by: str = "person", name: str = "recorded_ranker"
    ) -> None:
        self.name, self.made_by, self.file = text(name, "name"), text(made_by, "made_by"), text(file, "file")
        found = read_rankings(self.file)
        if stakeholder not in found:
            known = sorted(each for each in found if each is not None)
            said = allowed_names(known, stakeholder) if known else "the file has no column 'stakeholder'"
            raise DataError(f"{self.file} holds no rankings of {stakeholder!r}; {said}")
        self._rankings: Mapping[str, Recorded] = found[stakeholder]
        self.about = f"Recorded: rankings that a {made_by} made before, read from a file."

    def rank(self, view: RankingView) -> Ranking:
        """Return what the file says of the request, or an empty order."""
        found = self._rankings.get(view.request)
        if found is None:
            return Ranking(self.name, (), generated_by=self.made_by)
        return replace(found.ranking, voter=self.name, generated_by=self.made_by)

    def check(self, requests: Collection[str], items: Collection[str]) -> None:
        """Refuse requests and items that do not exist.

        Raises
        ------
        DataError
            If there is one; the message names the line.
        """
        known_requests, known_items = set(requests), set(items)
        for name, each in self._rankings.items():
            first = min(each.lines)
            if name not in known_requests:
                raise DataError(f"{self.file}, line {first}: {_unknown('request', name, requests)}")
            for item, line in zip(each.ranking.order, each.lines, strict=True):
                if item not in known_items:
                    raise DataError(f"{self.file}, line {line}: {_unknown('item', item, items)}")

    def among(self, requests: Collection[str]) -> Self:
        """Return the ranker with the rankings of some requests alone: where only part of them is served."""
        kept = set(requests)
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        found._rankings = {name: each for name, each in self._rankings.items() if name in kept}
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of the ranker; where the file lies is not part of it."""
        return super().to_json() | {"made_by": self.made_by, "requests": len(self._rankings)}


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    """Return that there is no such name, with the nearest; there may be too many to list."""
    hint = nearest(name, tuple(known))
    return f"unknown {kind} {name!r}; {f'did you mean {hint!r}? ' if hint else ''}allowed: one of {len(known)} {kind}s"
