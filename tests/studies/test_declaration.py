"""What a study file may say, and what is refused with the nearest name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from accordant.cases.files import built_in_files
from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.studies.cells import cells_of
from accordant.studies.checks import check_names
from accordant.studies.declaration import StatementSpec, StudySpec, read_study

STUDIES = sorted(built_in_files("accordant.studies"))
LEAST = {"name": "own", "case": "lending", "seeds": [1]}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_that_ships_makes_valid_runs(name):
    study = read_study(name)
    cells = cells_of(study)
    check_names(study, cells)
    spec = study.study
    assert len(cells) == len(spec.seeds) * len(spec.rows) * 6
    assert {each.metric for each in spec.statements} <= {*cells[0].file.case.metrics, "score", "tied", "selected"}
    assert all("commit f15b820" in each.source for each in spec.statements)


def test_two_studies_ship():
    assert STUDIES == ["health-paper", "lending-paper"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sedes": [1]}, "did you mean 'seeds'"),
        ({"seeds": []}, "seeds"),
        ({"seeds": [-1]}, "seeds"),
        ({"seeds": [1, 2, 1]}, "seeds: 1 is there twice"),
        ({"rows": [100, None, 100]}, "rows: 100 is there twice"),
        ({"rows": [None, None]}, "rows: all is there twice"),
        ({"rows": [0]}, "rows"),
        ({"rows": []}, "rows"),
        ({"variants": {}}, "variants"),
        ({"variants": {"a/b": {}}}, "cannot be part of a path"),
        ({"variants": {"a" * 41: {}}}, "at most 40"),
        ({"variants": {"a": {}}, "axes": {"model": {"b": {}}}}, "both 'variants' and 'axes'"),
        ({"axes": {"rows": {"b": {}}}}, "an axis is called 'rows'"),
        ({"axes": {"model": {}}}, "model"),
        ({"variants": {"a": {}}, "baseline": {"variant": "b"}}, "unknown variant of variant 'b'"),
        ({"variants": {"a": {}}, "baseline": {"varaint": "a"}}, "did you mean 'variant'"),
        ({"baseline": {"rows": 100}}, "unknown variant of rows '100'"),
        ({"seeds": list(range(200)), "rows": list(range(1, 102))}, "allowed: at most 10,000"),
        ({"compare": {"metrics": []}}, "compare: metrics"),
        ({"compare": {"metric": ["score"]}}, "did you mean 'metrics'"),
        ({"statements": [{"says": "so", "source": "x"}]}, "needs either higher and lower"),
        ({"statements": [{"says": "so", "source": "x", "strategy": "maximin"}]}, "needs either"),
        ({"statements": [{"says": "so", "source": "x", "strategy": "a", "at_least": 1, "at_most": 2}]}, "needs either"),
        ({"statements": [{"says": "so", "source": "x", "higher": "a", "lower": ["b"], "at_most": 2}]}, "needs either"),
        ({"statements": [{"says": "so", "source": "x", "higher": "a", "lower": ["b"], "metric": "selected"}]}, "share"),
        (
            {"statements": [{"says": "so", "source": "x", "strategy": "a", "at_most": 1, "where": {"rows": 7}}]},
            "rows '7'",
        ),
        ({"statements": [{"says": "so", "strategy": "a", "at_most": 1}]}, "source"),
    ],
)
def test_what_is_wrong_is_named(changes, words):
    with pytest.raises(SpecError) as error:
        StudySpec(**(LEAST | changes))
    assert words in str(error.value)


def test_a_place_that_is_not_named_is_the_baseline():
    study = StudySpec(
        **LEAST, rows=[100, None, 300], axes={"model": {"a": {}, "b": {}}, "reward": {"c": {}, "d": {}}},
        baseline={"model": "b"},
    )  # fmt: skip
    assert study.place("baseline", study.baseline) == {"rows": "all", "model": "b", "reward": "c"}
    assert study.place("statements.0", {"rows": 300, "reward": "d"}) == {"rows": "300", "model": "b", "reward": "d"}
    assert StudySpec(**LEAST, rows=[100, 300, 200]).place("baseline", {}) == {"rows": "300"}


def test_a_file_says_where_it_is_wrong(study):
    path = study(sedes=[1])
    with pytest.raises(SpecError, match="study file wards.yaml"):
        read_study(path)
    with pytest.raises(SpecError, match="line 3: seeds"):
        read_study(study(seeds=[]))


def test_a_study_that_is_nowhere():
    with pytest.raises(UnknownNameError, match="did you mean 'lending-paper'"):
        read_study("lendin-paper")
    with pytest.raises(SpecError, match="study file nowhere.yaml does not exist"):
        read_study("nowhere.yaml")


def test_a_name_that_no_run_will_have_is_refused_before_the_runs(study):
    for changes, words in (
        ({"compare": {"metrics": ["Acuracy"]}}, "compare.metrics: unknown metric 'Acuracy'; did you mean 'Accuracy'"),
        ({"compare": {"strategies": ["maximim"]}}, "unknown strategy 'maximim'; did you mean 'maximin'"),
        (
            {"statements": [{"says": "so", "source": "x", "strategy": "constant:Admt", "at_least": 0}]},
            "'constant:Admit'",
        ),
    ):
        read = read_study(study(**changes))
        with pytest.raises(InputError) as error:
            check_names(read, cells_of(read))
        assert words in str(error.value)


def test_what_the_guide_shows_is_a_study():
    guide = Path(__file__).parents[2] / "docs" / "how-to" / "run-a-study.md"
    first, *parts = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL))
    study = StudySpec(**first)
    assert len(study.seeds) * len(study.rows) * 2 * 2 == 48
    assert len(parts) == 2
    for part in parts:
        study.replace(**part)


def test_the_reference_names_every_key():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "study-file.md").read_text(encoding="utf-8")
    for key in (*StudySpec.model_fields, *StatementSpec.model_fields):
        assert f"`{key}`" in page or f"`{key}." in page, key
