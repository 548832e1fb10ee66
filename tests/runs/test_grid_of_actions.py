"""A case with a continuous action: from a file with numbers to a run that says what its grid leaves out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.cli.run_tables import print_run
from accordant.errors import InputError
from accordant.report.render import render
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.recommendation import recommendations_as_json

AMOUNTS = {"none": 0, "low": 50, "medium": 100, "high": 200}
CASE = {
    "name": "grants",
    "title": "Grants for training",
    "problem": {
        "stakeholders": ["Recipient", "Payer"], "actions": AMOUNTS, "action_unit": "EUR", "outcomes": ["no", "yes"],
    },
    "data": {"file": "grants.csv", "action": "amount", "outcome": "employed", "features": ["need"]},
    "rewards": {
        "Recipient": {"table": {name: {"no": value / 1000, "yes": 0.8 + value / 1000}
                                for name, value in AMOUNTS.items()}},
        "Payer": {"table": {name: {"no": 0.5 - value / 400, "yes": 1 - value / 500} for name, value in AMOUNTS.items()}},
    },
    "learning": {
        "outcome_model": {"name": "LogisticRegression"}, "reward_model": {"name": "stated"}, "folds": 3,
    },
    "strategies": [{"name": "maximin"}],
    "metrics": {"Worst_Off": {"metric": "min_reward", "weight": 1.0}},
    "evaluation": {"resamples": 100},
}  # fmt: skip


def case_folder(folder, cells=None, case=CASE, n=200):
    generator = np.random.default_rng(4)
    need, amount = generator.uniform(size=n).round(3), generator.uniform(0, 200, n).round(1)
    employed = np.where(generator.uniform(size=n) < 0.2 + 0.6 * need * amount / 200, "yes", "no")
    amounts = amount.astype(str).astype(object)
    for row, cell in (cells or {}).items():
        amounts[row] = cell
    frame = pd.DataFrame({"need": need, "amount": amounts, "employed": employed})
    frame.to_csv(folder / "grants.csv", index=False)
    (folder / "grants.yaml").write_text(yaml.safe_dump(case, sort_keys=False))
    return folder / "grants.yaml"


@pytest.mark.long
def test_a_run_on_a_grid_says_what_lies_between_its_points_and_recommends_points(tmp_path, capsys):
    case = case_folder(tmp_path, {3: "low", 7: "high"})
    run = read_run(write_run(carry_out(case, RunOptions(seed=2)), tmp_path / "run"))
    grid = run.record.grid
    assert grid.points == AMOUNTS and grid.unit == "EUR" and grid.n == run.record.data.test
    assert 0.9 < grid.moved_share <= 1 and grid.largest_distance <= 50
    assert [gain.stakeholder for gain in grid.gains] == ["Recipient", "Payer"]
    assert all(0 <= gain.mean <= gain.largest <= 1 for gain in grid.gains)
    assert (
        grid.sentence in run.record.notes
        and "Resolution of the grid (none 0, low 50, medium 100 and high 200 EUR): decisions of" in render(run.record)
    )
    print_run(run.record, run.path)
    assert "raise the expected reward of Recipient" in " ".join(capsys.readouterr().out.split())
    assert any("count each as the nearest point" in warning for warning in run.record.warnings)
    pd.DataFrame({"need": [0.1, 0.9]}).to_csv(tmp_path / "new.csv", index=False)
    found, _ = recommendations_as_json(run, tmp_path / "new.csv", None)
    assert all(row["action"] in AMOUNTS for row in found)
    again = run.policy.grid_resolution(pd.DataFrame({"need": [0.1, 0.9]}))
    assert again.n == 2 and again.strategy.startswith(run.record.selected.split("[")[0])


@pytest.mark.long
def test_a_continuous_outcome_and_recorded_rewards_are_interpolated_and_saved(tmp_path):
    """Levels and a recorded reward that is linear in the amount are found at the points, none of which was logged."""
    generator = np.random.default_rng(6)
    need, amount = generator.uniform(size=150).round(3), generator.uniform(0, 200, 150).round(1)
    score = (10 * need * amount / 200 + generator.normal(size=150) / 2).round(2)
    columns = {"need": need, "amount": amount, "score": score, "learner": np.clip((score + 5) / 20, 0, 1).round(3)}
    pd.DataFrame(columns | {"payer": (1 - amount / 400).round(3)}).to_csv(tmp_path / "grants.csv", index=False)
    case = CASE | {
        "problem": CASE["problem"] | {"outcomes": {"name": "score", "low": -5, "high": 20}},
        "data": CASE["data"] | {"outcome": "score"},
        "rewards": {"Recipient": {"column": "learner"}, "Payer": {"column": "payer"}},
        "learning": {"folds": 3, "outcome_model": {"name": "t_learner"}},
    }
    (tmp_path / "grants.yaml").write_text(yaml.safe_dump(case, sort_keys=False))
    run = read_run(write_run(carry_out(tmp_path / "grants.yaml", RunOptions()), tmp_path / "run"))
    assert run.record.outcome_model.name == "ridge, reading features and the value of the action"
    new = pd.DataFrame({"need": [0.2, 0.8]})
    levels = run.policy.outcome_model_.predict(run.policy.contexts_of(new)).levels()
    assert np.abs(levels - np.array([[0, 0], [0.5, 2], [1, 4], [2, 8]])).max() < 0.5
    payer = run.policy.expected_rewards(new).of("Payer")
    assert np.abs(payer - np.array([[1.0], [0.875], [0.75], [0.5]])).max() < 0.05
    assert run.record.grid.moved_share == 1 and run.policy.grid_resolution(new).n == 2


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("200.5", r"grants.csv, line 6: column 'amount': found 200.5; allowed: a number within \[0, 200\] EUR"),
        ("lo", r"unknown action in grants.csv, line 6: column 'amount': 'lo'; .*low"),
        ("", r"line 6: column 'amount': found nothing"),
    ],
)
def test_a_cell_that_is_no_point_and_no_amount_is_refused_with_its_line(tmp_path, cell, message):
    with pytest.raises(InputError, match=message):
        carry_out(case_folder(tmp_path, {4: cell}), RunOptions())


def test_actions_without_values_have_no_resolution(loans_policy, loans):
    with pytest.raises(InputError, match="the actions have no values; declare them as a grid"):
        loans_policy.grid_resolution(loans.contexts)
