"""A dataset, part by part, shows what a log of the same decisions shows, to the byte."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.errors import InputError
from accordant.monitoring import monitor, monitor_dataset
from accordant.monitoring.monitors import AT_ONCE
from accordant.monitoring.page import render_monitored
from accordant.monitoring.parts import UNTIMED, _follow, monitor_part
from accordant.monitoring.rows import RowReader
from accordant.monitoring.streams import Streams
from accordant.report.plan import render_plan
from accordant.runs.datasets.parts import Job
from accordant.runs.datasets.plan import plan_dataset
from accordant.tables.datasets import dataset_parts

pytestmark = pytest.mark.usefixtures("alone")

ROWS = 2 * AT_ONCE + 40


def told(found):
    return json.dumps(found.to_json())


@pytest.fixture(scope="session")
def decided(logged):
    """Lines of a log, what followed some of them, and the same in one table."""
    lines, outcomes = logged(ROWS, change=200, shift=0.8)
    lines[30] = replace_action(lines[30], None)
    kept = [replace(each, rewards={"Bank": 0.25} if k % 9 == 0 else {}) for k, each in enumerate(outcomes) if k % 3]
    kept[5] = replace(kept[5], outcome=None, rewards={"Auditor": 0.5})
    by_row = {each.row: each for each in kept}
    table = pd.DataFrame([line.context for line in lines])
    table["action"] = [line.action for line in lines]
    table["followed"] = [by_row[line.row].outcome if line.row in by_row else None for line in lines]
    for name in ("Bank", "Auditor"):
        table[name] = [by_row[line.row].rewards.get(name, np.nan) if line.row in by_row else np.nan for line in lines]
    table["when"] = [line.time for line in lines]
    return lines, kept, table


def replace_action(line, action):
    return line.replace(action=action, referral=action is None)


@pytest.fixture(scope="session")
def of_log(watched, decided):
    """What the log shows."""
    lines, outcomes, _ = decided
    return told(monitor(watched, lines, outcomes))


@pytest.fixture
def dataset(decided, tmp_path):
    """One Parquet file of six row groups."""
    path = tmp_path / "decisions.parquet"
    decided[2].to_parquet(path, row_group_size=100, index=False)
    return path


@pytest.fixture
def job(watched, dataset, tmp_path):
    return Job(watched, str(dataset), tmp_path / "out", "here", 200)


@pytest.mark.parametrize("part_rows", [100, 300, ROWS])
def test_it_is_that_of_the_log_however_it_is_parted(job, of_log, part_rows):
    assert told(monitor_dataset(replace(job, part_rows=part_rows), time="when")) == of_log


@pytest.mark.parametrize("n", [2, 7, 100])
def test_streams_apart_gather_what_they_gather_together(job, watched, n):
    """Whoever takes in a share takes in every decision; with more shares than streams some watch nothing."""
    lines = job.carry_out("monitor", "reading decisions", {"time": "when"})
    whole = _follow(Streams.of(watched, 0.05), job.out, lines)
    streams = Streams.of(watched, 0.05)
    shares = streams.shares(n)
    assert sum(len(share.watches) + len(share.rewards) for share in shares) == len(whole.watches) + len(whole.rewards)
    joined = streams.joined([_follow(share, job.out, lines) for share in shares])
    for found, expected in zip(joined.watches, whole.watches, strict=True):
        assert (found.name, found.path, found.alarm, found.highest) == (
            expected.name, expected.path, expected.alarm, expected.highest
        )  # fmt: skip
    assert [(key, each.path) for key, each in joined.rewards.items()] == [
        (key, each.path) for key, each in whole.rewards.items()
    ]
    assert (joined.taken, joined.counts) == (whole.taken, whole.counts)


@pytest.mark.long  # where another test left a thread, each worker is a new interpreter
def test_it_can_be_planned(watched, dataset, monkeypatch):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    found = plan_dataset(watched, "monitor", "here", rows=500_000, dataset=str(dataset), part_rows=100)
    assert (found.kind, found.strategy, found.rows) == ("monitor", None, 500_000)
    assert found.model.reduction[0] == 0 < found.model.reduction[1]
    assert found.seconds.value > found.model.reduction[1] * found.parts
    assert any("one after the other as they follow in time" in note for note in found.notes)
    page = render_plan(found, watched)
    assert "Watch 5" in page and "gather evidence, part after part" in page


def test_it_is_the_same_wherever_parts_are_read(job, of_log, tmp_path):
    monitor_dataset(job, time="when")
    assert told(monitor_dataset(replace(job, on="processes:2", out=tmp_path / "two"), time="when")) == of_log
    first, second = ({each.name: each.read_bytes() for each in (tmp_path / name).iterdir()} for name in ("out", "two"))
    assert first == second and len(first) == 5


def test_files_of_several_kinds_and_columns_that_folders_say_are_one_log(watched, decided, of_log, tmp_path):
    table = decided[2]
    for day, (name, rows) in enumerate((("a.csv", table[:150]), ("b.parquet", table[150:151]), ("c.csv", table[151:]))):
        place = tmp_path / "data" / f"day={day}" / name
        place.parent.mkdir(parents=True)
        if name.endswith("csv"):
            rows.to_csv(place, index=False)
        else:
            rows.to_parquet(place, index=False)
    found = monitor_dataset(Job(watched, str(tmp_path / "data"), tmp_path / "out", "here"), time="when")
    assert told(found) == of_log


def test_what_recommend_wrote_counts_as_its_log(watched, decided, of_log, job, dataset):
    lines, outcomes, table = decided
    promises = {
        f"E[{who}, {what}]": [line.expected_rewards[who][what] for line in lines]
        for who in lines[0].expected_rewards
        for what in lines[0].expected_rewards[who]
    }
    table.assign(**promises).to_parquet(dataset, index=False)
    assert told(monitor_dataset(job, time="when")) == of_log
    other = table.assign(**{name: np.clip(np.array(values) + 0.1, 0, 1) for name, values in promises.items()})
    other.to_parquet(dataset, index=False)
    found = monitor_dataset(replace(job, out=job.out.with_name("other")), time="when")
    assert any("logged promises are not what this run expects" in remark for remark in found.remarks)
    assert len(outcomes) - found.outcomes.by_person == found.outcomes.used


def test_parts_that_are_done_are_not_read_again(job, of_log, monkeypatch):
    monitor_dataset(job, time="when")
    (job.out / "part-00001.npz").unlink()
    read = []
    reader = RowReader.__call__
    monkeypatch.setattr(RowReader, "__call__", lambda self, part: read.append(part.number) or reader(self, part))
    assert told(monitor_dataset(job, time="when")) == of_log and read == [1]
    assert monitor_dataset(job, time="when", alpha=0.01).alpha == 0.01 and read == [1]
    with pytest.raises(InputError, match=r"another job \(other time\)"):
        monitor_dataset(job)


def test_without_times_records_are_told_by_their_numbers(job, decided, of_log):
    found, timed = monitor_dataset(job), json.loads(of_log)
    assert found.alarm and found.lines.first == found.since == found.lines.days == "" and found.remarks[-1] == UNTIMED
    assert f"since about record {found.alarms[0].alarm.since_n:,}." in found.sentence
    for ours, theirs in zip(found.to_json()["measures"], timed["measures"], strict=True):
        assert (ours["n"], ours["highest"], ours["latest"]) == (theirs["n"], theirs["highest"], theirs["latest"])
    page = render_monitored(found)
    assert "records →" in page and f"since about {found.alarms[0].alarm.since_day}" in page


def test_a_dataset_without_outcomes_is_one(job, decided, watched, dataset):
    lines, _, table = decided
    table[["score", "branch", "action", "when"]].to_parquet(dataset, index=False)
    found = monitor_dataset(job, time="when")
    assert found.outcomes is None and told(found) == told(monitor(watched, lines))


WRONG = (
    ({"score": None}, "score"),
    ({"action": None}, "rows.csv tells no action; allowed: a column did or action; found score, branch"),
    ({"did": "Grant"}, "rows.csv has columns did and action; allowed: one of them"),
    ({"action": "Grnt"}, "unknown action in rows.csv, line 2: 'Grnt'"),
    ({"followed": "Rpaid"}, "unknown outcome in rows.csv, line 2: 'Rpaid'"),
    ({"Bank": 1.5}, r"rows.csv, line 2: column 'Bank': found 1.5; allowed: a number in \[0, 1\]"),
    ({"when": None}, "when"),
    ({"when": 7}, "rows.csv, line 2: column 'when': found the number 7; allowed: dates such as"),
    ({"when": "soon"}, "rows.csv, line 2: column 'when': found 'soon'"),
    ({"when": [f"2026-01-{day:02d}" for day in (1, 2, 4, 3, 5)]},
     "rows.csv, line 5: found 2026-01-03T00:00:00Z after 2026-01-04T00:00:00Z; allowed: rows in the order of time"),
)  # fmt: skip


@pytest.mark.parametrize(("change", "words"), WRONG, ids=[str(change)[:30] for change, _ in WRONG])
def test_rows_that_cannot_be_used_are_refused(watched, decided, tmp_path, change, words):
    table = decided[2][:5].copy()
    for name, value in change.items():
        table = table.drop(columns=name) if value is None else table.assign(**{name: value})
    table.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(InputError, match=words):
        list(RowReader(watched, "when")(dataset_parts(tmp_path / "rows.csv")[0]))


def test_promises_that_are_none_are_refused(watched, decided, tmp_path):
    names = [f"E[{who}, {what}]" for who in ("Bank", "Applicant", "Auditor") for what in ("Grant", "Lower", "Deny")]
    table = decided[2][:3].assign(action="Deny", **dict.fromkeys(names, 0.5)).assign(**{names[2]: [0.5, np.nan, 0.5]})
    table.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(InputError, match=r"rows.csv, line 3: column 'E\[Bank, Deny\]': found nothing"):
        list(RowReader(watched, "when")(dataset_parts(tmp_path / "rows.csv")[0]))


def test_files_out_of_order_and_an_alpha_that_is_none_are_refused(watched, decided, tmp_path):
    (tmp_path / "data").mkdir()
    decided[2][10:20].to_csv(tmp_path / "data" / "a.csv", index=False)
    decided[2][:10].to_csv(tmp_path / "data" / "b.csv", index=False)
    job = Job(watched, str(tmp_path / "data"), tmp_path / "out", "here")
    with pytest.raises(InputError, match=r"b.csv begins at .*, and a.csv before it ends at .* in the order of time"):
        monitor_dataset(job, time="when")
    with pytest.raises(InputError, match="alpha is 2"):
        monitor_dataset(replace(job, out=tmp_path / "new"), time="when", alpha=2)
    assert not (tmp_path / "new").exists()


def test_a_part_is_a_task_that_a_queue_can_hold(watched, job):
    monitor_dataset(job, time="when")
    line = json.loads((job.out / "parts.jsonl").read_text().splitlines()[0])
    assert {line["decisions"], line["rows"]} == {200} and line["first"] == "2026-01-05T08:00:00Z"
    assert monitor_part.__module__ == "accordant.monitoring.parts"


def call(*arguments):
    return CliRunner().invoke(app, ["monitor", *map(str, arguments)])


def test_the_command_writes_page_and_json_beside_the_parts(run_of_three, dataset, of_log, tmp_path):
    done = call(run_of_three, dataset, "--time", "when", "--on", "here", "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout) == json.loads(of_log) == json.loads((tmp_path / "out/monitored.json").read_text())
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(("arguments", "words"), [
    (["decisions.parquet"], "name it with --out"), (["decisions.parquet", "--out", "page.html"], "a folder for its"),
    (["decisions.parquet", "outcomes.csv"], "OUTCOMES has no effect on the dataset"),
    (["log.jsonl", "--time", "when", "--on", "here"], "--time, --on has no effect on the log log.jsonl"),
    (["none/*.parquet", "--out", "new"], "there is no file there"),
])  # fmt: skip
def test_a_command_that_says_something_else_is_refused(run_of_three, dataset, monkeypatch, arguments, words):
    monkeypatch.chdir(dataset.parent)
    done = call(run_of_three, *arguments)
    assert isinstance(done.exception, InputError) and words in str(done.exception)
