"""Recommendations part by part are those of the same rows at once, the same bytes whoever makes them."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from accordant import strategies
from accordant.compute import compute
from accordant.compute.ledger import LINES
from accordant.errors import DataError, InputError
from accordant.runs import read_run
from accordant.runs.chain import add_section
from accordant.runs.datasets.parts import Job, opened
from accordant.runs.datasets.recommendation import recommend_dataset
from accordant.runs.recommendation import write_recommendations
from accordant.runs.sections.adoption import Adoption, context_hashes
from accordant.sections import Section

pytestmark = pytest.mark.usefixtures("alone")


class Debate(Section):
    """Something that an adoption rests on."""

    name: ClassVar[str] = "debate"
    version: ClassVar[int] = 1


def parts_of(folder):
    """Return the tables of the parts, in order."""
    return [pd.read_parquet(each) for each in sorted(folder.glob("part-*.parquet"))]


def contents(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def whole(run, source, tmp_path, **options):
    """Return the recommendations for a file at once, and how many rows were unusual."""
    out = tmp_path / "whole.parquet"
    counts = write_recommendations(run, source, options.pop("strategy", None), out, **options)
    return pd.read_parquet(out), counts


@pytest.mark.parametrize(("part_rows", "sizes"), [(1, [10] * 5), (20, [20, 20, 10]), (15, [20, 20, 10]), (99, [50])])
def test_rows_are_those_of_the_whole_file(own, dataset, tmp_path, part_rows, sizes):
    counts = recommend_dataset(Job(own, str(dataset), tmp_path / "out", "here", part_rows))
    expected, expected_counts = whole(own, dataset, tmp_path)
    found = parts_of(tmp_path / "out")
    assert [len(part) for part in found] == sizes and expected_counts.unusual >= 3
    pd.testing.assert_frame_equal(pd.concat(found, ignore_index=True), expected, check_exact=True)
    assert counts == expected_counts and counts.rows == 50


@pytest.mark.parametrize("options", [{"strategy": "stakeholder:Bank"}, {"row_id": "name"}])
def test_another_strategy_and_names_of_rows_are_those_that_were_asked_for(own, dataset, tmp_path, options):
    recommend_dataset(Job(own, str(dataset), tmp_path / "out", "here", 20), **options)
    expected, _ = whole(own, dataset, tmp_path, **options)
    pd.testing.assert_frame_equal(pd.concat(parts_of(tmp_path / "out"), ignore_index=True), expected, check_exact=True)


def test_a_folder_of_several_kinds_is_as_good_as_its_files(own, table, tmp_path):
    folder = tmp_path / "rows"
    (folder / "day=1").mkdir(parents=True)
    table[:20].to_parquet(folder / "day=1" / "a.parquet", row_group_size=8)
    table[20:35].to_csv(folder / "b.csv", index=False)
    table[35:].reset_index(drop=True).to_feather(folder / "c.arrow")
    recommend_dataset(Job(own, str(folder), tmp_path / "out", "here", 10))
    found = parts_of(tmp_path / "out")
    files = [folder / "b.csv", folder / "c.arrow", folder / "day=1" / "a.parquet"]
    expected = [whole(own, file, tmp_path)[0] for file in files]
    assert [len(part) for part in found] == [15, 15, 16, 4]
    pd.testing.assert_frame_equal(found[0], expected[0], check_exact=True)
    pd.testing.assert_frame_equal(found[1], expected[1], check_exact=True)
    pd.testing.assert_frame_equal(pd.concat(found[2:], ignore_index=True), expected[2], check_exact=True)
    assert [part["row"].iloc[0] for part in found] == [0, 0, 0, 16]


@pytest.mark.parametrize("tidier", [False, True])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_columns_that_folders_say_are_as_good_as_those_of_files(own, table, tmp_path, suffix, tidier, monkeypatch):
    if tidier:
        monkeypatch.setattr("accordant.runs.row_batches.AS_IT_IS", "")
    folder, expected = tmp_path / "rows", []
    for kind, some in table.groupby("kind"):
        place = folder / "part=1" / f"kind={kind}" / f"a{suffix}"
        place.parent.mkdir(parents=True)
        whole_file = tmp_path / f"{kind}.parquet"
        some.reset_index(drop=True).to_parquet(whole_file)
        expected.append(whole(own, whole_file, tmp_path)[0])
        some = some.drop(columns="kind").reset_index(drop=True)
        some.to_csv(place, index=False) if suffix == ".csv" else some.to_parquet(place)
    recommend_dataset(Job(own, str(folder / "*/*/*"), tmp_path / "out", "here", 10))
    for found, other in zip(parts_of(tmp_path / "out"), expected, strict=True):
        pd.testing.assert_frame_equal(found, other, check_exact=True)


def test_files_may_hold_nothing_that_is_read(own, table, tmp_path):
    folder = tmp_path / "rows" / "x=0.5" / "kind=1"
    folder.mkdir(parents=True)
    table[:10][["also"]].to_parquet(folder / "a.parquet")
    with pytest.raises(InputError, match=r"x=0.5/kind=1/a.parquet: column 'group' is missing; found: also, x, kind"):
        recommend_dataset(Job(own, str(tmp_path / "rows"), tmp_path / "refused", "here", 10), row_id="group")
    recommend_dataset(Job(own, str(tmp_path / "rows"), tmp_path / "out", "here", 10))
    table[:10].assign(x=0.5, kind="1").drop(columns="group").to_parquet(tmp_path / "flat.parquet")
    (found,) = parts_of(tmp_path / "out")
    pd.testing.assert_frame_equal(found, whole(own, tmp_path / "flat.parquet", tmp_path)[0], check_exact=True)


def test_what_a_file_holds_itself_counts_and_a_missing_text_is_missing(own, table, tmp_path):
    folder = tmp_path / "rows"
    for name, some in (("x", table[:10]), ("__HIVE_DEFAULT_PARTITION__", table[:10].drop(columns="kind"))):
        (folder / f"kind={name}").mkdir(parents=True)
        some.to_parquet(folder / f"kind={name}" / "a.parquet")
    table[:10].assign(kind=None).to_parquet(tmp_path / "missing.parquet")
    table[:10].to_parquet(tmp_path / "own.parquet")
    recommend_dataset(Job(own, str(folder), tmp_path / "out", "here", 10))
    found = parts_of(tmp_path / "out")
    for part, file in zip(found, ("missing", "own"), strict=True):
        pd.testing.assert_frame_equal(part, whole(own, tmp_path / f"{file}.parquet", tmp_path)[0], check_exact=True)


def test_folders_are_the_same_bytes_whoever_works(own, dataset, tmp_path):
    for address in ("here", "threads:2", "processes:2"):
        recommend_dataset(Job(own, str(dataset), tmp_path / address, address, 10))
    with compute("threads:2"):
        recommend_dataset(Job(own, str(dataset), tmp_path / "chosen", None, 10))
    here = contents(tmp_path / "here")
    assert len(here) == 7
    for other in ("threads:2", "processes:2", "chosen"):
        assert contents(tmp_path / other) == here


def test_work_is_carried_on_wherever_it_was_begun(own, dataset, tmp_path):
    job = Job(own, str(dataset), tmp_path / "out", "here", 10)
    counts, before = recommend_dataset(job), contents(tmp_path / "out")
    when = {each.name: each.stat().st_mtime_ns for each in (tmp_path / "out").glob("part-*")}
    (tmp_path / "out" / "part-00003.parquet").unlink()
    lines = (tmp_path / "out" / LINES).read_text().splitlines(keepends=True)
    (tmp_path / "out" / LINES).write_text("".join(lines[1:]))
    assert recommend_dataset(replace(job, on="processes:2")) == counts
    assert contents(tmp_path / "out") == before
    again = {each.name for each in (tmp_path / "out").glob("part-*") if each.stat().st_mtime_ns != when[each.name]}
    assert again == {"part-00000.parquet", "part-00003.parquet"}


def test_what_was_changed_in_the_file_is_decided_again(own, table, dataset, tmp_path):
    job = Job(own, str(dataset), tmp_path / "out", "here", 10)
    recommend_dataset(job)
    before = contents(tmp_path / "out")
    table.assign(x=np.where(table.index == 25, -2.0, table["x"])).to_parquet(dataset, row_group_size=10, index=False)
    recommend_dataset(job)
    changed = {name for name, content in contents(tmp_path / "out").items() if content != before[name]}
    assert changed == {"part-00002.parquet", LINES}
    table.rename(columns={"x": "also", "also": "x"}).to_parquet(dataset, row_group_size=10, index=False)
    recommend_dataset(job)
    expected, _ = whole(own, dataset, tmp_path)
    pd.testing.assert_frame_equal(pd.concat(parts_of(tmp_path / "out"), ignore_index=True), expected, check_exact=True)


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"part_rows": 20}, {}, "other parts"),
        ({}, {"strategy": "stakeholder:Bank"}, "other strategy"),
        ({}, {"row_id": "name"}, "other id"),
    ],
)
def test_other_work_in_the_folder_is_refused(own, dataset, tmp_path, changes, options, words):
    job = Job(own, str(dataset), tmp_path / "out", "here", 10)
    recommend_dataset(job)
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match=rf"holds parts of another job \({words}\)"):
        recommend_dataset(replace(job, **changes), **options)
    assert contents(tmp_path / "out") == before


def test_what_people_adopt_meanwhile_is_another_work(run_folder, table, dataset, tmp_path):
    """A worker that keeps runs open sees it as well."""
    job = Job(read_run(run_folder), str(dataset), tmp_path / "out", "here", 10)
    recommend_dataset(job)
    link = add_section(job.run.manifest, Debate())
    features = job.run.policy.features_
    contexts = job.run.policy.contexts_of({name: table[name].to_numpy()[:1] for name in features})
    (key,) = context_hashes(contexts, features)
    before = parts_of(tmp_path / "out")[0]["action"][0]
    other = next(each for each in job.run.case.problem.actions if each != before)
    add_section(job.run.manifest, Adoption(
        accordant="0", debate=link.file, debate_sha256=link.sha256, row=0, source="rows", context_sha256=key,
        action=other, recommended=before, unusual="", by="A", why="b", remarks=(),
    ))  # fmt: skip
    adopted = replace(job, run=read_run(run_folder))
    with pytest.raises(InputError, match=r"holds parts of another job \(other version\)"):
        recommend_dataset(adopted)
    recommend_dataset(replace(adopted, out=tmp_path / "new"))
    assert parts_of(tmp_path / "new")[0]["action"][0] == other


def test_a_poisoned_part_is_named_and_mended(own, table, dataset, tmp_path):
    spoilt = table.assign(x=table["x"].where(table.index != 34, np.inf))
    spoilt.to_parquet(dataset, row_group_size=10, index=False)
    job = Job(own, str(dataset), tmp_path / "out", "processes:2", 10)
    with pytest.raises(InputError, match=r"1 of 5 parts failed.*part 3: rows.parquet, row 34: column 'x': found 'inf'"):
        recommend_dataset(job)
    assert len(parts_of(tmp_path / "out")) == 4
    table.to_parquet(dataset, row_group_size=10, index=False)
    assert recommend_dataset(job).rows == 50 and len(parts_of(tmp_path / "out")) == 5


def test_what_a_dataset_lacks_is_told(own, table, dataset, tmp_path):
    table.rename(columns={"x": "xx"}).to_parquet(dataset, index=False)
    with pytest.raises(InputError, match="part 0: rows.parquet: column 'x' is missing; did you mean it by 'xx'"):
        recommend_dataset(Job(own, str(dataset), tmp_path / "out", "here"))
    with pytest.raises(DataError, match="there is no file there"):
        recommend_dataset(Job(own, str(tmp_path / "*.orc"), tmp_path / "other", "here"))
    assert not (tmp_path / "other").exists()


def test_a_run_that_is_another_now_is_told(run_folder, outcomes, dataset, tmp_path):
    job = Job(read_run(run_folder), str(dataset), tmp_path / "out", "here", 10)
    with pytest.raises(InputError, match="holds another run than when this work began"):
        opened({"run": str(run_folder), "version": "0" * 64})
    assert recommend_dataset(job).rows == 50


def test_a_strategy_that_looks_at_all_rows_is_refused(own, dataset, tmp_path):
    parameters = {"rule": "utilitarian", "floors": {"Bank": 0.0}, "budgets": {"yes": 3}}
    rule = strategies.create("constrained", parameters).for_problem(own.case.problem)
    own.policy.strategies_[rule.label] = rule
    try:
        with pytest.raises(InputError, match="decides about all rows together.*allowed: another strategy, or one file"):
            recommend_dataset(Job(own, str(dataset), tmp_path / "out", "here"), rule.label)
    finally:
        del own.policy.strategies_[rule.label]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("out", [".", "out", "day=1/out"])
def test_results_are_not_laid_into_the_dataset(own, table, tmp_path, out):
    folder = tmp_path / "rows"
    (folder / "day=1").mkdir(parents=True)
    table.to_parquet(folder / "day=1" / "a.parquet")
    with pytest.raises(InputError, match="lies in the dataset"):
        recommend_dataset(Job(own, str(folder), folder / out, "here"))
    assert [each.name for each in folder.rglob("*")] == ["day=1", "a.parquet"]


@pytest.mark.few(1)
@pytest.mark.parametrize(("source", "on"), [("file://{}", "here"), ("file://{}/*/*.parquet", "processes:2")])
def test_rows_at_an_address_give_the_bytes_of_the_same_files_here(own, table, tmp_path, source, on):
    folder = tmp_path / "rows"
    for kind, some in table.dropna().groupby("kind"):
        (folder / f"kind={kind}").mkdir(parents=True)
        some.drop(columns="kind").to_parquet(folder / f"kind={kind}" / "a.parquet", row_group_size=10, index=False)
    counts = recommend_dataset(Job(own, str(folder), tmp_path / "here", "here", 10))
    job = Job(own, source.format(folder), tmp_path / "there", on, 10)
    assert recommend_dataset(job) == counts
    here, there = contents(tmp_path / "here"), contents(tmp_path / "there")
    assert here.pop("plan.json") != there.pop("plan.json") and here == there and len(here) > 4
    before = {each: each.stat().st_mtime_ns for each in (tmp_path / "there").glob("part-*.parquet")}
    assert recommend_dataset(job) == counts
    assert {each: each.stat().st_mtime_ns for each in before} == before
    with pytest.raises(InputError, match="lies in the dataset file://"):
        recommend_dataset(Job(own, f"file://{folder}", folder / "out", "here", 10))
