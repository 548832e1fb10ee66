"""`StoredScores`: what a leaderboard that a run has stored comes to at any weights of its metrics.

The script on the page of a run does the same with the normalised values that the record holds: to the last bit, because
both divide and add in the order of the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask
from accordant.evaluation.composite import EQUAL, Composite, added_up, composite_score, left_raw
from accordant.metrics.metric import TOLERANCE
from accordant.runs.record import Board, Record


@dataclass(frozen=True, eq=False)
class StoredScores:
    """Composite scores of a stored leaderboard at some weights, in the order of its rows.

    Attributes
    ----------
    names, labels
        Strategies and metrics.
    composite
        Scores and normalised metrics.
    candidates, selectable
        Who can come first, and which may be chosen, shape (strategy,).
    declared
        Positions of the rows as the strategies were declared, baselines first.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    composite: Composite
    candidates: Mask
    selectable: Mask
    declared: tuple[int, ...]

    @classmethod
    def of(cls, record: Record, board: Board, weights: Mapping[str, float]) -> StoredScores:
        """Return the scores of a leaderboard of a record; `weights`: metric to weight."""
        columns, rows, declared = board.metrics, board.leaderboard, record.strategies
        labels = tuple(column.label for column in columns)
        raw = np.array([[row.metrics[label].value for label in labels] for row in rows], dtype=np.float64)
        composite = composite_score(
            raw,
            goals=[column.goal for column in columns],  # type: ignore[misc]
            weights=[weights[label] for label in labels],
            candidates=np.array([row.candidate for row in rows]),
            normalisation=board.normalisation,  # type: ignore[arg-type]
            accuracy=left_raw({label: record.case.metrics[label].metric for label in labels}),
            ranges=[(0.0, 1.0) if column.range is None else column.range for column in columns],
        )
        if board.normalisation == "natural":
            composite.normalised[..., [column.range is None for column in columns]] = np.nan
        names = tuple(row.strategy for row in rows)
        return cls(
            names, labels, composite, np.array([row.candidate for row in rows]),
            np.array([declared[name].selectable for name in names]), record.declared_order(board),
        )  # fmt: skip

    def order(self) -> list[int]:
        """Return positions of the rows, best first: the winner before whoever equals it, lines without a score last."""
        scores, best = np.where(np.isnan(self.composite.scores), -np.inf, self.composite.scores), self.best()
        if best is not None:
            scores[self.names.index(best)] = scores[self.candidates].max()
        return sorted(range(len(self.names)), key=lambda s: (-scores[s], self.names[s] != best))

    def places(self) -> list[int | None]:
        """Return the place of each row among candidates with a score; None for other lines."""
        scores, ranked = self.composite.scores, self.candidates & ~np.isnan(self.composite.scores)
        return [1 + int((scores[ranked] > scores[s] + EQUAL).sum()) if ranked[s] else None for s in range(len(scores))]

    def best(self) -> str | None:
        """Return the candidate with the highest score; among equals a baseline comes first, as on a leaderboard."""
        ranked = self.candidates & ~np.isnan(self.composite.scores)
        if not ranked.any():
            return None
        level = ranked & (self.composite.scores >= self.composite.scores[ranked].max() - EQUAL)
        return next(self.names[s] for s in self.declared if level[s])


def shares_of(labels: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of every metric divided by their sum; weights that sum to 1 up to rounding stay as they are.

    Parameters
    ----------
    labels
        All metrics of a leaderboard, in its order.
    weights
        Metric to a weight of at least 0, not all 0; metrics that are not named get none.
    """
    given = np.array([weights.get(label, 0.0) for label in labels])
    total = float(added_up(given))
    return dict(zip(labels, (given / (1.0 if abs(total - 1) <= TOLERANCE else total)).tolist(), strict=True))
