"""What a slate is worth, and the fitted γ."""

import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.consumption import (
    Bernoulli,
    Discrete,
    Exponential,
    Pareto,
    RankedChances,
    Uniform,
    allocate,
    fitted_gamma,
    limit_gamma,
    measure,
)

WANTED = (0.6, 0.3, 0.1)


class TestFittedGamma:
    @pytest.mark.parametrize("values", [Uniform(), Exponential(), Pareto(3), RankedChances(2, 0.5)])
    def test_finds_the_limit(self, values):
        found = fitted_gamma(WANTED, allocate(WANTED, values, 20_000).counts)
        assert found.gamma == pytest.approx(limit_gamma(values), abs=2e-3)
        assert found.residual < 2e-3
        assert found.left_out == 0

    def test_against_least_squares(self):
        p, counts = np.array([0.4, 0.3, 0.2, 0.1]), np.array([9, 4, 5, 1])
        slope, intercept = np.polyfit(np.log(p), np.log(counts / counts.sum()), 1)
        found = fitted_gamma(p, counts)
        assert found.gamma == pytest.approx(slope)
        rest = np.log(counts / counts.sum()) - slope * np.log(p) - intercept
        assert found.residual == pytest.approx(np.abs(rest).max())

    def test_types_without_items_are_counted(self):
        found = fitted_gamma((0.5, 0.3, 0.2, 0.0), (4, 2, 0, 1))
        assert found.left_out == 1
        assert found.gamma == pytest.approx(math.log(2) / math.log(5 / 3))

    @pytest.mark.parametrize(
        ("probabilities", "counts", "left_out"),
        [(WANTED, (5, 0, 0), 2), (WANTED, (0, 0, 0), 3), ((0.5, 0.5), (3, 1), 0), ((1.0,), (3,), 0)],
    )
    def test_no_line(self, probabilities, counts, left_out):
        found = fitted_gamma(probabilities, counts)
        assert math.isnan(found.gamma)
        assert math.isnan(found.residual)
        assert found.left_out == left_out

    @pytest.mark.parametrize(
        ("counts", "message"),
        [
            ((1, 2), r"counts have shape \(2,\); allowed: \(3,\)"),
            ((1, 2, -1), "counts are"),
            ((1.0, 2.0, 1.0), "counts are"),
            ([[1, 2, 3]], r"counts have shape \(1, 3\)"),
        ],
    )
    def test_wrong_counts(self, counts, message):
        with pytest.raises(InputError, match=message):
            fitted_gamma(WANTED, counts)


class TestMeasure:
    def test_by_hand(self):
        found = measure(WANTED, Bernoulli(0.5), (2, 1, 1), consumed=1)
        assert found.best == pytest.approx(0.6 * 0.75 + 0.3 * 0.5 + 0.1 * 0.5)
        assert found.mean == pytest.approx(0.5 * (0.6 * 2 + 0.3 + 0.1) / 4)
        assert measure(WANTED, Bernoulli(0.5), (2, 1, 1), consumed=None).best == pytest.approx(4 * found.mean)

    @pytest.mark.long
    def test_drawn_users(self):
        """The same, from users and items that are drawn."""
        rng, levels, counts = np.random.default_rng(0), np.array([0.0, 0.2, 1.0]), (3, 2, 1)
        best, mean = [], []
        for _ in range(20_000):
            wanted = rng.choice(3, p=WANTED)
            drawn = rng.choice(levels, size=counts[wanted])
            best.append(np.sort(drawn)[-2:].sum())
            mean.append(drawn.sum() / 6)
        found = measure(WANTED, Discrete(levels), counts, consumed=2)
        for expected, seen in ((found.best, best), (found.mean, mean)):
            assert abs(np.mean(seen) - expected) < 4 * np.std(seen) / math.sqrt(len(seen))

    def test_diversity_pays_if_few_are_consumed_and_costs_if_all_are(self):
        one, everything = (allocate(WANTED, Uniform(), 30, consumed).counts for consumed in (1, None))
        diverse, alike = measure(WANTED, Uniform(), one), measure(WANTED, Uniform(), everything)
        assert diverse.best > alike.best
        assert diverse.mean < alike.mean

    def test_empty_slate(self):
        found = measure(WANTED, Uniform(), (0, 0, 0))
        assert found.best == 0.0
        assert math.isnan(found.mean)

    def test_one_distribution_for_each_type(self):
        found = measure((0.5, 0.5), [Bernoulli(1.0), Bernoulli(0.2)], (1, 1))
        assert found.best == pytest.approx(0.6)
        with pytest.raises(InputError, match="values has 1 distributions"):
            measure((0.5, 0.5), [Bernoulli(1.0)], (1, 1))
