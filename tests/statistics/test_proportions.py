"""Intervals of shares against published values, and their coverage in binomial worlds."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.statistics import bounded, newcombe, ratio, spread, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (10, 10, 0.7225, 1), (0, 10, 0, 0.2775), (1, 2, 0.0945, 0.9055)],
)
def test_wilson_interval(successes, trials, low, high):
    """Values of statsmodels.stats.proportion.proportion_confint(method="wilson")."""
    assert wilson(successes / trials, trials, 0.95) == pytest.approx((low, high), abs=5e-5)


def test_wilson_limits_solve_their_equation():
    """At each limit p, the share is z standard errors of p away from p."""
    for limit in wilson(37 / 120, 120, 0.9):
        assert abs(37 / 120 - limit) / np.sqrt(limit * (1 - limit) / 120) == pytest.approx(1.6448536, abs=1e-6)
    low, high = wilson(1.0, 7, 0.9)
    assert high == 1.0
    assert wilson(0.0, 7, 0.9) == (0.0, pytest.approx(1 - low))
    with pytest.raises(InputError, match="level is 1"):
        wilson(0.5, 2, 1)


def test_newcombe_gives_the_published_intervals():
    """Newcombe 1998, Table II, method 10: (a) 56/70 − 48/80, (d) 9/10 − 3/10, (g) 10/10 − 0/10."""
    for first, second, limits in [
        ((56 / 70, 70), (48 / 80, 80), (0.0524, 0.3339)),
        ((9 / 10, 10), (3 / 10, 10), (0.1705, 0.8090)),
        ((1.0, 10), (0.0, 10), (0.6075, 1.0)),
    ]:
        assert newcombe(*first, *second) == pytest.approx(limits, abs=5e-5)


@pytest.mark.parametrize("truth", [(0.99, 0.99), (0.998, 0.98), (0.5, 0.5, 0.5), (0.9, 0.7, 0.95, 0.99), (0.02, 0.05)])
@pytest.mark.parametrize("interval", [spread, ratio])
def test_intervals_of_extremes_cover(truth, interval):
    """4,000 draws of small groups; the standard error of a coverage of .95 is .0034."""
    generator, n = np.random.default_rng(0), np.array([60, 90, 40, 70][: len(truth)])
    shares = generator.binomial(n, truth, size=(4000, len(truth))) / n
    low, high = interval(shares, np.broadcast_to(n, shares.shape))
    aim = max(truth) - min(truth) if interval is spread else min(truth) / max(truth)
    assert ((low <= aim) & (aim <= high)).mean() > 0.94
    assert (high > low).all()


def test_the_ratio_lies_between_the_ends_of_simultaneous_intervals():
    shares, n = np.array([[0.2, 0.5, 0.4], [0.4, 0.4, 0.4]]), np.array([[60, 90, 40], [50, 50, 50]])
    low, high = wilson(shares, n, 1 - 0.1 / 3)
    least, most = ratio(shares, n, 0.9)
    assert least == pytest.approx(low.min(axis=1) / high.max(axis=1))
    assert most == pytest.approx([high[0].min() / low[0].max(), 1.0])  # equal shares may be equal


def test_the_spread_lies_between_simultaneous_and_single_differences():
    shares, n = np.array([[0.2, 0.6, 0.4]]), np.array([[60, 90, 40]])
    pairs = [(shares[:, i], n[:, i], shares[:, j], n[:, j]) for i, j in ((1, 0), (1, 2), (2, 0))]
    low, high = spread(shares, n, 0.9)
    assert low == pytest.approx(max(newcombe(*pair, 1 - 0.1 / 3)[0] for pair in pairs))
    assert high == pytest.approx(max(newcombe(*pair, 0.9)[1] for pair in pairs))
    assert spread(np.array([0.5, 0.5]), np.array([50, 30]))[0] == 0


def test_nothing_is_known_of_a_ratio_with_an_empty_group_or_of_shares_never_seen():
    assert ratio(np.array([0.5, 0.5]), np.array([40, 0])) == (0.0, 1.0)
    assert ratio(np.zeros(2), np.array([40, 60])) == (0.0, 1.0)


def test_a_share_never_seen_has_an_upper_limit():
    assert wilson(0.0, 100)[1] == pytest.approx(0.037, abs=1e-3)
    assert np.isnan(wilson(0.5, 0)).all()
    assert spread(np.ones(2), np.array([50, 30]))[1] > 0.07


def test_a_mean_in_a_range_is_a_share_of_it():
    low, high = wilson(0.25, 40)
    assert bounded(-1.0, 40, -2.0, 2.0) == pytest.approx((-2 + 4 * low, -2 + 4 * high))
    with pytest.raises(InputError, match="no width"):
        bounded(1.0, 5, 1.0, 1.0)
