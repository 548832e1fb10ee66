"""Shares over resamples: a plain twin, equals, unranked strategies, and the point shares as a limit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.evaluation.weighting import sampling_error, weight_regions

ALL = np.ones(4, dtype=bool)


def slow(normalised, weights):
    """Return shares per resample and strategy, vector by vector; equals share."""
    found = np.zeros(normalised.shape[:2])
    for b, rows in enumerate(normalised):
        for point in weights:
            scores = [sum(w * v for w, v in zip(point, row, strict=True)) for row in rows]
            known = [score for score in scores if score == score]
            best = [s for s, score in enumerate(scores) if known and score >= max(known) - 1e-12]
            for s in best:
                found[b, s] += 1 / len(best) / len(weights)
    return found


def test_against_a_plain_twin():
    generator = np.random.default_rng(0)
    normalised, weights = generator.random((6, 4, 3)), generator.dirichlet(np.ones(3), 50)
    normalised[1, 2, 0] = np.nan
    normalised[2, 1] = normalised[2, 0]
    normalised[3] = np.nan
    found = sampling_error(normalised, "abcd", weights, ALL, level=0.9)
    shares = slow(normalised, weights)
    for each in found.strategies:
        s = "abcd".index(each.strategy)
        assert each.share == pytest.approx(shares[:, s].mean())
        assert each.unranked == pytest.approx(np.isnan(normalised[:, s]).any(axis=1).mean())
        assert (each.low, each.high) == pytest.approx(tuple(np.quantile(shares[:, s], [0.05, 0.95])))
    assert [each.share for each in found.strategies] == sorted((each.share for each in found.strategies), reverse=True)


def test_without_sampling_error_the_shares_are_those_of_the_regions():
    rows = np.array([[1, 0, 0.2], [0, 1, 0.1], [0.2, 0.1, 1], [0.6, 0.6, 0.6]])
    weights = np.random.default_rng(1).dirichlet(np.ones(3), 20_000)
    found = sampling_error(np.repeat(rows[None], 3, axis=0), "abcd", weights, ALL)
    exact = weight_regions(rows, "abcd", ("x", "y", "z"), (1, 1, 1))
    for each in found.strategies:
        assert each.share == pytest.approx(exact[each.strategy].share, abs=0.012)
        assert each.low == pytest.approx(each.share) == pytest.approx(each.high)


def test_only_candidates_can_win():
    rows = np.random.default_rng(2).random((5, 4, 2))
    rows[:, 0] = 2.0
    weights = np.random.default_rng(3).dirichlet(np.ones(2), 100)
    found = sampling_error(rows, "abcd", weights, np.array([False, True, True, True]))
    assert {each.strategy for each in found.strategies} == set("bcd")
    assert sum(each.share for each in found.strategies) == pytest.approx(1)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["draws"] == 100


def test_nothing_to_look_at_is_refused():
    weights = np.array([[0.5, 0.5]])
    with pytest.raises(InputError, match="at least one resample"):
        sampling_error(np.zeros((0, 4, 2)), "abcd", weights, ALL)
    with pytest.raises(InputError, match="one candidate"):
        sampling_error(np.zeros((3, 4, 2)), "abcd", weights, ~ALL)
