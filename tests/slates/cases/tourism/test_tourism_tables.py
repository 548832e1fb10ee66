"""Attractions and visits: columns by name, what is left out or repaired, and errors that name the row."""

from __future__ import annotations

import random

import numpy as np
import pytest

from accordant.slates.cases.tourism.loader import places_file
from accordant.slates.cases.tourism.tables import column_names, read_places, read_visits
from accordant.errors import DataError, InputError, UnknownNameError


def both(path, earliest=0.0, columns=None, separator=","):
    names = column_names(columns)
    places = read_places(places_file(path), names, separator)
    return places, read_visits(path, places, names, earliest, separator)


def read_rows(path):
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    return [dict(zip(header, each, strict=True)) for each in rows]


def test_columns_are_found_by_name(town):
    places, visits = both(town())
    assert places.ids == places.names == ("0", "1", "2", "3")
    assert places.latitude.tolist() == [48.10, 48.11, 48.12, 48.13]
    assert places.longitude.tolist() == [11.10, 11.20, 11.30, 11.40]
    assert places.category == ("Park", "Museum", None, "Museum") and places.provider == (None,) * 4
    assert np.isnan([places.price, places.safety, places.capacity]).all()
    assert len(visits) == 13 and visits.repaired == 0 and not any(visits.dropped.values())


def test_the_order_of_columns_and_rows_does_not_matter(town):
    path = town()
    first = both(path)
    rows = read_rows(path)
    random.Random(3).shuffle(rows)
    pois = [dict(reversed(each.items())) for each in read_rows(places_file(path))]
    again = both(town(rows, pois))
    assert again[0].ids == first[0].ids and np.array_equal(again[0].latitude, first[0].latitude)
    assert again[1].users == first[1].users and again[1].tours == first[1].tours
    for name in ("items", "starts", "ends"):
        assert np.array_equal(getattr(again[1], name), getattr(first[1], name))
    assert (np.diff(first[1].starts) >= 0).all()


def test_two_visits_at_one_time_are_in_the_order_of_attractions(town, row):
    rows = [row("ann", 1, 3, 50, 60), row("ann", 1, 1, 50, 60), row("ann", 1, 2, 50, 55)]
    _, visits = both(town(rows))
    assert visits.items.tolist() == [2, 1, 3]  # the one that ended first, then by declared position


def test_own_names_of_columns_and_optional_ones(town, tmp_path):
    (tmp_path / "poi-Own.csv").write_text(
        "place;poiName;kind;x;y;poiCapacity;poiPrice;poiSafety;poiProvider\n"
        "a;Old bridge;Bridge;1;2;3;;0.5;City\nb;;;;;0;4.5;;\n"
    )
    path = tmp_path / "traj-Own.csv"
    path.write_text("who;walk;place;at\nu;1;a;5\nu;1;b;9\n")
    columns = {"user": "who", "tour": "walk", "poi": "place", "start": "at", "end": None, "category": "kind",
               "longitude": "x", "latitude": "y"}  # fmt: skip
    places, visits = both(path, columns=columns, separator=";")
    assert places.names == ("Old bridge", "b") and places.category == ("Bridge", None)
    assert places.provider == ("City", None)
    assert (places.longitude[0], places.latitude[0]) == (1.0, 2.0) and np.isnan(places.longitude[1])
    assert places.capacity.tolist() == [3.0, 0.0] and places.price[1] == 4.5 and places.safety[0] == 0.5
    assert np.isnan(places.price[0]) and np.isnan(places.safety[1])
    assert np.array_equal(visits.starts, visits.ends)


def test_columns_of_a_case():
    assert (column_names(None)["id"], column_names({"poi": "at"})["id"]) == ("poiID", "at")
    assert column_names({"poi": "at", "id": "number"})["id"] == "number"
    with pytest.raises(UnknownNameError, match="unknown use in columns: 'latitud'; did you mean 'latitude'"):
        column_names({"latitud": "y"})
    with pytest.raises(InputError, match="columns: user is declared missing"):
        column_names({"user": None})


@pytest.mark.parametrize(
    ("file", "place", "cells", "message"),
    [
        ("poi", 1, {"poiLat": "91"}, "poi-Town.csv: column 'poiLat', row 1: found '91'; allowed: degrees from -90 to 90"),
        ("poi", 2, {"poiLon": "181.5"}, "column 'poiLon', row 2: found '181.5'; allowed: degrees from -180 to 180"),
        ("poi", 0, {"poiLat": "north"}, "column 'poiLat', row 0: found 'north'"),
        ("poi", 3, {"poiID": "1"}, "column 'poiID', row 3: found '1'; allowed: names that differ; row 1 has this one"),
        ("poi", 0, {"poiID": " "}, "column 'poiID', row 0: found nothing; allowed: a name"),
        ("traj", 2, {"userID": ""}, "traj-Town.csv: column 'userID', row 2: found nothing"),
        ("traj", 4, {"startTime": "noon"}, "column 'startTime', row 4: found 'noon'; allowed: seconds since 1970"),
        ("traj", 4, {"startTime": ""}, "column 'startTime', row 4: found nothing"),
        ("traj", 0, {"startTime": "1168492531000"}, "column 'startTime', row 0: found '1168492531000'"),
        ("traj", 5, {"endTime": "nan"}, "column 'endTime', row 5: found nothing"),
    ],
)  # fmt: skip
def test_errors_name_the_file_the_column_and_the_row(town, file, place, cells, message):
    path = town()
    visits, pois = read_rows(path), read_rows(places_file(path))
    (visits if file == "traj" else pois)[place].update(cells)
    with pytest.raises(DataError, match=message):
        both(town(visits, pois))


def test_swapped_coordinates_are_found_where_they_can_be(town):
    rows = read_rows(places_file(town()))
    melbourne = [row | {"poiLat": "144.97", "poiLon": "-37.8"} for row in rows]
    with pytest.raises(DataError, match="column 'poiLat', row 0: found '144.97'"):
        both(town(pois=melbourne))


def test_a_missing_column_is_named_with_the_nearest(town):
    path = town()
    text = path.read_text().replace("startTime", "starttime")
    path.write_text(text)
    with pytest.raises(
        DataError, match=r"traj-Town.csv: column of start 'startTime' is missing; did you mean it by 'starttime'\?"
    ):
        both(path)


def test_a_renamed_optional_column_must_be_there(town):
    with pytest.raises(DataError, match="poi-Town.csv: column of price 'cost' is missing"):
        both(town(), columns={"price": "cost"})
    places, _ = both(town(), columns={"category": None})
    assert places.category == (None,) * 4


def test_visits_before_the_earliest_day_are_counted(town, row):
    rows = [*read_rows(town()), row("eve", 9, 0, -3_316_154_692)]
    _, visits = both(town(rows))
    assert len(visits) == 13 and visits.dropped == {"before": 1, "undeclared": 0}
    _, visits = both(town(rows), earliest=200.0)
    assert len(visits) == 12 and visits.starts[0] == 200.0  # whoever comes at that moment is in time
    with pytest.raises(DataError, match="all 14 visits began before 1970-01-02"):
        both(town(rows), earliest=86_400.0)


def test_undeclared_attractions_are_counted_or_refused(town, row):
    rows = [*read_rows(town()), row("eve", 9, 77, 120)]
    _, visits = both(town(rows))
    assert visits.dropped == {"before": 0, "undeclared": 1} and "eve" not in visits.users
    _, visits = both(town([*rows[:-1], row("eve", 9, 77, -5)]))
    assert visits.dropped == {"before": 1, "undeclared": 0}  # one row, one reason
    with pytest.raises(
        DataError, match="2 of 15 visits are to attractions that are not declared, the first to '77' in row 13"
    ):
        both(town([*rows, row("eve", 9, 78, 130)]))


def test_a_visit_that_ends_before_it_begins_is_repaired(town, row):
    _, visits = both(town([row("ann", 1, 0, 100, 90), row("ann", 1, 1, 110)]))
    assert visits.repaired == 1 and visits.ends.tolist() == [100.0, 115.0]


def test_both_files_are_named_if_one_is_missing(town, tmp_path):
    path = town()
    places_file(path).unlink()
    with pytest.raises(DataError, match="poi-Town.csv is not in .*; traj-Town.csv and poi-Town.csv are needed"):
        places_file(path)
    with pytest.raises(DataError, match="traj-None.csv is not in"):
        places_file(tmp_path / "traj-None.csv")
    other = path.rename(tmp_path / "walks.csv")
    with pytest.raises(DataError, match="walks.csv: which file holds its attractions.*parameter pois"):
        places_file(other)
    (tmp_path / "sights.csv").touch()
    assert places_file(other, "sights.csv").name == "sights.csv"


def test_a_file_of_places_is_a_name_and_no_path(tmp_path):
    with pytest.raises(InputError, match="cannot be part of a path"):
        places_file(tmp_path / "visits.csv", "../places.csv")
