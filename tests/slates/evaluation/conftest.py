"""A random market, rules that are easy to follow, and lists that a test fixes itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from accordant.slates.candidates import Candidates
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.candidates import gains_of
from accordant.slates.rule import SlateRule
from accordant.slates.market import Market, serve
from accordant.slates.slates import NOTHING, Slates
from accordant.utilities import ExpectedRewards

NAMES = ("guest", "town", "inn", "park")


@dataclass(frozen=True)
class ByTotal(SlateRule):
    """The items with the highest weighted sums."""

    name: ClassVar[str] = "by_total"

    def scores(self, candidates):
        """Return what items are sorted by, shape (item, user)."""
        return np.tensordot(candidates.weights, candidates.values, axes=1)

    def fill(self, candidates, k):
        """Return the best items that may be shown, equals in declared order."""
        scores = np.where(candidates.available, self.scores(candidates), -np.inf)
        items = np.full((candidates.n_users, k), NOTHING)
        best = np.argsort(-scores, axis=0, kind="stable")[:k].T
        items[:, : best.shape[1]] = best
        shown = np.arange(k) < candidates.available.sum(axis=0)[:, None]
        return Slates(self.label, candidates.items, np.where(shown, items, NOTHING), np.zeros(len(items), dtype=bool))


@dataclass(frozen=True)
class ForOne(ByTotal):
    """The best items for one stakeholder, whatever its weight."""

    name: ClassVar[str] = "for_one"

    stakeholder: int = 0

    def scores(self, candidates):
        """Return E of the stakeholder."""
        return candidates.values[self.stakeholder]


@dataclass(frozen=True)
class Borda(ByTotal):
    """Sums of ranks, which can be manipulated."""

    name: ClassVar[str] = "borda"

    def scores(self, candidates):
        """Return weighted sums of how many items are worse."""
        values = candidates.values
        return np.tensordot(candidates.weights, (values[:, :, None] > values[:, None]).sum(axis=2), axes=1)


def candidates_of(values, available=None, weights=None):
    """Return candidates with names from E of shape (stakeholder, item, user)."""
    values = np.asarray(values, dtype=float)
    expected = ExpectedRewards(
        values, stakeholders=NAMES[: len(values)], actions=[f"c{c}" for c in range(values.shape[1])]
    )
    return Candidates(expected, available, weights)


def random_candidates(seed, n_users=30, n_items=7, n_stakeholders=3, levels=None):
    """Return E, with few levels for many ties, and some items missing."""
    draw = np.random.default_rng(seed)
    shape = (n_stakeholders, n_items, n_users)
    values = draw.random(shape) if levels is None else draw.integers(0, levels, shape) / levels
    return candidates_of(values, draw.random((n_items, n_users)) < 0.8, [1.0, 2.0, 1.5, 0.5][:n_stakeholders])


def random_market(seed, n=48, n_items=8, n_stakeholders=3):
    """Return a market over three days; users come several times."""
    draw = np.random.default_rng(seed)
    values = draw.random((n_stakeholders, n_items, n))
    catalogue = Catalogue(
        tuple(f"c{c}" for c in range(n_items)),
        tuple(draw.choice(["a", "b", "c"], n_items).tolist()),
        tuple(draw.choice(["p", "q"], n_items).tolist()),
        draw.integers(1, 9, n_items).astype(float),
        draw.choice([1.0, 2.0, np.inf], n_items),
        *(np.full(n_items, np.nan) for _ in range(4)),
    )
    batches = tuple(
        Requests(
            tuple(f"r{t}" for t in range(start, start + n // 4)),
            tuple(f"u{each}" for each in draw.integers(0, n // 3, n // 4)),
            day,
            np.full(n // 4, np.nan),
            np.full(n // 4, np.nan),
            values[0, :, start : start + n // 4],
            draw.integers(0, 2, (n_items, n // 4)).astype(float),
            draw.random((n_items, n // 4)) < 0.9,
            draw.random((n_items, n // 4)) < 0.2,
        )
        for day, start in ((0, 0), (1, n // 4), (1, n // 2), (5, 3 * n // 4))
    )
    names = NAMES[:n_stakeholders]

    def expected(batch, state):
        """Return E by the number in the name of each request."""
        del state
        part = values[:, :, [int(each[1:]) for each in batch.ids]]
        return ExpectedRewards(part, stakeholders=names, actions=catalogue.items)

    return Market(catalogue, names, expected, batches, floors={names[-1]: 0.6}, user_stakeholder=names[0])


def repeated(served, times):
    """Return what was shown with every request as often as given, batch by batch."""
    index = np.repeat(np.arange(len(served.users)), times)
    batches, first = [], 0
    for batch in served.market.batches:
        own = index[(index >= first) & (index < first + batch.n_users)] - first
        batches.append(batch.take(own))
        first += batch.n_users
    slates, candidates = served.slates.take(index), served.candidates.take(index)
    return replace(
        served,
        market=replace(served.market, batches=tuple(batches)),
        slates=slates,
        candidates=candidates,
        gains=gains_of(slates, candidates),
        visits=served.visits[:, index],
        days=served.days[index],
        users=tuple(served.users[t] for t in index),
    )


@pytest.fixture(scope="session")
def served():
    """What four rules showed in one market."""
    market = random_market(1)
    rules = [ByTotal(), *(ForOne(i) for i in range(3))]
    return {name: serve(rule, market, 3) for name, rule in zip(("total", "guest", "town", "inn"), rules, strict=True)}


@pytest.fixture(scope="session")
def slate_rules():
    """Rules of these tests by name."""
    return {"total": ByTotal(), "borda": Borda(), "for one": ForOne()}


@pytest.fixture(scope="session")
def make_candidates():
    """Return the function from E to candidates."""
    return candidates_of


@pytest.fixture(scope="session")
def drawn_candidates():
    """Return the function from a seed to candidates."""
    return random_candidates


@pytest.fixture(scope="session")
def repeat():
    """Return the function that repeats requests."""
    return repeated


@pytest.fixture(scope="session")
def lists_of():
    """Return a function (lists, E, …) → Served that shows exactly these lists of one day."""

    def make(lists, values, available=None, weights=None, capacity=None, users=None, popularity=None):
        candidates = candidates_of(values, available, weights)
        lists = np.asarray(lists)
        n, n_items = len(lists), len(candidates.items)
        slates = Slates("fixed", candidates.items, lists, np.zeros(n, dtype=bool))
        catalogue = Catalogue(
            candidates.items, (None,) * n_items, (None,) * n_items,
            np.ones(n_items) if popularity is None else np.asarray(popularity, dtype=float),
            np.full(n_items, np.inf) if capacity is None else np.asarray(capacity, dtype=float),
            *(np.full(n_items, np.nan) for _ in range(4)),
        )  # fmt: skip
        batch = Requests(
            tuple(f"r{t}" for t in range(n)), users or tuple(f"u{t}" for t in range(n)), 0, np.zeros(n), np.zeros(n),
            candidates.values[0], np.zeros((n_items, n)), np.array(candidates.available),
        )  # fmt: skip
        shown = iter([slates])

        @dataclass(frozen=True)
        class Fixed(ByTotal):
            """The lists as they are."""

            def __call__(self, candidates, k, *, state=None, threads=None):
                """Return the lists."""
                return next(shown)

        given = dict(zip(candidates.stakeholders, [1.0] * 4 if weights is None else weights, strict=False))
        market = Market(catalogue, candidates.stakeholders, lambda batch, state: candidates.expected, (batch,), given)
        return serve(Fixed(), market, lists.shape[1])

    return make
