"""Two runs side by side: what is declared otherwise, the same rows or others, and noise."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from accordant import randomness
from accordant.errors import InputError
from accordant.runs import Run, RunOptions, carry_out, read_run, write_run
from accordant.runs.sections import paired_figures
from accordant.runs.sections.comparison import compare_runs
from accordant.runs.sections.declaration_changes import CaseDifference, declaration_changes
from accordant.statistics import Units, weight_blocks

LABELS = ("Accuracy", "Worst")


def made(case, path, folder, seed=7):
    """Return the run of a case file that is written beside others."""
    path.write_text(yaml.safe_dump(case))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accordant.runs.folder.render", lambda *content: "")
        return read_run(write_run(carry_out(path, RunOptions(seed=seed)), folder))


@pytest.fixture(scope="module")
def runs(cases, tmp_path_factory):
    """The run of a case; one with another rule, one with another seed, and one with another weight."""
    beside, folder = cases["own"].parent, tmp_path_factory.mktemp("compared")
    case = yaml.safe_load(cases["own"].read_text())
    case["evaluation"] = {"resamples": 200, "test_size": 0.4}
    case["metrics"] |= {"Worst": {"metric": "min_reward", "weight": 0.0}}
    other = yaml.safe_load(yaml.safe_dump(case)) | {
        "strategies": [{"name": "stakeholder", "parameters": {"stakeholder": "Bank"}}]
    }
    weighed = yaml.safe_load(yaml.safe_dump(case))
    weighed["metrics"]["Accuracy"]["weight"], weighed["metrics"]["Worst"]["weight"] = 0.1, 0.9
    return {
        "data": str(beside),
        "before": made(case, beside / "before.yaml", folder / "before"),
        "other": made(other, beside / "other.yaml", folder / "other"),
        "seed": made(case, beside / "seed.yaml", folder / "seed", seed=8),
        "weighed": made(weighed, beside / "weighed.yaml", folder / "weighed"),
    }


@pytest.mark.long
def test_a_run_does_not_differ_from_itself(runs):
    found = compare_runs(runs["before"], runs["before"], runs["data"])
    assert found.data == found.declared.declaration == found.declared.card == found.remarks == ()
    assert found.same_rows and found.same_scale
    assert {each.difference for each in found.differences} == {0.0}
    assert "more than noise" not in {each.verdict for each in found.differences}
    silent = {each.metric: each.reason for each in found.differences if each.low is None}
    assert silent["Accuracy"] == "D* of the two decides otherwise in 0 of 36 rows: too few to tell"
    assert "no key differs" in found.words


@pytest.mark.long
def test_figures_are_those_of_the_leaderboards(runs):
    first, second = runs["before"], runs["weighed"]
    found = compare_runs(first, second, runs["data"])
    assert [each.key for each in found.declared.declaration] == ["metrics.Accuracy.weight", "metrics.Worst.weight"]
    assert found.same_rows and not found.same_scale
    assert (found.first.selected, found.second.selected) == (first.record.selected, second.record.selected)
    lines = [next(row for row in run.record.test.leaderboard if row.strategy == run.record.selected)
             for run in (first, second)]  # fmt: skip
    for each in found.differences:
        assert (each.before, each.after) == tuple(line.metrics[each.metric].value for line in lines)
        assert each.difference == each.after - each.before
    assert [each.metric for each in found.differences] == list(first.record.test.leaderboard[0].metrics)
    assert found.to_json() == type(found).read(found.to_json()).to_json()


@pytest.mark.parametrize(
    ("first", "second", "metric", "same"),
    [
        ("natural", "natural", "min_reward", True),
        ("natural", "relative", "min_reward", False),
        ("relative", "relative", "min_reward", False),
        ("natural", "natural", "mean_reward", False),
    ],
)
def test_scores_are_compared_on_fixed_ranges_of_the_same_metrics_alone(run_of_three, first, second, metric, same):
    run = read_run(run_of_three)

    def on_scale(normalisation, metric):
        board = run.record.test.model_copy(update={"normalisation": normalisation})
        changed = Run(run.path, run.manifest, run.record.model_copy(update={"test": board}))
        measured = run.case.metrics["Worst_Off"].model_copy(update={"metric": metric})
        changed.__dict__["case"] = run.case.model_copy(update={"metrics": {"Worst_Off": measured}})
        return changed

    assert compare_runs(on_scale(first, "min_reward"), on_scale(second, metric)).same_scale == same


@pytest.mark.long
def test_paired_differences_are_those_of_the_same_drawn_rows(runs, monkeypatch):
    monkeypatch.setattr(paired_figures, "FEW", 1)
    first = runs["before"]
    record = first.record.model_copy(update={"selected": "constant:no"})
    second = Run(first.path, first.manifest, record)  # as if another strategy had been chosen
    pair, words = paired_figures.paired_rows(first, second, runs["data"])
    assert words == "the untouched rows are the same ones"
    figures = paired_figures._figures(first, second, same_scale=False)
    found = paired_figures._Paired.of(pair, list(figures), figures)
    decided = [each.run.policy.decide_on(each.evidence)[each.run.record.selected] for each in pair]
    correct = [(decisions.codes == each.evidence.log.outcomes).astype(float)
               for decisions, each in zip(decided, pair, strict=True)]  # fmt: skip
    n = len(correct[0])
    blocks = weight_blocks(Units.single(n, None), 200, randomness.generator(0, "resamples"))
    weights = np.zeros((200, n))
    for block in blocks:
        weights[block.resamples, block.units] = block.weights
    gaps = weights @ (correct[1] - correct[0]) / n
    place = found.labels.index("Accuracy")
    assert found.values[place] == pytest.approx((correct[1] - correct[0]).mean())
    np.testing.assert_allclose(found.drawn[:, place], gaps, atol=1e-12)
    assert found.error[place] == pytest.approx(1 / n)  # a share may lie so far from what it is in the long run
    shown = {each.metric: each for each in compare_runs(first, second, runs["data"]).differences}
    assert shown["Accuracy"].method == "paired"
    assert shown["Accuracy"].low < shown["Accuracy"].difference < shown["Accuracy"].high


@pytest.mark.long
@pytest.mark.parametrize(("second", "reason"), [("seed", "another seed or split"), ("other", "the same ones")])
def test_rows_are_the_same_or_not(runs, second, reason):
    found = compare_runs(runs["before"], runs[second], runs["data"])
    assert found.rows.endswith(reason) and found.same_rows == (second == "other")


@pytest.mark.long
def test_other_rows_have_bounds_whatever_they_share(runs):
    found = compare_runs(runs["before"], runs["seed"], runs["data"])
    assert [change.key for change in found.data] == ["seed"]
    lines = [next(row for row in run.record.test.leaderboard if row.strategy == run.record.selected)
             for run in (runs["before"], runs["seed"])]  # fmt: skip
    for each in found.differences:
        if each.low is None:
            continue
        ends = [line.score if each.metric == "composite score" else line.metrics[each.metric] for line in lines]
        assert each.method == "bounds"
        assert each.low <= ends[1].low - ends[0].high and each.high >= ends[1].high - ends[0].low
    assert any(each.low is not None for each in found.differences)


@pytest.mark.long
def test_without_data_rows_are_not_taken_for_the_same(runs, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    monkeypatch.setattr("accordant.cases.files.cache_folder", lambda: tmp_path)
    found = compare_runs(runs["before"], runs["weighed"])
    assert not found.same_rows and "not at hand" in found.rows
    assert {each.method for each in found.differences} <= {"bounds", ""}
    with pytest.raises(InputError, match="not found at"):
        compare_runs(runs["before"], runs["weighed"], str(tmp_path))


@pytest.mark.long
def test_other_rewards_are_said_to_measure_something_else(runs, cases, tmp_path):
    case = yaml.safe_load((cases["own"].parent / "before.yaml").read_text())
    case["rewards"]["Bank"] = {"table": {"yes": {"good": 1.0, "bad": 0.0}, "no": {"good": 0.0, "bad": 1.0}}}
    second = made(case, cases["own"].parent / "rewards.yaml", tmp_path / "rewards")
    found = compare_runs(runs["before"], second, runs["data"])
    assert any("rewards of the cases differ" in remark for remark in found.remarks)


def test_declarations_are_compared_key_by_key():
    before = {"name": "a", "strategies": [{"name": "maximin", "p": 1}, {"name": "borda"}], "data": {"file": "x"},
              "scope": {"id": "a"}, "notes": ["one"]}  # fmt: skip
    after = {"name": "b", "strategies": [{"name": "borda"}, {"name": "maximin", "p": 2}], "data": {"rows": 3},
             "scope": {"id": "b"}, "notes": ["two"]}  # fmt: skip
    found = {change.key: (change.kind, change.before, change.after) for change in declaration_changes(before, after)}
    assert found == {
        "name": ("changed", "a", "b"), "strategies[maximin].p": ("changed", 1, 2), "data.file": ("removed", "x", None),
        "data.rows": ("added", None, 3), "scope.id": ("changed", "a", "b"), "notes": ("changed", ["one"], ["two"]),
    }  # fmt: skip
    difference = CaseDifference.of(("old", "new"), before, after)
    assert [change.key for change in difference.card] == ["scope.id"] and len(difference.declaration) == 5
    assert list(declaration_changes(before, before)) == []
