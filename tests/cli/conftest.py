"""A small case of one's own, and the command line, run in this process or as a program of its own."""

from __future__ import annotations

import io
import logging
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from accordant.cli.app import main

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


@dataclass(frozen=True)
class Finished:
    """What a command left behind, as `subprocess.CompletedProcess` says it."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="session")
def accordant(case_folder):
    """Run ``accordant …`` in this process, by default in the folder of the case, and return how it ended."""

    def run(*arguments: str, stdin: str = "", folder: Path = case_folder, **variables: str) -> Finished:
        logger, level = logging.getLogger("accordant"), logging.getLogger("accordant").level
        handlers, code = list(logger.handlers), 0
        streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for name in ("stdout", "stderr")}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.delenv("ACCORDANT_DATA", raising=False)
            for name, value in variables.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["accordant", *arguments])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            try:
                main()
            except SystemExit as ended:
                code = ended.code or 0
            finally:
                logger.handlers = handlers
                logger.setLevel(level)
        return Finished(code, *(stream.buffer.getvalue().decode() for stream in streams.values()))

    return run


@pytest.fixture(scope="session")
def program(case_folder):
    """Run ``accordant …`` in the folder of the case as a program of its own, and return the finished process."""

    def run(*arguments: str, stdout=subprocess.PIPE, **variables: str):
        environment = {name: value for name, value in os.environ.items() if name != "ACCORDANT_DATA"}
        return subprocess.run(
            [sys.executable, "-c", "from accordant.cli.app import main; main()", *arguments],
            cwd=case_folder,
            env=environment | {"OMP_NUM_THREADS": "1"} | variables,
            stdout=stdout,
            stderr=subprocess.PIPE,
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


@pytest.fixture(autouse=True)
def no_sections_left(request):
    """Take away what a test added to the run that all of them share."""
    yield
    if "finished_run" in request.fixturenames:
        shutil.rmtree(request.getfixturevalue("finished_run") / "sections", ignore_errors=True)
