"""What a reader must know of one's own data: numbers, and sentences about what was done to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from accordant.slates.cases.interactions.past import NO_CANDIDATE, Asked, Past, day_of
from accordant.slates.cases.interactions.tables import Events
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.relevance import NOBODY


def facts_of(
    read: Events, past: Past, catalogue: Catalogue, asked: Sequence[Asked], batches: Sequence[Requests],
    undeclared: int, recommender: str,
) -> dict[str, Any]:  # fmt: skip
    """Return numbers about the data.

    Parameters
    ----------
    read
        All interactions.
    past
        Those of declared items, split.
    catalogue, asked, batches
        Candidates and requests.
    undeclared
        Interactions about items that are not declared.
    recommender
        Its name.
    """
    known, rows = past.known, [row for each in asked for row in each.rows]
    taken = past.targets(asked)
    wanted = np.concatenate([batch.targets for batch in batches if batch.targets is not None], axis=1)
    return {
        "items": catalogue.n_items,
        "interactions": len(read),
        "users": len(read.user_names),
        "split": day_of(past.time),
        "learned_from": int(past.training.sum()),
        "learned_users": int((known != NOBODY).sum()),
        "requests": len(asked),
        "users_asking": len({each.user for each in asked}),
        "cold_requests": int(sum(batch.cold.sum() for batch in batches)),
        "requests_by_users_not_learned_from": sum(bool(known[each.user] == NOBODY) for each in asked),
        "requests_without_target": int((~wanted.any(axis=0)).sum()),
        "targets_per_request": float(wanted.sum() / len(asked)),
        "taken_again": int((taken & ~wanted).sum()),
        "taken_of_no_candidate": int((past.items[rows] == NO_CANDIDATE).sum()),
        "undeclared_items": undeclared,
        "repeated_rows": read.repeated,
        "weighted": read.weighted,
        "sessions": read.sessions is not None,
        "uncategorised_items": sum(each is None for each in catalogue.category),
        "items_never_taken": int((catalogue.popularity == 0).sum()),
        "recommender": recommender,
    }


def notes_of(facts: Mapping[str, Any], requests_per_day: int | None, least: int, *, repeat: bool) -> tuple[str, ...]:
    """Return what a reader must know; what did not happen is not told."""
    unit = "session" if facts["sessions"] else "day"
    told = [
        (
            f"Time is split at {facts['split']}: {facts['learned_from']} interactions before are learned from. "
            f"{facts['requests']} requests follow, each what one user took in one {unit}."
        ),
        f"Relevance is predicted by {facts['recommender']} from what was before the split alone.",
        (
            f"{facts['cold_requests']} of {facts['requests']} requests are by users without any past, "
            f"{facts['requests_by_users_not_learned_from']} by users of whom nothing was learned."
        ),
    ]
    if requests_per_day is not None:
        told.insert(0, f"DAYS ARE MADE UP: {requests_per_day} consecutive requests are one day.")
    if facts["weighted"]:
        told.append("A column of weights says how often or how strongly an interaction counts.")
    if least:
        told.append(f"Items with fewer than {least} interactions before the split are never shown.")
    if not repeat:
        told.append("Nobody is shown an item that they took before; what they took again is no target.")
    for key, words in (
        ("taken_again", "items were taken again by those who had taken them before."),
        ("taken_of_no_candidate", "interactions of requests are with items that are no candidates, mostly new ones."),
        ("requests_without_target", "requests have no target among what may be shown; accuracy leaves them out."),
        ("undeclared_items", "interactions are with items that the table of items does not have; they are left out."),
        ("repeated_rows", "rows say exactly what another row says; they are left out."),
        ("uncategorised_items", "items have no category."),
        ("items_never_taken", "items were never taken before the split."),
    ):
        if facts[key]:
            told.append(f"{facts[key]} {words}")
    return tuple(told)
