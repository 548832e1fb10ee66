"""Transitions and neighbours against plain loops."""

import math
from fractions import Fraction

import numpy as np
import pytest

from accordant.slates.relevance import Interactions, create


class TestTransitions:
    @pytest.mark.parametrize("smoothing", [1, 20])
    def test_in_exact_numbers(self, make_interactions, make_catalogue, smoothing):
        rows = make_interactions(3)
        found = create("transitions", {"smoothing": float(smoothing)}).fit(rows, make_catalogue(8))
        triples = [(int(s), int(c), int(n)) for s, c, n in zip(rows.starts, rows.items, rows.counts, strict=True)]
        total = sum(n for _, _, n in triples)
        for start in range(-1, 8):
            after = sum(n for s, _, n in triples if s == start and start >= 0)
            for item in range(8):
                prior = Fraction(sum(n for _, c, n in triples if c == item), total)
                both = sum(n for s, c, n in triples if s == start and c == item and start >= 0)
                expected = (both + smoothing * prior) / (after + smoothing)
                assert found.scores([-1], [start])[item, 0] == pytest.approx(float(expected))

    def test_chances_sum_to_one(self, make_interactions, make_catalogue):
        found = create("transitions").fit(make_interactions(), make_catalogue(8))
        assert found.scores([-1] * 9, range(-1, 8)).sum(axis=0) == pytest.approx([1] * 9)

    def test_what_follows_comes_first(self, make_catalogue):
        rows = Interactions.of(2, 3, [0, 0, 1, 1, 1], [1, 1, 1, 2, 2], starts=[-1, -1, -1, 0, 0])
        found = create("transitions", {"smoothing": 1.0}).fit(rows, make_catalogue(3))
        assert found.relevance([-1, -1], [0, -1]).argmax(axis=0).tolist() == [2, 1]


def slow_similarity(dense, shrinkage):
    logs, n = np.log1p(dense), dense.shape[1]
    found = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            dot = sum(logs[u, i] * logs[u, j] for u in range(len(dense)))
            norm = math.sqrt(sum(x * x for x in logs[:, i])) * math.sqrt(sum(x * x for x in logs[:, j]))
            shared = sum(1 for u in range(len(dense)) if dense[u, i] and dense[u, j])
            if i != j and shared:
                found[i][j] = dot / norm * shared / (shared + shrinkage)
    return np.array(found)


class TestNeighbours:
    @pytest.mark.parametrize("shrinkage", [0.0, 5.0])
    @pytest.mark.parametrize("neighbours", [2, 50])
    def test_brute_force(self, make_interactions, make_catalogue, neighbours, shrinkage):
        rows = make_interactions(1)
        found = create("neighbours", {"neighbours": neighbours, "shrinkage": shrinkage}).fit(rows, make_catalogue(8))
        dense = found.history.dense
        counts = np.zeros((12, 8))
        for user, item, count in zip(rows.users, rows.items, rows.counts, strict=True):
            counts[user, item] += count
        np.testing.assert_allclose(dense, np.log1p(counts))
        similarity = slow_similarity(counts, shrinkage)
        for item in range(8):
            kept = sorted(range(8), key=lambda j: (-similarity[item, j], j))[:neighbours]
            for user, start in ((0, -1), (4, 3), (-1, 5)):
                expected = sum(similarity[item, j] * dense[user, j] for j in kept if user >= 0)
                expected += similarity[item, start] if start in kept else 0.0
                assert found.scores([user], [start])[item, 0] == pytest.approx(expected)

    def test_same_users_make_neighbours(self, make_catalogue):
        rows = Interactions.of(5, 4, [0, 0, 1, 1, 2, 2, 3, 4], [0, 1, 0, 1, 2, 3, 3, 3])
        found = create("neighbours").fit(rows, make_catalogue(4))
        assert found.relevance([-1, -1, 3], [0, 2, -1]).argmax(axis=0).tolist() == [1, 3, 2]


def test_popular_counts(make_catalogue):
    rows = Interactions.of(2, 3, [0, 1, 1], [2, 2, 0], counts=[1, 2, 1])
    assert create("popular").fit(rows, make_catalogue(3)).scores([0, -1], [1, -1]).tolist() == [[1, 1], [0, 0], [3, 3]]
