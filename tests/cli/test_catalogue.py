"""What is listed as there: cases with the command that runs each, the files they need, metrics and strategies."""

from __future__ import annotations

import pytest

from accordant.cli import catalogue


def test_every_case_is_listed_with_its_command_data_and_simulator():
    rows = catalogue.built_in()
    names = [row["case"] for row in rows]
    assert names == sorted(set(names))
    told = {row["case"]: (row["command"], row["data"], row["simulator"]) for row in rows}
    assert told["lending"] == ("accordant run lending", "lending/lending_club_2015.csv", "lending")
    assert told["story"] == ("accordant run story", None, "story")
    assert told["tourism"] == ("accordant slate tourism", "tourism/traj-Edin.csv", "city")
    assert told["triage-random"] == ("accordant deliberate triage-random", None, "triage")
    assert all(row["title"] for row in rows)


@pytest.mark.parametrize(
    ("named", "there", "words"),
    [
        (True, True, "{file}"), (False, False, "not found: runs on its simulator"),
        (True, False, "data file lending/lending_club_2015.csv not found below $ACCORDANT_DATA; it is looked for at"),
    ],
)  # fmt: skip
def test_a_file_is_found_or_its_case_runs_on_the_simulator(named, there, words, tmp_path, monkeypatch):
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    if named:
        monkeypatch.setenv("ACCORDANT_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("accordant.cases.files.cache_folder", lambda: tmp_path / "nowhere")
    file = tmp_path / "lending" / "lending_club_2015.csv"
    if there:
        file.parent.mkdir()
        file.touch()
    (row,) = (row for row in catalogue.data_files() if row["case"] == "lending")
    assert row["file"] == "lending/lending_club_2015.csv" and row["found"].startswith(words.format(file=file))


def test_metrics_are_listed_with_goals_and_parameters():
    rows = {row["metric"]: row for row in catalogue.registered_metrics()}
    assert rows["accuracy"]["goal"] == "max" and rows["accuracy"]["parameters"]["attributes"] == "()"
    assert rows["accuracy_parity"]["goal"] == "by parameter"
    assert rows["accuracy_parity"]["parameters"]["attributes"] == "required"
    assert rows["accuracy_parity"]["parameters"]["protected"] == "None"
    rows = {row["strategy"]: row for row in catalogue.registered_strategies()}
    assert rows["constant"]["kind"] == "baseline" and rows["constant"]["parameters"]["action"] == "required"
    assert rows["maximin"]["summary"] and rows["maximin"]["kind"] == "compromise"
