"""Relevance, diversity, novelty."""

from fractions import Fraction

import numpy as np
import pytest

from accordant.slates.objectives import objectives


def slow_diversity(catalogue, requests, state, shown):
    """1 − share, one user and item at a time, in exact numbers."""

    def share(amounts, category):
        total = sum(n for c, n in amounts if catalogue.category[c] is not None)
        return None if not total else Fraction(sum(n for c, n in amounts if catalogue.category[c] == category), total)

    lately = [(int(c), 1) for c in state.slates.ravel() if c >= 0]
    found = np.full((catalogue.n_items, requests.n_users), np.nan)
    for c, category in enumerate(catalogue.category):
        for u in range(requests.n_users):
            if category is None:
                continue
            had = share([(j, int(n)) for j, n in enumerate(requests.history[:, u])], category)
            seen = share(lately, category)
            parts = [(1 - shown, had), (shown, seen)]
            weights = sum(w for w, part in parts if part is not None)
            mixed = sum(w * part for w, part in parts if part is not None)
            found[c, u] = 1 - (mixed / weights if weights else 0)
    return found


class TestDiversity:
    @pytest.mark.parametrize("shown", [Fraction(0), Fraction(1, 4), Fraction(1)])
    @pytest.mark.parametrize("seed", range(6))
    def test_brute_force(self, world, seed, shown):
        catalogue, requests, state = world(seed)
        found = objectives.create("diversity", {"shown": float(shown)}).scores(catalogue, requests, state)
        np.testing.assert_allclose(found, slow_diversity(catalogue, requests, state, shown), atol=1e-12)

    def test_nothing_is_known(self, make_catalogue, make_requests, make_state):
        categories = make_catalogue(category=("a", "b", None))
        found = objectives.create("diversity").scores(categories, make_requests(), make_state())
        assert (found[:2] == 1).all()
        assert np.isnan(found[2]).all()
        assert np.isnan(objectives.create("diversity").scores(make_catalogue(), make_requests(), make_state())).all()

    def test_history_alone_while_nothing_was_shown(self, make_catalogue, make_requests, make_state):
        requests = make_requests(history=[[3, 0], [1, 0], [0, 0]])
        found = objectives.create("diversity").scores(make_catalogue(category=("a", "b", "c")), requests, make_state())
        assert found.tolist() == [[0.25, 1], [0.75, 1], [1, 1]]


def test_novelty(make_requests):
    found = objectives.create("novelty").scores(None, make_requests(history=[[2, 0], [0, 0], [1, 0]]), None)
    assert found.tolist() == [[0, 1], [1, 1], [0, 1]]


def test_relevance_is_what_was_predicted(make_requests):
    requests = make_requests(relevance=[[0.2, 1], [0, 0], [1, 0.5]])
    assert np.array_equal(objectives.create("relevance").scores(None, requests, None), requests.relevance)
