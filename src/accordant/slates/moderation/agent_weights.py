"""How much an agent is heard: relevance, hallucination and reliability of its offer, and what the offer adds to scores.

Formulas follow the official code of Collab-REC (ashmibanerjee/collab-rec, MIT; arXiv 2508.15030).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def relevance(offer: Sequence[str], worth: Mapping[str, float]) -> float:
    """Return r, the mean worth of the items of an offer, in [0, 1]; 0 for an empty offer.

    Parameters
    ----------
    offer
        Valid items.
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
    k
        Items per offer.
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
