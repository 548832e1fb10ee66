"""A whole study from its file: what overrides change, and what stands in the folder."""

from __future__ import annotations

import json

import pytest

from accordant.studies.declaration import StudySpec
from accordant.studies.execution import StudyOptions
from accordant.studies.folder import Overrides, carry_out_study

SAID = {"says": "so", "source": "x", "strategy": "maximin", "at_least": 0}


@pytest.fixture
def declared():
    return StudySpec(
        name="own", case="lending", seeds=[1], rows=[100, 200, None], baseline={"rows": 200},
        statements=[SAID, SAID | {"where": {"rows": 100}}, SAID | {"where": {"rows": "all"}}],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "baseline", "kept"),
    [((100,), {}, [{"rows": 100}]), ((100, 200), {"rows": 200}, [{}, {"rows": 100}]), ((50,), {}, [])],
)
def test_other_sizes_take_statements_about_the_declared_ones_away(declared, rows, baseline, kept):
    changed = Overrides(rows=rows).study(declared)
    assert (changed.rows, changed.baseline) == (rows, baseline)
    assert [each.where for each in changed.statements] == kept


def test_without_overrides_nothing_changes(declared):
    assert Overrides().study(declared) is declared
    assert Overrides().changes() == {}
    assert Overrides(folds=4, resamples=200).changes() == {"learning": {"folds": 4}, "evaluation": {"resamples": 200}}


@pytest.mark.long
def test_folds_and_resamples_reach_every_run(study, tmp_path, monkeypatch):
    monkeypatch.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")
    result, folder = carry_out_study(
        study(rows=[60], seeds=[1], variants=...), tmp_path / "out", StudyOptions(), Overrides(None, 4, 150)
    )
    (cell,) = result.cells
    case = json.loads((folder / "cells" / cell.name / "run.json").read_text())["case"]
    assert (case["learning"]["folds"], case["evaluation"]["resamples"]) == (4, 150)
    assert json.loads((folder / "study.json").read_text()) == result.to_json()
