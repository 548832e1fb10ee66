"""`leaderboard`: the board of slate rules as the same leaderboard that strategies have, with a composite score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.evaluation.composite import EQUAL, Composite, Normalisation, composite_score
from accordant.evaluation.leaderboard import Leaderboard, LeaderboardRow, MetricCell, MetricColumn
from accordant.json_values import finite
from accordant.slates.evaluation.board import Board, estimates
from accordant.slates.measures import Goal, Range
from accordant.slates.measures.measure import SHARE
from accordant.statistics import best_set, leaders, widened

ALIKE = 0.99  # share of requests with the same list from which on two rules are one


def leaderboard(
    board: Board,
    kinds: Mapping[str, str],
    weights: Mapping[str, float],
    outside: Sequence[str] = (),
    *,
    normalisation: Normalisation = "natural",
    ranges: Mapping[str, Range] | None = None,
) -> Leaderboard:
    """Return the rules in order of their composite score.

    The score is the weighted mean of measures on their ranges, as for strategies; see `accordant.evaluation.composite`.
    It does not depend on who else is listed. Baselines come first among equals.

    Parameters
    ----------
    board
        Of `accordant.slates.evaluation.scores`.
    kinds
        Rule to its kind.
    weights
        Label of a measure to its weight, at least 0 and not all 0; measures without one do not count.
    outside
        Rules that are no candidates: they cannot win.
    normalisation
        ``natural``, or ``relative``: min–max over the candidates, which is also taken where a measure that counts has
        no range, with a remark.
    ranges
        Label of a measure to its range, instead of its own.

    Raises `InputError` if a weight names no measure, or no candidate is left.
    """
    for label in weights:
        board.measure(label)
    missing = [rule for rule in board.rules if rule not in kinds]
    if missing:
        raise InputError(f"rules without a kind: {', '.join(missing)}")
    candidates = np.array([rule not in outside for rule in board.rules])
    shares = [weights.get(label, 0.0) for label in board.labels]
    scale = _Scale.of(board, shares, candidates, normalisation, ranges or {})
    point = scale.scores(board.points)
    drawn = np.empty((0, len(board.rows)))
    if len(board.draws):
        drawn = scale.scores(board.draws).scores
    score_estimates = estimates(point.scores, drawn, board.level)
    order = _order(board, kinds, point.scores, candidates)
    alike = _alike(board, order, candidates)
    among = _among_best(board, point.scores, drawn, candidates & (alike == np.arange(len(alike))))[alike]
    rows = tuple(
        LeaderboardRow(
            strategy=board.rules[r],
            kind=kinds[board.rules[r]],
            candidate=bool(candidates[r]),
            score=score_estimates[r],
            among_best=among[r] if candidates[r] else None,
            alike=None if alike[r] == r else board.rules[alike[r]],
            tied=board.rows[r].tied,
            below_best_constant=False,
            metrics={
                label: MetricCell(cell.estimate, finite(point.normalised[r, m]), float(cell.n))
                for m, (label, cell) in enumerate(board.rows[r].cells.items())
            },
        )
        for r in order
    )
    columns = tuple(
        MetricColumn(column.label, column.goal, float(point.weights[m]), bool(point.uninformative[m]), column.about)
        for m, column in enumerate(board.columns)
    )
    words = _remarks(rows, columns, scale)
    return Leaderboard(rows, columns, board.n_requests, board.resamples, board.level, scale.normalisation, None, words)


@dataclass(frozen=True, eq=False)
class _Scale:
    """How values become composite scores: goals, weights and ranges of measures, None for no range, and who may win.

    `normalisation` is the one used; `unbounded` are labels of measures that count and have no range, which keep the
    scores from being on ranges.
    """

    goals: tuple[Goal, ...]
    weights: tuple[float, ...]
    ranges: tuple[Range | None, ...]
    candidates: Mask
    normalisation: Normalisation
    unbounded: tuple[str, ...]

    @classmethod
    def of(
        cls, board: Board, weights: Sequence[float], candidates: Mask, normalisation: Normalisation,
        declared: Mapping[str, Range],
    ) -> _Scale:  # fmt: skip
        """Return the scale that was asked for, or the relative one where a measure that counts has no range."""
        for label in declared:
            board.measure(label)
        ranges = tuple(declared.get(column.label, column.range) for column in board.columns)
        unbounded: tuple[str, ...] = ()
        if normalisation == "natural":
            counted = zip(board.labels, weights, ranges, strict=True)
            unbounded = tuple(label for label, weight, ends in counted if weight > 0 and ends is None)
        goals = tuple(column.goal for column in board.columns)
        used: Normalisation = "relative" if unbounded else normalisation
        return cls(goals, tuple(weights), ranges, candidates, used, unbounded)

    def scores(self, raw: Values) -> Composite:
        """Return the composite of values of shape (..., rule, measure); measures without a range have no place."""
        composite = composite_score(
            raw, goals=self.goals, weights=self.weights, candidates=self.candidates,
            normalisation=self.normalisation, ranges=[ends or SHARE for ends in self.ranges],
        )  # fmt: skip
        if self.normalisation == "natural":
            composite.normalised[..., [ends is None for ends in self.ranges]] = np.nan
        return composite


def _order(
    board: Board, kinds: Mapping[str, str], scores: Values,
    candidates: Mask,
) -> list[int]:  # fmt: skip
    """Return positions of rules, the best first: candidates before others, baselines before equals, unranked last."""
    levels = np.where(np.isnan(scores), -np.inf, np.round(scores / EQUAL) * EQUAL)
    return sorted(
        range(len(board.rules)),
        key=lambda r: (not np.isfinite(levels[r]), -levels[r], not candidates[r], kinds[board.rules[r]] != "baseline"),
    )


def _alike(board: Board, order: Sequence[int], candidates: Mask) -> NDArray[np.intp]:
    """Return for each rule the candidate that stands for it: the first in order to show the same lists, or itself.

    Rules that show the same lists in at least 99 % of requests are one rule to whoever gets them. Who is no candidate
    stands for nobody.
    """
    places = np.array([r for r in order if candidates[r]], dtype=np.intp)
    stand_ins = np.arange(len(board.rules), dtype=np.intp)
    stand_ins[places] = places[leaders(board.shown[places], ALIKE)]
    return stand_ins


def _among_best(board: Board, scores: Values, drawn: Values, compared: Mask) -> NDArray[np.object_]:
    """Return for each rule whether it is in the set that contains the best; None if it is not compared."""
    membership = np.full(len(scores), None, dtype=object)
    if len(drawn):
        places = np.flatnonzero(compared)
        known = best_set(scores[places], widened(drawn[:, places], board.n_users, board.level), level=board.level)
        membership[places[known.compared]] = known.member[known.compared]
    return membership


def _remarks(rows: Sequence[LeaderboardRow], columns: Sequence[MetricColumn], scale: _Scale) -> tuple[str, ...]:
    """Return what a reader of the table must know."""
    remarks, best = [], next((row for row in rows if row.candidate), None)
    if best is not None and best.kind == "baseline":
        remarks.append(f"{best.strategy} comes first, a baseline: on this composite score no rule earns its cost.")
    if best is not None:
        remarks += _ties(rows, best)
        remarks.append("The table orders rules on the requests that it reports: whatever comes first looks too good.")
    outside = [row.strategy for row in rows if not row.candidate]
    if outside:
        outer = (
            "" if scale.normalisation == "natural" else ": it does not define the scale, so its score may leave [0, 1]"
        )
        remarks.append(f"{', '.join(outside)} cannot win{outer}.")
    if scale.unbounded:
        have, are = ("has", "its range is") if len(scale.unbounded) == 1 else ("have", "their ranges are")
        remarks.append(
            f"{', '.join(scale.unbounded)} {have} no range, so scores are relative to the rules listed here and change "
            f"with them, until {are} declared."
        )
    unranked = [row.strategy for row in rows if row.score.value is None]
    if unranked:
        remarks.append(f"A measure that counts is not defined for {', '.join(unranked)}, so there is no score.")
    flat = [column.label for column in columns if column.uninformative and column.weight > 0]
    if flat:
        remarks.append(f"All rules are equal on {', '.join(flat)}, which therefore separates nothing.")
    return tuple(remarks)


def _ties(rows: Sequence[LeaderboardRow], best: LeaderboardRow) -> list[str]:
    """Say which rules are the first one under another name, and how many others may be the best."""
    ties, candidates = [], [row for row in rows if row.candidate and row is not best]
    same = [row.strategy for row in candidates if row.alike == best.strategy]
    if same:
        shows = "shows" if len(same) == 1 else "show"
        ties.append(f"{', '.join(same)} {shows} the same lists as {best.strategy} in {ALIKE:.0%} of requests or more.")
    close = sum(bool(row.among_best) for row in candidates if row.alike is None)
    if close:
        others = "one other rule" if close == 1 else f"{close} other rules"
        ties.append(f"The data cannot tell {others} from {best.strategy}, which comes first.")
    return ties
