"""A verdict for a scope card, and allocations side by side by any list of criteria. Nothing is "fair"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant import scope
from accordant.allocations import Allocation
from accordant.allocations.measures.measure import Criterion, measures
from accordant.deliberation.assessment.emergence import judged
from accordant.deliberation.assessment.regrets import recorded
from accordant.deliberation.record import Deliberation
from accordant.json_values import finite
from accordant.scope import ScopeCard

Standing = Literal["met", "not met", "not defined", "no threshold"]


@dataclass(frozen=True)
class JudgedCriterion:
    """A criterion of the card, what it measures, and where that stands.

    Attributes
    ----------
    metric, parameters, threshold, chosen_by
        As the card declares them.
    value
        None where it is not defined.
    standing
        Where the value stands.
    """

    metric: str
    parameters: Mapping[str, Any]
    value: float | None
    threshold: float | None
    standing: Standing
    chosen_by: str


@dataclass(frozen=True)
class Verdict:
    """What an allocation meets of one version of one card, and nothing beyond.

    Attributes
    ----------
    card, version, card_hash
        The card.
    allocation
        Which allocation was judged: ``joint`` or another name.
    deliberation_hash
        Of the record that it comes from.
    adversarial
        Names of the adversarial agents that took part.
    criteria
        In the card's order.
    heading
        The words that every verdict begins with.
    counts
        How many criteria stand where.
    """

    card: str
    version: str
    card_hash: str
    allocation: str
    deliberation_hash: str
    adversarial: tuple[str, ...]
    criteria: tuple[JudgedCriterion, ...]
    heading: str
    counts: Mapping[Standing, int]

    @property
    def text(self) -> str:
        """The verdict in words, one criterion a line."""
        counted = ", ".join(f"{count} {where}" for where, count in self.counts.items() if count)
        lines = [f"{self.heading}: of {len(self.criteria)} criteria {counted} ({self.allocation})"]
        for criterion in self.criteria:
            value = "–" if criterion.value is None else f"{criterion.value:.3f}"
            threshold = "–" if criterion.threshold is None else f"{criterion.threshold:g}"
            lines.append(f"  {criterion.metric}: {value}, threshold {threshold}: {criterion.standing}")
        if self.adversarial:
            lines.append(f"  adversarial agents took part: {', '.join(self.adversarial)}")
        return "\n".join(lines)


def standing(judged: scope.Verdict) -> Standing:
    """Return where a criterion stands: ``not defined`` is, for example, a gap between groups of which one is empty."""
    if judged.value is None:
        return "not defined"
    if judged.met is None:
        return "no threshold"
    return "met" if judged.met else "not met"


def verdict(
    deliberation: Deliberation,
    card: ScopeCard,
    *,
    allocation: Allocation | None = None,
    called: str = "joint",
    use: str | None = None,
) -> Verdict:
    """Return which criteria of the card an allocation meets, as `accordant.scope.judge` judges.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    card
        Its criteria name measures of allocations; a verdict holds for this version only.
    allocation, called
        What is judged, and what to call it; None for the joint decision.
    use
        What the verdict is used for; None: not said.

    Raises
    ------
    InputError
        If the card declares no criterion, or the use out of scope.
    UnknownNameError
        If a criterion names no measure of allocations, or the card does not declare the use.
    """
    chosen = deliberation.joint if allocation is None else allocation
    made = [measures.create(criterion.metric, criterion.params) for criterion in card.criteria]
    values = [float(measure.of(deliberation.scenario, chosen.shares[None])[0]) for measure in made]
    verdicts = scope.judge(card, values, [measure.goal for measure in made], use=use)
    criteria = tuple(
        JudgedCriterion(
            judged.criterion.metric, dict(judged.criterion.params), judged.value, judged.criterion.threshold,
            standing(judged), judged.criterion.chosen_by,
        )
        for judged in verdicts
    )  # fmt: skip
    return Verdict(
        card.id, card.version, card.hash, called, deliberation.hash, deliberation.adversaries, criteria,
        heading=f"for card {card.id}, version {card.version}",
        counts={where: sum(criterion.standing == where for criterion in criteria) for where in get_args(Standing)},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sides:
    """Every allocation on record by every criterion.

    Attributes
    ----------
    allocations
        ``solo NAME`` and ``revised NAME`` of every agent, and ``joint``.
    criteria
        Labels.
    values
        Measures, shape (allocation, criterion); NaN where one is not defined.
    met
        Whether the criterion is met, shape (allocation, criterion); False where it is not defined.
    """

    allocations: tuple[str, ...]
    criteria: tuple[str, ...]
    values: NDArray[np.float64]
    met: NDArray[np.bool_]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values; null where a measure is not defined."""
        return {
            allocation: {
                label: {"value": finite(value), "met": None if np.isnan(value) else bool(met)}
                for label, value, met in zip(self.criteria, values, row, strict=True)
            }
            for allocation, values, row in zip(self.allocations, self.values, self.met, strict=True)
        }


def side_by_side(deliberation: Deliberation, criteria: Sequence[Criterion]) -> Sides:
    """Return the measures of every allocation on record."""
    rows = recorded(deliberation)
    values, met = judged(deliberation, criteria, np.array([allocation.shares for allocation in rows.values()]))
    return Sides(tuple(rows), tuple(criterion.label for criterion in criteria), values.T, met.T)
