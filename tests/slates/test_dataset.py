"""Lists for the rows of a dataset: those of the market in memory, whatever the parts and whoever makes them."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.errors import InputError
from accordant.naming import Named
from accordant.report.plan import render_plan
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.datasets.parts import Job
from accordant.runs.datasets.plan import plan_dataset
from accordant.runs.datasets.recommendation import recommend_dataset
from accordant.slates.case import slates_of
from accordant.slates.dataset import slate_dataset
from accordant.slates.market import serve
from accordant.slates.offers import market_of_rows
from accordant.slates.rule import rules_of
from accordant.slates.rules.floors import Floored
from accordant.unusual import UnusualCounts
from tests.conftest import THREE_ACTIONS

ROWS = 130


def rows(seed=1, n_rows=ROWS):
    generator = np.random.default_rng(seed)
    return pd.DataFrame({
        "name": [f"row-{seed}-{k}" for k in range(n_rows)], "score": generator.normal(size=n_rows).round(2),
        "branch": generator.choice(["north", "south"], n_rows),
    })  # fmt: skip


@pytest.fixture(scope="module")
def run(run_of_three):
    return read_run(run_of_three)


@pytest.fixture(scope="module")
def floored(run_of_three, tmp_path_factory):
    """A run whose case promises something to the applicant, and names one rule."""
    folder = tmp_path_factory.mktemp("floored")
    slates = {"k": 2, "user": "Applicant", "parties": {"Applicant": {"floor": 0.7}}, "rules": [{"name": "borda"}]}
    (folder / "loans.yaml").write_text(yaml.safe_dump(THREE_ACTIONS | {"slates": slates}))
    (folder / "loans.csv").write_bytes((run_of_three.parent / "loans.csv").read_bytes())
    return read_run(write_run(carry_out(folder / "loans.yaml", RunOptions(seed=3, effort="quick")), folder / "run"))


@pytest.fixture
def dataset(tmp_path):
    """Two files, the first with row groups of 40 rows."""
    folder = tmp_path / "rows"
    folder.mkdir()
    rows(1).to_parquet(folder / "a.parquet", row_group_size=40)
    rows(2).to_parquet(folder / "b.parquet")
    return folder


def written(folder):
    """What the parts hold, in order."""
    return pd.concat([pd.read_parquet(each) for each in sorted(folder.glob("part-*.parquet"))], ignore_index=True)


def hashes(folder):
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in folder.glob("part-*.parquet")}


def in_memory(run, rule, k, frame):
    expected = run.policy.expected_rewards(frame[["score", "branch"]])
    return serve(rule, market_of_rows(run.case, slates_of(run.case).slates, expected), k)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["utilitarian", "seq_pav", "stakeholder_slate[stakeholder=Bank]"])
@pytest.mark.parametrize("k", [1, 3])
def test_lists_are_those_of_the_market_in_memory(run, dataset, tmp_path, name, k):
    from accordant.naming import read_named

    named = read_named(name, "rule")
    found = slate_dataset(Job(run, str(dataset), tmp_path / "out", "here"), [named], k=k, row_id="name")
    frame = pd.concat([rows(1), rows(2)], ignore_index=True)
    (rule,) = rules_of([named], run.case.problem.stakeholder_names, None, 3)
    known, table = in_memory(run, rule, k, frame), written(tmp_path / "out")
    assert table["row"].tolist() == frame["name"].tolist() and found.rows == 2 * ROWS and found.rule == rule.label
    shown = table[[f"item[{place}]" for place in range(1, k + 1)]].to_numpy()
    assert shown.tolist() == [list(known.slates.names(u)) for u in range(2 * ROWS)]
    assert table["tied"].tolist() == known.slates.tied.tolist()
    for i, stakeholder in enumerate(run.case.problem.stakeholder_names):
        assert np.array_equal(table[f"utility[{stakeholder}]"], known.moment.utilities[i])
        attained = known.moment.attained[i]
        assert np.array_equal(table[f"attained[{stakeholder}]"], attained, equal_nan=True)
        assert found.stakeholders[i].utility == pytest.approx(known.moment.utilities[i].mean(), abs=1e-12)
        if not np.isnan(attained).all():
            assert found.stakeholders[i].attained == pytest.approx(np.nanmean(attained), abs=1e-12)


def test_places_without_an_item_are_empty(run, dataset, tmp_path):
    slate_dataset(Job(run, str(dataset), tmp_path / "out", "here"), [Named("utilitarian")], k=5)
    table = written(tmp_path / "out")
    assert (table[["item[4]", "item[5]"]] == "").all(axis=None) and (table["item[3]"] != "").all()
    assert table["row"].tolist() == [*range(ROWS), *range(ROWS)]


def test_unusual_rows_are_told_and_get_their_list(run, dataset, tmp_path):
    """The case leaves unseen categories to a person, and denies where a number is out of range."""
    odd = rows(1).assign(score=np.where(np.arange(ROWS) == 4, 99.0, rows(1)["score"]))
    odd.loc[7, "branch"] = "abroad"
    odd.to_parquet(dataset / "a.parquet", row_group_size=40)
    found = slate_dataset(Job(run, str(dataset), tmp_path / "out", "here"), [Named("borda")], k=2)
    recommend_dataset(Job(run, str(dataset), tmp_path / "decided", "here"))
    table, decided = written(tmp_path / "out"), written(tmp_path / "decided")
    for name in ("unusual", "referred", "fall_back"):
        assert table[name].tolist() == decided[name].tolist()
    assert table["referred"][7] and table["fall_back"][4] and table["unusual"][4].startswith("out of range: score 99")
    assert (table["item[2]"] != "").all()
    assert found.unusual == UnusualCounts.of(*run.policy.handling_of(pd.concat([odd, rows(2)], ignore_index=True)))


def test_the_case_names_rule_places_and_floors(floored, dataset, tmp_path):
    found = slate_dataset(Job(floored, str(dataset), tmp_path / "out", "here"))
    (rule,) = rules_of([Named("borda")], floored.case.problem.stakeholder_names, "Applicant", 3)
    floors = Floored(rule=rule, floors={"Applicant": 0.7})
    known = in_memory(floored, floors, 2, pd.concat([rows(1), rows(2)], ignore_index=True))
    table = written(tmp_path / "out")
    assert found.rule == floors.label and found.k == 2
    for flag in ("changed", "floor_unmet", "floor_impossible"):
        assert table[flag].tolist() == known.slates.flags[flag].tolist() and found.flags[flag] == table[flag].sum()
    assert found.flags["changed"] > 0
    without = slate_dataset(Job(floored, str(dataset), tmp_path / "without", "here"), floors=False)
    assert without.flags["changed"] == 0 and not written(tmp_path / "without")["changed"].any()


def test_parts_make_no_difference(floored, dataset, tmp_path):
    whole = slate_dataset(Job(floored, str(dataset), tmp_path / "whole", "here"))
    small = slate_dataset(Job(floored, str(dataset), tmp_path / "small", "here", 40))
    assert len(hashes(tmp_path / "whole")) == 2 and len(hashes(tmp_path / "small")) > 3
    pd.testing.assert_frame_equal(written(tmp_path / "whole"), written(tmp_path / "small"))
    assert whole.flags == small.flags
    for one, other in zip(whole.stakeholders, small.stakeholders, strict=True):
        assert one.utility == pytest.approx(other.utility, abs=1e-12)


@pytest.mark.parametrize("on", ["threads:2", pytest.param("processes:2", marks=pytest.mark.long)])
def test_whoever_makes_them_writes_the_same_bytes(run, dataset, tmp_path, on):
    known = slate_dataset(Job(run, str(dataset), tmp_path / "here", "here", 40), [Named("seq_pav")], k=2)
    assert slate_dataset(Job(run, str(dataset), tmp_path / "there", on, 40), [Named("seq_pav")], k=2) == known
    assert hashes(tmp_path / "here") == hashes(tmp_path / "there")


def test_what_is_done_is_not_made_again(run, dataset, tmp_path):
    job = Job(run, str(dataset), tmp_path / "out", "here", 40)
    known = slate_dataset(job, [Named("borda")], k=2)
    before = hashes(job.out)
    lost, kept = sorted(job.out.glob("part-*.parquet"))[:2]
    lost.unlink()
    untouched = kept.stat().st_mtime_ns
    assert slate_dataset(job, [Named("borda")], k=2) == known
    assert hashes(job.out) == before and kept.stat().st_mtime_ns == untouched


@pytest.mark.parametrize(("named", "message"), [
    ([], "found no rule"), (["borda", "seq_pav"], "found borda, seq_pav"), (["all"], "found all"),
    (["random_slate"], "random_slate is such a rule"), (["dynamic"], "is such a rule"),
])  # fmt: skip
def test_other_rules_are_refused(run, dataset, tmp_path, named, message):
    with pytest.raises(InputError, match=message):
        slate_dataset(Job(run, str(dataset), tmp_path / "out", "here"), [Named(name) for name in named], k=2)
    assert not (tmp_path / "out").exists()


def test_a_case_that_closes_full_items_is_refused(run, dataset, tmp_path, monkeypatch):
    closing = slates_of(run.case).slates.replace(close_when_full=True)
    monkeypatch.setitem(vars(run), "case", run.case.replace(slates=closing))
    with pytest.raises(InputError, match="closes items that are full"):
        slate_dataset(Job(run, str(dataset), tmp_path / "out", "here"), [Named("borda")], k=2)


@pytest.mark.long  # where another test left a thread, each worker is a new interpreter
def test_lists_are_planned_by_making_some(run, dataset, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    found = plan_dataset(run, "slate", "here", rows=1_000, dataset=str(dataset), strategy="borda", part_rows=40)
    assert (found.kind, found.strategy, found.rows, found.parts) == ("slate", "borda", 1_000, 20)
    assert 0 < found.seconds.low < found.seconds.value < found.seconds.high and found.output_bytes > 1_000 * 40


@pytest.mark.parametrize(
    ("strategy", "words"),
    [("random_slate", "depend on what was shown"), ("", "--strategy is ''"), (None, "found no rule; name one")],
)
def test_lists_that_cannot_be_made_are_not_planned(run, dataset, strategy, words):
    with pytest.raises(InputError, match=words):
        plan_dataset(run, "slate", "here", rows=1_000, dataset=str(dataset), strategy=strategy)


@pytest.mark.long  # where another test left a thread, each worker is a new interpreter
def test_a_plan_names_the_rule_of_the_case(floored, dataset, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    found = plan_dataset(floored, "slate", "here", dataset=str(dataset), part_rows=40)
    assert found.strategy == "floored[borda; Applicant >= 0.7]"
    assert "Make lists for" in render_plan(found, floored)
