"""What holds for all registered objectives."""

import dataclasses
import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates.objectives import objectives

NAMES = (
    "crowding", "distance", "diversity", "emissions", "exposure_share", "long_tail", "novelty", "popularity", "price",
    "provider_share", "relevance", "safety",
)  # fmt: skip


def test_all_are_registered():
    assert set(NAMES) <= set(objectives.names())


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_in_range_and_of_the_promised_shape(name, world, seed):
    catalogue, requests, state = world(seed)
    found = objectives.create(name).scores(catalogue, requests, state)
    assert found.shape in {(7, 4), (7, 1)}
    assert found.dtype == np.float64
    known = found[~np.isnan(found)]
    assert ((known >= 0) & (known <= 1)).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n_items", "n_users"), [(1, 1), (2, 0), (1, 3)])
def test_few_items_and_users(name, world, n_items, n_users):
    found = objectives.create(name).scores(*world(0, n_items, n_users))
    assert found.shape in {(n_items, n_users), (n_items, 1)}


@pytest.mark.parametrize("name", NAMES)
def test_requests_do_not_depend_on_each_other(name, world):
    catalogue, requests, state = world(3)
    whole = np.broadcast_to(objectives.create(name).scores(catalogue, requests, state), (7, 4))
    for user in range(4):
        alone = objectives.create(name).scores(catalogue, requests.take(slice(user, user + 1)), state)
        assert np.array_equal(np.broadcast_to(alone, (7, 1))[:, 0], whole[:, user], equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_rebuilds_itself(name):
    made = objectives.create(name)
    parameters = {field.name: getattr(made, field.name) for field in dataclasses.fields(made)}
    assert objectives.create(name, parameters) == made
    assert made.name == name
    assert made.about


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("long_tail", {"tail": 0.0}, "tail is 0.0; allowed: above 0"),
        ("long_tail", {"tail": 1.5}, "tail is 1.5"),
        ("exposure_share", {"power": -1.0}, "power is -1.0; allowed: a number of at least 0"),
        ("exposure_share", {"power": float("nan")}, "power is nan"),
        ("provider_share", {"power": 1.0}, "every provider claims the same"),
        ("provider_share", {"per": "items"}, "unknown per 'items'; did you mean 'item'"),
        ("crowding", {"others": -1.0}, "others is -1.0"),
        ("distance", {"reach_km": 0.0}, "reach_km is 0.0; allowed: kilometres above 0"),
        ("emissions", {"walking_km": -1.0}, "walking_km is -1.0"),
        ("emissions", {"reference_grams": 0.0}, "reference_grams is 0.0"),
        ("emissions", {"shares": {"buss": 1.0}}, "did you mean 'bus'"),
        ("emissions", {"shares": {"bus": 0.0}}, "shares sum to 0"),
        ("emissions", {"shares": {}}, "shares sum to 0"),
        ("emissions", {"grams_per_km": {"bus": -1.0}}, "grams_per_km of 'bus' is -1.0"),
        ("price", {"reference": 0.0}, "reference is 0.0"),
        ("diversity", {"shown": 1.1}, "shown is 1.1"),
        ("novelty", {"shown": 1.1}, "unknown parameter 'shown'"),
    ],
)
def test_wrong_parameters(name, parameters, message):
    with pytest.raises(InputError, match=message):
        objectives.create(name, parameters)


def test_wrong_name():
    with pytest.raises(UnknownNameError, match="did you mean 'crowding'"):
        objectives.create("crowdin")


def test_every_parameter_is_documented():
    for name in NAMES:
        factory = objectives.factory(name)
        for field in dataclasses.fields(factory):
            assert f"\n{field.name}\n" in inspect.getdoc(factory), (name, field.name)
