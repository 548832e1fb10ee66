"""Simulators: valid, seeded, and shaped like the files they stand in for."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.cases.loaders import simulate, simulated_table
from accordant.cases.files import built_in_cases, read_case
from accordant.errors import InputError


@pytest.mark.parametrize("name", built_in_cases())
def test_every_case_can_be_simulated(name):
    case, _ = read_case(name)
    data = simulate(case, 0, 400, {})
    assert data.simulated and len(data.log) == 400
    assert set(case.data.features) <= set(data.log.contexts)
    assert not {"mu0", "mu1"} & set(data.log.contexts)
    for signal in case.signals().values():
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


def test_a_case_without_a_simulator():
    case, _ = read_case("lending")
    with pytest.raises(InputError, match="has no simulator"):
        simulated_table(case.replace(simulator=None), 0, None)
