"""The market loader ``tours``: the latest tours of a city as requests, all that was over before them to learn from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.cases.files import file_beside
from accordant.errors import DataError, InputError
from accordant.slates.cases.interactions.past import day_of
from accordant.slates.cases.tourism.tables import (
    Places,
    Visits,
    capacities,
    column_names,
    providers,
    read_places,
    read_visits,
)
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.relevance import NOBODY, Interactions, Recommender, recommender_of, relative
from accordant.slates.sources import Demand, market_loaders, service_days

SHORTEST = 2  # attractions of a tour from which something is left to predict after the first
VISITS, PLACES = "traj-", "poi-"  # how names of the two files begin
EARLIEST = "1970-01-01"  # a time before is a clock that was never set or the date of a scanned picture


@dataclass(frozen=True)
class Tour:
    """What one user visited on one tour: different attractions in the order of their first visit, from a time on."""

    user: str
    name: str
    start: float
    items: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Tours to predict, the latest of at least two attractions in the order of time, and visits to learn from.

    `training` says whether a visit was over before the first of them began, at `time`; `tours` counts all such tours.
    """

    tests: tuple[Tour, ...]
    training: NDArray[np.bool_]
    time: float
    tours: int


def tours_of(visits: Visits) -> list[Tour]:
    """Return all tours in the order of their first visits; ties by user, then by name."""
    by_tour: dict[tuple[str, str], list[int]] = {}
    for row, tour in enumerate(visits.tours):
        by_tour.setdefault(tour, []).append(row)
    tours = [
        Tour(user, name, float(visits.starts[rows[0]]), tuple(dict.fromkeys(visits.items[rows].tolist())))
        for (user, name), rows in by_tour.items()
    ]
    return sorted(tours, key=lambda tour: (tour.start, tour.user, tour.name))


def split_by_time(visits: Visits, test_share: float) -> Split:
    """Split at the start of the first of the latest tours of at least two attractions.

    A visit that is not over by then is not learned from, whoever made it and whatever tour it belongs to. `test_share`
    of these tours, above 0 and below 1, at least one, are tests. Raises `InputError` if the share is out of range;
    `DataError` if no tour has two attractions, or nothing happened before the first test.
    """
    if not 0 < test_share < 1:
        raise InputError(f"test_share is {test_share:g}; allowed: above 0 and below 1")
    every = tours_of(visits)
    long_enough = [tour for tour in every if len(tour.items) >= SHORTEST]
    if not long_enough:
        raise DataError(
            f"no tour has {SHORTEST} different attractions: {len(every)} tours were found, none with anything to "
            "predict after its first attraction"
        )
    tests = long_enough[-math.ceil(test_share * len(long_enough)) :]
    training = visits.ends < tests[0].start
    if not training.any():
        raise DataError(
            f"nothing to learn from: no visit was over before the first test tour began on {day_of(tests[0].start)}; "
            "allowed: a smaller test_share, or more tours"
        )
    return Split(tuple(tests), training, tests[0].start, len(long_enough))


def counts_by_user(
    users: Sequence[str], visits: Visits, training: NDArray[np.bool_], n_items: int
) -> NDArray[np.float64]:
    """Return how often each user visited each attraction in training, shape (item, user)."""
    column = {user: place for place, user in enumerate(dict.fromkeys(users))}
    counts = np.zeros((n_items, len(column)))
    for row in np.flatnonzero(training):
        place = column.get(visits.users[row])
        if place is not None:
            counts[visits.items[row], place] += 1
    return counts[:, [column[user] for user in users]]


def predict_relevance(visits: Visits, split: Split, catalogue: Catalogue, recommender: Recommender) -> Values:
    """Return relevance in [0, 1], shape (item, request): scores over the best of each request.

    The first attraction of a tour is where its request starts from; it is no candidate, so it has 0.
    """
    column = training_users(visits, split)
    fitted = recommender.fit(training_interactions(visits, split, catalogue.n_items), catalogue)
    users = np.array([column.get(tour.user, NOBODY) for tour in split.tests])
    starts = np.array([tour.items[0] for tour in split.tests])
    scores = np.array(fitted.scores(users, starts), dtype=np.float64)
    scores[starts, np.arange(len(starts))] = 0.0
    return relative(scores)


def training_interactions(visits: Visits, split: Split, n_items: int) -> Interactions:
    """Return training visits as interactions; each starts from the one before it on its tour.

    On tours of training alone this predicts better than starting from the first one; see ``docs/methods/tourism.md``.
    """
    column = training_users(visits, split)
    rows = np.flatnonzero(split.training)
    position = {tour: place for place, tour in enumerate(dict.fromkeys(visits.tours[row] for row in rows))}
    interactions = Interactions.of(
        len(column), n_items, [column[visits.users[row]] for row in rows], visits.items[rows], times=visits.starts[rows]
    )
    return interactions.within([position[visits.tours[row]] for row in rows], "previous")


def training_users(visits: Visits, split: Split) -> dict[str, int]:
    """Return the position of each user of training, in the order of first visits."""
    users = dict.fromkeys(visits.users[row] for row in np.flatnonzero(split.training))
    return {user: place for place, user in enumerate(users)}


@market_loaders.register("tours")
def tours(
    path: str | Path,
    seed: int,
    test_share: float = 0.2,
    visitors_per_day: int = 40,
    batch: int = 16,
    capacity_share: float = 1.5,
    famous_share: float = 0.5,
    recommender: str = "transitions",
    recommender_parameters: Mapping[str, Any] | None = None,
    columns: Mapping[str, str | None] | None = None,
    pois: str | None = None,
    separator: str = ",",
    earliest: str = EARLIEST,
) -> Demand:
    """Return the market of a city from its tours.

    A request is the first attraction of a test tour, its targets are the others, its candidates all but the first.
    Service days are consecutive requests, not days of the calendar: the public files have about one tour a day.

    Parameters
    ----------
    path
        ``traj-CITY.csv``.
    seed
        Of the recommender.
    test_share
        Share of tours of at least two attractions, the latest, that are requests; above 0 and below 1.
    visitors_per_day, batch
        Requests of a service day, and how many are served at once; at least 1.
    capacity_share, famous_share
        See `accordant.slates.cases.tourism.tables`.
    recommender, recommender_parameters
        What predicts relevance.
    columns
        Use to name, where they differ from `accordant.slates.cases.tourism.tables.COLUMNS`; None for a missing column.
    pois
        Name of the file of attractions, beside the other; None for ``poi-CITY.csv``.
    separator
        Between columns of both files.
    earliest
        Day before which visits are left out, ``YYYY-MM-DD``.

    Raises
    ------
    DataError
        If a file is missing or cannot be used, no tour has two attractions, or nothing happened before the first test.
    InputError
        If a parameter is out of range.
    """
    path = Path(path)
    names = column_names(columns)
    places = read_places(places_file(path, pois), names, separator)
    visits = read_visits(path, places, names, _seconds(earliest), separator)
    split = split_by_time(visits, test_share)
    popularity = np.bincount(visits.items[split.training], minlength=len(places.ids)).astype(np.float64)
    catalogue = _catalogue(places, popularity, visitors_per_day, capacity_share, famous_share)
    users = [tour.user for tour in split.tests]
    history = counts_by_user(users, visits, split.training, catalogue.n_items)
    chosen = recommender_of(recommender, recommender_parameters or {}, seed)
    relevance = predict_relevance(visits, split, catalogue, chosen)
    parts = list(service_days(len(split.tests), visitors_per_day, batch, "visitors_per_day"))
    batches = tuple(_requests(split, catalogue, relevance, history, day, part) for day, part in parts)
    facts = _facts(visits, split, places, history)
    return Demand(catalogue, batches, _notes(visits, places, facts, earliest, visitors_per_day, len(parts)), facts)


def places_file(path: Path, pois: str | None = None) -> Path:
    """Return the file of attractions that stands beside a file of visits.

    Raises
    ------
    DataError
        If it is not there, or its name does not follow from that of the visits; names both files.
    """
    if pois is None and not path.name.startswith(VISITS):
        raise DataError(
            f"{path.name}: which file holds its attractions? allowed: a name that begins with {VISITS!r}, beside "
            f"{PLACES!r} and the same rest, or the parameter pois with the name of that file"
        )
    beside = file_beside(path, pois or PLACES + path.name.removeprefix(VISITS), "pois")
    for file in (path, beside):
        if not file.is_file():
            raise DataError(
                f"{file.name} is not in {path.parent}; {path.name} and {beside.name} are needed side by side"
            )
    return beside


def _seconds(day: str) -> float:
    """Return seconds since 1970 at the beginning of a day in coordinated universal time."""
    try:
        return datetime.fromisoformat(str(day)).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise InputError(f"earliest is {day!r}; allowed: a day as YYYY-MM-DD") from None


def _catalogue(
    places: Places, popularity: Values, visitors_per_day: int, capacity_share: float, famous_share: float
) -> Catalogue:
    return Catalogue(
        places.names, places.category, providers(places.provider, popularity, famous_share), popularity,
        capacities(places.capacity, popularity, visitors_per_day, capacity_share),
        places.latitude, places.longitude, places.price, places.safety,
    )  # fmt: skip


def _requests(
    split: Split, catalogue: Catalogue, relevance: Values, history: Values, day: int, part: slice
) -> Requests:
    """Return the requests of one batch."""
    tests = split.tests[part]
    firsts = np.array([tour.items[0] for tour in tests])
    targets = np.zeros((catalogue.n_items, len(tests)), dtype=bool)
    for user, tour in enumerate(tests):
        targets[list(tour.items[1:]), user] = True
    available = np.arange(catalogue.n_items)[:, None] != firsts
    return Requests(
        tuple(f"{tour.user}/{tour.name}" for tour in tests), tuple(tour.user for tour in tests), day,
        catalogue.latitude[firsts], catalogue.longitude[firsts], relevance[:, part], history[:, part],
        available, targets,
    )  # fmt: skip


def _facts(visits: Visits, split: Split, places: Places, history: Values) -> dict[str, int | float | str]:
    training = np.flatnonzero(split.training)
    return {
        "items": len(places.ids),
        "visits": len(visits),
        "users": len(set(visits.users)),
        "tours": split.tours,
        "requests": len(split.tests),
        "users_asking": len({tour.user for tour in split.tests}),
        "training_visits": len(training),
        "training_users": len({visits.users[row] for row in training}),
        "split": day_of(split.time),
        "cold_share": float((history.sum(axis=0) == 0).mean()),
        "targets_per_request": float(np.mean([len(tour.items) - 1 for tour in split.tests])),
        "no_duration_share": float((visits.ends == visits.starts).mean()),
    }


def _notes(
    visits: Visits, places: Places, facts: Mapping[str, Any], earliest: str, visitors_per_day: int, n_batches: int
) -> tuple[str, ...]:
    """Return what a reader must know; what did not happen is not told."""
    cold = round(facts["cold_share"] * facts["requests"])
    blank, unvisited = Counter(places.category)[None], len(places.ids) - len(set(visits.items.tolist()))
    told = [
        (
            f"SERVICE DAYS ARE MADE UP: {visitors_per_day} consecutive requests are one day, served in {n_batches} "
            "batches in all. The files have about one tour a day, so real days would never be crowded."
        ),
        "Capacities are a mapping of ours from visits of the past, unless the file of attractions declares them.",
        (
            f"Time is split at {facts['split']}: {facts['training_visits']} visits that were over by then are learned "
            f"from, the {facts['requests']} tours from then on are requests. Nothing later is learned from."
        ),
        f"{cold} of {facts['requests']} requests are by users without any visit before the split.",
        f"Durations are no measure of interest: {facts['no_duration_share']:.0%} of them are 0.",
    ]
    if all(provider is None for provider in places.provider):
        told.append("Providers are a mapping of ours: famous attractions and small ones, by visits of the past.")
    for number, words in (
        (visits.dropped["before"], f"visits began before {earliest} and are left out."),
        (visits.dropped["undeclared"], "visits are to attractions that are not declared and are left out."),
        (visits.repaired, "visits ended before they began; they now end when they begin."),
        (blank, "attractions have no category."),
        (unvisited, "attractions were never visited."),
    ):
        if number:
            told.append(f"{number} {words}")
    return tuple(told)
