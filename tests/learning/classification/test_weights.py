"""Weights of the average: exact on the simplex, cautious about the best, few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from accordant.learning.classification.brier import brier_contributions
from accordant.learning.classification.blend import (
    MOST_MODELS,
    SHARE_OF_BEST,
    SMALLEST_WEIGHT,
    blend_weights,
    simplex_weights,
)


def _predictions(seed: int, n_candidates: int, n: int = 300):  # type: ignore[no-untyped-def]
    """Candidates that know the truth up to noise of their own, (candidate, n, 3), and what happened, (n,)."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet([4, 2, 1], n)
    codes = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    spread = rng.uniform(0.02, 0.3, n_candidates)
    noise = rng.dirichlet([1, 1, 1], (n_candidates, n))
    return (1 - spread[:, None, None]) * truth + spread[:, None, None] * noise, codes.astype(np.intp)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_simplex_weights_against_a_general_solver(seed: int, n_candidates: int) -> None:
    p, codes = _predictions(seed, n_candidates)
    residuals = p - np.eye(3)[codes]
    weights = simplex_weights(residuals)
    assert np.all(weights >= 0)
    assert weights.sum() == pytest.approx(1, abs=1e-12)

    def score(w):  # type: ignore[no-untyped-def]
        return float((np.tensordot(w, residuals, axes=1) ** 2).sum(axis=1).mean())

    start = np.full(n_candidates, 1 / n_candidates)
    theirs = minimize(
        score,
        start,
        method="SLSQP",
        bounds=[(0, 1)] * n_candidates,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert score(weights) <= theirs.fun + 1e-7


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.0, 1.0, 2.0, 50.0]))
def test_the_best_leads_and_few_take_part(seed: int, n_candidates: int, tolerance: float) -> None:
    p, codes = _predictions(seed, n_candidates)
    weights = blend_weights(p, codes, tolerance)
    scores = [brier_contributions(each, codes).mean() for each in p]
    best = int(np.argmin(scores))
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert weights[best] >= SHARE_OF_BEST - 1e-12
    assert 1 <= np.count_nonzero(weights) <= MOST_MODELS
    assert weights[weights > 0].min() >= SMALLEST_WEIGHT
    assert tolerance > 0 or weights[best] == 1.0
    for candidate in np.flatnonzero(weights):
        gap = brier_contributions(p[candidate], codes) - brier_contributions(p[best], codes)
        assert gap.mean() <= tolerance * gap.std(ddof=1) / np.sqrt(len(gap)) + 1e-15


def test_the_average_beats_the_best_of_candidates_with_errors_of_their_own() -> None:
    rng = np.random.default_rng(2)
    truth = np.full(4000, 0.3)
    ones = (rng.random(4000) < truth).astype(np.intp)
    guesses = (truth + rng.choice([-0.2, 0.2], (3, 4000))).clip(0, 1)
    p = np.stack([1 - guesses, guesses], axis=2)
    weights = blend_weights(p[:, :2000], ones[:2000], 2.0)
    average = np.tensordot(weights, p[:, 2000:], axes=1)
    assert np.count_nonzero(weights) > 1
    assert (
        brier_contributions(average, ones[2000:]).mean()
        < min(brier_contributions(each, ones[2000:]).mean() for each in p[:, 2000:]) - 0.01
    )


def test_equal_and_perfect_candidates_and_a_single_row() -> None:
    p, codes = _predictions(1, 1)
    np.testing.assert_allclose(blend_weights(np.vstack([p, p]), codes, 2.0), [0.75, 0.25], atol=1e-6)
    perfect = np.eye(3)[codes][None]
    np.testing.assert_allclose(blend_weights(np.vstack([p, perfect]), codes, 2.0), [0, 1], atol=1e-6)
    np.testing.assert_allclose(blend_weights(np.vstack([perfect, perfect]), codes, 2.0), [0.75, 0.25], atol=1e-6)
    assert blend_weights(np.vstack([p, p])[:, :1], codes[:1], 2.0).tolist() == [1.0, 0.0]
    np.testing.assert_allclose(blend_weights(np.vstack([p, p])[:, :2], codes[:2], 2.0), [0.75, 0.25], atol=1e-6)
