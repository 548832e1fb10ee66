"""Scaling: the unit of a feature changes nothing that is learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.preferences.comparison.methods import scale_features
from accordant.preferences.learners.shrinkage import PerUser


def test_differences_of_training_records_have_the_mean_square_of_standard_normal_items(opposed):
    rows = np.arange(0, len(opposed), 2)
    one, own = (scale_features(opposed, rows, each=each) for each in (False, True))
    assert (own.differences(rows) ** 2).mean(axis=0) == pytest.approx([2, 2, 2])
    assert (one.differences(rows) ** 2).mean() == pytest.approx(2)
    ratio = one.features / opposed.features
    assert np.ptp(ratio) == pytest.approx(0, abs=1e-12)


def test_units_do_not_matter_to_a_learner_with_a_prior(opposed):
    rows = np.arange(len(opposed))
    learned = []
    for units in ([1, 1, 1], [1000, 0.01, 3]):
        records = scale_features(replace(opposed, features=opposed.features * np.array(units)), rows, each=True)
        learned.append(PerUser().fit(records).margins(records))
    np.testing.assert_allclose(*learned, rtol=1e-6)


def test_a_feature_that_never_differs_stays_and_other_rows_are_not_looked_at(opposed):
    features = np.column_stack([opposed.features, np.ones(len(opposed.features))])
    records, rows = replace(opposed, features=features), np.arange(50)
    found = scale_features(records, rows, each=True)
    assert (found.features[:, 3] == 1).all()
    elsewhere = features.copy()
    outside = np.setdiff1d(np.arange(len(features)), np.concatenate([opposed.chosen[rows], opposed.rejected[rows]]))
    elsewhere[outside] *= 100
    again = scale_features(replace(records, features=elsewhere), rows, each=True)
    np.testing.assert_array_equal(again.differences(rows), found.differences(rows))


@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("power", [-900, -660, 660, 1000])
def test_huge_and_tiny_units_change_nothing(opposed, each, power):
    rows = np.arange(0, len(opposed), 2)
    found = scale_features(replace(opposed, features=np.ldexp(opposed.features, power)), rows, each=each)
    np.testing.assert_array_equal(found.features, scale_features(opposed, rows, each=each).features)
