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

offers      which items are banned (``majority``, ``unanimous``, ``aggressive``), and how scores are normalised
            before the next round (``min-max``, ``z``)
moderator   rounds of offers with a record of each; r, d, h and what an offer adds to scores
"""

from __future__ import annotations

from accordant.slates.moderation.moderator import (
    AgentRecord,
    Moderation,
    Moderator,
    OfferingAgent,
    Round,
    contributions,
    hallucination,
    relevance,
    reliability,
)
from accordant.slates.moderation.offers import REJECTIONS, SCALINGS, banned_items, normalise_scores

__all__ = [
    "REJECTIONS",
    "SCALINGS",
    "AgentRecord",
    "Moderation",
    "Moderator",
    "OfferingAgent",
    "Round",
    "banned_items",
    "contributions",
    "hallucination",
    "normalise_scores",
    "relevance",
    "reliability",
]  # fmt: skip
