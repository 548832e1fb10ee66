"""Bets: where nothing changes, no factor has a mean above 1."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.monitoring.bets import MOST_LEVELS, LevelBets, MeanBets, ShapeBets

RANKS = (np.arange(20_000) + 0.5) / 20_000
LEVELS = LevelBets.of({"north": 50, "south": 30, "east": 19}, "others")


@pytest.mark.parametrize("bets", [ShapeBets(), LEVELS, LevelBets.of_two("usual", "unusual", 0.03)],
                         ids=["shapes", "levels", "two"])  # fmt: skip
def test_factors_of_uniform_ranks_have_mean_1(bets):
    factors = np.exp(bets.log_factors(RANKS))
    assert factors.shape == (len(RANKS), len(bets.words)) and (factors > 0).all()
    assert np.allclose(factors.mean(axis=0), 1.0, atol=1e-3)


def winner(bets, values):
    return bets.words[int(bets.log_factors(values).sum(axis=0).argmax())]


def test_a_bet_wins_on_what_it_names():
    bets = ShapeBets()
    assert winner(bets, np.sqrt(RANKS)) == "values are higher" and winner(bets, RANKS**2) == "values are lower"
    assert winner(bets, 0.25 + RANKS / 2) == "more values in the middle"
    ends = np.concatenate([RANKS / 5, 1 - RANKS / 5])
    assert winner(bets, ends) == "more values at both ends"
    assert winner(LEVELS, RANKS / 2) == "north more often" and winner(LEVELS, 0.8 + RANKS * 0.19) == "east more often"
    assert (
        winner(LEVELS, 0.5 + RANKS / 2) == "north less often" and winner(LEVELS, 1 - RANKS / 100) == "others more often"
    )


def test_rare_categories_are_bet_on_together():
    bets = LevelBets.of({f"level {k}": 30 - k for k in range(20)}, "others")
    assert len(bets.names) == MOST_LEVELS and bets.names[-1] == "9 rare categories, or others" and bets.ends[-1] == 1.0


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_kind_that_the_reference_lacks_has_a_bet_too(share):
    factors = LevelBets.of_two("usual", "unusual", share).log_factors(np.array([0.001, 0.999]))
    assert np.isfinite(factors).all()


def test_bets_on_a_mean_lose_within_its_limits_and_win_beyond():
    bets, generator = MeanBets(-0.1, 0.1, -1.0, 1.0, "more", "less"), np.random.default_rng(0)
    for mean in (-0.1, 0.0, 0.1):
        two_points = np.where((np.arange(2000) + 0.5) / 2000 < (1 + mean) / 2, 1.0, -1.0)  # the mean, exactly
        assert (np.exp(bets.log_factors(two_points)).mean(axis=0) <= 1 + 1e-9).all()
    assert winner(bets, generator.normal(0.3, 0.2, 300)) == "more"
    assert winner(bets, generator.normal(-0.3, 0.2, 300)) == "less"
    assert np.isfinite(bets.log_factors(np.array([-1.0 - 1e-12, 1.0 + 1e-12]))).all()
