"""A small case of one's own, and the command line run as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

CASE = """
name: beds
title: Who gets a bed
problem:
  stakeholders: [Patient, Ward]
  actions: [Admit, Wait]
  outcomes: [Well, Unwell]
  favourable_actions: [Admit]
  favourable_outcomes: [Well]
  outcome_to_action: {Well: Wait, Unwell: Admit}
  sensitive_attributes: [sex]
data: {file: beds.csv, action: Action, outcome: Outcome, features: [age, pulse]}
rewards:
  Patient: {table: {Admit: {Well: 0.8, Unwell: 0.6}, Wait: {Well: 1.0, Unwell: 0.0}}}
  Ward: {table: {Admit: {Well: 0.1, Unwell: 0.7}, Wait: {Well: 0.9, Unwell: 0.3}}}
learning:
  outcome_model: {name: LogisticRegression, parameters: {max_iter: 1000}}
  reward_model: {name: stated}
  folds: 3
metrics:
  Accuracy: {metric: accuracy, weight: 0.5}
  Worst_Off: {metric: min_reward, weight: 0.5}
evaluation: {resamples: 100}
"""


@pytest.fixture(scope="session")
def case_folder(tmp_path_factory):
    """A folder with a case file and its data."""
    folder = tmp_path_factory.mktemp("case")
    generator = np.random.default_rng(3)
    age, pulse = generator.normal(50, 15, 240).round(), generator.normal(80, 12, 240).round()
    unwell = generator.random(240) < 1 / (1 + np.exp(-(pulse - 80) / 10))
    table = {
        "age": age,
        "pulse": pulse,
        "sex": generator.choice(["f", "m"], 240),
        "Action": generator.choice(["Admit", "Wait"], 240),
        "Outcome": np.where(unwell, "Unwell", "Well"),
    }
    pd.DataFrame(table).to_csv(folder / "beds.csv", index=False)
    (folder / "beds.yaml").write_text(CASE, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def accordant(case_folder):
    """Run ``accordant …`` in the folder of the case and return the finished process."""

    def run(*arguments: str, stdin: str | None = None, **variables: str):
        environment = {name: value for name, value in os.environ.items() if name != "ACCORDANT_DATA"}
        return subprocess.run(
            [sys.executable, "-c", "from accordant.cli.app import main; main()", *arguments],
            cwd=case_folder,
            env=environment | {"OMP_NUM_THREADS": "1"} | variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def finished_run(accordant, case_folder) -> Path:
    """A run folder."""
    done = accordant("run", "beds.yaml", "--out", "first", "--seed", "5")
    assert done.returncode == 0, done.stderr
    return case_folder / "first"
