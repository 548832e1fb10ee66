"""Rules against each other: which are dominated by which and how surely, `front`, and what each costs, `price`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant.arrays import Mask
from accordant.errors import InputError
from accordant.evaluation.composite import EQUAL
from accordant.json_values import finite, json_value
from accordant.slates.evaluation.board import Board, estimates, limits
from accordant.slates.measures import Goal
from accordant.statistics import Estimate, dominates

RARE = 0.05  # share of resamples up to which it is not named that one rule dominates another
NAMED = 3  # rules that a sentence names


@dataclass(frozen=True)
class FrontRow:
    """One rule.

    Attributes
    ----------
    values
        Its measures on the axes; None where not defined.
    dominated_by
        Rules that are at least as good on all axes and better on one; a rule without a value is not compared.
    dominators
        These, and each rule that dominates it in more than 5 % of resamples, to the share of resamples in which it
        does, the largest first; among those resamples in which it has a value on all axes. Empty without resamples.
    on_front
        Whether it has a value on all axes and no rule dominates it.
    probability
        Share of resamples in which no rule dominates it, among those in which it has a value on all axes; None without
        such.
    """

    rule: str
    values: tuple[float | None, ...]
    dominated_by: tuple[str, ...]
    dominators: Mapping[str, float]
    on_front: bool
    probability: float | None

    @property
    def words(self) -> str:
        """Whether a rule dominates it on these requests, and in what share of resamples."""
        return dominance(self.dominated_by, self.dominators, self.probability)


@dataclass(frozen=True)
class Front:
    """The rules that no other dominates, and the others, in the order of the board; `axes` are labels of measures."""

    axes: tuple[str, ...]
    rows: tuple[FrontRow, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of rules that no other dominates."""
        return tuple(row.rule for row in self.rows if row.on_front)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        values: dict[str, Any] = json_value(asdict(self))
        return values


def front(board: Board, axes: Sequence[str]) -> Front:
    """Compare rules on some measures (Pareto dominance), the goal of each taken into account.

    Parameters
    ----------
    board
        Of `scores`.
    axes
        Labels of at least one measure, such as what the user attains and what the worst-off attains.

    Raises
    ------
    UnknownNameError
        If a measure is not on the board.
    InputError
        If there are no axes.
    """
    if not axes:
        raise InputError("a front needs at least one measure")
    places = [board.measure(label) for label in axes]
    signs = np.array([1.0 if board.columns[m].goal == "max" else -1.0 for m in places])
    points, draws = board.points[:, places], board.draws[:, :, places]
    beaten = dominates(points * signs, EQUAL)
    defined = np.asarray(~np.isnan(points).any(axis=1))
    counted = np.asarray(~np.isnan(draws).any(axis=2))
    over = dominates(draws * signs, EQUAL)
    safe = np.asarray(counted & ~over.any(axis=1))
    rows = []
    for r, rule in enumerate(board.rules):
        by = tuple(board.rules[q] for q in np.flatnonzero(beaten[:, r]))
        n = int(counted[:, r].sum())
        probability = float(safe[:, r].sum() / n) if n else None
        values = tuple(finite(value) for value in points[r])
        often = _dominators(board.rules, over[:, :, r], n, by)
        rows.append(FrontRow(rule, values, by, often, bool(defined[r] and not by), probability))
    return Front(tuple(axes), tuple(rows))


def dominance(dominated_by: Sequence[str], dominators: Mapping[str, float], probability: float | None) -> str:
    """Return whether a rule dominates one on these requests, with shares of resamples: a sentence. See `FrontRow`."""
    often = [f"{rule} in {share:.0%}" for rule, share in dominators.items()]
    more = len(often) - NAMED
    named = ", ".join(often[:NAMED]) + (f", and {more} more" if more > 0 else "")
    if not dominated_by:
        claim = "No rule dominates it on these requests"
        if probability is None:
            return f"{claim}."
        if probability == 1.0:
            return f"{claim}, and none does in any resample."
        return f"{claim}; in {1 - probability:.0%} of resamples some rule does{f' ({named})' if named else ''}."
    who = ", ".join(dominated_by[:NAMED])
    who += f" and {len(dominated_by) - NAMED} more" if len(dominated_by) > NAMED else ""
    claim = f"{who} {'dominates' if len(dominated_by) == 1 else 'dominate'} it on these requests"
    if probability is None:
        return f"{claim}."
    return f"{claim}; in {1 - probability:.0%} of resamples some rule does ({named})."


def _dominators(rules: Sequence[str], over: Mask, n: int, by: Sequence[str]) -> dict[str, float]:
    """Return rules to the share of n resamples in which they dominate one, from shape (resample, rule)."""
    if not n:
        return {}
    shares = over.sum(axis=0) / n
    order = np.argsort(-shares, kind="stable")
    return {rules[q]: float(shares[q]) for q in order if shares[q] > RARE or rules[q] in by}


@dataclass(frozen=True)
class Difference:
    """A measure of one rule minus that of the reference, on the same resamples.

    `better` says whether the rule does better, by the goal of the measure; None if the interval holds 0, or there is
    none.
    """

    estimate: Estimate
    better: bool | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return limits(self.estimate) | {"better": self.better}


@dataclass(frozen=True)
class Prices:
    """Differences of all rules to one, the reference: rule to measure to difference."""

    reference: str
    rules: Mapping[str, Mapping[str, Difference]]

    def to_json(self) -> dict[str, Any]:
        """Return plain values; undefined ones are None."""
        return {
            "reference": self.reference,
            "rules": {
                rule: {label: difference.to_json() for label, difference in row.items()}
                for rule, row in self.rules.items()
            },
        }


def price(board: Board, reference: str) -> Prices:
    """Compare every rule with one, such as the list of the user alone; `UnknownNameError` if it is not on the board."""
    base = board.place(reference)
    goals = [column.goal for column in board.columns]
    rules = {}
    for r, rule in enumerate(board.rules):
        if r != base:
            paired = estimates(
                board.points[r] - board.points[base], board.draws[:, r] - board.draws[:, base], board.level,
                [(column.width, column.units) for column in board.columns],
            )  # fmt: skip
            sure = [
                estimate if column.resampled else Estimate(estimate.value)
                for estimate, column in zip(paired, board.columns, strict=True)
            ]
            rules[rule] = {
                label: Difference(estimate, better(estimate, goal))
                for label, estimate, goal in zip(board.labels, sure, goals, strict=True)
            }
    return Prices(reference, rules)


def better(estimate: Estimate, goal: Goal) -> bool | None:
    """Return whether a difference is for the better; None if its interval holds 0, or there is none."""
    if estimate.low is None or estimate.high is None or estimate.low <= 0 <= estimate.high:
        return None
    return (estimate.low > 0) == (goal == "max")
