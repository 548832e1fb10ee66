"""What a loader repaired stands on the terminal, in run.json and in the report."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

CASE = """
name: two-modules
title: Which of two modules
problem:
  stakeholders: [Student, Teacher]
  actions: [AAA, BBB]
  outcomes: [Pass, Fail]
  favourable_outcomes: [Pass]
  outcome_depends_on_action: true
data: {loader: oulad, file: two.csv, action: code_module, outcome: final_result, features: [Area_rank, Education_level]}
rewards:
  Student: {table: {AAA: {Pass: 1.0, Fail: 0.0}, BBB: {Pass: 1.0, Fail: 0.0}}}
  Teacher: {table: {AAA: {Pass: 0.9, Fail: 0.4}, BBB: {Pass: 0.7, Fail: 0.3}}}
learning:
  outcome_model: {name: LogisticRegression}
  calibrated: false
  reward_model: {name: stated}
  folds: 3
strategies: [{name: utilitarian}]
metrics: {Mean: {metric: mean_reward, weight: 1.0}}
evaluation: {resamples: 100}
"""
SENTENCE = "The loader repaired imd_band in 40 of 200 rows: '20-Oct', for example, became '10-20%'."


@pytest.mark.long
def test_repairs_stand_wherever_a_result_does(accordant, tmp_path):
    generator = np.random.default_rng(0)
    bands = np.repeat(["20-Oct", "0-10%", "50-60%", "90-100%", ""], 40)
    table = {
        "code_module": generator.choice(["AAA", "BBB"], 200),
        "imd_band": generator.permutation(bands),
        "highest_education": generator.choice(["HE Qualification", "Lower Than A Level"], 200),
        "final_result": generator.choice(["Pass", "Fail"], 200),
    }
    pd.DataFrame(table).to_csv(tmp_path / "two.csv", index=False)
    (tmp_path / "two.yaml").write_text(CASE, encoding="utf-8")
    out = tmp_path / "run"
    done = accordant("run", str(tmp_path / "two.yaml"), "--out", str(out), "--jobs", "1", COLUMNS="400")
    assert done.returncode == 0, done.stderr
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["warnings"][0] == SENTENCE
    assert SENTENCE in done.stdout
    assert SENTENCE in done.stderr  # at once, before anything is learned
    report = (out / "report.html").read_text(encoding="utf-8").replace("&#39;", "'")
    assert SENTENCE in report
    (row,) = (row for row in record["test"]["leaderboard"] if row["strategy"] == "logged")
    tenths = row["metrics"]["Mean"]["value"] * 10 * 2 * record["test"]["n"]  # tables have one decimal
    assert abs(tenths - round(tenths)) < 1e-6  # what followed the log was observed, not estimated
