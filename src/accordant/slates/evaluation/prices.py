"""`price`: what every rule gives up, and wins, against one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accordant.slates.evaluation.board import Board, estimates, limits
from accordant.slates.measures import Goal
from accordant.statistics import Estimate


@dataclass(frozen=True)
class Difference:
    """A measure of one rule minus that of the reference.

    Attributes
    ----------
    estimate
        With the interval of the paired difference: both rules on the same resamples.
    better
        Whether the rule does better than the reference, by the goal of the measure; None if the interval holds 0, or
        there is none.
    """

    estimate: Estimate
    better: bool | None


@dataclass(frozen=True)
class Prices:
    """Differences of all rules to one.

    Attributes
    ----------
    reference
        The rule that others are compared with.
    rules
        Rule to measure to difference; the reference itself is left out.
    """

    reference: str
    rules: Mapping[str, Mapping[str, Difference]]

    def to_json(self) -> dict[str, Any]:
        """Return plain values; undefined ones are None."""
        return {
            "reference": self.reference,
            "rules": {
                rule: {label: limits(each.estimate) | {"better": each.better} for label, each in found.items()}
                for rule, found in self.rules.items()
            },
        }


def price(board: Board, reference: str) -> Prices:
    """Compare every rule with one, such as the list that serves the user alone.

    Parameters
    ----------
    board
        Of `scores`.
    reference
        A rule on the board.

    Raises
    ------
    UnknownNameError
        If it is not on the board.
    """
    base = board.place(reference)
    goals = [column.goal for column in board.columns]
    found = {}
    for r, rule in enumerate(board.rules):
        if r != base:
            paired = estimates(
                board.points[r] - board.points[base], board.draws[:, r] - board.draws[:, base], board.level,
                [(column.width, column.units) for column in board.columns],
            )  # fmt: skip
            sure = [
                each if column.resampled else Estimate(each.value)
                for each, column in zip(paired, board.columns, strict=True)
            ]
            found[rule] = {
                label: Difference(each, _better(each, goal))
                for label, each, goal in zip(board.labels, sure, goals, strict=True)
            }
    return Prices(reference, found)


def _better(estimate: Estimate, goal: Goal) -> bool | None:
    if estimate.low is None or estimate.high is None or estimate.low <= 0 <= estimate.high:
        return None
    return (estimate.low > 0) == (goal == "max")
