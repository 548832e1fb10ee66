"""Rules against scikit-criteria and pymcdm, where the two fields define the same thing.

Multi-criteria decision analysis calls actions alternatives and stakeholders criteria. Its weighted sum, weighted
product and VIKOR's two measures (S: weighted L1, R: weighted L∞ distance from the ideal point) are rules of ours.
"""

from __future__ import annotations

import importlib
import sys
import warnings

import numpy as np
import pytest

from accordant import strategies
from accordant.utilities import ExpectedRewards

N = 150
WEIGHTS = np.array([0.5, 0.2, 0.3])


@pytest.fixture(scope="module")
def matrices():
    """Random contexts without ties, every stakeholder's rewards reaching 0 and 1 for VIKOR's normalisation."""
    values = np.random.default_rng(0).uniform(0.05, 1.0, size=(3, 4, N))
    return (values - values.min(axis=1, keepdims=True)) / np.ptp(values, axis=1)[:, None] * 0.9 + 0.1


def decide(name, values, **parameters):
    E = ExpectedRewards(values, stakeholders=list("xyz"), actions=list("abcd"))
    return strategies.create(name, {"weights": tuple(WEIGHTS), **parameters})(E)


@pytest.mark.long
@pytest.mark.parametrize(("name", "model"), [
    ("utilitarian", "WeightedSumModel"), ("nash_social_welfare", "WeightedProductModel")
])  # fmt: skip
def test_scikit_criteria_weighted_models(matrices, name, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own dependencies
        import skcriteria
        from skcriteria.agg import simple
    importlib.metadata = sys.modules["importlib.metadata"]  # scikit-criteria deletes this attribute
    ours = decide(name, matrices)
    for t in range(N):
        problem = skcriteria.mkdm(matrices[:, :, t].T, [max] * 3, weights=WEIGHTS)
        theirs = getattr(simple, model)().evaluate(problem)
        assert ours.codes[t] == np.argmin(theirs.rank_)
        scale = np.log(10) if model == "WeightedProductModel" else 1.0  # it takes logarithms to base 10
        np.testing.assert_allclose(ours.scores[:, t], np.asarray(theirs.e_["score"]) * scale, rtol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("name", "model"), [("utilitarian", "WSM"), ("nash_social_welfare", "WPM")])
def test_pymcdm_weighted_models(matrices, name, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own dependencies
        import pymcdm.methods

    method = getattr(pymcdm.methods, model)(normalization_function=lambda column, cost: column)
    ours = decide(name, matrices)
    for t in range(N):
        *_, theirs = method._method(matrices[:, :, t].T, WEIGHTS, np.ones(3))  # calling it warns of dominated actions
        said = np.exp(ours.scores[:, t]) if model == "WPM" else ours.scores[:, t]
        np.testing.assert_allclose(said, theirs, rtol=1e-9)


@pytest.mark.long
def test_vikor_measures_are_distances_of_compromise_programming(matrices):
    from pymcdm.methods import VIKOR

    method = VIKOR()
    total, largest = (decide("compromise_programming", matrices, exponent=p) for p in (1.0, np.inf))
    regret = decide("minimax_regret", matrices)
    for t in range(N):
        *_, S, R, _ = method._method(matrices[:, :, t].T, WEIGHTS, np.ones(3))
        np.testing.assert_allclose(-total.scores[:, t], 0.9 * S, rtol=1e-9)  # rewards span 0.9 here
        np.testing.assert_allclose(-largest.scores[:, t], 0.9 * R, rtol=1e-9)
        np.testing.assert_allclose(-regret.scores[:, t], 0.9 * R, rtol=1e-9)
