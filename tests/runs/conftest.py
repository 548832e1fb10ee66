"""Small cases with fast models, carried out once for all tests of runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.runs import RunOptions, carry_out, write_run

DISCRETE = {
    "name": "own",
    "title": "An own case",
    "problem": {
        "stakeholders": ["Bank", "Applicant"],
        "actions": ["yes", "no"],
        "outcomes": ["good", "bad"],
        "outcome_to_action": {"good": "yes", "bad": "no"},
        "favourable_actions": ["yes"],
        "favourable_outcomes": ["good"],
        "sensitive_attributes": [{"name": "group"}],
    },
    "data": {
        "file": "own.csv",
        "action": "did",
        "outcome": "followed",
        "features": {"x": "number", "kind": "category"},
    },
    "rewards": {
        "Bank": {
            "table": {
                0: {"yes": {"good": 1.0, "bad": 0.0}, "no": {"good": 0.3, "bad": 0.9}},
                1: {"yes": {"good": 0.8, "bad": 0.4}, "no": {"good": 0.1, "bad": 0.5}},
            },
            "attribute": "group",
        },
        "Applicant": {"column": "said"},
    },
    "learning": {
        "outcome_model": {"name": "LogisticRegression", "grid": {"C": [0.1, 1.0]}},
        "reward_model": {"name": "DecisionTreeRegressor", "parameters": {"max_depth": 3}},
        "folds": 3,
    },
    "strategies": [
        {"name": "utilitarian"},
        {"name": "kalai_smorodinsky", "parameters": {"disagreement": "global", "ideal": "global"}},
    ],
    "metrics": {
        "Accuracy": {"metric": "accuracy", "weight": 1.0},
        "Parity": {"metric": "demographic_parity", "parameters": {"attributes": ["group"], "protected": 1}},
    },
    "evaluation": {"resamples": 100},
}


def write_discrete(folder):
    generator = np.random.default_rng(0)
    n = 90
    x = generator.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": np.where(generator.random(n) < 0.1, np.nan, x),
            "kind": generator.choice(["1", "2", "x"], n),
            "group": generator.integers(0, 2, n),
            "did": generator.choice(["yes", "no"], n),
            "followed": np.where(x + generator.normal(size=n) > 0, "good", "bad"),
            "said": generator.random(n).round(2),
        }
    )
    frame.to_csv(folder / "own.csv", index=False)
    (folder / "own.yaml").write_text(yaml.safe_dump(DISCRETE))
    return folder / "own.yaml"


def write_continuous(folder):
    generator = np.random.default_rng(1)
    n = 120
    x, treated = generator.normal(size=n), generator.random(n) < 0.4
    level = {"m1": 7 + x, "m0": 5 - x}
    frame = pd.DataFrame(
        {
            "x": x,
            "x23": generator.integers(0, 2, n),
            "Action": np.where(treated, "A", "C"),
            "Outcome": np.maximum(0, np.where(treated, level["m1"], level["m0"]) + generator.normal(size=n)).round(1),
            **level,
        }
    )
    frame.to_csv(folder / "care.csv", index=False)
    case = {
        "name": "care",
        "title": "Who is visited",
        "problem": {
            "stakeholders": ["Parent", "Healthcare_Provider", "Policy_Maker"],
            "actions": ["A", "C"],
            "outcomes": {"name": "score", "low": 0},
            "favourable_actions": ["A"],
            "status_quo": "C",
            "sensitive_attributes": [{"name": "x23"}],
        },
        "data": {"file": "care.csv", "features": ["x"], "true_levels": {"A": "m1", "C": "m0"}},
        "rewards": {"set": "health", "noise": 0.05},
        "learning": {
            "outcome_model": {"name": "t_learner", "regressor": "LinearRegression"},
            "reward_model": {"name": "DecisionTreeRegressor", "parameters": {"max_depth": 4}},
            "folds": 3,
            "nodes": 5,
        },
        "metrics": {
            "Score": {"metric": "mean_outcome", "weight": 1.0},
            "Truth": {"metric": "policy_value"},
        },
        "evaluation": {"resamples": 100},
    }
    (folder / "care.yaml").write_text(yaml.safe_dump(case))
    return folder / "care.yaml"


WRITERS = {"own": write_discrete, "care": write_continuous}


@pytest.fixture(scope="session")
def cases(tmp_path_factory):
    """Name to case file, data beside it."""
    return {name: write(tmp_path_factory.mktemp(name)) for name, write in WRITERS.items()}


@pytest.fixture(scope="session")
def outcomes(cases):
    """Name to a carried-out case."""
    return {name: carry_out(path, RunOptions(seed=7)) for name, path in cases.items()}


@pytest.fixture(autouse=True)
def plain_report(monkeypatch):
    """Reports have tests of their own; here a run is about everything else in the folder."""
    monkeypatch.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")


@pytest.fixture
def run_folder(outcomes, tmp_path):
    """A finished run that a test may spoil."""
    return write_run(outcomes["own"], tmp_path / "run")
