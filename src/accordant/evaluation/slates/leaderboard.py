"""`leaderboard`: the board of slate rules as the same leaderboard that strategies have, with a composite score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from accordant.errors import InputError
from accordant.evaluation.comparison import win_shares
from accordant.evaluation.composite import EQUAL, composite_score
from accordant.evaluation.leaderboard import Leaderboard, LeaderboardRow, MetricCell, MetricColumn
from accordant.evaluation.slates.board import Board, estimates
from accordant.statistics import finite, percentile_interval


def leaderboard(
    board: Board, kinds: Mapping[str, str], weights: Mapping[str, float], outside: Sequence[str] = ()
) -> Leaderboard:
    """Return the rules in order of their composite score.

    The score is the weighted sum of min–max normalised measures over the candidates, as for strategies; see
    `accordant.evaluation.composite`. Baselines come first among equals.

    Parameters
    ----------
    board
        Of `accordant.evaluation.slates.scores`.
    kinds
        Rule to its kind.
    weights
        Label of a measure to its weight, at least 0 and not all 0; measures without one do not count.
    outside
        Rules that are no candidates: they neither win nor define the scale.

    Raises
    ------
    InputError
        If a weight names no measure, or no candidate is left.
    """
    for label in weights:
        board.measure(label)
    missing = [rule for rule in board.rules if rule not in kinds]
    if missing:
        raise InputError(f"rules without a kind: {', '.join(missing)}")
    candidates = np.array([rule not in outside for rule in board.rules])
    shares = [weights.get(label, 0.0) for label in board.labels]
    goals = [column.goal for column in board.columns]
    point = composite_score(board.points, goals=goals, weights=shares, candidates=candidates)
    drawn = np.empty((0, len(board.rows)))
    if len(board.draws):
        drawn = composite_score(board.draws, goals=goals, weights=shares, candidates=candidates).scores
    found = estimates(point.scores, drawn, board.level)
    wins = win_shares(drawn, candidates) if len(drawn) else None
    order = _order(board, kinds, point.scores, candidates)
    best = next(r for r in order if candidates[r])  # whoever is no candidate may stand above, but is not the winner
    apart = _apart(drawn, best, board.level)
    rows = tuple(
        LeaderboardRow(
            strategy=board.rules[r],
            kind=kinds[board.rules[r]],
            candidate=bool(candidates[r]),
            score=found[r],
            wins=float(wins[r]) if wins is not None and candidates[r] else None,
            tied=board.rows[r].tied,
            below_best_constant=False,
            distinguishable=None if r == best or found[r].value is None else apart[r],
            metrics={
                label: MetricCell(cell.estimate, finite(point.normalised[r, m]), float(cell.n))
                for m, (label, cell) in enumerate(board.rows[r].cells.items())
            },
        )
        for r in order
    )
    columns = tuple(
        MetricColumn(each.label, each.goal, float(point.weights[m]), bool(point.uninformative[m]), each.about)
        for m, each in enumerate(board.columns)
    )
    return Leaderboard(
        rows, columns, board.n_requests, board.resamples, board.level, "minmax", None, _remarks(rows, columns)
    )


def _order(
    board: Board, kinds: Mapping[str, str], scores: np.ndarray[tuple[int], np.dtype[np.float64]],
    candidates: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> list[int]:  # fmt: skip
    """Return positions of rules, the best first: candidates before others, baselines before equals, unranked last."""
    levels = np.where(np.isnan(scores), -np.inf, np.round(scores / EQUAL) * EQUAL)
    return sorted(
        range(len(board.rules)),
        key=lambda r: (not np.isfinite(levels[r]), -levels[r], not candidates[r], kinds[board.rules[r]] != "baseline"),
    )


def _apart(drawn: np.ndarray[tuple[int, int], np.dtype[np.float64]], best: int, level: float) -> list[bool | None]:
    """Return for each rule whether the interval of its score difference to the best excludes 0."""
    if not len(drawn):
        return [None] * drawn.shape[1]
    limits = percentile_interval(drawn[:, best, None] - drawn, level)
    return [
        None if np.isnan(low) else bool(low > EQUAL or high < -EQUAL)
        for low, high in zip(limits.low, limits.high, strict=True)
    ]


def _remarks(rows: Sequence[LeaderboardRow], columns: Sequence[MetricColumn]) -> tuple[str, ...]:
    """Return what a reader of the table must know."""
    found, best = [], next((row for row in rows if row.candidate), None)
    if best is not None and best.kind == "baseline":
        found.append(f"{best.strategy} comes first, a baseline: on this composite score no rule earns its cost.")
    if best is not None:
        close = [row.strategy for row in rows if row.candidate and row.distinguishable is False]
        if close:
            others = "one other rule" if len(close) == 1 else f"{len(close)} other rules"
            found.append(f"The data cannot tell {others} from {best.strategy}, which comes first.")
        found.append("The table orders rules on the requests that it reports: whatever comes first looks too good.")
    outside = [row.strategy for row in rows if not row.candidate]
    if outside:
        found.append(f"{', '.join(outside)} cannot win: it does not define the scale, so its score may leave [0, 1].")
    unranked = [row.strategy for row in rows if row.score.value is None]
    if unranked:
        found.append(f"A measure that counts is not defined for {', '.join(unranked)}, so there is no score.")
    flat = [column.label for column in columns if column.uninformative and column.weight > 0]
    if flat:
        found.append(f"All rules are equal on {', '.join(flat)}, which therefore separates nothing.")
    return tuple(found)
