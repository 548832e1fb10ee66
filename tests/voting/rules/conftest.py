"""Random ballots full of ties, and pref_voting as an oracle."""

from __future__ import annotations

import importlib
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from accordant.voting import Profile

ORACLE_MODULES = (
    "c1_methods", "grade_methods", "grade_profiles", "iterative_methods", "margin_based_methods", "other_methods",
    "probabilistic_methods", "profiles", "profiles_with_ties", "scoring_methods",
)  # fmt: skip


@pytest.fixture(scope="session")
def random_profile():
    """Return a function that draws a profile of many contexts: weak orders with gaps, or strict ones."""

    def draw(generator, n_voters, n_alternatives, n_contexts, weights=None, *, strict=False, truncated=False):
        shape = (n_voters, n_alternatives, n_contexts)
        ranks = generator.integers(-1, n_alternatives, size=shape)
        if strict or truncated:
            ranks = generator.random(shape).argsort(axis=1).argsort(axis=1)
        if truncated:
            length = generator.integers(1, n_alternatives + 1, size=(n_voters, 1, n_contexts))
            ranks = np.where(ranks < length, ranks, -1)
        return Profile(ranks, weights)

    return draw


@pytest.fixture(scope="session")
def oracle():
    """The modules of pref_voting and conversions to its profiles; its imports emit deprecations of others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        modules = {name: importlib.import_module(f"pref_voting.{name}") for name in ORACLE_MODULES}

    def strict(profile, context=0):
        """Strict complete ballots."""
        orders = profile.ranks[:, :, context].argsort(axis=1).tolist()
        return modules["profiles"].Profile(orders, [int(weight) for weight in profile.weights])

    def weak(profile, context=0):
        """Weak orders of all alternatives."""
        maps = [dict(enumerate((row + 1).tolist())) for row in profile.ranks[:, :, context]]
        return _with_ties(maps, profile)

    def truncated(profile, context=0):
        """Strict orders without the last, which is tied or single, of each ballot."""
        maps = []
        for row in profile.ranks[:, :, context]:
            kept = row < row.max() if (row == row.max()).sum() > 1 else row <= row.max()
            maps.append({a: int(rank) + 1 for a, rank in enumerate(row) if kept[a]})
        return _with_ties(maps, profile)

    def _with_ties(maps, profile):
        counts = [int(weight) for weight in profile.weights]
        made = modules["profiles_with_ties"].ProfileWithTies(maps, counts, candidates=range(len(profile.alternatives)))
        made.use_extended_strict_preference()
        return made

    return SimpleNamespace(**modules, strict=strict, weak=weak, truncated=truncated)
