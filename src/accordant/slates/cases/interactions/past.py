"""The past of each request: what is learned from, what its user took before it, and what after it began."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import DataError, InputError
from accordant.slates.cases.interactions.tables import Events
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.relevance import NOBODY, NOWHERE, Interactions

DAY = 86_400.0  # seconds
ROUNDING = 1e-9  # a share that is a whole number of rows but for rounding is one
NO_CANDIDATE = -1  # the position of an item that is not in the catalogue


@dataclass(frozen=True)
class Asked:
    """A request: what one user took on one day, or in one session, after the split.

    `part` is the day counted from that of the split, or the name of the session; `time` that of its first row.
    """

    user: int
    part: int | str
    time: float
    rows: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Past:
    """Events of a catalogue, split in time: what was before is learned from.

    `items` are positions of each row's item in the catalogue, `NO_CANDIDATE` for others, shape (row,).
    """

    events: Events
    items: Codes
    n_items: int
    time: float

    @cached_property
    def training(self) -> NDArray[np.bool_]:
        """Whether a row is learned from, shape (row,)."""
        return np.asarray((self.events.times < self.time) & (self.items != NO_CANDIDATE))

    @cached_property
    def known(self) -> Codes:
        """Position of each user among those who are learned from, `NOBODY` for others, shape (user,)."""
        users = np.unique(self.events.users[self.training])
        positions = np.full(len(self.events.user_names), NOBODY)
        positions[users] = np.arange(len(users))
        return positions

    def interactions(self) -> Interactions:
        """Return what is learned from; each row starts from what the same user took before it."""
        rows = self.training
        users = self.known[self.events.users[rows]]
        interactions = Interactions.of(
            int(users.max(initial=NOBODY)) + 1, self.n_items, users, self.items[rows],
            counts=self.events.weights[rows], times=self.events.times[rows],
        )  # fmt: skip
        return interactions.within(users)

    def asked(self) -> list[Asked]:
        """Return requests in the order of time; ties by user, then by day or session."""
        events, sessions = self.events, self.events.sessions
        rows = np.flatnonzero(events.times >= self.time)
        days = days_after(events.times[rows], self.time)
        groups: dict[tuple[int, int | str], list[int]] = {}
        for row, day in zip(rows.tolist(), days.tolist(), strict=True):
            part = day if sessions is None else sessions[row]
            groups.setdefault((int(events.users[row]), part), []).append(row)
        return sorted(
            (Asked(user, part, float(events.times[its[0]]), tuple(its)) for (user, part), its in groups.items()),
            key=lambda request: (request.time, request.user, request.part),
        )

    def before(self, requests: Sequence[Asked]) -> tuple[Values, Codes]:
        """Return how often users took each item before their requests, shape (item, request), and the last one.

        The last is `NOWHERE` for users who took nothing, shape (request,).
        """
        counts, last = np.zeros((self.n_items, len(requests))), np.full(len(requests), NOWHERE)
        for column, request in enumerate(requests):
            first, end = self._bounds[request.user : request.user + 2]
            own = self._by_user[first:end]
            rows = own[: np.searchsorted(self.events.times[own], request.time)]
            if len(rows):
                counts[:, column] = np.bincount(self.items[rows], self.events.weights[rows], self.n_items)
                last[column] = self.items[rows[-1]]
        return counts, last

    @cached_property
    def _by_user(self) -> Codes:
        """Rows of candidates by user, each user's in the order of time."""
        rows = np.flatnonzero(self.items != NO_CANDIDATE)
        return rows[np.argsort(self.events.users[rows], kind="stable")]

    @cached_property
    def _bounds(self) -> Codes:
        """Where the rows of each user begin in `_by_user`, and where the last end, shape (user + 1,)."""
        return np.searchsorted(self.events.users[self._by_user], np.arange(len(self.events.user_names) + 1))

    def targets(self, requests: Sequence[Asked]) -> NDArray[np.bool_]:
        """Return what was taken in each request, shape (item, request)."""
        targets = np.zeros((self.n_items, len(requests)), dtype=bool)
        for column, request in enumerate(requests):
            taken = self.items[list(request.rows)]
            targets[taken[taken != NO_CANDIDATE], column] = True
        return targets


def split_time(times: Values, test_share: float) -> float:
    """Return the time of the first of the latest rows, from times in order, shape (row,).

    Rows of one time stay together, so more than `test_share`, above 0 and below 1, may not be learned from. Raises
    `InputError` if the share is out of range; `DataError` if nothing was before it.
    """
    if isinstance(test_share, bool) or not isinstance(test_share, int | float) or not 0 < test_share < 1:
        raise InputError(f"test_share is {test_share!r}; allowed: above 0 and below 1")
    latest = max(1, math.ceil(test_share * len(times) - ROUNDING))
    time = float(times[len(times) - latest])
    if not times[0] < time:
        raise DataError(
            f"nothing to learn from: none of {len(times)} interactions was before {day_of(time)}, where the latest "
            f"{test_share:.0%} begin; allowed: a smaller test_share, or interactions at more times"
        )
    return time


def days_after(times: Values, start: float) -> Codes:
    """Return days of the calendar, in coordinated universal time, counted from that of a start, shape (row,)."""
    return np.asarray(np.floor(times / DAY) - math.floor(start / DAY)).astype(np.intp)


def day_of(seconds: float) -> str:
    """Return the day of a time in coordinated universal time, such as ``2024-05-31``."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def facts_of(
    read: Events, past: Past, catalogue: Catalogue, asked: Sequence[Asked], batches: Sequence[Requests],
    undeclared: int, recommender: str,
) -> dict[str, Any]:  # fmt: skip
    """Return numbers about the data, `undeclared` interactions about items that are not declared among them."""
    known, rows = past.known, [row for request in asked for row in request.rows]
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
        "users_asking": len({request.user for request in asked}),
        "cold_requests": int(sum(batch.cold.sum() for batch in batches)),
        "requests_by_users_not_learned_from": sum(bool(known[request.user] == NOBODY) for request in asked),
        "requests_without_target": int((~wanted.any(axis=0)).sum()),
        "targets_per_request": float(wanted.sum() / len(asked)),
        "taken_again": int((taken & ~wanted).sum()),
        "taken_of_no_candidate": int((past.items[rows] == NO_CANDIDATE).sum()),
        "undeclared_items": undeclared,
        "repeated_rows": read.repeated,
        "weighted": read.weighted,
        "sessions": read.sessions is not None,
        "uncategorised_items": sum(category is None for category in catalogue.category),
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
