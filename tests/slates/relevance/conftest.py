"""Small interactions with a catalogue that knows categories and positions."""

import numpy as np
import pytest

from accordant.slates.catalogue import Catalogue
from accordant.slates.relevance import Interactions


def catalogue_of(n_items, known=True):
    nothing = np.full(n_items, np.nan)
    return Catalogue(
        tuple(f"item{c}" for c in range(n_items)), tuple("ab"[c % 2] if known else None for c in range(n_items)),
        (None,) * n_items, np.zeros(n_items), np.full(n_items, np.inf),
        np.linspace(55.9, 56.0, n_items) if known else nothing, np.full(n_items, -3.2) if known else nothing, nothing,
        nothing,
    )  # fmt: skip


def interactions_of(seed=0, n_users=12, n_items=8, n_rows=60):
    """Return random rows; the last user and the last item have none."""
    rng = np.random.default_rng(seed)
    users, items = rng.integers(0, n_users - 1, n_rows), rng.integers(0, n_items - 1, n_rows)
    return Interactions.of(
        n_users, n_items, users, items, counts=rng.integers(1, 4, n_rows),
        starts=rng.integers(-1, n_items - 1, n_rows), times=rng.permutation(n_rows),
    )  # fmt: skip


@pytest.fixture(scope="session")
def make_catalogue():
    """Return a function from a number of items to a catalogue."""
    return catalogue_of


@pytest.fixture(scope="session")
def make_interactions():
    """Return a function from a seed to interactions."""
    return interactions_of
