"""The command ``accordant monitor``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.errors import InputError


@pytest.fixture
def files(logged, tmp_path):
    lines, outcomes = logged(400, change=100, shift=1.2)
    (tmp_path / "log.jsonl").write_text("".join(line.line() for line in lines))
    (tmp_path / "outcomes.csv").write_text("row,outcome\n" + "".join(f"{o.row},{o.outcome}\n" for o in outcomes))
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(app, ["monitor", *map(str, arguments)])


def test_one_screen_says_what_is_wrong(run_of_three, files):
    done = call(run_of_three, files / "log.jsonl", files / "outcomes.csv", "--out", files / "page.html")
    assert done.exit_code == 0, done.exception
    assert "ALARM." in done.stdout and "what to do:" in done.stdout and "values are higher since about" in done.stdout
    assert len(done.stdout.splitlines()) < 50 and max(map(len, done.stdout.splitlines())) <= 100 + len(str(files))
    assert (files / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_json_says_the_same_and_exits_with_0(run_of_three, files):
    done = call(run_of_three, files / "log.jsonl", "--alpha", "0.01", "--json", "--out", files / "folder")
    found = json.loads(done.stdout)
    assert done.exit_code == 0 and found["alarm"] is True and found["alpha"] == 0.01 and found["outcomes"] is None
    assert json.loads((files / "folder" / "monitored.json").read_text()) == found


@pytest.mark.parametrize(("arguments", "words"), [
    (["--alpha", "2"], "alpha is 2"), (["--out", "page.txt"], "ends with .html"), (["--out", "-", "--json"], "--json"),
])  # fmt: skip
def test_what_cannot_be_done_is_refused(run_of_three, files, arguments, words):
    done = call(run_of_three, files / "log.jsonl", *arguments)
    assert isinstance(done.exception, InputError) and words in str(done.exception)
