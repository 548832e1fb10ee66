"""Where the curves of the default classifiers may bend."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.learning.classification import default_candidates


@pytest.mark.parametrize(
    ("name", "quantiles"),
    [("logistic", []), ("logistic-hinges", [0.2, 0.4, 0.6, 0.8]), ("logistic-pairs", [0.5])],
)
def test_log_odds_change_their_course_at_these_quantiles_of_a_feature(name: str, quantiles: list[float]) -> None:
    """Between them they are lines, or of products of two columns parabolas."""
    x = np.linspace(0.0, 1.0, 101)[:, None]
    chances = 0.5 + 0.4 * np.sin(9 * x[:, 0])
    y = np.random.default_rng(0).random((20, 101)) < chances
    (candidate,) = (each for each in default_candidates(1) if each.name == name)
    fitted = candidate.estimator.fit(np.tile(x, (20, 1)), y.ravel().astype(int))
    p = fitted.predict_proba(x)
    bends = np.diff(np.log(p[:, 1] / p[:, 0]), 2)
    changes = np.flatnonzero(np.abs(np.diff(bends)) > 1e-6)
    assert sorted({round(0.015 + 0.01 * change, 1) for change in changes.tolist()}) == quantiles
