"""Requests of a small town by hand, nothing learned from what came later, and the public files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from accordant.slates.sources import market_loaders
from accordant.slates.cases.tourism.loader import places_file, tours
from accordant.slates.cases.tourism.tables import FAMOUS, SMALL
from accordant.slates.cases.tourism.loader import training_interactions, predict_relevance, training_users
from accordant.slates.relevance import recommender_of
from accordant.slates.cases.tourism.loader import split_by_time
from accordant.slates.cases.tourism.tables import column_names, read_places, read_visits
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.slates.relevance import NOBODY, NOWHERE, recommenders

HALF = {"test_share": 0.4}  # of five tours of at least two attractions: those of ann (1000) and dan (1400)
PUBLIC = {
    "Edin": {"items": 28, "rows": 7853, "before": 0, "users": 1454, "tours": 1412},
    "Glas": {"items": 27, "rows": 2749, "before": 3, "users": 601, "tours": 351},
    "Melb": {"items": 88, "rows": 7246, "before": 0, "users": 1000, "tours": 1018},
}


def read(path):
    places = read_places(places_file(path), column_names(None))
    return read_visits(path, places, column_names(None), 0.0)


def together(demand, name, axis=1):
    return np.concatenate([getattr(batch, name) for batch in demand.batches], axis=axis)


def test_requests_by_hand(town):
    demand = tours(town(), 0, **HALF)
    (batch,) = demand.batches
    assert batch.ids == ("ann/5", "dan/6") and batch.users == ("ann", "dan") and batch.day == 0
    assert batch.latitude.tolist() == [48.11, 48.13 - 0.02] and batch.longitude.tolist() == [11.2, 11.2]
    assert batch.available.T.tolist() == [[True, False, True, True]] * 2  # both begin at attraction 1
    assert batch.targets.T.tolist() == [[True, False, True, False], [False, False, False, True]]
    assert batch.history.T.tolist() == [[2, 1, 0, 0], [0, 0, 0, 0]] and batch.cold.tolist() == [False, True]
    # the second visit of tour 4 is not over at 1000, so attraction 3 was visited once before the split
    assert demand.catalogue.popularity.tolist() == [4, 2, 0, 1]
    assert demand.catalogue.provider == (FAMOUS, SMALL, SMALL, SMALL)
    assert demand.catalogue.category == ("Park", "Museum", None, "Museum")
    assert demand.catalogue.capacity.tolist() == pytest.approx([1.5 * 40 * 4 / 7, 1.5 * 40 * 2 / 7, 1, 1.5 * 40 / 7])
    assert (demand.facts["requests"], demand.facts["cold_share"], demand.facts["targets_per_request"]) == (2, 0.5, 1.5)
    assert (demand.facts["tours"], demand.facts["training_visits"], demand.facts["training_users"]) == (5, 7, 3)


def test_notes_say_what_is_made_up_and_what_was_done(town, row):
    rows = [*(r for r in read_dicts(town())), row("eve", 9, 0, -50), row("fay", 8, 0, 700, 600)]
    demand = tours(town(rows), 0, **HALF)
    for words in (
        "SERVICE DAYS ARE MADE UP: 40 consecutive requests are one day",
        "1 of 2 requests are by users without any visit before the split.",
        "1 visits began before 1970-01-01 and are left out.",
        "1 visits ended before they began; they now end when they begin.",
        "1 attractions have no category.",
        "Providers are a mapping of ours",
    ):
        assert any(words in note for note in demand.notes), words
    assert not any("never visited" in note or "not declared" in note for note in demand.notes)


def read_dicts(path):
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    return [dict(zip(header, each, strict=True)) for each in rows]


def test_what_is_learned_from_by_hand(town):
    visits = read(town())
    split = split_by_time(visits, 0.4)
    learned = training_interactions(visits, split, 4)
    assert list(training_users(visits, split)) == ["ann", "bob", "cat"]
    assert learned.users.tolist() == [0, 0, 0, 1, 1, 1, 2] and learned.items.tolist() == [0, 1, 0, 1, 3, 0, 0]
    assert learned.starts.tolist() == [NOWHERE, 0, 1, NOWHERE, 1, NOWHERE, NOWHERE]


@pytest.mark.parametrize("name", recommenders.names())
def test_nothing_after_the_split_changes_what_was_learned(town, row, name):
    """Other ends of the test tours, more late visits of known and new users, and a late visit that lasts."""
    before = read_dicts(town())
    early = [each for each in before if int(each["startTime"]) < 1000]
    after = [
        row("ann", 5, 1, 1000), row("ann", 5, 3, 1001, 9000),
        row("dan", 6, 1, 1400), row("dan", 6, 2, 1500), row("dan", 6, 0, 1600),
        row("cat", 4, 2, 1000), row("bob", 7, 3, 1700), row("new", 1, 3, 1800),
    ]  # fmt: skip
    one, other = (tours(town(rows), 0, recommender=name, **HALF) for rows in (before, early + after))
    assert one.batches[0].ids == other.batches[0].ids == ("ann/5", "dan/6")
    assert not np.array_equal(one.batches[0].targets, other.batches[0].targets)
    for column in ("popularity", "capacity"):
        assert np.array_equal(getattr(one.catalogue, column), getattr(other.catalogue, column))
    assert one.catalogue.provider == other.catalogue.provider
    for column in ("relevance", "history", "available", "latitude", "longitude"):
        assert np.array_equal(together(one, column, -1), together(other, column, -1)), column


@pytest.mark.parametrize("name", recommenders.names())
def test_what_came_before_the_split_does_change_it(town, row, name):
    rows = read_dicts(town())
    more = [*rows, *(row(f"u{n}", 1, item, 10 + n + item) for n in range(6) for item in (1, 2))]
    one, other = (tours(town(each), 0, recommender=name, **HALF) for each in (rows, more))
    assert one.catalogue.popularity[2] == 0 < other.catalogue.popularity[2]
    assert not np.array_equal(one.batches[0].relevance, other.batches[0].relevance)


@pytest.mark.parametrize("name", recommenders.names())
def test_relevance_is_within_0_and_1_and_0_where_the_tour_begins(town, name):
    (batch,) = tours(town(), 0, recommender=name, **HALF).batches
    assert ((batch.relevance >= 0) & (batch.relevance <= 1)).all()
    assert (batch.relevance[~batch.available] == 0).all()
    assert batch.relevance.max(axis=0).tolist() == [1.0, 1.0]  # the best candidate, not the start


def test_transitions_by_hand(town):
    """P(c | 1) with transitions 1 → 0 and 1 → 3 and popularity 4, 2, 0, 1 of 7, smoothed by 2; over the best one."""
    (batch,) = tours(town(), 0, recommender_parameters={"smoothing": 2.0}, **HALF).batches
    chances = np.array([1 + 2 * 4 / 7, 0, 0, 1 + 2 * 1 / 7]) / 4
    assert batch.relevance[:, 1] == pytest.approx(chances / chances.max())


def test_recommenders_that_draw_get_the_seed():
    for name in recommenders.names():
        built = recommender_of(name, {}, 7)
        assert getattr(built, "seed", 7) == 7
        if hasattr(built, "seed"):
            assert recommender_of(name, {"seed": 3}, 7).seed == 3
    with pytest.raises(UnknownNameError, match="unknown recommender 'transition'; did you mean 'transitions'"):
        recommender_of("transition", {}, 0)


def test_days_and_batches(town):
    demand = tours(town(), 0, test_share=0.6, visitors_per_day=2, batch=1)
    assert [(batch.day, batch.ids) for batch in demand.batches] == [(0, ("cat/4",)), (0, ("ann/5",)), (1, ("dan/6",))]


def test_declared_capacities_stand_and_0_closes(town):
    rows = read_dicts(places_file(town()))
    pois = [{**each, "poiCapacity": number} for each, number in zip(rows, ("0", "", "7", ""), strict=True)]
    demand = tours(town(pois=pois), 0, **HALF)
    assert demand.catalogue.capacity[[0, 2]].tolist() == [0, 7] and (demand.catalogue.capacity[[1, 3]] >= 1).all()
    assert demand.catalogue.open.tolist() == [False, True, True, True]


def test_clear_errors_where_nothing_can_be_predicted(town, row):
    with pytest.raises(DataError, match="no tour has 2 different attractions: 3 tours were found"):
        tours(town([row("a", 1, 0, 1), row("a", 1, 0, 9), row("a", 2, 1, 20), row("b", 1, 1, 5)]), 0)
    with pytest.raises(DataError, match="no tour has 2 different attractions"):
        tours(
            town([row("a", 1, 0, 1), row("b", 1, 0, 9)], [{"poiID": "0", "poiCat": "", "poiLat": "", "poiLon": ""}]), 0
        )
    with pytest.raises(DataError, match="nothing to learn from: no visit was over before .* 1970-01-01"):
        tours(town([row("a", 1, 0, 1), row("a", 1, 1, 9)]), 0)
    with pytest.raises(InputError, match="earliest is 'long ago'; allowed: a day as YYYY-MM-DD"):
        tours(town(), 0, earliest="long ago")


def test_no_category_and_no_place_at_all(town):
    pois = [{"poiID": str(each), "poiCat": "", "poiLat": "", "poiLon": ""} for each in range(4)]
    demand = tours(town(pois=pois), 0, **HALF)
    assert demand.catalogue.category == (None,) * 4 and demand.catalogue.categories == ()
    assert np.isnan(demand.batches[0].latitude).all() and np.isnan(demand.catalogue.longitude).all()


def test_the_loader_is_registered(town):
    demand = market_loaders.create("tours", {"path": town(), "seed": 0, **HALF})
    assert demand.facts["requests"] == 2 and demand.uptake is None


@pytest.mark.parametrize("city", PUBLIC)
def test_counts_of_the_public_files(real_data, city):
    """Three Glasgow visits are dated 1864, 1870 and 1915; each is a tour of one attraction, so no tour is lost."""
    expected = PUBLIC[city]
    path = real_data(f"tourism/traj-{city}.csv")
    demand = tours(path, 0)
    facts = demand.facts
    assert facts["visits"] == expected["rows"] - expected["before"] and facts["items"] == expected["items"]
    assert facts["tours"] == expected["tours"] and facts["requests"] == -(-expected["tours"] // 5)
    assert facts["no_duration_share"] > 0.5
    assert facts["users"] == expected["users"]
    assert sum(batch.n_users for batch in demand.batches) == facts["requests"]
    assert 0.4 < np.concatenate([batch.cold for batch in demand.batches]).mean() == facts["cold_share"] < 0.6
    targets, available = together(demand, "targets"), together(demand, "available")
    assert (targets.sum(axis=0) >= 1).all() and not (targets & ~available).any()
    assert ((~available).sum(axis=0) == 1).all()


@pytest.mark.long
def test_coordinates_of_the_public_files_are_those_of_their_cities(real_data):
    """In the file of Melbourne latitude stands first."""
    for city, (south, north, west, east) in {
        "Edin": (55.9, 56.1, -3.5, -3.1), "Glas": (55.5, 55.9, -4.6, -4.2), "Melb": (-38.0, -37.6, 144.8, 145.1),
    }.items():  # fmt: skip
        catalogue = tours(real_data(f"tourism/traj-{city}.csv"), 0).catalogue
        assert ((catalogue.latitude > south) & (catalogue.latitude < north)).all(), city
        assert ((catalogue.longitude > west) & (catalogue.longitude < east)).all(), city


@pytest.mark.long
def test_old_times_of_the_public_files(real_data):
    """33 and 24 visits are dated before 2000, when hardly anybody shared photos; 3 of them before 1970."""
    for city, before in {"Edin": 33, "Glas": 24, "Melb": 0}.items():
        path = real_data(f"tourism/traj-{city}.csv")
        demand = tours(path, 0, earliest="2000-01-01")
        assert demand.facts["visits"] == PUBLIC[city]["rows"] - before
        assert any(f"{before} visits began before 2000-01-01" in note for note in demand.notes) == (before > 0)


@pytest.mark.long
def test_transitions_predict_the_public_files_better_than_popularity(real_data):
    """Recall of the best five candidates; the figures of popularity stand in docs/methods/tourism.md."""
    for city, figure in {"Edin": 0.464, "Glas": 0.593, "Melb": 0.204}.items():
        recall = {}
        for name in ("popular", "transitions"):
            demand = tours(real_data(f"tourism/traj-{city}.csv"), 0, recommender=name)
            scores = np.where(together(demand, "available"), together(demand, "relevance"), -1.0)
            best = np.argsort(-scores, axis=0, kind="stable")[:5]
            targets = together(demand, "targets")
            recall[name] = (np.take_along_axis(targets, best, 0).sum(axis=0) / targets.sum(axis=0)).mean()
        assert recall["popular"] == pytest.approx(figure, abs=0.0006)
        assert recall["transitions"] > recall["popular"] + 0.03


def test_users_without_training_visits_are_nobody_to_the_recommender(town):
    """And the recommender is asked from where each tour begins."""
    asked = {}

    @dataclass(frozen=True)
    class Spy(recommenders.factory("popular")):
        def fit(self, interactions, catalogue):
            fitted = super().fit(interactions, catalogue)
            asked["learned"] = interactions

            class Asked:
                def scores(self, users, starts):
                    asked["users"], asked["starts"] = users.tolist(), starts.tolist()
                    return fitted.scores(users, starts)

            return Asked()

    path = town()
    visits, catalogue = read(path), tours(path, 0, **HALF).catalogue
    relevance = predict_relevance(visits, split_by_time(visits, 0.4), catalogue, Spy())
    assert asked["users"] == [0, NOBODY] and asked["starts"] == [1, 1] and asked["learned"].n_users == 3
    assert relevance.T.tolist() == [[1.0, 0.0, 0.0, 0.25]] * 2
