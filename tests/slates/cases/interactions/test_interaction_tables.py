"""Tables of one's own: columns by name, times without guesses, and errors that name file, column and row."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import numpy as np
import pytest

from accordant.slates.cases.interactions.tables import column_names, read_events, read_items
from accordant.errors import DataError, InputError, UnknownNameError

NAMES = column_names(None)
DAY = 86_400.0


def seconds(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_events_are_read_in_the_order_of_time(shop):
    found = read_events(shop(), NAMES)
    assert found.user_names == ("ann", "bob", "cat", "dan") and found.item_names == ("cup", "ink", "pad", "pen")
    assert len(found) == 14 and (np.diff(found.times) >= 0).all() and found.times[0] == seconds("2024-01-01")
    assert found.weights.tolist() == [1.0] * 14 and not found.weighted and found.sessions is None
    assert [found.item_names[c] for c in found.items[8:11]] == ["pad", "pen", "pen"]  # one day: by item, then by user
    assert [found.user_names[u] for u in found.users[8:11]] == ["ann", "ann", "dan"]


def test_the_order_of_rows_does_not_matter(shop, events):
    first = read_events(shop(), NAMES)
    random.Random(5).shuffle(events)
    again = read_events(shop(events), NAMES)
    for name in ("users", "items", "times", "weights"):
        assert np.array_equal(getattr(again, name), getattr(first, name))


def test_rows_that_say_the_same_are_kept_once(shop):
    rows = [
        ("u", "a", "2024-01-01", 1),
        ("u", "a", "2024-01-01", 1),
        ("u", "a", "2024-01-01", 2),
        ("u", "b", "2024-01-01", 1),
    ]
    found = read_events(shop(rows, ("user", "item", "time", "weight")), NAMES)
    assert found.repeated == 1 and found.weights.tolist() == [1.0, 2.0, 1.0] and found.weighted


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["1704067200", "1704153600.5"], [1704067200.0, 1704153600.5]),
        (["2024-01-01", "2024-01-02T00:00:30.25"], [1704067200.0, 1704153630.25]),
        (["2024-01-01T01:00:00+01:00", "2024-01-02 00:00:00Z"], [1704067200.0, 1704153600.0]),
        (["1980-01-01", "2099-12-31T23:59:59"], [315532800.0, 4102444799.0]),
    ],
)
def test_times_are_seconds_or_dates(shop, given, expected):
    found = read_events(shop([("u", f"i{row}", text) for row, text in enumerate(given)]), NAMES)
    assert found.times.tolist() == expected


@pytest.mark.few(20)
@pytest.mark.parametrize(
    "text",
    ["2024", "20240531", "45443", "1704067200000", "-5", "1e400", "nan", "", "31/05/2024", "0001-01-01", "9999-12-31",
     "2024-02-30", "yesterday", "12:30", "2100-01-01", "1979-12-31", "315532799"],
)  # fmt: skip
@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("other", ["1704067200", "2024-01-01"])
def test_what_is_no_time_is_refused(shop, text, row, other):
    rows = [("u", "a", other), ("u", "b", other), ("u", "c", other)]
    rows[row] = ("u", "x", text)
    path = shop(rows)
    with pytest.raises(DataError, match=r"sales.csv: column 'time', row [01]: found .*; allowed: .*(seconds|a date)"):
        read_events(path, NAMES)


def test_numbers_and_dates_do_not_mix(shop):
    with pytest.raises(DataError, match="row 1: found '2024-01-02'; allowed: seconds .*, as in row 0, which holds '17"):
        read_events(shop([("u", "a", "1704067200"), ("u", "b", "2024-01-02")]), NAMES)
    with pytest.raises(
        DataError, match="row 1: found '1704067200'; allowed: a date .*, as in row 0, which holds '2024"
    ):
        read_events(shop([("u", "a", "2024-01-02"), ("u", "b", "1704067200")]), NAMES)


@pytest.mark.parametrize("row", [("", "a", "2024-01-01"), ("u", " ", "2024-01-01"), ("u", "NaN", "2024-01-01")])
def test_blank_names_are_refused(shop, row):
    with pytest.raises(DataError, match=r"sales.csv: column '(user|item)', row 1: found nothing; allowed: a name"):
        read_events(shop([("u", "a", "2024-01-01"), row]), NAMES)


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "", "many", "inf", "1e999", "1e13", "1e-300"])
def test_weights_are_above_0(shop, weight):
    rows = [("u", "a", "2024-01-01", "2"), ("u", "b", "2024-01-01", weight)]
    with pytest.raises(DataError, match="column 'weight', row 1: .*allowed: a number above 0"):
        read_events(shop(rows, ("user", "item", "time", "weight")), NAMES)


def test_a_column_of_another_meaning_is_not_read(shop):
    rows = [("u", "a", "2024-01-01", "heavy"), ("u", "b", "2024-01-01", "light")]
    path = shop(rows, ("user", "item", "time", "weight"))
    assert not read_events(path, column_names({"weight": None})).weighted
    assert read_events(path, column_names({"weight": None, "session": "weight"})).sessions == ("heavy", "light")


def test_names_of_mixed_types_are_texts(shop):
    found = read_events(shop([("7", "1", "2024-01-01"), ("u", "01", "2024-01-01"), ("7", "1.0", "2024-01-01")]), NAMES)
    assert found.user_names == ("7", "u") and found.item_names == ("01", "1", "1.0")


def test_columns_are_named(shop):
    path = shop([("u", "a", "2024-01-01")], ("userId", "item", "time"))
    with pytest.raises(DataError, match=r"sales.csv: column of user 'user' is missing.*did you mean it by 'userId'"):
        read_events(path, NAMES)
    assert read_events(path, column_names({"user": "userId"})).user_names == ("u",)
    with pytest.raises(DataError, match="column of weight 'amount' is missing"):
        read_events(path, column_names({"user": "userId", "weight": "amount"}))
    with pytest.raises(UnknownNameError, match="unknown use in columns: 'usr'; did you mean 'user'"):
        column_names({"usr": "x"})
    with pytest.raises(InputError, match="columns: time is declared missing"):
        column_names({"time": None})
    assert (column_names({"item": "book"})["id"], column_names({"item": "book", "id": "nr"})["id"]) == ("book", "nr")


def test_items_are_read(shop, items):
    found = read_items(shop(items=items).with_name("items.csv"), NAMES)
    assert found.ids == found.names == ("cup", "pen", "ink", "pad", "box")
    assert found.category == ("kitchen", "desk", "desk", None, "desk")
    assert found.provider == ("Tom", "Ida", None, "Ida", "Tom")
    assert found.capacity.tolist() == [2.0, np.inf, 0.0, np.inf, 1.0]
    assert found.price[[0, 1, 3, 4]].tolist() == [4.5, 1.0, 2.0, 0.0] and np.isnan(found.price[2])
    assert np.isnan([found.latitude, found.longitude, found.safety]).all()


def test_items_may_have_names(shop):
    rows = [{"item": "1", "name": "Blue pen"}, {"item": "2", "name": ""}]
    assert read_items(shop(items=rows).with_name("items.csv"), NAMES).names == ("Blue pen", "2")
    rows[1]["name"] = "Blue pen"
    with pytest.raises(
        DataError, match="column 'name', row 1: found 'Blue pen'; allowed: names that differ; row 0 has"
    ):
        read_items(shop(items=rows).with_name("items.csv"), NAMES)


@pytest.mark.parametrize(
    ("column", "text", "words"),
    [
        ("item", "cup", "names that differ; row 0 has this one"),
        ("item", "", "a name"),
        ("price", "-1", "a number of at least 0"),
        ("price", "inf", "a number of at least 0"),
        ("price", "free", "a number of at least 0"),
        ("capacity", "-0.5", "a number of at least 0, inf or blank where there is no limit"),
    ],
)
def test_items_that_cannot_be_used(shop, items, column, text, words):
    items[3][column] = text
    with pytest.raises(DataError, match=f"items.csv: column '{column}', row 3: found .*; allowed: {words}"):
        read_items(shop(items=items).with_name("items.csv"), NAMES)


@pytest.mark.parametrize(("column", "text"), [("latitude", "90.1"), ("longitude", "-181"), ("safety", "1.5")])
def test_places_and_safety_are_in_range(shop, items, column, text):
    rows = [each | {column: "0.5"} for each in items]
    rows[2][column] = text
    with pytest.raises(DataError, match=f"items.csv: column '{column}', row 2"):
        read_items(shop(items=rows).with_name("items.csv"), NAMES)


def test_a_table_of_items_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"items.csv, the file of items, is not in .*; it stands beside"):
        read_items(tmp_path / "items.csv", NAMES)
