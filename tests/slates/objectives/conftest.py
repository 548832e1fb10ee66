"""Small catalogues and requests, in which only what a test names is known."""

import numpy as np
import pytest

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.slates import State


def catalogue_of(n_items=3, **known):
    columns = {
        "items": tuple(f"item{c}" for c in range(n_items)),
        "category": (None,) * n_items,
        "provider": (None,) * n_items,
        "popularity": np.zeros(n_items),
        "capacity": np.full(n_items, np.inf),
        **{name: np.full(n_items, np.nan) for name in ("latitude", "longitude", "price", "safety")},
    }
    given = {name: value if isinstance(value, tuple) else np.asarray(value, float) for name, value in known.items()}
    return Catalogue(**(columns | given))


def requests_of(n_items=3, n_users=2, **known):
    columns = {
        "ids": tuple(f"request{u}" for u in range(n_users)),
        "users": tuple(f"user{u}" for u in range(n_users)),
        "day": 0,
        "latitude": np.full(n_users, np.nan),
        "longitude": np.full(n_users, np.nan),
        "relevance": np.zeros((n_items, n_users)),
        "history": np.zeros((n_items, n_users)),
        "available": np.ones((n_items, n_users), dtype=bool),
    }
    return Requests(**(columns | {name: np.asarray(value, float) for name, value in known.items()}))


def state_of(n_items=3, k=2, **known):
    start = State.start(n_items, 1, k)
    given = {name: getattr(start, name) for name in ("day", "load", "exposure", "slates", "attained")}
    return State(**(given | {name: np.asarray(value) for name, value in known.items()}))


@pytest.fixture(scope="session")
def make_catalogue():
    """Return a function from known columns to a catalogue."""
    return catalogue_of


@pytest.fixture(scope="session")
def make_requests():
    """Return a function from known columns to requests."""
    return requests_of


@pytest.fixture(scope="session")
def make_state():
    """Return a function from what has happened to a state."""
    return state_of


@pytest.fixture(scope="session")
def world():
    """A random catalogue, requests and state with gaps everywhere."""

    def make(seed, n_items=7, n_users=4):
        rng = np.random.default_rng(seed)

        def gaps(values):
            return np.where(rng.random(n_items) < 0.3, np.nan, values)

        def names(letters):
            return tuple(None if each == "-" else str(each) for each in rng.choice(list(letters + "-"), n_items))

        return (
            catalogue_of(
                n_items, category=names("abc"), provider=names("pq"), popularity=rng.integers(0, 5, n_items),
                capacity=rng.choice([0.0, 2.0, 5.0, np.inf], n_items), latitude=gaps(rng.uniform(-90, 90, n_items)),
                longitude=gaps(rng.uniform(-180, 180, n_items)), price=gaps(rng.integers(0, 9, n_items)),
                safety=gaps(rng.random(n_items)),
            ),
            requests_of(
                n_items, n_users, latitude=rng.uniform(-90, 90, n_users), longitude=rng.uniform(-180, 180, n_users),
                relevance=rng.random((n_items, n_users)), history=rng.integers(0, 2, (n_items, n_users)),
            ),
            state_of(
                n_items, load=rng.integers(0, 4, n_items) * 1.0, exposure=rng.integers(0, 3, n_items) * 1.0,
                slates=rng.integers(-1, n_items, (6, 2)),
            ),
        )  # fmt: skip

    return make
