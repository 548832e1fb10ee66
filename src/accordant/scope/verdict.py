"""`Verdict`: whether one criterion of one card is met.

There is no verdict without a card, and none about all criteria together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from accordant.errors import InputError, UnknownNameError
from accordant.scope.card import Criterion, ScopeCard

Goal = Literal["max", "min", "zero"]

SLACK = 1e-9  # rounding that does not turn a met criterion into a missed one
BOUNDS: dict[str, str] = {"max": "at least", "min": "at most", "zero": "at most, in size,"}


@dataclass(frozen=True)
class Verdict:
    """Whether a value meets a criterion, for one version of one card.

    Attributes
    ----------
    criterion
        The criterion, with threshold, rationale and who chose it.
    goal
        Whether the value must be at least the threshold (``max``), at most (``min``), or at most in size (``zero``).
    value
        What was measured; None where the metric is not defined.
    met
        None if the value is not defined, or the criterion has no threshold.
    card, version, card_hash
        Which card the verdict is for.
    """

    criterion: Criterion
    goal: Goal
    value: float | None
    met: bool | None
    card: str
    version: str
    card_hash: str

    @property
    def words(self) -> str:
        """The verdict as a sentence; it names the criterion, the threshold, who chose it, and the card."""
        threshold, chosen = self.criterion.threshold, self.criterion.chosen_by
        by = f", chosen by {chosen}" if chosen else ""
        if self.value is None:
            said = f"{self.criterion.metric} is not defined here, so the criterion is neither met nor missed"
        elif threshold is None:
            said = f"{self.criterion.metric} is {self.value:.4g}; the card sets no threshold, so there is no verdict"
        else:
            said = (
                f"{self.criterion.metric} is {self.value:.4g}; the threshold is {BOUNDS[self.goal]} {threshold:g}{by}: "
                f"{'met' if self.met else 'not met'}"
            )
        return f"{said} (for card {self.card}, version {self.version})"

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "metric": self.criterion.metric,
            "params": dict(self.criterion.params),
            "threshold": self.criterion.threshold,
            "goal": self.goal,
            "value": self.value,
            "met": self.met,
            "card": {"id": self.card, "version": self.version, "hash": self.card_hash},
            "words": self.words,
        }


def judge(
    card: ScopeCard | None, values: Sequence[float | None], goals: Sequence[Goal], *, use: str | None = None
) -> tuple[Verdict, ...]:
    """Return a verdict for each criterion of a card, in its order.

    Parameters
    ----------
    card
        The card; None is an error, because a value alone means nothing.
    values
        One per criterion; None or NaN where the metric is not defined.
    goals
        One per criterion: which way the metric is better.
    use
        What the values are used for; see `ScopeCard.check_use`. None: not said.

    Raises
    ------
    InputError
        If there is no card, it has no criteria, the use is out of scope, or the numbers of values, goals and criteria
        differ.
    """
    if card is None:
        raise InputError("no verdict without a scope card: declare what the use is for, which criteria, and by whom")
    if use is not None:
        card.check_use(use)
    if not card.criteria:
        raise InputError(f"card {card.id}, version {card.version}, declares no criteria: there is nothing to judge")
    if not len(card.criteria) == len(values) == len(goals):
        raise InputError(
            f"card {card.id}, version {card.version}, has {len(card.criteria)} criteria; "
            f"found {len(values)} values and {len(goals)} goals"
        )
    return tuple(
        _judged(card, criterion, value, goal)
        for criterion, value, goal in zip(card.criteria, values, goals, strict=True)
    )


def _judged(card: ScopeCard, criterion: Criterion, value: float | None, goal: Goal) -> Verdict:
    if goal not in BOUNDS:
        raise UnknownNameError("goal", goal, BOUNDS)
    known = None if value is None or math.isnan(value) else float(value)
    met: bool | None = None
    if known is not None and criterion.threshold is not None:
        met = {
            "max": known >= criterion.threshold - SLACK,
            "min": known <= criterion.threshold + SLACK,
            "zero": abs(known) <= criterion.threshold + SLACK,
        }[goal]
    return Verdict(criterion, goal, known, met, card.id, card.version, card.hash)
