"""What the library says, each thing read in one place: whoever renames a field changes one line here."""

from __future__ import annotations

from accordant import ParticipatoryPolicy
from accordant.evaluation import Leaderboard, LeaderboardRow
from accordant.statistics import Estimate


def said_worse(row: LeaderboardRow) -> bool:
    """Return whether a candidate is said to be worse than the best one."""
    return row.candidate and row.among_best is False


def compared(row: LeaderboardRow) -> bool:
    """Return whether a candidate is compared at all."""
    return row.candidate and row.among_best is not None


def among_best(row: LeaderboardRow) -> bool:
    """Return whether a candidate is in the set that is said to contain the best one."""
    return row.candidate and row.score.value is not None and not said_worse(row)


def selected_score(board: Leaderboard, row: LeaderboardRow, part: str) -> Estimate:
    """Return what is said of the score of the selected rule, where it was selected and elsewhere."""
    return board.chosen_score or Estimate(None) if part == "validation" else row.score


def overlap_flagged(policy: ParticipatoryPolicy, board: Leaderboard, strategy: str) -> bool:
    """Return whether a reader is told that too few logged actions support the value of a strategy."""
    del policy
    overlap = board[strategy].overlap
    return overlap is not None and overlap.poor


def limits(estimate: Estimate) -> tuple[float, float, float]:
    """Return value, low and high, NaN for what is withheld."""
    return tuple(float("nan") if each is None else each for each in (estimate.value, estimate.low, estimate.high))  # type: ignore[return-value]
