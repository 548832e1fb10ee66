"""Which run a command opens, a folder's or a case's, and where the rows are that it asks for."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from accordant.errors import RunFolderError, UnknownNameError
from accordant.runs import opened_run
from accordant.runs.opened_run import OpenedRun, is_case, open_run


@pytest.mark.parametrize(
    ("made", "file", "place"),
    [(True, None, "town"), (True, "new.csv", None), (False, None, "town"), (False, "new.csv", "town")],
)
def test_rows_of_a_file_need_no_data_that_only_the_run_of_a_case_needed(made, file, place):
    assert OpenedRun(None, "town", made).data_for(file) == place


def test_a_case_is_a_file_or_the_name_of_one_that_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").write_text("name: own")
    (tmp_path / "run").mkdir()
    assert [is_case(name) for name in ("lending", "own", "gone.yaml", "gone.yml", tmp_path / "own")] == [True] * 5
    assert [is_case(name) for name in ("run", "lendings", "gone.csv", "x" * 5_000)] == [False] * 4
    for name in ("lendings", "x" * 5_000):
        with pytest.raises(UnknownNameError, match="run folder or case"):
            open_run(name)


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Runs of the case ``own`` that were made before, by the number of their folder: what went into them, or a fault.

    Whatever is made anew stands in ``new``.
    """
    monkeypatch.chdir(tmp_path)
    held = {"own-2": "these", "own-9": "these", "own-10": "these", "own-11": "others", "own-12": None, "own-x": "these",
            "owner-13": "these"}  # fmt: skip
    for name in held:
        (tmp_path / opened_run.RUNS / name).mkdir(parents=True)

    def read(path):
        if held.get(path.name, "these") is None:
            raise RunFolderError(f"{path.name} was changed")
        return SimpleNamespace(
            path=path, record=SimpleNamespace(inputs=held.get(path.name, "new")), manifest=SimpleNamespace(sha256="ab")
        )

    monkeypatch.setattr(opened_run, "read_run", read)
    monkeypatch.setattr(opened_run, "carry_out", lambda name, options: options)
    monkeypatch.setattr(opened_run, "write_run", lambda outcome, folder: tmp_path / "new")
    monkeypatch.setattr(opened_run, "free_folder", lambda name, out: tmp_path / "new")
    return monkeypatch


@pytest.mark.parametrize(
    ("inputs", "folder"), [("these", "own-10"), ("others", "own-11"), ("gone", "new"), ("", "new")]
)
def test_the_latest_whole_run_of_the_same_inputs_is_taken(runs, cases, inputs, folder):
    runs.setattr(opened_run, "inputs_of", lambda file, options: inputs)
    opened = open_run(str(cases["own"]))
    assert opened.run.path.name == folder and opened.made
    assert opened.data == str(cases["own"].parent)


def test_the_seed_and_the_data_that_are_asked_for_are_those_of_the_run(runs, cases, tmp_path):
    asked = []
    runs.setattr(opened_run, "inputs_of", lambda file, options: asked.append(options) or "these")
    assert open_run(str(cases["own"]), seed=5, data="elsewhere").data == "elsewhere"
    open_run(str(cases["own"]))
    assert [(options.seed, options.data) for options in asked] == [(5, "elsewhere"), (42, None)]
    alone = tmp_path / "own.yaml"  # no data beside it
    alone.write_text(cases["own"].read_text())
    assert open_run(str(alone)).data is None


def test_a_folder_comes_before_the_case_of_its_name(runs, caplog, tmp_path):
    for name in ("lending", "mine"):
        (tmp_path / name).mkdir()
    with caplog.at_level(logging.INFO, logger="accordant"):
        assert open_run("mine", data="there") == OpenedRun(open_run("mine").run, "there", False)
        assert caplog.messages == []
        assert not open_run("lending").made
    assert caplog.messages == ["lending is a folder here: its run is taken, not the case of this name"]

    def refuse(path):
        raise RunFolderError("no run")

    runs.setattr(opened_run, "read_run", refuse)
    with pytest.raises(RunFolderError, match="^no run; a folder comes before the case of the same name$"):
        open_run("lending")
    with pytest.raises(RunFolderError, match="^no run$"):
        open_run("mine")
