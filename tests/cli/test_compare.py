"""``accordant compare``: two runs, two cases, two scope cards, and what is refused."""

from __future__ import annotations

import json
import shutil

import pytest

from accordant.runs import read_run


@pytest.fixture
def pair(case_folder, finished_run):
    """Two copies of a run, to which sections may be added, in the folder of the case."""
    for name in ("one", "two"):
        shutil.rmtree(case_folder / name, ignore_errors=True)
        shutil.copytree(finished_run, case_folder / name, ignore=shutil.ignore_patterns("sections"))
    return case_folder / "one", case_folder / "two"


def test_two_runs_are_compared_and_nothing_is_added(accordant, pair):
    done = accordant("compare", "one", "two")
    assert done.returncode == 0, done.stderr
    for part in ("one (beds, seed 5) → two (beds, seed 5)", "data and split: nothing differs", "case: nothing differs",
                 "D*: ", " in both", "the untouched rows are the same ones", "D* on untouched rows",
                 "cannot be told", "Composite scores"):  # fmt: skip
        assert part in done.stdout
    assert not any((run / "sections").exists() for run in pair)


def test_a_comparison_is_added_to_the_first_run_where_that_is_asked_for(accordant, pair):
    done = accordant("compare", "one", "two", "--add", "--json")
    assert done.returncode == 0, done.stderr
    section = read_run(pair[0]).links[0].section()
    assert section.to_json() == json.loads(done.stdout) and section.second.folder == "two"
    assert "added to the run: sections/0001-comparison.json" in done.stderr
    assert not (pair[1] / "sections").exists() and accordant("verify", "one").returncode == 0


def test_two_cases_are_compared_by_what_they_declare(accordant, case_folder):
    text = (case_folder / "beds.yaml").read_text(encoding="utf-8")
    (case_folder / "later.yaml").write_text(
        text.replace("weight: 0.5", "weight: 0.25", 1).replace("weight: 0.5", "weight: 0.75", 1)
    )
    found = json.loads(accordant("compare", "beds.yaml", "later.yaml", "--json").stdout)
    assert [each["key"] for each in found["declaration"]] == ["metrics.Accuracy.weight", "metrics.Worst_Off.weight"]
    told = accordant("compare", "beds.yaml", "later.yaml").stdout
    assert "metrics.Accuracy.weight: 0.5 before, 0.25 now" in told and "scope card: nothing differs" in told


def test_a_run_and_a_case_are_compared_by_what_they_declare(accordant, pair):
    found = json.loads(accordant("compare", "one", "beds.yaml", "--json").stdout)
    assert found["declaration"] == found["card"] == []


def test_two_scope_cards_are_compared(accordant, case_folder):
    from accordant.scope import ScopeCard, to_markdown

    for name, uses in (("old", ["teaching"]), ("new", ["teaching", "research"])):
        card = ScopeCard(id="beds", version="1", title="Beds", decision="who gets a bed", in_scope_uses=uses)
        (case_folder / f"{name}.md").write_text(to_markdown(card), encoding="utf-8")
    found = json.loads(accordant("compare", "old.md", "new.md", "--json").stdout)
    assert [each["key"] for each in found["card"]] == ["scope.in_scope_uses"] and found["declaration"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one", "lendin"], "unknown case 'lendin'"),
        (["lending", "health", "--add"], "--add has no effect unless both are finished runs"),
        (["one", "lending", "--data", "x"], "--data has no effect unless both are finished runs"),
        (["one", "two", "--data", "nowhere"], "not found at nowhere"),
    ],
)
def test_wrong_input_ends_with_code_2(accordant, pair, arguments, message):
    done = accordant("compare", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(accordant, pair, monkeypatch):
    monkeypatch.setattr("accordant.runs.chain.os.access", lambda place, mode: False)
    done = accordant("compare", "one", "two", "--add")
    assert done.returncode == 2 and "without --add nothing is added" in done.stderr
