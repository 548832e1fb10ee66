"""A study on a small case with fast models."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.runs.record import Column, Limits, MetricFigures, Row
from accordant.studies.cells import Condition
from accordant.studies.comparison import Runs

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
  outcome_model: {name: GaussianNB}
  reward_model: {name: stated}
  calibrated: false
  folds: 3
strategies: [{name: maximin}]
metrics:
  Accuracy: {metric: accuracy, weight: 0.5}
  Worst_Off: {metric: min_reward, weight: 0.5}
evaluation: {resamples: 100}
"""
STUDY = {
    "name": "wards",
    "case": "beds.yaml",
    "seeds": [1, 2],
    "rows": [60, None],
    "variants": {"base": {}, "generous": {"rewards": {"Ward": {"table": {"Wait": {"Well": 0.2}}}}}},
}


@pytest.fixture
def folder(tmp_path):
    """A folder with the case and its data."""
    generator = np.random.default_rng(3)
    age, pulse = generator.normal(50, 15, 150).round(), generator.normal(80, 12, 150).round()
    unwell = generator.random(150) < 1 / (1 + np.exp(-(pulse - 80) / 10))
    table = {
        "age": age, "pulse": pulse, "sex": generator.choice(["f", "m"], 150),
        "Action": generator.choice(["Admit", "Wait"], 150), "Outcome": np.where(unwell, "Unwell", "Well"),
    }  # fmt: skip
    pd.DataFrame(table).to_csv(tmp_path / "beds.csv", index=False)
    (tmp_path / "beds.yaml").write_text(CASE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def study(folder):
    """Write a study with some keys changed beside the case, and return its path."""

    def write(**changes):
        keys = {key: value for key, value in (STUDY | changes).items() if value is not ...}
        path = folder / "wards.yaml"
        path.write_text(yaml.safe_dump(keys, sort_keys=False), encoding="utf-8")
        return path

    return write


GOALS = {"Accuracy": "max", "Loss": "min", "Gap": "zero"}
KINDS = {"maximin": "compromise", "constant:yes": "baseline", "stakeholder:Bank": "stakeholder", "oracle": "reference"}


def _row(strategy, score, metrics, tied=0.0):
    limits = Limits(value=score, low=None, high=None, undefined=None)
    figures = {
        name: MetricFigures(
            value=value, low=None, high=None, undefined=None, n=10, reason="" if value is not None else "empty group",
            normalised=None, by_group=(),
        )
        for name, value in metrics.items()
    }  # fmt: skip
    return Row(
        strategy=strategy, kind=KINDS[strategy], candidate=strategy != "oracle", score=limits, among_best=None,
        alike=None, tied=tied, below_best_constant=False, metrics=figures,
    )  # fmt: skip


def _record(rows, selected="maximin", train=80):
    columns = tuple(
        Column(label=name, goal=goal, weight=1 / 3, uninformative=False, description="") for name, goal in GOALS.items()
    )
    return SimpleNamespace(
        selected=selected, test=SimpleNamespace(leaderboard=tuple(rows), metrics=columns), groups=(),
        data=SimpleNamespace(train=train, simulated=False, source="own.csv"), cost=SimpleNamespace(cpu_seconds=1.0),
    )  # fmt: skip


def _runs_of(values, selected="maximin"):
    """Return runs from condition to a list, one entry a seed, of strategy to (score, accuracy, loss, gap)."""
    conditions = tuple(Condition(None, {"variant": label}, label) for label in values)
    records = {
        label: {
            seed: _record(
                [_row(name, found[0], dict(zip(GOALS, found[1:], strict=True))) for name, found in each.items()],
                selected,
            )
            for seed, each in enumerate(seeds)
        }
        for label, seeds in values.items()
    }
    return Runs(conditions, records)


@pytest.fixture(scope="session")
def made_up():
    """Make up rows, records and runs: only what a study reads of them."""
    return SimpleNamespace(
        row=_row, record=_record, runs_of=_runs_of, condition=Condition,
        cell=lambda condition, seed: SimpleNamespace(
            condition=condition, seed=seed, name=f"{condition.label}-{seed}".replace(", ", "-").replace(" ", "-"),
            file=SimpleNamespace(case=SimpleNamespace(title="A case")),
        ),
    )  # fmt: skip
