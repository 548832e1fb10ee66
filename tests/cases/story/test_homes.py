"""Homes of the made-up town: chances as stated, and past grants that mislead whoever compares them as they stand."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.cases.story.homes import (
    ACTIONS,
    BURDEN,
    CONDITION,
    DEMAND,
    DISTRICT,
    GIVEN,
    LEVELS,
    OUTCOMES,
    drawn_homes,
    simulate_homes,
    standard,
    true_chances,
)


def test_chances_are_a_multinomial_logistic_model_written_out_for_one_home():
    home = drawn_homes(1, np.random.default_rng(0)).assign(**{DEMAND: 215.0, CONDITION: 3.5})
    found = true_chances(home)[:, :, 0]
    for row, action in zip(found, ACTIONS, strict=True):
        halved, lower = LEVELS[action]
        odds = np.exp([halved + 0.3 - 0.9, lower + 0.1 - 0.4, 0.0])  # demand is 1 unit above, condition 1 below
        assert row == pytest.approx(odds / odds.sum())


def test_outcomes_and_grants_follow_what_is_stated():
    homes = simulate_homes(60_000, np.random.default_rng(1))
    chances = true_chances(homes)
    for a, action in enumerate(ACTIONS):
        given = (homes.Grant == action).to_numpy()
        for o, outcome in enumerate(OUTCOMES):
            seen = (homes.Bill[given] == outcome).mean()
            assert seen == pytest.approx(chances[a, o, given].mean(), abs=0.015)
    condition = standard(CONDITION, homes[CONDITION].to_numpy())
    weights = np.exp(np.stack([level + slope * condition for level, slope in GIVEN.values()]))
    shares = weights / weights.sum(axis=0)
    assert np.quantile(shares, 0.01) > 0.015  # nearly everything was tried nearly everywhere
    for low, high in ((-2, -1), (-0.5, 0.5), (1, 2)):
        here = (low < condition) & (condition < high)
        for a, action in enumerate(ACTIONS):
            assert (homes.Grant[here] == action).mean() == pytest.approx(shares[a, here].mean(), abs=0.02)


def test_the_naive_comparison_of_grants_turns_the_order_round_and_the_condition_explains_it():
    """Insulation serves households better than heat pumps by 0.04; as they stand, bills say the opposite."""
    homes = simulate_homes(60_000, np.random.default_rng(2))
    worth = dict(zip(OUTCOMES, (1.0, 0.6, 0.1), strict=True))
    true = np.einsum("o,aon->an", list(worth.values()), true_chances(homes)).mean(axis=1)
    assert true[1] - true[0] > 0.03
    rewards, bands = homes.Bill.map(worth), homes[CONDITION].round()
    naive = rewards.groupby(homes.Grant).mean()
    assert naive["Heat_pump"] - naive["Insulation"] > 0.015
    table = rewards.groupby([bands, homes.Grant]).agg(["mean", "size"]).unstack()
    within = table["mean"]["Insulation"] - table["mean"]["Heat_pump"]
    enough = table["size"].min(axis=1) >= 50
    adjusted = np.average(within[enough], weights=bands.value_counts().reindex(within.index)[enough])
    assert adjusted == pytest.approx(true[1] - true[0], abs=0.015)


def test_demand_and_burden_come_high_and_low_and_mostly_apart():
    homes = drawn_homes(20_000, np.random.default_rng(3))
    demand, burden = (standard(name, homes[name].to_numpy()) for name in (DEMAND, BURDEN))
    assert np.abs(np.abs(demand) - 1).mean() < 0.25 and np.abs(np.abs(burden) - 1).mean() < 0.25
    assert ((demand > 0) != (burden > 0)).mean() == pytest.approx(0.66, abs=0.02)
    assert homes[DISTRICT].eq("Old_town")[demand > 0].mean() == pytest.approx(0.75, abs=0.02)


def test_same_seed_same_town():
    one, again, other = (simulate_homes(200, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert one.equals(again) and not one.equals(other)
