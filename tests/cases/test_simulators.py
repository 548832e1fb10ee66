"""Simulators: valid, seeded, and shaped like the files they stand in for."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.cases.health.children import simulate_children
from accordant.cases.loaders import simulate, simulated_table
from accordant.cases.files import built_in_cases, read_case
from accordant.errors import InputError
from accordant.runs.reward_sources import located_signals


@pytest.mark.few(3)
@pytest.mark.parametrize("name", built_in_cases())
def test_every_case_can_be_simulated(name):
    case, _ = read_case(name)
    data = simulate(case, 0, 400, {})
    assert data.simulated and len(data.log) == 400
    assert set(case.data.features) <= set(data.log.contexts)
    assert not {"mu0", "mu1"} & set(data.log.contexts)
    for signal in located_signals(case, None, None).values():
        fitted = signal.fit(data.log, case.problem)
        outcome = 3.0 if case.problem.continuous else case.problem.outcome_names[0]
        values = fitted(data.log.contexts, case.problem.actions[0], outcome)
        assert values.min() >= 0 and values.max() <= 1


@pytest.mark.parametrize("name", ["lending", "health"])
def test_same_seed_same_rows(name):
    case, _ = read_case(name)
    first, again, other = (simulated_table(case, seed, 200) for seed in (3, 3, 4))
    assert first.equals(again) and not first.equals(other)
    assert simulate(case, 3, 200, {}).sha256 == simulate(case, 3, 200, {}).sha256 != simulate(case, 4, 200, {}).sha256


def test_loans_look_like_loans():
    case, _ = read_case("lending")
    frame = simulated_table(case, 0, 4000)
    kind = (frame.Income < 30_000) | (frame.Credit_Score < 670)
    assert np.array_equal(frame.Applicant_Type, kind.astype(float))
    assert frame.Interest_Rate.between(0.0532, 0.2899).all() and frame.Loan_Amount.between(1000, 35_000).all()
    shares = frame.Outcome.value_counts(normalize=True)
    assert 0.7 < shares["Fully_Repaid"] < 0.92 and 0.003 < shares["Partially_Repaid"] < 0.03
    assert (frame.Recoveries[frame.Outcome == "Fully_Repaid"] == 0).all()
    share = frame.Recoveries / frame.Loan_Amount
    assert (share[frame.Outcome == "Partially_Repaid"] > 0.199).all()
    assert (share[frame.Outcome == "Not_Repaid"] < 0.201).all()


@pytest.mark.parametrize("seed", range(8))
def test_children_look_like_the_benchmark(seed):
    case, _ = read_case("health")
    frame = simulated_table(case, seed, 747)
    treated = frame.Action == "A"
    assert 0.1 < treated.mean() < 0.5
    assert (frame.Outcome >= 0).all() and np.isfinite(frame.Outcome).all()
    assert (frame.mu1 - frame.mu0)[treated].mean() == pytest.approx(4.0, abs=0.1)
    assert 0.03 < frame.x23.mean() < 0.12
    seen = np.where(treated, frame.mu1, frame.mu0)
    assert np.abs(frame.Outcome - np.maximum(0, seen)).mean() < 1.1  # noise of standard deviation 1


def test_effects_of_children_are_those_of_response_surface_b():
    """A linear mean under treatment gives the coefficients away: Hill (2011) draws them from 0, .1, .2, .3 and .4."""
    drawn = []
    for seed in range(12):
        frame = simulate_children(1500, np.random.default_rng(seed))
        covariates = frame[[f"x{column}" for column in range(1, 26)]].to_numpy()
        design = np.column_stack([covariates, np.ones(len(frame))])
        coefficients = np.linalg.lstsq(design, frame.mu1.to_numpy(), rcond=None)[0][:25]
        assert coefficients == pytest.approx(coefficients.round(1), abs=0.02)
        control = np.exp((covariates + 0.5) @ coefficients.round(1) / 4)
        assert np.abs(frame.mu0 - control).max() < 0.05 + 1e-9
        drawn += coefficients.round(1).tolist()
    values, counts = np.unique(np.abs(drawn), return_counts=True)
    assert values.tolist() == [0, 0.1, 0.2, 0.3, 0.4]
    assert counts / len(drawn) == pytest.approx([0.6, 0.1, 0.1, 0.1, 0.1], abs=0.1)


def test_children_are_treated_by_the_odds_that_their_simulator_states():
    """Six standardised columns, 19 of zeros and ones; log odds −1.5 + .4 x1 + .4 x10."""
    frame = simulate_children(40_000, np.random.default_rng(0))
    treated, x1, x10 = frame.Action == "A", frame.x1, frame.x10
    for low, high in ((-2, -1), (-0.5, 0.5), (1, 2)):
        for value in (0, 1):
            here = x1.between(low, high) & (x10 == value)
            chance = 1 / (1 + np.exp(1.5 - 0.4 * x1[here] - 0.4 * value))
            assert treated[here].mean() == pytest.approx(chance.mean(), abs=0.03)
    numbers = frame[[f"x{column}" for column in range(1, 7)]]
    assert numbers.mean().to_numpy() == pytest.approx(np.zeros(6), abs=0.03)
    assert numbers.std().to_numpy() == pytest.approx(np.ones(6), abs=0.03)
    shares = frame[[f"x{column}" for column in range(7, 26)]].mean().to_numpy()
    expected = [0.07 if column == 23 else 0.15 + 0.7 * (column - 7) / 18 for column in range(7, 26)]
    assert shares == pytest.approx(expected, abs=0.015)


def test_a_case_without_a_simulator():
    case, _ = read_case("lending")
    with pytest.raises(InputError, match="has no simulator"):
        simulated_table(case.replace(simulator=None), 0, None)
