"""A small problem, its log, and files of comparisons with a known truth."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.problem import DecisionProblem

ACTIONS, OUTCOMES = ("Offer", "Trial", "Decline"), ("Done", "Left")
CELLS = [(action, outcome) for action in ACTIONS for outcome in OUTCOMES]
TRUTH = dict(zip(CELLS, (1.0, 0.4, 0.8, 0.5, 0.3, 0.0), strict=True))
COLUMNS = ("user_id", "chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome")


@pytest.fixture
def problem():
    """Three actions, two outcomes."""
    return DecisionProblem(stakeholders=["Applicant"], actions=ACTIONS, outcomes=OUTCOMES)


@pytest.fixture
def visits():
    """Two actions, a number as outcome."""
    return DecisionProblem(stakeholders=["Parent"], actions=["Visit", "None"], outcomes={"name": "score", "low": 0})


@pytest.fixture
def log():
    """200 training rows; the column income has mean 10 and one missing value."""
    generator = np.random.default_rng(5)
    income = generator.normal(10, 3, 200)
    income[3] = np.nan
    contexts = Contexts({"income": income, "school": np.where(income > 10, "a", "b"), "empty": np.full(200, np.nan)})
    return Log(contexts, generator.integers(0, 3, 200), generator.integers(0, 2, 200))


def write(path, rows, columns=COLUMNS):
    """Write rows of cells as CSV and return the path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


@pytest.fixture
def write_rows():
    """The writer of files."""
    return write


def ask(user, truth, *, steepness=np.inf, generator=None, times=1):
    """Return a row for every pair of cells, answered by the truth or with noise."""
    rows = []
    for i, one in enumerate(truth):
        for other in list(truth)[i + 1 :]:
            for _ in range(times):
                gap = truth[one] - truth[other]
                first = gap > 0 if generator is None else generator.random() < 1 / (1 + np.exp(-steepness * gap))
                rows.append((user, *(one + other if first else other + one)))
    return rows


@pytest.fixture
def asked():
    """The maker of answers about every pair of cells."""
    return ask


@pytest.fixture
def truth():
    """The reward of every cell."""
    return dict(TRUTH)


@pytest.fixture
def noisy_file(tmp_path):
    """Three users with the same truth, each asked about every pair four times, noisily."""
    generator = np.random.default_rng(0)
    rows = [
        row for user in ("ann", "bob", "cem") for row in ask(user, TRUTH, steepness=8, generator=generator, times=4)
    ]
    return write(tmp_path / "answers.csv", rows)
