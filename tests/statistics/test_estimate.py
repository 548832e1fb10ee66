"""Standard errors of means, alone and in clusters, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.statistics import Estimate
from accordant.statistics.estimate import standard_error

VALUES = np.array([[1.0, 2.0, 4.0, 9.0, 4.0], [0.0, 1.0, 1.0, 0.0, 3.0]])


def test_independent_units_have_the_error_of_a_mean():
    expected = [np.sqrt(((row - row.mean()) ** 2).sum() / 4 / 5) for row in VALUES]
    assert standard_error(VALUES) == pytest.approx(expected)
    assert standard_error(VALUES, np.array([4, 0, 7, 1, 2])) == pytest.approx(expected)


def test_clusters_vary_as_wholes():
    """Means 4 and 1; sums of deviations by cluster: −3 + 5, −2 + 0, 0 and −1 − 1, 0 + 2, 0."""
    assert standard_error(VALUES, np.array([3, 9, 5, 3, 9])) == pytest.approx(
        [np.sqrt(3 / 2 * (2**2 + 2**2)) / 5, np.sqrt(3 / 2 * (2**2 + 2**2)) / 5]
    )
    assert standard_error(VALUES[0], np.array([0, 0, 0, 1, 1])) == pytest.approx(np.sqrt(2 * (5**2 + 5**2)) / 5)


def test_one_unit_or_one_cluster_has_no_error():
    assert np.isnan(standard_error(VALUES[:, :1])).tolist() == [True, True]
    assert np.isnan(standard_error(VALUES, np.full(5, 3))).tolist() == [True, True]
    assert standard_error(VALUES[:, :2]) == pytest.approx([0.5, 0.5])


def test_an_estimate_is_written_with_its_interval():
    assert str(Estimate(0.25)) == "0.250"
    assert str(Estimate(0.25, 0.1, 0.45)) == "0.250 [0.100, 0.450]"
    assert str(Estimate(None, reason="nothing was seen")) == "not defined"
    assert Estimate(0.25, 0.1, 0.45, 0.95, 7).to_json() == {
        "value": 0.25, "low": 0.1, "high": 0.45, "level": 0.95, "n": 7, "undefined": None, "reason": "",
    }  # fmt: skip
