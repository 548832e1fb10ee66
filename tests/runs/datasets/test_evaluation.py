"""All strategies of a run judged on a dataset: as in memory, wherever and in whatever parts, with what is left out."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.errors import InputError
from accordant.evaluation import evaluate
from accordant.metrics.metric import weighted_metrics
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.datasets.evaluation import evaluate_dataset, leaderboard_of
from accordant.runs.datasets.parts import Job
from accordant.runs.execution import part_data
from accordant.tables.datasets import dataset_parts

pytestmark = pytest.mark.usefixtures("alone")

ROWS, PERSONS = 24_000, 3_000
BUDGET = {"name": "constrained", "parameters": {"rule": "utilitarian", "budgets": {"yes": 0.25}}}


def rows(n):
    """Draw rows; those of group 1 stand last, persons come again and again."""
    generator = np.random.default_rng(4)
    x, group = generator.normal(size=n), np.sort(generator.integers(0, 2, n))
    return pd.DataFrame({
        "x": x, "kind": generator.choice(["1", "2", "x"], n), "group": group, "who": np.arange(n) % (n // 8),
        "did": generator.choice(["yes", "no"], n),
        "followed": np.where(x + generator.normal(size=n) > 0, "good", "bad"), "said": generator.random(n).round(2),
    })  # fmt: skip


@pytest.fixture(scope="module", params=[None, "who"])
def judged(request, cases, tmp_path_factory):
    """A run whose rows are independent, or belong to persons, with a strategy that needs all rows; and a dataset."""
    folder = tmp_path_factory.mktemp("judged")
    case = yaml.safe_load(cases["own"].read_text())
    case["strategies"].append(BUDGET)
    if request.param:
        case["data"]["group"] = request.param
    (folder / "own.yaml").write_text(yaml.safe_dump(case))
    rows(400).to_csv(folder / "own.csv", index=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")
        run = write_run(carry_out(folder / "own.yaml", RunOptions(seed=7)), folder / "run")
    table = rows(ROWS)
    (folder / "data").mkdir()
    for name, some in (("a", table[:14_000]), ("b", table[14_000:])):
        some.to_parquet(folder / "data" / f"{name}.parquet", row_group_size=3_500)
    table.to_parquet(folder / "whole.parquet")
    return read_run(run), folder


@pytest.mark.long
def test_values_are_those_in_memory_and_what_is_left_out_is_named(judged, tmp_path):
    run, folder = judged
    found = evaluate_dataset(Job(run, str(folder / "data"), tmp_path / "out", "here", 3_500))
    policy = run.policy
    data, _ = part_data(run.case, dataset_parts(folder / "whole.parquet", ROWS)[0], run.policy.types_)
    evidence = policy.evidence_on(data.log)
    left = [label for label, rule in policy.strategies_.items() if rule.whole_batch]
    decisions = {label: each for label, each in policy.decide_on(evidence).items() if label not in left}
    kinds = {label: policy.strategies_[label].kind for label in decisions}
    expected = evaluate(
        decisions, kinds, evidence, weighted_metrics(policy.metrics),
        candidates=[label for label in decisions if policy.strategies_[label].candidate],
        generator=np.random.default_rng(0), resamples=0,
    )  # fmt: skip
    assert len(left) == 1 and found.n == ROWS
    assert f"Left out, because they decide about all rows together: {left[0]}." in found.remarks
    assert [row.strategy for row in found] == [row.strategy for row in expected]
    for row, other in zip(found, expected, strict=True):
        assert row.score.value == pytest.approx(other.score.value, rel=1e-9)
        assert row.score.low <= row.score.value <= row.score.high and row.score.low < row.score.high
        for label, cell in row.metrics.items():
            assert cell.estimate.value == pytest.approx(other.metrics[label].estimate.value, rel=1e-9)
    told = [remark for remark in found.remarks if "persons" in remark]
    assert told == ([f"The {ROWS:,} rows belong to {PERSONS:,} persons; intervals are for persons."]
                    if evidence.clusters is not None else [])  # fmt: skip


@pytest.mark.long
def test_bytes_are_the_same_wherever_parts_are_carried_out(judged, tmp_path):
    run, folder = judged
    boards = []
    for place in ("here", "processes:2"):
        out = tmp_path / place.replace(":", "")
        boards.append(json.dumps(
            evaluate_dataset(Job(run, str(folder / "data"), out, place, 3_500), resamples=100).to_json()
        ))  # fmt: skip
        parts = {each.name: each.read_bytes() for each in sorted(out.iterdir()) if each.suffix == ".npz"}
        assert len(parts) == 7
        assert parts == {name: (tmp_path / "here" / name).read_bytes() for name in parts}
    assert boards[0] == boards[1]


@pytest.mark.long
def test_intervals_are_the_same_however_files_are_cut(judged, tmp_path):
    run, folder = judged
    boards = [
        evaluate_dataset(Job(run, str(folder / "data"), tmp_path / str(size), "here", size), resamples=100)
        for size in (3_500, 14_000)
    ]
    ends = [
        [(each.estimate.low, each.estimate.high) for row in board for each in row.metrics.values()] for board in boards
    ]
    assert np.array(ends[0], dtype=float) == pytest.approx(np.array(ends[1], dtype=float), rel=1e-9, nan_ok=True)


def test_a_few_parts_give_the_values_in_memory_and_a_metric_without_weight_may_be_lacking(own, tmp_path, monkeypatch):
    monkeypatch.setattr("accordant.evaluation.summed_leaderboard.SMALLEST", 1)
    table = rows(1_200)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=400)
    job = Job(own, str(tmp_path / "rows.parquet"), tmp_path / "out", "here", 400)
    board = evaluate_dataset(job, resamples=50)
    data, _ = part_data(own.case, dataset_parts(tmp_path / "rows.parquet", 1_200)[0], own.policy.types_)
    evidence = own.policy.evidence_on(data.log)
    decisions, rules = own.policy.decide_on(evidence), own.policy.strategies_
    expected = evaluate(
        decisions, {label: rule.kind for label, rule in rules.items()}, evidence, weighted_metrics(own.policy.metrics),
        candidates=[label for label, rule in rules.items() if rule.candidate], generator=np.random.default_rng(0),
        resamples=0,
    )  # fmt: skip
    assert board.n == 1_200 and [row.strategy for row in board] == [row.strategy for row in expected]
    for row, other in zip(board, expected, strict=True):
        assert row.score.value == pytest.approx(other.score.value, rel=1e-9)
        assert {label: cell.estimate.value for label, cell in row.metrics.items()} == pytest.approx(
            {label: cell.estimate.value for label, cell in other.metrics.items()}, rel=1e-9
        )
    lines = job.carry_out("evaluate", "adding up parts", {"seed": own.policy.random_state})
    lines[1]["unavailable"] = {"Parity": "no group is known"}
    assert leaderboard_of(job, lines).resamples == own.policy.resamples
    lacking = leaderboard_of(job, lines, resamples=50)
    assert lacking.resamples == 50
    assert "Left out is Parity: no group is known." in lacking.remarks
    assert {label for row in lacking for label in row.metrics} == {"Accuracy"}
    assert [row.score.value for row in lacking] == [row.score.value for row in board]


def test_a_metric_with_weight_that_a_part_lacks_is_refused_as_the_first_such_part_says(own, tmp_path):
    lines = [{"unavailable": {}}, {"unavailable": {"Accuracy": "no outcome is known"}},
             {"unavailable": {"Accuracy": "neither here", "Parity": "no group"}}]  # fmt: skip
    with pytest.raises(InputError, match="^metric 'Accuracy': no outcome is known$"):
        leaderboard_of(SimpleNamespace(run=own, out=tmp_path), lines)


@pytest.mark.long
def test_too_few_rows_are_refused(judged, tmp_path):
    run, folder = judged
    with pytest.raises(InputError, match="10000 contexts; parts are for 20000 and more"):
        evaluate_dataset(Job(run, str(folder / "data" / "b.parquet"), tmp_path / "out", "here"))


@pytest.mark.long
def test_columns_that_folders_say_are_judged_as_those_of_files(judged, tmp_path):
    run, folder = judged
    parts = dataset_parts(folder / "data", ROWS)
    for part in parts:
        rows_of = pd.read_parquet(part.file)
        for group, some in rows_of.groupby("group"):
            place = tmp_path / "data" / f"group={group}"
            place.mkdir(parents=True, exist_ok=True)
            some.drop(columns="group").to_parquet(place / f"{part.number}.parquet")
    found = [
        part_data(run.case, each, run.policy.types_)[0].log.contexts for each in dataset_parts(tmp_path / "data", ROWS)
    ]
    expected = part_data(run.case, dataset_parts(folder / "whole.parquet", ROWS)[0], run.policy.types_)[0].log.contexts
    assert len(found) == 3  # rows stand by group already
    for name in expected:
        np.testing.assert_array_equal(np.concatenate([each[name] for each in found]), expected[name])


@pytest.mark.long
def test_a_part_is_read_with_the_types_that_were_learned_from(judged, tmp_path):
    run, folder = judged
    some = pd.read_parquet(folder / "whole.parquet").query("kind == '1'")[:50]
    (tmp_path / "data" / "kind=1").mkdir(parents=True)
    some.drop(columns="kind").to_csv(tmp_path / "data" / "kind=1" / "a.csv", index=False)
    (tmp_path / "kept").mkdir()
    some.to_csv(tmp_path / "kept" / "a.csv", index=False)
    for name in ("data", "kept"):
        (part,) = dataset_parts(tmp_path / name)
        kinds = part_data(run.case, part, run.policy.types_)[0].log.contexts["kind"]
        assert kinds.tolist() == ["1"] * 50  # in a file of these rows alone all are whole numbers
