"""The market loader ``interactions``: one's own table of who took what when, and one of items beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from accordant.cases.files import file_beside
from accordant.errors import DataError, InputError
from accordant.slates.cases.interactions.past import (
    NO_CANDIDATE,
    Asked,
    Past,
    day_of,
    days_after,
    facts_of,
    notes_of,
    split_time,
)
from accordant.slates.cases.interactions.tables import (
    MOST_UNKNOWN,
    OF_ITEMS,
    Events,
    Items,
    column_names,
    read_events,
    read_items,
)
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.relevance import Fitted, recommender_of
from accordant.slates.sources import Demand, market_loaders, service_days
from accordant.tables.text import file_hash

MOST_CELLS = 20_000_000  # item × request: 18 bytes each are 360 MB, and every rule that is served needs more [ours]


@market_loaders.register("interactions")
def interactions(
    path: str | Path,
    seed: int,
    items: str | None = None,
    columns: Mapping[str, str | None] | None = None,
    separator: str = ",",
    test_share: float = 0.2,
    recommender: str = "factorisation",
    recommender_parameters: Mapping[str, Any] | None = None,
    requests: int | None = None,
    requests_per_day: int | None = None,
    batch: int = 16,
    repeat: bool = False,
    least: int = 0,
) -> Demand:
    """Return the market of one's own data.

    A request is what one user took on one day, or in one session, after the split. What the user took is its targets.
    Its history is what the user took before it; relevance is learned from what was before the split.

    Parameters
    ----------
    path
        Table of interactions.
    seed
        Of the recommender.
    items
        Name of the table of items, beside the other; None if nothing is known of items.
    columns
        Use to name, where they differ from `accordant.slates.cases.interactions.tables.COLUMNS`.
    separator
        Between columns of both tables.
    test_share
        Share of interactions, the latest, that are not learned from; above 0 and below 1.
    recommender, recommender_parameters
        What predicts relevance.
    requests
        At most this many, the first after the split; None for all.
    requests_per_day
        Consecutive requests that make a day; None for days of the calendar.
    batch
        Requests that are served at once, at least 1.
    repeat
        Whether an item may be shown to a user who took it before.
    least
        Fewest interactions before the split of an item that may be shown, at least 0.

    Raises
    ------
    DataError
        If a file is missing or cannot be used, nothing was before the split, or there are too many items and requests.
    InputError
        If a parameter is out of range.
    """
    path, names = Path(path), column_names(columns)
    _check(requests, requests_per_day, batch, repeat, least)
    if items is None and (lost := [use for use in columns or {} if use in OF_ITEMS]):
        raise InputError(f"columns names {lost[0]}, a column of the table of items; allowed: with the parameter items")
    events = read_events(path, names, separator)
    beside = None if items is None else file_beside(path, items, "items")
    declared = None if beside is None else read_items(beside, names, separator)
    known, undeclared = events, 0
    if declared is not None:
        known, undeclared = _declared_only(events, declared, path.name)
    past, catalogue = _catalogue(known, declared, split_time(known.times, test_share), least)
    asked = past.asked()[:requests]
    check_size(catalogue.n_items, len(asked))
    learned = recommender_of(recommender, recommender_parameters or {}, seed).fit(past.interactions(), catalogue)
    parts = list(_parts(asked, past.time, requests_per_day, batch))
    batches = tuple(_requests(past, learned, day, asked[part], repeat=repeat) for day, part in parts)
    facts = facts_of(events, past, catalogue, asked, batches, undeclared, recommender)
    if beside is not None:
        facts |= {"items_file": beside.name, "items_sha256": file_hash(beside)}
    return Demand(catalogue, batches, notes_of(facts, requests_per_day, least, repeat=repeat), facts)


def check_size(n_items: int, n_requests: int) -> None:
    """Raise `DataError` if arrays of items and requests do not fit into the memory of an ordinary computer."""
    if n_items * n_requests > MOST_CELLS:
        raise DataError(
            f"{n_items:,} items × {n_requests:,} requests are {n_items * n_requests:,} pairs; allowed: {MOST_CELLS:,}. "
            f"The parameter requests: {max(1, MOST_CELLS // n_items)} keeps the first requests, a higher least fewer "
            "items, a smaller test_share both"
        )


def _check(requests: object, requests_per_day: object, batch: object, repeat: object, least: object) -> None:
    """Stop unless parameters from a case file are what they should be."""
    for name, value, lowest, optional in (
        ("requests", requests, 1, True),
        ("requests_per_day", requests_per_day, 1, True),
        ("batch", batch, 1, False),
        ("least", least, 0, False),
    ):
        if value is None and optional:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise InputError(f"{name} is {value!r}; allowed: a whole number of at least {lowest}")
    if not isinstance(repeat, bool):
        raise InputError(f"repeat is {repeat!r}; allowed: true or false")


def _declared_only(events: Events, declared: Items, file: str) -> tuple[Events, int]:
    """Return the events of declared items, and how many others were left out."""
    known = {item: place for place, item in enumerate(declared.ids)}
    position = np.array([known.get(name, NO_CANDIDATE) for name in events.item_names], dtype=np.intp)
    kept = position[events.items] != NO_CANDIDATE
    n_left = int((~kept).sum())
    if n_left > MOST_UNKNOWN * len(events):
        first = events.item_names[events.items[np.argmin(kept)]]
        raise DataError(
            f"{file}: {n_left} of {len(events)} interactions are about items that the table of items does not have, "
            f"such as {first!r}; allowed: {MOST_UNKNOWN:.0%} of them. Do the files belong together?"
        )
    rows = np.flatnonzero(kept)
    sessions = None if events.sessions is None else tuple(events.sessions[row] for row in rows)
    return replace(
        events, item_names=declared.ids, users=events.users[rows], items=position[events.items[rows]],
        times=events.times[rows], weights=events.weights[rows], sessions=sessions,
    ), n_left  # fmt: skip


def _catalogue(events: Events, declared: Items | None, time: float, least: int) -> tuple[Past, Catalogue]:
    """Return the events of candidates, and the candidates: declared, or taken before the split."""
    before = events.times < time
    taken = np.bincount(events.items[before], minlength=len(events.item_names))
    kept = np.flatnonzero(taken >= (least if declared is not None else max(1, least)))
    if not len(kept):
        raise DataError(
            f"no item was taken {least} times before {day_of(time)}, the most {taken.max()} times; allowed: a smaller "
            "least"
        )
    position = np.full(len(taken), NO_CANDIDATE)
    position[kept] = np.arange(len(kept))
    past = Past(events, position[events.items], len(kept), time)
    rows = past.training
    popularity = np.bincount(past.items[rows], events.weights[rows], len(kept)).astype(np.float64)
    every = Items.named(events.item_names) if declared is None else declared
    return past, Catalogue(
        tuple(every.names[c] for c in kept), tuple(every.category[c] for c in kept),
        tuple(every.provider[c] for c in kept), popularity, every.capacity[kept], every.latitude[kept],
        every.longitude[kept], every.price[kept], every.safety[kept],
    )  # fmt: skip


def _parts(asked: Sequence[Asked], start: float, per_day: int | None, batch: int) -> Iterator[tuple[int, slice]]:
    """Yield a day and consecutive requests of it."""
    if per_day is not None:
        yield from service_days(len(asked), per_day, batch, "requests_per_day")
        return
    days = days_after(np.array([request.time for request in asked]), start)
    for day in np.unique(days).tolist():
        first, last = np.searchsorted(days, [day, day + 1]).tolist()
        for begin in range(first, last, batch):
            yield day, slice(begin, min(begin + batch, last))


def _requests(past: Past, learned: Fitted, day: int, asked: Sequence[Asked], *, repeat: bool) -> Requests:
    """Return the requests of one batch."""
    history, starts = past.before(asked)
    available = np.ones(history.shape, dtype=bool) if repeat else history == 0
    users = [past.events.user_names[request.user] for request in asked]
    nowhere = np.full(len(asked), np.nan)
    relevance = learned.relevance(past.known[[request.user for request in asked]], starts)
    return Requests(
        tuple(f"{user}/{request.part}" for user, request in zip(users, asked, strict=True)), tuple(users), day, nowhere,
        nowhere, relevance, history, available, past.targets(asked) & available,
    )  # fmt: skip
