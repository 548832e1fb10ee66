"""Treatment effects by group: against a loop over rows, and against the truth of simulated outcomes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from accordant.contexts import Contexts, Log
from accordant.evidence import Evidence
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.runs import read_run
from accordant.studies.cells import cells_of
from accordant.studies.comparison import effect_shares
from accordant.studies.declaration import read_study
from accordant.studies.effects import predicted_effects, reference_action
from accordant.studies.execution import StudyOptions, carry_out_cells, open_folder
from accordant.utilities import ExpectedRewards

N = 40


def evidence(**changes):
    generator = np.random.default_rng(0)
    problem = DecisionProblem(**{
        "stakeholders": ["Parent"], "actions": ["A", "B", "C"], "outcomes": {"name": "score"},
        "favourable_actions": ["A"], "sensitive_attributes": ["sex"], "status_quo": "C", **changes,
    })  # fmt: skip
    log = Log(
        Contexts({"sex": generator.choice(["f", "m"], N)}), generator.integers(0, 3, N), generator.normal(5, 1, N)
    )
    means = generator.normal(5, 2, (3, N))
    prediction = OutcomePrediction(np.ones((3, 1, N)), means[:, None, :], depends_on_action=True, means=means)
    expected = ExpectedRewards(np.full((1, 3, N), 0.5), stakeholders=["Parent"], actions=["A", "B", "C"])
    return Evidence(
        problem, log, expected, np.full((1, 3, N), 0.5), prediction, true_levels=means + 1.0 * np.arange(3)[:, None]
    )


def test_effects_are_those_of_a_loop_over_rows():
    known = evidence()
    found = predicted_effects(known, [("sex",)])
    assert found.against == "C"
    assert [(each.action, each.group) for each in found.groups] == [
        (action, group) for action in "AB" for group in ("everybody", "f", "m")
    ]
    for each in found.groups:
        k = "ABC".index(each.action)
        rows = [t for t in range(N) if each.group in ("everybody", known.log.contexts["sex"][t])]
        effects = [known.prediction.means[k, t] - known.prediction.means[2, t] for t in rows]
        assert (each.n, each.mean) == (len(rows), pytest.approx(sum(effects) / len(rows)))
        assert each.quantiles["0.5"] == pytest.approx(np.median(effects))
        assert each.true_mean == pytest.approx(sum(effects) / len(rows) + k - 2)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, "C"), ({"status_quo": "B"}, "B"), ({"status_quo": None}, "B"),
     ({"status_quo": None, "favourable_actions": ["A", "B", "C"]}, "C")],
)  # fmt: skip
def test_what_effects_are_against(changes, expected):
    assert reference_action(evidence(**changes).problem) == expected


def test_means_over_runs():
    found = predicted_effects(evidence(), [("sex",)])
    shares = effect_shares("base", [found, found])
    assert [each.mean.value for each in shares] == [each.mean for each in found.groups]
    assert {each.mean.n for each in shares} == {2}
    assert effect_shares("base", []) == []


@pytest.mark.long
def test_outcomes_that_are_no_numbers_have_no_effects(study, tmp_path, monkeypatch):
    monkeypatch.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")
    read = read_study(study(rows=[60], variants=..., seeds=[1]))
    open_folder(read.study, tmp_path / "out")
    found = carry_out_cells(cells_of(read), tmp_path / "out", StudyOptions())
    assert (len(found.records), found.effects) == (1, {})
    assert predicted_effects(SimpleNamespace(prediction=None), []) is None


@pytest.mark.long
def test_a_study_of_home_visits_finds_the_true_effect(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCORDANT_DATA", "")
    (tmp_path / "visits.yaml").write_text(
        "name: visits\ncase: health\nseeds: [1, 2]\nchanges:\n  simulator: {rows: 400}\n  learning:\n"
        "    outcome_model: {name: t_learner, regressor: LinearRegression}\n    reward_model: {name: stated}\n"
        "    folds: 3\n  evaluation: {resamples: 100}\n"
        "variants: {base: {}, mild: {rewards: {structure: mild}}, strictest: {rewards: {structure: strictest}}}\n"
    )
    read = read_study(tmp_path / "visits.yaml")
    open_folder(read.study, tmp_path / "out")
    found = carry_out_cells(cells_of(read), tmp_path / "out", StudyOptions())
    assert found.failures == ()
    assert len(found.effects) == 6
    for name, effects in found.effects.items():
        everybody = effects.groups[0]
        assert everybody.mean == pytest.approx(everybody.true_mean, abs=1.0)
        assert read_run(tmp_path / "out" / "cells" / name).links[0].words.startswith("Predicted mean effects against C")
