"""The runs of a study: the whole product, each told apart by all that decides what comes out."""

from __future__ import annotations

import itertools

import pytest
import yaml

from accordant.errors import InputError, SpecError
from accordant.studies.cells import cells_of, merge
from accordant.studies.checks import check_cells
from accordant.studies.declaration import read_study
from accordant.studies.execution import StudyOptions

MODEL = {"a": {}, "b": {"learning": {"folds": 4}}, "c": {"learning": {"folds": 5}}}
REWARD = {"d": {}, "e": {"evaluation": {"level": 0.9}}}


def test_runs_are_the_product_of_seeds_sizes_and_axes(study):
    cells = cells_of(read_study(study(variants=..., axes={"model": MODEL, "reward": REWARD}, seeds=[3, 1, 2])))
    found = [(cell.seed, cell.condition.rows, *cell.condition.variants.values()) for cell in cells]
    assert found == list(itertools.product([3, 1, 2], [60, None], "abc", "de"))
    assert len({cell.name for cell in cells}) == len({cell.hash for cell in cells}) == 36
    assert len({cell.condition.label for cell in cells}) == 12
    by_variant = {cell.condition.variants["model"]: cell.file.case.learning.folds for cell in cells}
    assert by_variant == {"a": 3, "b": 4, "c": 5}


def test_a_label_leaves_out_what_does_not_differ(study):
    one = cells_of(read_study(study(rows=[None], variants=..., axes={"model": MODEL, "reward": {"d": {}}})))
    assert {cell.condition.label for cell in one} == {"a", "b", "c"}
    assert {cell.condition.label for cell in cells_of(read_study(study(variants=...)))} == {"60 rows", "all rows"}


def test_changes_go_key_by_key_and_another_thing_replaces_the_whole():
    base = {"model": {"name": "Forest", "grid": {"depth": [1], "trees": [2]}}, "folds": 3, "list": [1, 2]}
    assert merge(base, {"model": {"grid": {"depth": [9]}}})["model"]["grid"] == {"depth": [9], "trees": [2]}
    assert merge(base, {"model": {"name": "Neighbours", "grid": {"k": [3]}}})["model"] == {
        "name": "Neighbours", "grid": {"k": [3]}
    }  # fmt: skip
    assert merge(base, {"model": {"name": "Forest", "grid": {"trees": [7]}}})["model"]["grid"]["depth"] == [1]
    assert merge(base, {"list": [3], "new": {"x": 1}}) == base | {"list": [3], "new": {"x": 1}}
    assert base["model"]["grid"] == {"depth": [1], "trees": [2]}


def test_what_decides_the_result_changes_the_name(study, folder):
    first = {cell.hash for cell in cells_of(read_study(study()))}
    assert {cell.hash for cell in cells_of(read_study(study(title="Another title")))} == first
    assert {cell.hash for cell in cells_of(read_study(study(changes={"learning": {"folds": 4}})))}.isdisjoint(first)
    assert {cell.hash for cell in cells_of(read_study(study()), extra={"evaluation": {"level": 0.9}})}.isdisjoint(first)
    assert len({cell.hash for cell in cells_of(read_study(study(seeds=[1, 5])))} & first) == 4
    with (folder / "beds.csv").open("a", encoding="utf-8") as file:
        file.write("50,80,f,Admit,Well\n")
    assert {cell.hash for cell in cells_of(read_study(study()))}.isdisjoint(first)


def test_the_order_of_keys_in_a_case_is_no_part_of_its_runs(study, folder):
    first = [cell.hash for cell in cells_of(read_study(study()))]
    case = yaml.safe_load((folder / "beds.yaml").read_text(encoding="utf-8"))
    case["metrics"] = dict(reversed(case["metrics"].items()))
    case["rewards"]["Ward"]["table"] = dict(reversed(case["rewards"]["Ward"]["table"].items()))
    (folder / "beds.yaml").write_text(yaml.safe_dump(case, sort_keys=False), encoding="utf-8")
    assert [cell.hash for cell in cells_of(read_study(study()))] == first


def test_two_variants_that_are_the_same_run_are_refused(study):
    with pytest.raises(InputError, match="'base, 60 rows' and 'copy, 60 rows' are the same run"):
        cells_of(read_study(study(variants={"base": {}, "copy": {"learning": {"folds": 3}}})))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"learnin": {}}, "did you mean 'learning'"),
        ({"learning": {"fold": 3}}, "learning: unknown key 'fold'"),
        ({"metrics": {"Accuracy": {"weight": 0.9}}}, "metric weights sum to 1.4"),
        ({"rewards": 3}, "rewards"),
    ],
)
def test_a_variant_that_makes_no_case_is_named(study, change, words):
    with pytest.raises(SpecError) as error:
        cells_of(read_study(study(variants={"base": {}, "broken": change})))
    assert "variant broken, 60 rows" in str(error.value)
    assert "study file wards.yaml" in str(error.value)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"learning": {"outcome_model": {"name": "GaussianMB"}}}, "GaussianNB"),
        ({"data": {"features": ["age", "puls"]}}, "pulse"),
        ({"strategies": [{"name": "maximim"}]}, "maximin"),
    ],
)
def test_what_a_variant_would_run_into_is_told_before_the_runs(study, change, words):
    cells = cells_of(read_study(study(variants={"base": {}, "broken": change})))
    with pytest.raises(InputError) as error:
        check_cells(cells, StudyOptions())
    assert "variant broken, 60 rows" in str(error.value)
    assert words in str(error.value)


def test_more_rows_than_there_are_are_refused_before_the_runs(study):
    with pytest.raises(InputError, match="variant base, 5000 rows: rows is 5000; allowed: 1 to 120"):
        check_cells(cells_of(read_study(study(rows=[60, 5000]))), StudyOptions())


def test_the_case_of_a_study_lies_beside_it(study, folder, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    cells = cells_of(read_study(study()))
    assert {cell.file.beside for cell in cells} == {folder}
    assert yaml.safe_load((folder / "beds.yaml").read_text())["name"] == cells[0].file.case.name


def test_two_conditions_never_share_a_name(study):
    axes = {
        "model": {"a, b": {"learning": {"folds": 4}}, "a": {}},
        "reward": {"c": {}, "b, c": {"evaluation": {"level": 0.9}}},
    }
    with pytest.raises(InputError, match="two conditions are called 'a, b, c, 60 rows'"):
        cells_of(read_study(study(variants=..., axes=axes)))


def test_that_data_are_simulated_is_said_once(study, folder, caplog, monkeypatch):
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    read = read_study(
        study(case="lending", variants={"base": {}, "strictest": {"rewards": {"structure": "strictest"}}})
    )
    with caplog.at_level("WARNING", logger="accordant"):
        check_cells(cells_of(read), StudyOptions())
    assert [each.getMessage() for each in caplog.records] == ["no data found: running on the simulator 'lending'"]
