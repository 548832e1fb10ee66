"""The market loader ``tours``: the latest tours of a city as requests, all that was over before them to learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, InputError
from accordant.slates.cases.tourism.mapping import capacities, providers
from accordant.slates.cases.tourism.predictions import predicted
from accordant.slates.cases.tourism.split import Split, counts_by_user, split_by_time
from accordant.slates.cases.tourism.tables import Places, Visits, column_names, date_of, read_places, read_visits
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.days import service_days
from accordant.slates.relevance import recommender_of
from accordant.slates.sources import Demand, market_loaders

VISITS, PLACES = "traj-", "poi-"  # how names of the two files begin
EARLIEST = "1970-01-01"  # a time before is a clock that was never set or the date of a scanned picture


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
        See `accordant.slates.cases.tourism.mapping`.
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
    relevance = predicted(visits, split, catalogue, chosen)
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
    beside = path.with_name(pois or PLACES + path.name.removeprefix(VISITS))
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
        "split": date_of(split.time),
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
    if all(each is None for each in places.provider):
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
