"""`Moderator`: rounds of offers by any agents, merged by reciprocal rank, with a record of each round.

Formulas and their order follow the official code of Collab-REC (ashmibanerjee/collab-rec, MIT; arXiv 2508.15030).
In each round (1) agents offer, knowing the last offer and the bans; (2) from round 2 on, items of the last offer that
enough agents omit are banned; (3) agents are weighed and their valid items scored; (4) items that do not exist are
banned; (5) scores are normalised and carried over; (6) the k best are the new offer.

Two things differ from the code [ours]: an item that was banned in this very round cannot score its way back, and ties
go to the item that is declared first.

How much an agent is heard: relevance, hallucination and reliability of its offer, and what the offer adds to scores.

Formulas follow the official code of Collab-REC (ashmibanerjee/collab-rec, MIT; arXiv 2508.15030).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import best_items
from accordant.slates.moderation.offers import REJECTIONS, SCALINGS, Rejection, Scaling, banned_items, normalise_scores
from accordant.slates.rule import check_places
from accordant.slates.slates import NOTHING
from accordant.voting.ballots import Ranking


def relevance(offer: Sequence[str], worth: Mapping[str, float]) -> float:
    """Return r, the mean worth of the items of an offer, in [0, 1]; 0 for an empty offer.

    Parameters
    ----------
    worth
        Item to its worth for the user, in [0, 1]: in the official code, the share of the user's filters that it meets.
        An item that is not named is worth 0.
    """
    return sum(worth.get(item, 0.0) for item in offer) / len(offer) if offer else 0.0


def hallucination(offer: Sequence[str], known: Collection[str], banned: Collection[str] = ()) -> float:
    """Return h, the share of an offer that does not exist or is banned, in [0, 1]; 0 for an empty offer."""
    if not offer:
        return 0.0
    return 1.0 - sum(item in known and item not in banned for item in offer) / len(offer)


def reliability(offer: Sequence[str], previous: Sequence[str] | None, last_offer: Sequence[str], k: int) -> float:
    """Return d, how little an agent changed its offer, in [0, 1].

        d = max(0, 1 − score / (2 k |previous|))

    Kept items add |new rank − old rank| to the score, dropped ones k, and new ones min(k, |new rank − rank in the
    moderator's last offer|), which is k for items that are not there.

    Parameters
    ----------
    offer
        Valid items of this round, best first.
    previous
        Those of the round before; None or empty in an agent's first round, for which d = 1.
    last_offer
        The moderator's list after the round before.
    """
    if not previous:
        return 1.0
    now = {item: rank for rank, item in enumerate(offer)}
    before = {item: rank for rank, item in enumerate(previous)}
    last = {item: rank for rank, item in enumerate(last_offer)}
    kept = sum(abs(now[item] - before[item]) for item in previous if item in now)
    dropped = k * sum(item not in now for item in previous)
    new = sum(
        min(k, abs(now[item] - last[item])) if item in last else k  # absent from the last offer: as far as can be
        for item in offer
        if item not in before
    )
    return max(0.0, 1.0 - (kept + dropped + new) / (2 * k * len(previous)))


def contributions(offer: Sequence[str], weight: float) -> dict[str, float]:
    """Return what an offer adds to the score of each of its items, w / (rank + 1); nothing if w ≤ 0."""
    return {item: weight / (rank + 1) for rank, item in enumerate(offer)} if weight > 0 else {}


ROUNDS = 10  # at most, as in the experiments of the official code
LEAST_ROUNDS = 5  # before which nothing stops early, as in the official code


class OfferingAgent(Protocol):
    """Whoever offers items: a rule, a language model, a person."""

    @property
    def name(self) -> str:
        """Unique among the agents."""

    def offer(self, number: int, last_offer: Sequence[str], banned: Sequence[str], k: int) -> Ranking:
        """Return at most k items, best first; those after the k-th are not read.

        Parameters
        ----------
        number
            Of the round, from 1.
        last_offer
            The moderator's list after the round before; empty in round 1.
        banned
            Items that must not be offered, in the order in which they were banned.
        """


@dataclass(frozen=True)
class AgentRecord:
    """What one agent did in one round: its ranking, and the items of it that exist and were not banned before the
    round.

    r, h and d are in [0, 1]; the weight is (r + d − h) times the agent's own, at most 0 for one who is not heard.
    """

    ranking: Ranking
    valid: tuple[str, ...]
    relevance: float
    hallucination: float
    reliability: float
    weight: float


@dataclass(frozen=True)
class Round:
    """One round.

    Attributes
    ----------
    agents
        Records in the order of agents.
    newly_banned, banned
        Items banned in this round, and all so far.
    scores
        Item to normalised score, for items that are not banned.
    offer
        The moderator's list, best first.
    relevance
        Mean worth of the offer for the user, in [0, 1].
    gain
        (relevance − relevance of round 1) / relevance of round 1, at least 0; 1 if the offer is worth 1 throughout.
    """

    number: int
    agents: tuple[AgentRecord, ...]
    newly_banned: tuple[str, ...]
    banned: tuple[str, ...]
    scores: Mapping[str, float]
    offer: tuple[str, ...]
    relevance: float
    gain: float


@dataclass(frozen=True)
class Moderation:
    """All rounds, and whether the last one came early."""

    rounds: tuple[Round, ...]
    stopped_early: bool

    @property
    def offer(self) -> tuple[str, ...]:
        """The final list."""
        return self.rounds[-1].offer


@dataclass(frozen=True)
class Moderator:
    """Merges what agents offer; it is no language model, and the same offers always give the same list.

    Parameters
    ----------
    k
        Items per offer and in the final list.
    rounds
        At most.
    rejection
        ``majority``, ``unanimous`` or ``aggressive``: how many agents must omit an item of the last offer to ban it.
    scaling
        ``min-max`` or ``z``: how scores are normalised after each round.
    stop_gain
        Stop when the gain in relevance over round 1 reaches this; None to play all rounds.
    least_rounds
        Rounds before which nothing stops early.

    Raises `InputError` if a number is not allowed, or a name is unknown.
    """

    k: int
    rounds: int = ROUNDS
    rejection: Rejection = "majority"
    scaling: Scaling = "min-max"
    stop_gain: float | None = None
    least_rounds: int = LEAST_ROUNDS

    def __post_init__(self) -> None:
        check_places(self.k)
        for name in ("rounds", "least_rounds"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; allowed: at least 1")
        if self.rejection not in REJECTIONS:
            raise UnknownNameError("rejection", self.rejection, REJECTIONS)
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)
        if self.stop_gain is not None and not self.stop_gain >= 0:
            raise InputError(f"stop_gain is {self.stop_gain}; allowed: at least 0, or None")

    def __call__(
        self,
        agents: Sequence[OfferingAgent],
        items: Sequence[str],
        worth: Mapping[str, float],
        weights: Mapping[str, float] | None = None,
    ) -> Moderation:
        """Play the rounds for one user.

        Parameters
        ----------
        agents
            With different names.
        worth
            Item to its worth for the user, in [0, 1]; see `relevance`.
        weights
            Agent to a factor of its weight, at least 0; 1 where nothing is said [ours].

        Raises `InputError` if there are no agents or items, or names repeat; `UnknownNameError` if a weight is for
        nobody, or worth for an item that does not exist.
        """
        self._check(agents, items, worth, weights or {})
        played: list[Round] = []
        for number in range(1, self.rounds + 1):
            played.append(self._round(number, agents, tuple(items), worth, weights or {}, played))
            enough = self.stop_gain is not None and number >= self.least_rounds and played[-1].gain >= self.stop_gain
            if enough:
                return Moderation(tuple(played), number < self.rounds)
        return Moderation(tuple(played), stopped_early=False)

    def _round(
        self,
        number: int,
        agents: Sequence[OfferingAgent],
        items: tuple[str, ...],
        worth: Mapping[str, float],
        weights: Mapping[str, float],
        played: Sequence[Round],
    ) -> Round:
        """Return one round after those played so far."""
        before = played[-1] if played else None
        last, banned = (before.offer, before.banned) if before else ((), ())
        rankings = [agent.offer(number, last, banned, self.k) for agent in agents]
        known = set(items)
        offered = [ranking.order[: self.k] for ranking in rankings]
        valid = [tuple(item for item in offer if item in known and item not in banned) for offer in offered]
        banned = banned + banned_items(self.rejection, last, valid)
        records = []
        for i, (agent, ranking) in enumerate(zip(agents, rankings, strict=True)):
            r, h = relevance(valid[i], worth), hallucination(offered[i], known, banned)
            d = reliability(valid[i], before.agents[i].valid if before else None, last, self.k)
            records.append(AgentRecord(ranking, valid[i], r, h, d, weights.get(agent.name, 1.0) * (r + d - h)))
        unknown = dict.fromkeys(item for offer in offered for item in offer if item not in known)
        banned = banned + tuple(item for item in unknown if item not in banned)
        scores = self._scores(before.scores if before else {}, records, items, banned)
        offer = _best(scores, items, self.k)
        first = played[0].relevance if played else relevance(offer, worth)
        reached = relevance(offer, worth)
        newly = banned[len(before.banned) :] if before else banned
        return Round(number, tuple(records), newly, banned, scores, offer, reached, _gain(reached, first))

    def _scores(
        self,
        carried: Mapping[str, float],
        records: Sequence[AgentRecord],
        items: tuple[str, ...],
        banned: Sequence[str],
    ) -> dict[str, float]:
        """Return normalised scores of items that are not banned."""
        totals = {item: carried.get(item, 0.0) for item in items if item not in banned}
        for record in records:
            for item, added in contributions(record.valid, record.weight).items():
                if item in totals:
                    totals[item] += added
        if not totals:
            return {}
        column = np.array(list(totals.values()))[:, None]
        return dict(
            zip(
                totals,
                normalise_scores(self.scaling, column, np.ones(column.shape, dtype=bool))[:, 0].tolist(),
                strict=True,
            )
        )

    def _check(
        self,
        agents: Sequence[OfferingAgent],
        items: Sequence[str],
        worth: Mapping[str, float],
        weights: Mapping[str, float],
    ) -> None:
        names = [agent.name for agent in agents]
        if not names or not items:
            raise InputError(f"there are {len(names)} agents and {len(items)} items; allowed: at least 1 of each")
        if len(set(names)) < len(names) or len(set(items)) < len(items):
            raise InputError("names of agents or items repeat; allowed: different names")
        for item, value in worth.items():
            if item not in items:
                raise UnknownNameError("item in worth:", item, items)
            if not 0 <= value <= 1:
                raise InputError(f"worth of {item!r} is {value}; allowed: from 0 to 1")
        for name, weight in weights.items():
            if name not in names:
                raise UnknownNameError("agent in weights:", name, names)
            if not (weight >= 0 and np.isfinite(weight)):
                raise InputError(f"weight of {name!r} is {weight}; allowed: a finite number of at least 0")


def _best(scores: Mapping[str, float], items: tuple[str, ...], k: int) -> tuple[str, ...]:
    """Return the k items with the highest scores; ties go to the one that is declared first."""
    column = np.array([[scores.get(item, 0.0)] for item in items])
    allowed = np.array([[item in scores] for item in items])
    found = best_items(column, np.zeros_like(column), allowed, k).items[0]
    return tuple(items[position] for position in found if position != NOTHING)


def _gain(reached: float, first: float) -> float:
    """Return the relative gain over round 1; 1 at full relevance, 0 if round 1 had none, as in the official code."""
    if reached == 1.0:
        return 1.0
    return max(0.0, (reached - first) / first) if first > 0 else 0.0
