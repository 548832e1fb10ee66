"""Agents offer lists, a moderator that is no language model merges them: the moderation of Collab-REC.

Banerjee and others 2025 (arXiv 2508.15030); formulas follow the official code (ashmibanerjee/collab-rec, MIT).

Words used here::

    offer          the items that an agent names, best first; valid are those that exist and are not banned
    last offer     the moderator's own list after the round before
    relevance      r, mean of what the valid items of an offer are worth to the user, in [0, 1]
    hallucination  h, share of an offer that does not exist or is banned
    reliability    d, 1 for an offer that repeats the one before, less the more it was changed
    weight         w = r + d − h; an agent with w ≤ 0 is not heard in this round
    score          sum of w / (rank + 1) over agents, rank counted from 0; kept from round to round
    ban            items of the last offer that many agents omit are never shown again

`Moderator` merges offers of any agents by reciprocal rank and keeps a record of each round. In a round (1) agents
offer, knowing the last offer and the bans; (2) from round 2 on, items of the last offer that enough agents omit are
banned; (3) agents are weighed and their valid items scored; (4) items that do not exist are banned; (5) scores are
normalised and carried over; (6) the k best are the new offer.

Two things differ from the code [ours]: an item that was banned in this very round cannot score its way back, and ties
go to the item that is declared first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import best_items
from accordant.slates.rule import check_places
from accordant.slates.slates import NOTHING
from accordant.voting.ballots import Ranking

Rejection = Literal["majority", "unanimous", "aggressive"]
REJECTIONS: tuple[Rejection, ...] = get_args(Rejection)
Scaling = Literal["min-max", "z"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)
SPAN = 1e-12  # scores whose range or deviation is smaller, relative to max(1, |score|), are all the same
ROUNDS = 10  # at most, as in the experiments of the official code
LEAST_ROUNDS = 5  # before which nothing stops early, as in the official code


def votes_needed(mode: Rejection, n_agents: int) -> int:
    """Return how many agents must omit an item for it to be banned.

    ``majority``: ⌊n / 2⌋ + 1. ``unanimous``: all, and a single agent never bans. ``aggressive``: one.
    Raises `UnknownNameError` if there is no such mode.
    """
    if mode not in REJECTIONS:
        raise UnknownNameError("rejection", mode, REJECTIONS)
    if mode == "majority":
        return n_agents // 2 + 1
    return max(2, n_agents) if mode == "unanimous" else 1


def banned_items(mode: Rejection, last_offer: Sequence[str], offers: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the items of the last offer that enough agents omit, in its order; see `votes_needed`.

    The last offer is empty in round 1, in which nothing is banned; `offers` holds the valid items of each agent.
    """
    needed = votes_needed(mode, len(offers))
    omitted = Counter(item for offer in offers for item in last_offer if item not in offer)
    return tuple(item for item in last_offer if omitted[item] >= needed)


def normalise_scores(mode: Scaling, scores: Values, counted: NDArray[np.bool_]) -> Values:
    """Return normalised scores, shape (item, user); 0 for all where they do not differ, and for banned items.

    ``min-max``: (s − min) / (max − min). ``z``: (s − mean) / standard deviation; both over the items that are
    `counted`.

    Raises `UnknownNameError` if there is no such mode.
    """
    if mode not in SCALINGS:
        raise UnknownNameError("scaling", mode, SCALINGS)
    number = np.maximum(counted.sum(axis=0), 1)
    if mode == "min-max":
        shift = np.where(counted, scores, np.inf).min(axis=0, initial=np.inf)
        span = np.where(counted, scores, -np.inf).max(axis=0, initial=-np.inf) - shift
    else:
        shift = np.where(counted, scores, 0.0).sum(axis=0) / number
        span = np.sqrt(np.where(counted, (scores - shift) ** 2, 0.0).sum(axis=0) / number)
    differ = np.isfinite(span) & (span > SPAN * np.maximum(1.0, np.abs(shift)))
    return np.where(counted & differ, (scores - np.where(differ, shift, 0.0)) / np.where(differ, span, 1.0), 0.0)


def relevance(offer: Sequence[str], worth: Mapping[str, float]) -> float:
    """Return r, the mean worth of the items of an offer, in [0, 1]; 0 for an empty offer.

    Worth for the user, in [0, 1], is in the official code the share of the user's filters that an item meets; an item
    that is not named is worth 0.
    """
    return sum(worth.get(item, 0.0) for item in offer) / len(offer) if offer else 0.0


def hallucination(offer: Sequence[str], known: Collection[str], banned: Collection[str] = ()) -> float:
    """Return h, the share of an offer that does not exist or is banned, in [0, 1]; 0 for an empty offer."""
    if not offer:
        return 0.0
    return 1.0 - sum(item in known and item not in banned for item in offer) / len(offer)


def reliability(offer: Sequence[str], previous: Sequence[str] | None, last_offer: Sequence[str], k: int) -> float:
    """Return d, how little an agent changed its valid items since its previous offer, in [0, 1].

        d = max(0, 1 − score / (2 k |previous|))

    Kept items add |new rank − old rank| to the score, dropped ones k, and new ones min(k, |new rank − rank in the
    moderator's last offer|), which is k for items that are not there. In an agent's first round d = 1.
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


class OfferingAgent(Protocol):
    """Whoever offers items: a rule, a language model, a person."""

    @property
    def name(self) -> str:
        """Unique among the agents."""

    def offer(self, number: int, last_offer: Sequence[str], banned: Sequence[str], k: int) -> Ranking:
        """Return at most k items, best first; those after the k-th are not read.

        Rounds count from 1; the moderator's last offer is empty in the first. Items in `banned`, in the order in which
        they were banned, must not be offered.
        """


@dataclass(frozen=True)
class AgentRecord:
    """What one agent did in one round.

    Its ranking, and the items of it that exist and were not banned before the round. r, h and d are in [0, 1]; the
    weight is (r + d − h) times the agent's own, at most 0 for one who is not heard.
    """

    ranking: Ranking
    valid: tuple[str, ...]
    relevance: float
    hallucination: float
    reliability: float
    weight: float


@dataclass(frozen=True)
class Round:
    """One round, counted from 1.

    Records of agents, items banned in it and all so far, normalised scores of the others, and the new offer.
    `relevance` is the mean worth of the offer for the user, in [0, 1]; `gain` is (relevance − relevance of round 1) /
    relevance of round 1, at least 0, and 1 if the offer is worth 1 throughout.
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
    positions = best_items(column, np.zeros_like(column), allowed, k).items[0]
    return tuple(items[position] for position in positions if position != NOTHING)


def _gain(reached: float, first: float) -> float:
    """Return the relative gain over round 1; 1 at full relevance, 0 if round 1 had none, as in the official code."""
    if reached == 1.0:
        return 1.0
    return max(0.0, (reached - first) / first) if first > 0 else 0.0
