"""E that is drawn or given, small catalogues and markets: what tests of the core of slates share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from accordant.slates.candidates import Candidates
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.rule import SlateRule
from accordant.slates.market import Market
from accordant.slates.slates import NOTHING, Slates
from accordant.utilities import ExpectedRewards

NAMES = ("guest", "town", "inn", "park")


def candidates_of(values, available=None, weights=None, categories=None, user=None, dtype=np.float64):
    """Return candidates with names from E of shape (stakeholder, item, user)."""
    values = np.asarray(values, dtype=dtype)
    expected = ExpectedRewards(
        values, stakeholders=NAMES[: len(values)], actions=[f"c{c}" for c in range(values.shape[1])]
    )
    return Candidates(expected, available, weights, categories, user)


def catalogue_of(n_items, **columns):
    """Return items of which only what is given is known."""
    known = {
        "category": (None,) * n_items,
        "provider": (None,) * n_items,
        "popularity": np.ones(n_items),
        "capacity": np.full(n_items, np.inf),
        **{name: np.full(n_items, np.nan) for name in ("latitude", "longitude", "price", "safety")},
    }
    return Catalogue(tuple(f"c{c}" for c in range(n_items)), **(known | columns))


def requests_of(n_items, n_users, first=0, day=0, **columns):
    """Return requests r0, r1, … of users u0, u1, … who know nothing and may see everything."""
    known = {
        "latitude": np.full(n_users, np.nan),
        "longitude": np.full(n_users, np.nan),
        "relevance": np.zeros((n_items, n_users)),
        "history": np.zeros((n_items, n_users)),
        "available": np.ones((n_items, n_users), dtype=bool),
    }
    names = range(first, first + n_users)
    users = columns.pop("users", tuple(f"u{u}" for u in names))
    return Requests(tuple(f"r{u}" for u in names), users, day, **(known | columns))


@dataclass(frozen=True)
class LeastShown(SlateRule):
    """Items with the highest sums less what they were shown before, so that what happens first matters later."""

    name: ClassVar[str] = "least_shown"

    penalty: float = 0.0

    def fill(self, candidates, k):
        """Return the best items that may be shown, equals in declared order."""
        return self._best(candidates, k, np.zeros(len(candidates.items)))

    def __call__(self, candidates, k, *, state=None, threads=None):
        """Return the best items after what was shown is taken off."""
        return self._best(candidates, k, np.zeros(len(candidates.items)) if state is None else state.exposure)

    def _best(self, candidates, k, shown):
        scores = np.where(candidates.available, candidates.totals - self.penalty * shown[:, None], -np.inf)
        items = np.full((candidates.n_users, k), NOTHING)
        best = np.argsort(-scores, axis=0, kind="stable")[:k].T
        items[:, : best.shape[1]] = best
        there = np.arange(k) < candidates.available.sum(axis=0)[:, None]
        return Slates(self.label, candidates.items, np.where(there, items, NOTHING), np.zeros(len(items), dtype=bool))


def market_of(seed, sizes=((0, 3), (0, 2), (1, 4), (3, 1)), n_items=5, n_stakeholders=3, **columns):
    """Return a market of batches (day, users) with E by the number in the name of each request."""
    draw = np.random.default_rng(seed)
    values = draw.random((n_stakeholders, n_items, sum(n for _, n in sizes)))
    batches, first = [], 0
    for day, n in sizes:
        batches.append(
            requests_of(
                n_items, n, first, day, history=draw.integers(0, 2, (n_items, n)).astype(float),
                available=draw.random((n_items, n)) < 0.8, targets=draw.random((n_items, n)) < 0.3,
            )
        )  # fmt: skip
        first += n

    def expected(batch, state):
        """Return E of the requests named r0, r1, …"""
        del state
        part = values[:, :, [int(each[1:]) for each in batch.ids]]
        return ExpectedRewards(part, stakeholders=NAMES[:n_stakeholders], actions=[f"c{c}" for c in range(n_items)])

    catalogue = catalogue_of(n_items, capacity=draw.choice([0.0, 1.0, np.inf], n_items))
    return Market(catalogue, NAMES[:n_stakeholders], expected, tuple(batches), **columns)


@pytest.fixture(scope="session")
def make_candidates():
    """The function from E to candidates."""
    return candidates_of


@pytest.fixture(scope="session")
def make_catalogue():
    """The function that makes items."""
    return catalogue_of


@pytest.fixture(scope="session")
def make_requests():
    """The function that makes requests."""
    return requests_of


@pytest.fixture(scope="session")
def make_market():
    """The function from a seed to a market."""
    return market_of


@pytest.fixture(scope="session")
def least_shown():
    """The class of a rule that reads what was shown before."""
    return LeastShown
