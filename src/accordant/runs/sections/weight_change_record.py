"""The section ``reweighed``: what other weights of the metrics would make of a run's leaderboard."""

from __future__ import annotations

from typing import ClassVar

from accordant.naming import listed
from accordant.runs.record.choice import ByName, WeightSensitivityPart
from accordant.sections import Figure, Number, Part, Section, sections


class ReweighedRow(Part):
    """One strategy.

    Attributes
    ----------
    strategy, kind, candidate
        As on the leaderboard of the run.
    place, place_of_run
        1 for the highest score among candidates, at the other weights and in the run; equal scores share a place. None
        for lines that are no candidates or have no score.
    score, score_of_run
        Composite scores; None if a metric with weight is not defined.
    low, high
        Interval of the score; None where it cannot be told.
    among_best
        Whether it is in the set that contains the best candidate at these weights; None where it cannot be told.
    """

    strategy: str
    kind: str
    candidate: bool
    place: int | None
    place_of_run: int | None
    score: Number
    score_of_run: Number
    low: Number = None
    high: Number = None
    among_best: bool | None = None


@sections.register("reweighed")
class Reweighed(Section):
    """What other weights of the metrics would make of a run's leaderboard; D* of the run stays what it is.

    Attributes
    ----------
    accordant
        Version of the program.
    weights, weights_of_run
        Metric to its share of all weight, here and in the run.
    normalisation, level
        Of the run.
    n
        Untouched rows that the leaderboard rests on.
    rows
        Strategies, the highest score first; lines without a score last.
    winner, winner_of_run
        The candidate with the highest score here, and on the leaderboard of the run.
    selected, selected_then
        D* of the run, chosen on held-out folds at its own weights; what would have been chosen there at these.
    borders
        How far these weights are from another winner; None without a ranked candidate.
    unweighed
        Why there are no borders.
    untold
        Why nothing can be said of noise; empty if intervals and the set of the best are there.
    """

    name: ClassVar[str] = "reweighed"
    version: ClassVar[int] = 1

    accordant: str
    weights: ByName
    weights_of_run: ByName
    normalisation: str
    level: Figure
    n: int
    rows: tuple[ReweighedRow, ...]
    winner: str | None
    winner_of_run: str | None
    selected: str | None
    selected_then: str | None
    borders: WeightSensitivityPart | None
    unweighed: str
    untold: str

    @property
    def risen(self) -> tuple[ReweighedRow, ...]:
        """Candidates with a better place than in the run, the largest change first."""
        return self._moved(1)

    @property
    def fallen(self) -> tuple[ReweighedRow, ...]:
        """Candidates with a worse place than in the run, the largest change first."""
        return self._moved(-1)

    def _moved(self, sign: int) -> tuple[ReweighedRow, ...]:
        changes = [
            (sign * (row.place_of_run - row.place), row)
            for row in self.rows
            if row.place is not None and row.place_of_run is not None
        ]
        return tuple(row for up, row in sorted(changes, key=lambda change: -change[0]) if up > 0)

    @property
    def words(self) -> str:
        """Who leads at these weights, and whether that is more than noise."""
        return " ".join(self.sentences[:2])

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in plain sentences."""
        shares = ", ".join(f"{label} {share:.3g}" for label, share in self.weights.items() if share > 0)
        return (
            f"At the weights {shares}: {_leads(self.winner)}; at those of the run: {_leads(self.winner_of_run)}.",
            self._noise(),
            self._border(),
            self._selection(),
        )

    def _noise(self) -> str:
        """Return whether the winner here is better than that of the run, at these weights."""
        if self.winner is None:
            return "There is no winner."
        if self.winner_of_run is None:
            return "There is no winner at the weights of the run to compare it with."
        if self.winner == self.winner_of_run:
            return "The winner is the same."
        among_best = {row.strategy: row.among_best for row in self.rows}
        unknown = [name for name in (self.winner, self.winner_of_run) if among_best.get(name) is None]
        if self.untold or unknown:
            reason = self.untold or f"the score of {listed(unknown)} has no interval on these rows, or too few of them"
            return f"Whether the difference is more than noise cannot be told: {reason}."
        if among_best[self.winner_of_run]:
            return f"At these weights {self.winner_of_run} cannot be told from the best: no gain shown."
        return (
            f"At these weights {self.winner_of_run} is not among the best ({self.level:.0%}, all candidates compared "
            "together): the difference is more than noise of the rows."
        )

    def _border(self) -> str:
        """Return how far the weights can move before the winner changes."""
        if self.borders is None:
            return f"How far the weights can move cannot be told: {self.unweighed}."
        if self.borders.level_with:
            return f"{self.borders.winner} is level with {listed(self.borders.level_with)} at these weights."
        nearest = self.borders.nearest
        if nearest is None:
            return f"No weights of these metrics bring another candidate ahead of {self.borders.winner}."
        return (
            f"{100 * nearest.share_moved:.3g} % of all weight must move before another candidate draws level with "
            f"{self.borders.winner}: {nearest.rival}."
        )

    def _selection(self) -> str:
        """Return what would have been chosen on held-out folds."""
        if self.selected_then == self.selected:
            return f"On held-out folds {self.selected} would have been chosen at these weights too."
        return (
            f"On held-out folds {self.selected_then or 'nothing'} would have been chosen at these weights; D* of the "
            f"run stays {self.selected}."
        )


def _leads(winner: str | None) -> str:
    return "nobody is ranked" if winner is None else f"{winner} leads"
