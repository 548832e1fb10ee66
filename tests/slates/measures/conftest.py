"""A random market with everything that measures must cope with, and lists that a test fixes itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.rule import SlateRule
from accordant.slates.market import Market, serve
from accordant.slates.slates import NOTHING, Slates
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True)
class ByTotal(SlateRule):
    """The items with the highest sums, so that lists are easy to follow."""

    name: ClassVar[str] = "by_total"

    def fill(self, candidates, k):
        """Return the best items that may be shown."""
        scores = np.where(candidates.available, candidates.totals, -np.inf)
        items = np.full((candidates.n_users, k), NOTHING)
        best = np.argsort(-scores, axis=0, kind="stable")[:k].T
        items[:, : best.shape[1]] = best
        shown = np.arange(k) < candidates.available.sum(axis=0)[:, None]
        return Slates(self.label, candidates.items, np.where(shown, items, NOTHING), np.zeros(len(items), dtype=bool))


def requests(values, day=0, users=None, targets=None, history=None, available=None, first=0):
    """Return a batch whose relevance is the first stakeholder's E, so that E can be looked up by id."""
    n_items, n = values.shape[1:]
    return Requests(
        tuple(f"r{first + u}" for u in range(n)),
        tuple(users or (f"u{first + u}" for u in range(n))),
        day,
        np.full(n, 50.0),
        np.linspace(0.0, 1.0, n) if n else np.empty(0),
        values[0],
        np.zeros((n_items, n)) if history is None else np.asarray(history, dtype=float),
        np.ones((n_items, n), dtype=bool) if available is None else np.asarray(available),
        None if targets is None else np.asarray(targets, dtype=bool),
    )


def catalogue(n_items, **columns):
    """Return items with nothing known but what is given."""
    known = {
        "category": (None,) * n_items,
        "provider": (None,) * n_items,
        "popularity": np.ones(n_items),
        "capacity": np.full(n_items, np.inf),
        **{name: np.full(n_items, np.nan) for name in ("latitude", "longitude", "price", "safety")},
    }
    return Catalogue(tuple(f"c{c}" for c in range(n_items)), **(known | columns))


@dataclass(frozen=True)
class LookedUp:
    """E of a batch from its place in the whole, shape (stakeholder, item, request)."""

    values: np.ndarray
    names: tuple[str, ...]

    def __call__(self, batch, state):
        """Return E of the requests named r0, r1, …"""
        del state
        places = [int(each[1:]) for each in batch.ids]
        items = [f"c{c}" for c in range(self.values.shape[1])]
        return ExpectedRewards(self.values[:, :, places], stakeholders=self.names, actions=items)


def small_market(values, items=None, batches=None, weights=None, floors=None, **facts):
    """Return a market with E of shape (stakeholder, item, request); facts are those of the only batch."""
    values = np.asarray(values, dtype=float)
    names = tuple(f"s{i}" for i in range(len(values)))
    return Market(
        catalogue(values.shape[1]) if items is None else items,
        names,
        LookedUp(values, names),
        (requests(values, **facts),) if batches is None else batches,
        dict(zip(names, [1.0] * len(names) if weights is None else weights, strict=True)),
        floors or {},
        user_stakeholder="s0",
    )


def random_market(seed, n=40, n_items=9, n_stakeholders=3):
    """Return a market with ties, gaps, closed items, indifference, cold users, several days and a silent party."""
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 5, (n_stakeholders, n_items, n)) / 4
    values[1, :, draw.random(n) < 0.2] = 0.5  # the second is sometimes indifferent
    items = catalogue(
        n_items,
        category=tuple(draw.choice([None, "a", "b", "c"], n_items).tolist()),
        provider=tuple(draw.choice([None, "p", "q", "r"], n_items).tolist()),
        popularity=draw.integers(0, 6, n_items).astype(float),
        capacity=draw.choice([0.0, 1.0, 2.5, np.inf], n_items),
        latitude=np.where(draw.random(n_items) < 0.2, np.nan, draw.uniform(-60, 60, n_items)),
        longitude=draw.uniform(-180, 180, n_items),
    )
    batches, first = [], 0
    for day, size in ((0, n // 4), (0, n // 4), (2, n - 2 * (n // 4))):
        part = slice(first, first + size)
        batches.append(
            requests(
                values[:, :, part],
                day,
                [f"u{each}" for each in draw.integers(0, n // 3, size)],
                draw.random((n_items, size)) < 0.2,
                draw.integers(0, 3, (n_items, size)) * (draw.random(size) < 0.7),
                draw.random((n_items, size)) < 0.6,
                first,
            )
        )
        first += size
    weights = [1.0, 2.0] + [0.0] * (n_stakeholders > 2) + [1.0] * (n_stakeholders - 3)
    return small_market(values, items, tuple(batches), weights[:n_stakeholders], {"s0": 0.75, "s2": 0.5})


@pytest.fixture(scope="session")
def worlds():
    """What a rule showed in some random markets."""
    return [serve(ByTotal(), random_market(seed), k) for seed, k in ((0, 3), (1, 1), (2, 12), (3, 4))]


@pytest.fixture(scope="session")
def shown():
    """Return a function (items of shape (request, k), E, …) → Served with exactly these lists."""

    def make(lists, values=None, **given):
        lists = np.asarray(lists)
        if values is None:
            n_items = given["items"].n_items if "items" in given else int(lists.max()) + 1
            values = np.full((1, n_items, len(lists)), 0.5)
        market = small_market(values, **given)

        @dataclass(frozen=True)
        class Fixed(SlateRule):
            """Exactly these lists."""

            name: ClassVar[str] = "fixed"

            def __call__(self, candidates, k, *, state=None, threads=None):
                """Return the lists of the requests of a batch, whose number the state counts."""
                del k, threads
                first = len(state.slates)
                part = lists[first : first + candidates.n_users]
                return Slates("fixed", candidates.items, part, np.zeros(len(part), dtype=bool))

            def fill(self, candidates, k):
                """Never called."""
                raise NotImplementedError

        return serve(Fixed(), market, lists.shape[1])

    return make


@pytest.fixture(scope="session")
def items():
    """Return the function that makes a catalogue."""
    return catalogue


@pytest.fixture(scope="session")
def batch():
    """Return the function that makes a batch."""
    return requests


@pytest.fixture(scope="session")
def without_targets():
    """Return a function that forgets what was consumed."""

    def forget(served):
        batches = tuple(replace(each, targets=None) for each in served.market.batches)
        return replace(served, market=replace(served.market, batches=batches))

    return forget
