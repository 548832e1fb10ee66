"""Evenly drawn weights."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.evaluation.weighting.choices import drawn_weights, wins_of


def test_weights_are_even_on_the_simplex():
    weights = drawn_weights(3, 40_000, np.random.default_rng(0))
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (weights.mean(axis=0) == pytest.approx(np.full(3, 1 / 3), abs=0.005)) and (weights >= 0).all()
    assert (weights[:, 0] >= 0.5).mean() == pytest.approx(0.25, abs=0.01)


def test_wins_are_counted_in_blocks(monkeypatch):
    generator = np.random.default_rng(1)
    rows, weights = generator.random((7, 3)), generator.dirichlet(np.ones(3), 101)
    counts = np.bincount([int(np.argmax(rows @ each)) for each in weights], minlength=7)
    assert wins_of(rows, weights).tolist() == counts.tolist()
    monkeypatch.setattr("accordant.evaluation.weighting.choices.BLOCK", 70)
    assert wins_of(rows, weights).tolist() == counts.tolist()
