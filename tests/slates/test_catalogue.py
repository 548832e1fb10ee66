"""Items and requests: shapes, names, codes of categories, who is cold."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError


def test_codes_of_categories_and_providers(make_catalogue):
    found = make_catalogue(5, category=("z", None, "a", "z", ""), provider=(None,) * 5)
    assert found.categories == ("", "a", "z") and found.category_codes.tolist() == [2, -1, 1, 2, 0]
    assert found.providers == () and found.provider_codes.tolist() == [-1] * 5 and found.provider_codes.dtype == np.intp


def test_an_item_without_capacity_is_closed(make_catalogue):
    assert make_catalogue(3, capacity=np.array([0.0, 0.5, np.inf])).open.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"category": ("a",)}, "category has 1 entries; allowed: 2, one per item"),
        ({"price": np.zeros(3)}, "price has 3 entries"),
        ({"popularity": np.array([1.0, np.nan])}, "popularity of an item is negative or missing"),
        ({"popularity": np.array([1.0, np.inf])}, "popularity of an item is infinite; allowed: finite numbers"),
        ({"capacity": np.array([-1.0, 1.0])}, "capacity of an item is negative or missing"),
        ({"capacity": np.array([np.nan, 1.0])}, "capacity of an item is negative or missing"),
    ],
)
def test_columns_that_cannot_be_used(make_catalogue, columns, words):
    with pytest.raises(InputError, match=words):
        make_catalogue(2, **columns)


def test_names_of_items_differ(make_catalogue):
    with pytest.raises(InputError, match="names of items repeat"):
        type(make_catalogue(2))(("a", "a"), *[getattr(make_catalogue(2), name) for name in (
            "category", "provider", "popularity", "capacity", "latitude", "longitude", "price", "safety")])  # fmt: skip


def test_no_items(make_catalogue, make_requests):
    assert make_catalogue(0).n_items == 0 and make_requests(0, 2).cold.tolist() == [True, True]


@pytest.mark.parametrize("name", ["history", "available", "targets"])
def test_requests_fit_together(make_requests, name):
    with pytest.raises(InputError, match=rf"{name} has shape \(2, 3\); allowed: \(item, user\), \(3, 2\)"):
        make_requests(3, 2, **{name: np.zeros((2, 3), dtype=bool)})


@pytest.mark.parametrize("name", ["users", "latitude", "longitude"])
def test_one_of_each_per_request(make_requests, name):
    with pytest.raises(InputError, match=f"{name} has 3 entries; allowed: 2, one per request"):
        make_requests(3, 2, **{name: ("a", "b", "c") if name == "users" else np.zeros(3)})


def test_whoever_had_nothing_is_cold(make_requests):
    assert make_requests(2, 3, history=np.array([[0, 1, 0], [0, 0, 0.5]])).cold.tolist() == [True, False, False]


@pytest.mark.parametrize("users", [slice(1, 3), np.array([2, 0, 0]), np.array([], dtype=int), slice(0, 99)])
def test_some_of_the_requests(make_requests, users):
    draw = np.random.default_rng(0)
    given = make_requests(2, 3, day=4, history=draw.random((2, 3)), relevance=draw.random((2, 3)),
                          latitude=draw.random(3), targets=draw.random((2, 3)) < 0.5)  # fmt: skip
    part, chosen = given.take(users), np.arange(3)[users]
    assert part.ids == tuple(f"r{u}" for u in chosen) and part.users == tuple(f"u{u}" for u in chosen) and part.day == 4
    for name in ("history", "relevance", "available", "targets"):
        assert np.array_equal(getattr(part, name), getattr(given, name)[:, chosen])
    assert np.array_equal(part.latitude, given.latitude[chosen])
    assert make_requests(2, 3).take(users).targets is None
