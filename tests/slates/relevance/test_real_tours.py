"""Real tours of Glasgow: what benchmarks/relevance.py prints for three cities, held on one of them."""

import csv

import numpy as np
import pytest

from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance import Interactions, create

YEAR_2000 = 946_684_800


@pytest.fixture(scope="module")
def tours(real_data):
    """Return the catalogue, and user, tour, item and time of each visit in the order of time."""
    with real_data("tourism/poi-Glas.csv").open(encoding="utf-8") as file:
        places = list(csv.DictReader(file))
    with real_data("tourism/traj-Glas.csv").open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (int(row["startTime"]), row["userID"]))
    rows = [row for row in rows if int(row["startTime"]) >= YEAR_2000]
    unknown, n = np.full(len(places), np.nan), len(places)
    catalogue = Catalogue(
        tuple(place["poiID"] for place in places), tuple(place["poiCat"] for place in places), (None,) * n, np.zeros(n),
        np.full(n, np.inf), np.array([float(place["poiLat"]) for place in places]),
        np.array([float(place["poiLon"]) for place in places]), unknown, unknown,
    )  # fmt: skip
    users = np.unique([row["userID"] for row in rows], return_inverse=True)[1]
    sessions = np.unique([f"{row['userID']} {row['trajID']}" for row in rows], return_inverse=True)[1]
    items = np.array([catalogue.items.index(row["poiID"]) for row in rows])
    return catalogue, users, sessions, items, np.array([float(row["startTime"]) for row in rows])


def found_in_five(name, tours):
    """Return the share of second places of later tours that are among the five best, the first place left out."""
    catalogue, users, sessions, items, times = tours
    early = times < np.quantile(times, 0.8)
    every = Interactions.of(int(users.max()) + 1, 27, users, items, times=times).within(sessions)
    later = np.flatnonzero(~early & (every.starts >= 0) & (every.starts != items))
    fitted = create(name).fit(every.take(early), catalogue)
    known = np.isin(users[later], users[early])
    scores = fitted.relevance(np.where(known, users[later], -1), every.starts[later])
    scores = np.array(scores)
    scores[every.starts[later], np.arange(len(later))] = -1
    best = np.argsort(-scores, axis=0, kind="stable")[:5]
    return (best == items[later]).any(axis=0).mean()


def test_columns_hold_places_in_scotland(tours):
    catalogue = tours[0]
    assert ((catalogue.latitude > 55) & (catalogue.latitude < 57)).all()
    assert ((catalogue.longitude > -6) & (catalogue.longitude < -2)).all()


@pytest.mark.long
@pytest.mark.parametrize("name", ["transitions", "ranker"])
def test_the_start_tells_more_than_popularity(tours, name):
    assert found_in_five(name, tours) > found_in_five("popular", tours) + 0.05
