"""A small market of two days, in which nothing depends on what was shown unless a test says so."""

import numpy as np
import pytest

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives import SlateStakeholder, StatedObjective, StatedValue, expected_utilities
from accordant.slates.market import Market

N = 7
NAMES = ("alpha", "bravo", "castle", "dome", "erie", "fort", "gate")


def stakeholder(name, *objectives, role="affected"):
    stated = [StatedObjective(metric=metric, direction=direction, weight=weight, because=f"{name} says so of {metric}")
              for metric, direction, weight in objectives]  # fmt: skip
    return SlateStakeholder(
        name=name, role=role, provenance="authors of this test", values=[StatedValue(value=f"what {name} values",
                                                                                    objectives=stated)],
    )  # fmt: skip


STAKEHOLDERS = (
    stakeholder("Guest", ("relevance", "max", 2.0), ("distance", "min", 1.0)),
    stakeholder("Neighbours", ("popularity", "min", 1.0), ("price", "max", 0.5), ("price", "min", 0.1)),
    stakeholder("Nature", ("distance", "min", 1.0), role="deciding"),
)


def catalogue_of(capacity=None):
    generator = np.random.default_rng(3)
    return Catalogue(
        NAMES,
        ("sight", "park", "sight", None, "park", "sight", "food"),
        (None,) * N,
        np.array([97.0, 41.0, 13.0, 5.0, 61.0, 2.0, 23.0]),
        np.array([np.inf] * (N - 1) + [0.0]) if capacity is None else np.full(N, capacity),  # the last is closed
        55.86 + 0.02 * generator.random(N),
        -4.25 + 0.02 * generator.random(N),
        np.array([3.0, 0.0, np.nan, 12.0, 7.0, 5.0, 1.0]),
        np.full(N, np.nan),
    )


def batch_of(day, numbers):
    generator = np.random.default_rng(10 + day)
    n_users = len(numbers)
    available = np.ones((N, n_users), dtype=bool)
    available[1, ::2] = False
    return Requests(
        tuple(f"anna{u}/tour-{u}" for u in numbers), tuple(f"anna{u}" for u in numbers), day,
        55.86 + 0.01 * generator.random(n_users), -4.25 + 0.01 * generator.random(n_users),
        0.111 + 0.8 * generator.random((N, n_users)), np.full((N, n_users), 7777.0), available,
        generator.random((N, n_users)) < 0.3,
    )  # fmt: skip


def market_of(stakeholders=STAKEHOLDERS, batches=None, capacity=None, **changes):
    catalogue = catalogue_of(capacity)
    given = {
        "catalogue": catalogue,
        "stakeholders": tuple(each.name for each in stakeholders),
        "expected": lambda requests, state: expected_utilities(stakeholders, catalogue, requests, state),
        "batches": batches or (batch_of(0, range(1, 5)), batch_of(1, range(5, 8))),
        "user_stakeholder": stakeholders[0].name,
    }
    return Market(**(given | changes))


@pytest.fixture
def market():
    return market_of()


@pytest.fixture(scope="session")
def make_market():
    """Return a function from changes to a market."""
    return market_of


@pytest.fixture(scope="session")
def make_batch():
    """Return a function from a day and numbers of users to a batch."""
    return batch_of


@pytest.fixture(scope="session")
def make_stakeholder():
    """Return a function from a name and (metric, direction, weight) to a stakeholder."""
    return stakeholder


@pytest.fixture(scope="session")
def stakeholders():
    return STAKEHOLDERS
