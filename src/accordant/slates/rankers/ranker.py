"""Rankers: what one is shown, what it answers, and those that follow declared objectives, with noise or without."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from accordant.agents.parameters import number, text
from accordant.errors import InputError
from accordant.randomness import keyed_uniform
from accordant.registry import Registry
from accordant.voting.ballots import Ranking

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


rankers: Registry[Ranker] = Registry("ranker", group="accordant.rankers", packages=("accordant.slates.rankers",))


class Ranker(ABC):
    """Whoever ranks items for a stakeholder.

    Attributes
    ----------
    kind
        ``rule``, ``language model``, ``recorded`` or ``fixture``.
    about
        One sentence on how it ranks; a rule says that it is one.
    reads_requests
        Whether the view names requests as the data do. Such names may tell who asks, so that only those get them whose
        rankings are already made.
    """

    kind: ClassVar[str] = "rule"
    reads_requests: ClassVar[bool] = False
    name: str
    about: str

    @abstractmethod
    def rank(self, view: RankingView) -> Ranking:
        """Return a ranking of items of the view; the same view always gives the same ranking of a rule.

        An empty order says nothing about any item.

        Raises
        ------
        InvalidMoveError
            If no valid ranking could be made.
        """

    def check(self, requests: Collection[str], items: Collection[str]) -> None:
        """Refuse, before anything is ranked, what does not fit the requests and items there are: `InputError`."""
        del requests, items

    def usage(self) -> Mapping[str, Any]:
        """Return what was spent and what failed; empty where nothing can be."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of the ranker; never a key or a password."""
        return {"name": self.name, "kind": self.kind, "about": self.about}


def create_ranker(name: str, parameters: Mapping[str, Any] | None = None) -> Ranker:
    """Build a registered ranker.

    Raises
    ------
    UnknownNameError
        If the name is not registered.
    InputError
        If a parameter is wrong.
    """
    return rankers.create(name, parameters)


@rankers.register("noisy_ranker")
class NoisyRanker(Ranker):
    """Orders all items by (1 − noise) · utility + noise · u, u uniform in [0, 1) and drawn for request and item.

    Parameters
    ----------
    noise
        In [0, 1]: 0 is the declared order, 1 a draw.

    Raises `InputError` if the noise is outside.
    """

    kind: ClassVar[str] = "fixture"
    about = "Fixture, no stakeholder and no language model: the declared utility with seeded noise, to try the gate."

    def __init__(self, noise: float = 0.5, name: str = "noisy_ranker") -> None:
        if not 0 <= number(noise, "noise") <= 1:
            raise InputError(f"noise is {noise}; allowed: from 0 to 1")
        self.name, self.noise = text(name, "name"), noise

    def rank(self, view: RankingView) -> Ranking:
        """Return an order of all items, without scores."""
        drawn = keyed_uniform(view.seed, (f"noise:{item.name}" for item in view.items)).tolist()
        worth = {
            item.name: (1 - self.noise) * view.utility(item) + self.noise * u
            for item, u in zip(view.items, drawn, strict=True)
        }
        return Ranking(self.name, tuple(sorted(worth, key=lambda name: (-worth[name], name))))

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of the ranker, with its noise."""
        return super().to_json() | {"noise": self.noise}


@rankers.register("objective_ranker")
class ObjectiveRanker(Ranker):
    """Orders all items by Σ_j share_j score_j, the utility that the stakeholder declared, and gives that as score.

    What it says is what was declared, so that slates are the same as without it where utilities do not change with
    what was shown before.
    """

    about = "Rule, no language model: ranks by the declared utility; its texts are templates over numbers."

    def __init__(self, name: str = "objective_ranker") -> None:
        self.name = text(name, "name")

    def rank(self, view: RankingView) -> Ranking:
        """Return all items by utility; equal ones are tied, since their scores are equal."""
        worth = {item.name: view.utility(item) for item in view.items}
        ordered = sorted(view.items, key=lambda item: (-worth[item.name], item.name))
        return Ranking(
            self.name,
            tuple(item.name for item in ordered),
            tuple(worth[item.name] for item in ordered),
            tuple(_reason(view, item) if place < view.k else "" for place, item in enumerate(ordered)),
        )


def _reason(view: RankingView, item: SeenItem) -> str:
    """Return the utility and the score of each aim with its share."""
    parts = (f"{aim.name} {item.scores[aim.name]:.2f} × {aim.share:.2f}" for aim in view.speaks_for.aims)
    return f"utility {view.utility(item):.2f} = {' + '.join(parts)}"
