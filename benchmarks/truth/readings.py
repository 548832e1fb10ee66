"""What the library says, each thing read in one place: whoever renames a field changes one line here."""

from __future__ import annotations

from accordant import ParticipatoryPolicy
from accordant.evaluation import Leaderboard, LeaderboardRow
from accordant.statistics import Estimate


def said_worse(row: LeaderboardRow) -> bool:
    """Return whether a candidate is said to be worse than the best one."""
    return row.candidate and row.distinguishable is True


def among_best(row: LeaderboardRow) -> bool:
    """Return whether a candidate is in the set that is said to contain the best one."""
    return row.candidate and row.score.value is not None and not said_worse(row)


def claimed_probability(row: LeaderboardRow) -> float | None:
    """Return with which probability the row is said to be the best; None if nothing of that kind is said."""
    return getattr(row, "wins", None)


def overlap_flagged(policy: ParticipatoryPolicy, board: Leaderboard, strategy: str) -> bool:
    """Return whether a reader is told that too few logged actions support the value of a strategy."""
    del board, strategy  # said of the whole log, so of every strategy
    overlap = policy.learned_.overlap
    return overlap is None or bool(overlap.warnings)


def limits(estimate: Estimate) -> tuple[float, float, float]:
    """Return value, low and high, NaN for what is withheld."""
    return tuple(float("nan") if each is None else each for each in (estimate.value, estimate.low, estimate.high))  # type: ignore[return-value]
