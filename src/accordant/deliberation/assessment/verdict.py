"""A verdict for a scope card: which of its criteria an allocation meets, at which threshold. Nothing is "fair"."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from accordant.allocations import Allocation
from accordant.allocations.measures.measure import measures
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError
from accordant.scope import Criterion, ScopeCard

Standing = Literal["met", "not met", "not defined", "no threshold"]


@dataclass(frozen=True)
class JudgedCriterion:
    """One criterion of a card, applied.

    Attributes
    ----------
    metric, parameters
        What is measured.
    value
        None where it is not defined.
    threshold
        None if the card states none.
    standing
        ``met``, ``not met``, ``not defined`` (such as a gap between groups of which one is empty), or ``no threshold``.
    chosen_by
        Who chose it, as the card says.
    """

    metric: str
    parameters: dict[str, Any]
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
    """

    card: str
    version: str
    card_hash: str
    allocation: str
    deliberation_hash: str
    adversarial: tuple[str, ...]
    criteria: tuple[JudgedCriterion, ...]

    @property
    def counts(self) -> dict[Standing, int]:
        """How many criteria stand where."""
        standings: tuple[Standing, ...] = ("met", "not met", "not defined", "no threshold")
        return {each: sum(one.standing == each for one in self.criteria) for each in standings}

    @property
    def heading(self) -> str:
        """The words that every verdict begins with."""
        return f"for card {self.card}, version {self.version}"

    @property
    def text(self) -> str:
        """The verdict in words, one criterion a line."""
        counted = ", ".join(f"{count} {standing}" for standing, count in self.counts.items() if count)
        lines = [f"{self.heading}: of {len(self.criteria)} criteria {counted} ({self.allocation})"]
        for each in self.criteria:
            value = "–" if each.value is None else f"{each.value:.3f}"
            threshold = "–" if each.threshold is None else f"{each.threshold:g}"
            lines.append(f"  {each.metric}: {value}, threshold {threshold}: {each.standing}")
        if self.adversarial:
            lines.append(f"  adversarial agents took part: {', '.join(self.adversarial)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self) | {"heading": self.heading, "counts": dict(self.counts)}


def verdict(
    deliberation: Deliberation, card: ScopeCard, *, allocation: Allocation | None = None, called: str = "joint"
) -> Verdict:
    """Return which criteria of the card an allocation meets.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    card
        Its criteria name measures of allocations; a verdict holds for this version only.
    allocation, called
        What is judged, and what to call it; None for the joint decision.

    Raises
    ------
    InputError
        If the card declares no criterion.
    UnknownNameError
        If a criterion names no measure of allocations.
    """
    if not card.criteria:
        raise InputError(f"card {card.id!r} declares no criterion, so there is nothing to judge by")
    judged = deliberation.joint if allocation is None else allocation
    return Verdict(
        card.id, card.version, card.hash, called, deliberation.hash, deliberation.adversaries,
        tuple(_judge(deliberation, criterion, judged) for criterion in card.criteria),
    )  # fmt: skip


def _judge(deliberation: Deliberation, criterion: Criterion, allocation: Allocation) -> JudgedCriterion:
    measure = measures.create(criterion.metric, criterion.params)
    values = measure.of(deliberation.scenario, allocation.shares[None])
    defined = not np.isnan(values[0])
    standing: Standing = "not defined"
    if defined and criterion.threshold is None:
        standing = "no threshold"
    elif defined and criterion.threshold is not None:
        standing = "met" if measure.meets(values, criterion.threshold)[0] else "not met"
    return JudgedCriterion(
        criterion.metric, dict(criterion.params), float(values[0]) if defined else None,
        criterion.threshold, standing, criterion.chosen_by,
    )  # fmt: skip
