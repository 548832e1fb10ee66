"""Alternating least squares against dense normal equations, an independent library, and what it must find."""

import numpy as np
import pytest

from accordant.slates.relevance import Interactions, create
from accordant.slates.relevance.counts import Rows
from accordant.slates.relevance.factorisation import Factorisation, solve_factors


def dense_step(others, counts, alpha, regularisation):
    """Return x_u = (Yᵀ C_u Y + λI)⁻¹ Yᵀ C_u p_u with every entry of C_u written out."""
    found = []
    for row in counts:
        confidence, wanted = np.diag(1 + alpha * row), (row > 0).astype(float)
        left = others.T @ confidence @ others + regularisation * np.eye(others.shape[1])
        found.append(np.linalg.solve(left, others.T @ confidence @ wanted))
    return np.array(found)


def dense_loss(counts, users, items, alpha, regularisation):
    total = regularisation * ((users**2).sum() + (items**2).sum())
    for u, row in enumerate(counts):
        for c, count in enumerate(row):
            total += (1 + alpha * count) * ((count > 0) - users[u] @ items[c]) ** 2
    return total


@pytest.fixture(scope="module")
def counts(make_interactions):
    return Rows.of(make_interactions(7))


RULE = Factorisation(factors=3, alpha=2.0, regularisation=0.5, iterations=6)


class TestAlternation:
    def test_dense_twin(self, counts):
        first = np.random.default_rng(1).random((8, 3))
        users, items = RULE.alternate(counts, first)
        expected = first
        for _ in range(6):
            mine = dense_step(expected, counts.dense, 2.0, 0.5)
            expected = dense_step(mine, counts.dense.T, 2.0, 0.5)
        np.testing.assert_allclose(users, mine, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(items, expected, rtol=1e-8, atol=1e-12)

    def test_loss_is_what_it_says_and_never_rises(self, counts):
        first = np.random.default_rng(2).random((8, 3))
        before = np.inf
        for iterations in range(1, 8):
            rule = Factorisation(factors=3, alpha=2.0, regularisation=0.5, iterations=iterations)
            users, items = rule.alternate(counts, first)
            loss = rule.loss(counts, users, items)
            assert loss == pytest.approx(dense_loss(counts.dense, users, items, 2.0, 0.5))
            assert loss <= before + 1e-9
            before = loss

    def test_a_step_is_the_minimum(self, counts):
        """No small change of a user's factors lowers the loss."""
        rng = np.random.default_rng(3)
        items = rng.random((8, 3))
        users = solve_factors(items, [(at, 1 + 2.0 * n) for at, n in counts], 0.5)
        best = RULE.loss(counts, users, items)
        for _ in range(20):
            assert RULE.loss(counts, users + 1e-3 * rng.normal(size=users.shape), items) > best

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_independent_library(self, counts, extra):
        """`implicit` 0.7.3 (Frederickson) takes confidences where this takes counts, and works in single precision."""
        als = extra("implicit.cpu.als")
        from scipy.sparse import csr_matrix

        rng = np.random.default_rng(4)
        users, items = rng.random((12, 3)), rng.random((8, 3))
        theirs = als.AlternatingLeastSquares(
            factors=3, regularization=0.5, alpha=1.0, use_cg=False, iterations=6, num_threads=1, dtype=np.float64
        )
        theirs.user_factors, theirs.item_factors = users.copy(), items.copy()
        confidence = np.where(counts.dense > 0, 1 + 2.0 * counts.dense, 0.0)
        theirs.fit(csr_matrix(confidence.astype(np.float32)), show_progress=False)
        found = RULE.alternate(counts, items)
        np.testing.assert_allclose(found[0], theirs.user_factors, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(found[1], theirs.item_factors, rtol=1e-4, atol=1e-6)


class TestFitted:
    def test_requests_are_folded_in(self, make_interactions, make_catalogue):
        rows = make_interactions(7)
        found = RULE.fit(rows, make_catalogue(8))
        dense = Rows.of(rows).dense
        known = int(dense[2].argmax())  # one more of what the user consumed before
        for user, start in ((0, -1), (2, 5), (2, known), (-1, 3)):
            history = np.zeros(8) if user < 0 else dense[user].copy()
            if start >= 0:
                history[start] += 1
            vector = dense_step(found.factors, history[None], 2.0, 0.5)[0]
            np.testing.assert_allclose(found.scores([user], [start])[:, 0], np.maximum(0, found.factors @ vector))

    def test_a_start_that_nobody_consumed_says_nothing(self, make_interactions, make_catalogue):
        rows = make_interactions(7)
        assert np.array_equal(RULE.fit(rows, make_catalogue(8)).scores([-1], [7])[:, 0], rows.reach)

    def test_two_kinds_of_users(self, make_catalogue):
        users = np.repeat(np.arange(20), 3)
        items = np.array([np.random.default_rng(u).permutation(4)[:3] + 4 * (u % 2) for u in range(20)]).ravel()
        found = Factorisation(factors=2, regularisation=0.1).fit(
            Interactions.of(20, 8, users, items), make_catalogue(8)
        )
        scores = found.scores([0, 1, -1, -1], [-1, -1, 2, 6])
        assert (scores[:4, [0, 2]].min(axis=0) > scores[4:, [0, 2]].max(axis=0)).all()
        assert (scores[4:, [1, 3]].min(axis=0) > scores[:4, [1, 3]].max(axis=0)).all()

    def test_another_seed_is_another_beginning(self, make_interactions, make_catalogue):
        one, other = (
            create("factorisation", {"seed": seed, "iterations": 1}).fit(make_interactions(), make_catalogue(8))
            for seed in (0, 1)
        )
        assert not np.allclose(one.factors, other.factors)
