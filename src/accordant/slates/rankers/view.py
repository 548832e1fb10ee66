"""`RankingView`: everything that who ranks items for one request may see. What is not in it does not exist there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Known = str | float | None
"""A fact; None where it is not known."""


@dataclass(frozen=True)
class Aim:
    """One objective of a stakeholder.

    Attributes
    ----------
    name
        Under which items have scores; unique for a stakeholder.
    value
        The value that it stands for, in the stakeholder's words.
    direction
        Whether more of what is measured is good, ``max``, or bad, ``min``.
    share
        Of the stakeholder's utility, above 0; shares sum to 1.
    measured
        What the top of the scale means, before the direction is taken into account.
    because
        Why this objective stands for the value, as declared.
    """

    name: str
    value: str
    direction: Literal["max", "min"]
    share: float
    measured: str
    because: str


@dataclass(frozen=True)
class SpeaksFor:
    """The stakeholder for whom items are ranked.

    Attributes
    ----------
    name
        Of the stakeholder.
    role
        ``affected``, ``deciding`` or ``providing``; empty where nobody declared one.
    aims
        Its own objectives, at least one.
    """

    name: str
    role: str
    aims: tuple[Aim, ...]


@dataclass(frozen=True)
class SeenItem:
    """What may be seen of one item.

    Attributes
    ----------
    name
        Unique.
    facts
        ``category``, ``popularity`` (times consumed), ``price``, ``distance_km`` from the request; cannot be written.
    scores
        Aim to how well the item does, in [0, 1]: 1 is best for the stakeholder, whatever the direction. What is not
        known of an item counts as the mean of the others. Cannot be written.
    """

    name: str
    facts: Mapping[str, Known]
    scores: Mapping[str, float]

    def __post_init__(self) -> None:
        for name in ("facts", "scores"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


@dataclass(frozen=True)
class RankingView:
    """What may be seen for one request.

    There are neither scores of other stakeholders in it, nor what was consumed afterwards, nor who asks.

    Attributes
    ----------
    voter
        Name of who ranks.
    speaks_for
        The stakeholder, with its own objectives.
    request
        An opaque name. Whoever brings rankings by request gets its name in the data, see `Ranker.reads_requests`.
    moment
        ``day``, counted from 0, and ``latitude`` and ``longitude``, None where unknown; cannot be written.
    items
        Those that may be shown, in an order drawn from the seed, because who reads a list favours what stands first.
    k
        Places of the list, at least 1.
    seed
        Of everything random in this ranking.
    """

    voter: str
    speaks_for: SpeaksFor
    request: str
    moment: Mapping[str, Known]
    items: tuple[SeenItem, ...]
    k: int
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "moment", MappingProxyType(dict(self.moment)))

    def utility(self, item: SeenItem) -> float:
        """Return Σ_j share_j score_j over the aims, in [0, 1]: the declared utility of an item."""
        summed = 0.0
        for aim in self.speaks_for.aims:
            summed += aim.share * item.scores[aim.name]  # in this order: what is declared is summed so, too
        return min(1.0, max(0.0, summed))
