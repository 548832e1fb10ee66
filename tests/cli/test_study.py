"""`accordant study`: a folder that can be continued, JSON alone on stdout, and exit codes."""

from __future__ import annotations

import json

import pytest

from accordant.studies import execution

STUDY = """
name: wards
case: beds.yaml
seeds: [1, 2]
rows: [60, null]
changes: {learning: {outcome_model: {name: GaussianNB}, calibrated: false}, strategies: [{name: maximin}]}
variants:
  base: {}
  generous: {rewards: {Ward: {table: {Wait: {Well: 0.2}}}}}
"""


@pytest.fixture(autouse=True)
def plain_report(monkeypatch):
    """Reports have tests of their own."""
    monkeypatch.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")


@pytest.fixture
def declared(case_folder):
    (case_folder / "wards.yaml").write_text(STUDY, encoding="utf-8")
    return case_folder


@pytest.mark.long
def test_one_run_then_the_next(accordant, declared):
    first = accordant("study", "wards.yaml", "--out", "wards-out", "--rows", "60", "--limit", "1", "--jobs", "1")
    assert first.returncode == 0, first.stderr
    assert "1 of 4 runs finished" in first.stdout
    assert "1 run, 0 of them finished before" in first.stderr
    more = accordant(
        "study", "wards.yaml", "--out", "wards-out", "--rows", "60", "--limit", "2", "--jobs", "1", "--json"
    )
    assert more.returncode == 0, more.stderr
    printed = json.loads(more.stdout)
    assert printed["folder"] == "wards-out"
    assert [cell["finished"] for cell in printed["cells"]] == [True, True, False, False]
    assert "1 of them finished before" in more.stderr
    written = {path.name for path in (declared / "wards-out").iterdir()}
    assert written == {"cells", "declaration.json", "study.json", "study.csv", "differences.csv", "study.html"}
    saved = json.loads((declared / "wards-out" / "study.json").read_text(encoding="utf-8"))
    assert saved == {key: value for key, value in printed.items() if key != "folder"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("error", "code"), [(ValueError("no number"), 1), (execution.InputError("no such thing"), 2)]
)  # fmt: skip
def test_a_run_that_fails_decides_the_exit_code(accordant, declared, monkeypatch, error, code):
    def fail(*_):
        raise error

    monkeypatch.setattr(execution, "carry_out", fail)
    done = accordant("study", "wards.yaml", "--out", f"failed-{code}", "--limit", "1", "--jobs", "1")
    assert done.returncode == code
    assert "- failed: base-60-1-" in done.stdout
    assert str(error) in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("wardz.yaml",), "study file wardz.yaml does not exist"),
        (("health-papr",), "did you mean 'health-paper'"),
        (("wards.yaml", "--rows", "9999"), "rows is 9999; allowed: 1 to 192"),
        (("wards.yaml", "--out", "beds.csv"), "is not a folder"),
        (("wards.yaml", "--data", "nowhere"), "not found at nowhere"),
        (("wards.yaml", "--out", "."), "holds no study"),
    ],
)
def test_wrong_input_ends_with_2_before_anything_is_made(accordant, declared, monkeypatch, arguments, words):
    monkeypatch.setattr(execution, "carry_out", lambda *_: pytest.fail("something was learned"))
    done = accordant("study", *arguments, "--jobs", "1")
    assert done.returncode == 2
    assert words in done.stderr
    assert not (declared / "accordant-studies").exists()


@pytest.mark.long
def test_a_whole_study_of_simulated_loans(accordant, tmp_path):
    text = """
name: loans
case: lending
seeds: [1, 2, 3]
rows: [100, 200]
changes:
  learning: {outcome_model: {name: GaussianNB}, reward_model: {name: stated}, calibrated: false, folds: 3}
  simulator: {rows: 300}
  evaluation: {resamples: 100}
statements:
  - {says: Some are granted everything, source: this test, metric: Percent_Grant, strategy: "constant:Grant", at_least: 100}
  - {says: Granting scores more than refusing, source: this test, higher: "constant:Grant", lower: [random]}
"""
    (tmp_path / "loans.yaml").write_text(text, encoding="utf-8")
    done = accordant("study", "loans.yaml", "--jobs", "2", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["simulated"] is True
    assert all(cell["finished"] for cell in found["cells"]) and len(found["cells"]) == 6
    assert [len(condition["leaderboard"]) > 10 for condition in found["conditions"]] == [True] * 2
    assert [each["verdict"] for each in found["statements"]] == ["cannot be told", "came out"]  # the first never varies
    page = (tmp_path / "accordant-studies" / "loans" / "study.html").read_text(encoding="utf-8")
    assert "Simulated data" in page and "Mean composite score by training rows" in page
