"""Accuracy against the support rate: the worked example, and numpy and scipy as oracles."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import ranks, support_relation

ACCURACY = np.array([0.9, 0.8, 0.8, 0.5])
SUPPORT = np.array([0.8, 0.7, 0.6, 0.2])


def test_worked_example():
    found = support_relation(ACCURACY, SUPPORT)
    assert found.pearson == pytest.approx(0.987878, abs=5e-7)
    assert found.slope == pytest.approx(0.650602, abs=5e-7)
    assert found.intercept == pytest.approx(0.75 - 0.650602 * 0.575, abs=5e-7)
    # ranks 4, 2½, 2½, 1 against 4, 3, 2, 1
    assert found.spearman == pytest.approx(4.5 / np.sqrt(4.5 * 5))


@pytest.mark.parametrize("seed", range(5))
def test_against_scipy(seed):
    from scipy import stats

    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 5, 20) / 5, rng.integers(0, 4, 20) / 4
    found = support_relation(one, other)
    line = stats.linregress(other, one)
    assert found.pearson == pytest.approx(stats.pearsonr(one, other).statistic)
    assert found.spearman == pytest.approx(stats.spearmanr(one, other).statistic)
    assert (found.slope, found.intercept) == (pytest.approx(line.slope), pytest.approx(line.intercept))
    np.testing.assert_array_equal(ranks(one), stats.rankdata(one))


def test_users_without_a_support_rate_are_counted():
    found = support_relation(np.append(ACCURACY, 0.1), np.append(SUPPORT, np.nan))
    assert found.excluded == 1 and found.n_users == 4
    assert found.pearson == support_relation(ACCURACY, SUPPORT).pearson
    with pytest.raises(InputError, match="no user"):
        support_relation(ACCURACY, np.full(4, np.nan))


def test_what_does_not_vary_has_no_correlation():
    level = support_relation(np.full(3, 0.1), SUPPORT[:3])
    assert level.pearson is None and level.spearman is None and level.slope == pytest.approx(0)
    upright = support_relation(ACCURACY, np.full(4, 0.3))
    assert (upright.pearson, upright.spearman, upright.slope, upright.intercept) == (None,) * 4
    assert support_relation(ACCURACY[:1], SUPPORT[:1]).to_json()["slope"] is None


def test_wrong_input():
    with pytest.raises(InputError, match=r"support has shape \(4, 1\)"):
        support_relation(ACCURACY, SUPPORT[:, None])
    with pytest.raises(InputError, match="finite"):
        support_relation(ACCURACY, np.append(SUPPORT[:3], np.inf))
