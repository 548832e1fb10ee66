"""Reciprocal rank: each stakeholder offers its best items, a moderator adds w / (rank + 1).

The moderator is that of Collab-REC (arXiv 2508.15030), whose formulas follow the official code; see
`accordant.slates.moderation`. What the terms mean for rules instead of language models is ours:

    offer          the k items with the highest E of the stakeholder that are not banned, so that h = 0, but for items
                   that were banned in the same round
    relevance r    mean over the offer of E of the stakeholder who is the user
    weight         weight of the stakeholder times (r + d − h), where the mean weight of those who have a say is 1, for
                   scores of earlier rounds are normalised and must not depend on the unit of weights
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates, best_items, even_weights, user_values
from accordant.slates.moderation import (
    REJECTIONS,
    SCALINGS,
    Rejection,
    Scaling,
    normalise_scores,
    votes_needed,
)
from accordant.slates.rule import Kind, SlateRule, register
from accordant.slates.slates import NOTHING, Slates

ABSENT = -1  # rank of an item that is not in a list


@register("reciprocal_rank")
@dataclass(frozen=True)
class ReciprocalRank(SlateRule):
    """Show the items with the highest Σ w / (rank + 1) over what the stakeholders offer.

    Parameters
    ----------
    user
        The stakeholder who is the user, for the relevance of offers; None for the first who has a say.
    rounds
        With more than one, items of the last list that enough stakeholders leave out are banned, they offer again
        without them, and scores add up.
    rejection
        ``majority``, ``unanimous`` or ``aggressive``; read from round 2 on.
    scaling
        ``min-max`` or ``z``: how scores are normalised between rounds.

    Raises `InputError` if rounds is below 1, or a name is unknown.
    """

    kind: ClassVar[Kind] = "moderation"
    note: ClassVar[str] = "Moderator of Collab-REC; what its terms mean for rule agents is ours."

    user: str | None = None
    rounds: int = 1
    rejection: Rejection = "majority"
    scaling: Scaling = "min-max"

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; allowed: at least 1")
        if self.rejection not in REJECTIONS:
            raise UnknownNameError("rejection", self.rejection, REJECTIONS)
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block.

        Quantities are ``weights``, those of stakeholders times (r + d − h) in the last round, shape (stakeholder,
        user),
        and, with more than one round, the positions of ``banned`` items, shape ((rounds − 1) k, user), `NOTHING` where
        there are fewer.
        """
        worth, weights = user_values(candidates, self.user), even_weights(candidates.weights)
        speakers = np.flatnonzero(candidates.weights > 0)
        shape = worth.shape
        banned = np.zeros(shape, dtype=bool)
        scores, last = np.zeros(shape), np.full(shape, ABSENT, dtype=np.intp)
        before: dict[int, Codes] = {}
        voting_weights = np.zeros((len(candidates.stakeholders), shape[1]))
        shown = best_items(scores, candidates.totals, np.zeros(shape, dtype=bool), k)  # nothing yet
        tied, bans = shown.tied, []
        for number in range(self.rounds):
            offers, tied_offers = _offers(candidates, speakers, candidates.available & ~banned, k)
            tied = tied | tied_offers
            if number:
                new = _omitted(offers, last, votes_needed(self.rejection, len(speakers)))
                banned |= new
                bans.append(_listed(new, shown.items))
            for i, ranks in offers.items():
                voting_weights[i] = weights[i] * _weight(ranks, before.get(i), last, worth, banned, k)
                added = np.maximum(voting_weights[i], 0.0) / (np.maximum(ranks, 0) + 1.0)
                scores += np.where((ranks != ABSENT) & ~banned, added, 0.0)
            allowed = candidates.available & ~banned
            scores = normalise_scores(self.scaling, scores, allowed) if self.rounds > 1 else scores
            shown = best_items(scores, candidates.totals, allowed, k, candidates.tolerance)
            last, before, tied = _ranks(shown.items, len(worth)), offers, tied | shown.tied
        quantities = {"weights": voting_weights, **({"banned": np.concatenate(bans)} if bans else {})}
        return Slates(self.label, candidates.items, shown.items, tied, {}, quantities)


def _offers(
    candidates: Candidates, speakers: NDArray[np.intp], allowed: Mask, k: int
) -> tuple[dict[int, Codes], NDArray[np.bool_]]:
    """Return the rank of every item in the offer of each stakeholder, (item, user), and whether an offer was tied."""
    offers, tied = {}, np.zeros(allowed.shape[1], dtype=bool)
    for i in speakers.tolist():
        best = best_items(candidates.values[i], candidates.totals, allowed, k, candidates.tolerance)
        offers[i] = _ranks(best.items, len(allowed))
        tied |= best.tied
    return offers, tied


def _ranks(items: NDArray[np.intp], n_items: int) -> Codes:
    """Return the rank of every item in lists of shape (user, k), `ABSENT` for those not in them, (item, user)."""
    ranks = np.full((n_items, len(items)), ABSENT, dtype=np.intp)
    users, places = np.nonzero(items != NOTHING)
    ranks[items[users, places], users] = places
    return ranks


def _omitted(offers: dict[int, Codes], last: Codes, needed: int) -> Mask:
    """Return which items of the last list are left out by as many stakeholders as are needed to ban them."""
    omitted = sum(((ranks == ABSENT).astype(np.intp) for ranks in offers.values()), np.zeros(last.shape, dtype=np.intp))
    return np.asarray((last != ABSENT) & (omitted >= needed))


def _listed(new: Mask, items: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which items of the last list are banned by now, shape (k, user), `NOTHING` for the others."""
    there = (items != NOTHING) & new[np.maximum(items, 0), np.arange(len(items))[:, None]]
    return np.where(there, items, NOTHING).T


def _weight(ranks: Codes, before: Codes | None, last: Codes, worth: Values, banned: Mask, k: int) -> Values:
    """Return r + d − h of one stakeholder, shape (user,); formulas: `accordant.slates.moderation`."""
    offered = ranks != ABSENT
    length = offered.sum(axis=0)
    several = np.maximum(length, 1)
    relevance = np.where(offered, worth, 0.0).sum(axis=0) / several
    missed = (offered & banned).sum(axis=0) / several
    if before is None:
        return np.asarray(relevance + 1.0 - missed)
    had = before != ABSENT
    new = np.where(last != ABSENT, np.minimum(k, np.abs(ranks - last)), k)
    moved = np.where(offered & had, np.abs(ranks - before), np.where(had, k, np.where(offered, new, 0))).sum(axis=0)
    size = had.sum(axis=0)
    kept = np.where(size > 0, 1.0 - moved / np.maximum(2 * k * size, 1), 1.0)
    return np.asarray(relevance + np.maximum(kept, 0.0) - missed)
