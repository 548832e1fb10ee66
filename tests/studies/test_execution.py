"""Carrying out: each run once, whatever stopped it; what fails is told, and the others go on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from accordant.errors import InputError
from accordant.runs import folder as run_folder
from accordant.runs import read_run
from accordant.studies import execution
from accordant.studies.cells import cells_of
from accordant.studies.declaration import read_study
from accordant.studies.execution import StudyOptions, carry_out_cells, open_folder


@pytest.fixture(autouse=True)
def plain_report(monkeypatch):
    """Reports have tests of their own, and take half of the time of a small run."""
    monkeypatch.setattr(run_folder, "render", lambda *content: "<html></html>")


@pytest.fixture
def counted(monkeypatch):
    """Seeds of runs that were carried out."""
    seeds = []

    def carry_out(file, options):
        seeds.append((options.seed, options.rows))
        return whole(file, options)

    whole = execution.carry_out
    monkeypatch.setattr(execution, "carry_out", carry_out)
    return seeds


def small(study, **changes):
    read = read_study(study(rows=[60], variants=..., **changes))
    return read.study, cells_of(read)


@pytest.mark.long
def test_a_finished_run_is_never_done_again(study, tmp_path, counted, caplog):
    declared, cells = small(study)
    out = tmp_path / "out"
    open_folder(declared, out)
    first = carry_out_cells(cells, out, StudyOptions(limit=1))
    assert (list(first.records), counted) == ([cells[0].name], [(1, 60)])
    caplog.clear()
    with caplog.at_level("INFO", logger="accordant.studies.execution"):
        both = carry_out_cells(cells, out, StudyOptions())
    assert counted == [(1, 60), (2, 60)]
    assert list(both.records) == [cell.name for cell in cells]
    assert caplog.messages[0].startswith("2 runs, 1 of them finished before")
    assert caplog.messages[-1] == f"1 of 1 done: {cells[1].name}"
    again = carry_out_cells(cells, out, StudyOptions())
    assert len(counted) == 2
    assert again.records == both.records
    assert read_run(out / "cells" / cells[0].name).record.seed == 1


@pytest.mark.long
def test_a_run_that_was_broken_off_is_done_again(study, tmp_path, counted, monkeypatch):
    declared, cells = small(study, seeds=[1])
    out = tmp_path / "out"
    open_folder(declared, out)

    def killed(*content):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "render", killed)
        with pytest.raises(KeyboardInterrupt):
            carry_out_cells(cells, out, StudyOptions())
    left = out / "cells" / f".{cells[0].name}.unfinished-0123abcd"  # as a process leaves it that had no time to tidy up
    left.mkdir(parents=True)
    (left / "run.json").write_text("{")
    assert carry_out_cells(cells, out, StudyOptions()).failures == ()
    assert counted == [(1, 60), (1, 60)]
    assert [path.name for path in (out / "cells").iterdir()] == [cells[0].name]


@pytest.mark.long
def test_a_run_that_fails_is_told_and_the_others_go_on(study, tmp_path, monkeypatch):
    declared, cells = small(study, seeds=[1, 2, 3])
    out = tmp_path / "out"
    open_folder(declared, out)
    whole = execution.carry_out

    def carry_out(file, options):
        if options.seed == 1:
            raise InputError("these rows do not suit")
        if options.seed == 2:
            raise ZeroDivisionError("nothing to divide by")
        return whole(file, options)

    with monkeypatch.context() as patch:
        patch.setattr(execution, "carry_out", carry_out)
        found = carry_out_cells(cells, out, StudyOptions())
    assert [(each.cell, each.message, each.wrong_input) for each in found.failures] == [
        (cells[0].name, "these rows do not suit", True),
        (cells[1].name, "ZeroDivisionError: nothing to divide by", False),
    ]
    assert list(found.records) == [cells[2].name]
    assert [path.name for path in (out / "cells").iterdir()] == [cells[2].name]


@pytest.mark.long
def test_a_run_that_was_changed_is_not_believed(study, tmp_path):
    declared, cells = small(study, seeds=[1])
    out = tmp_path / "out"
    open_folder(declared, out)
    carry_out_cells(cells, out, StudyOptions())
    record = out / "cells" / cells[0].name / "run.json"
    record.write_text(record.read_text().replace("maximin", "minimax"))
    with pytest.raises(InputError, match="remove the folder"):
        carry_out_cells(cells, out, StudyOptions())


@pytest.mark.long
def test_a_run_that_another_process_finished_meanwhile_is_taken(study, tmp_path, monkeypatch):
    declared, cells = small(study)
    out = tmp_path / "out"
    open_folder(declared, out)
    whole, seeds = execution.carry_out, []

    def carry_out(file, options):
        seeds.append(options.seed)
        if options.seed == 1:  # while the first is carried out, somebody else finishes the second
            run_folder.write_run(whole(cells[1].file, execution.run_options(cells[1], StudyOptions())),
                                 out / "cells" / cells[1].name)  # fmt: skip
        return whole(file, options)

    monkeypatch.setattr(execution, "carry_out", carry_out)
    found = carry_out_cells(cells, out, StudyOptions())
    assert (seeds, found.failures, len(found.records)) == ([1], (), 2)


@pytest.mark.long
def test_processes_make_the_same_runs(study, tmp_path, monkeypatch):
    declared, cells = small(study)
    records = []
    for number, jobs in enumerate((1, 2, 2)):  # the second time elsewhere: no process of the first one is used again
        elsewhere = tmp_path / f"folder-{number}"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        out = Path("out")
        open_folder(declared, out)
        found = carry_out_cells(cells, out, StudyOptions(jobs=jobs))
        assert found.failures == ()
        records.append([json.dumps({**record.content, "cost": None}) for record in found.records.values()])
    assert records[0] == records[1] == records[2]


def test_the_folder_must_be_new_or_of_the_same_study(study, tmp_path):
    declared, _ = small(study)
    out = tmp_path / "out"
    open_folder(declared, out)
    open_folder(declared.replace(seeds=(1, 2, 3)), out)  # may grow
    assert json.loads((out / "declaration.json").read_text())["study"]["seeds"] == [1, 2, 3]
    with pytest.raises(InputError, match="holds the study 'wards', not 'others'"):
        open_folder(declared.replace(name="others"), out)
    (out / "declaration.json").write_text("{}")
    with pytest.raises(InputError, match="was changed"):
        open_folder(declared, out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letters.txt").write_text("mine")
    with pytest.raises(InputError, match="exists and holds no study"):
        open_folder(declared, tmp_path / "full")
    with pytest.raises(InputError, match="is not a folder"):
        open_folder(declared, tmp_path / "full" / "letters.txt")
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(InputError, match="holds no study"):
        open_folder(declared, tmp_path / "link")


@pytest.mark.long
def test_nothing_is_written_into_a_finished_run(study, tmp_path):
    declared, cells = small(study, seeds=[1])
    out = tmp_path / "out"
    open_folder(declared, out)
    carry_out_cells(cells, out, StudyOptions())
    run = shutil.move(out / "cells" / cells[0].name, tmp_path / "run")
    for inside in (tmp_path / "run", tmp_path / "run" / "study"):
        with pytest.raises(InputError, match="finished run"):
            open_folder(declared, inside)
    assert read_run(run).record.seed == 1
