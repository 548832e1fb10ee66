"""`doctor` says what is there and works; `cases` lists what comes with the package, and its schema."""

import json

import pytest

from accordant.cases.files import built_in_cases, built_in_files
from accordant.cases.parts import case_parts
from accordant.cases.schema import case_schema
from accordant.cli import doctor


def test_everything_is_looked_at_and_well_here(accordant, tmp_path):
    done = accordant("doctor", ACCORDANT_DATA=str(tmp_path))
    assert done.returncode == 0, done.stdout
    for words in ("python:", "numpy:", "arrow: Parquet", "cores:", f"$ACCORDANT_DATA: {tmp_path}, 0 entries",
                  "data: ", "compiled code: kept in", "self-check: 1000 decisions as by the formula", "all is well"):  # fmt: skip
        assert words in done.stdout
    told = json.loads(accordant("doctor", "--json").stdout)
    assert told["ok"] and {each["status"] for each in told["checks"]} <= {"ok", "note"}
    assert {each["topic"] for each in told["checks"]} == {"version", "extra", "machine", "data", "cache", "decision"}


def test_what_does_not_work_is_named_and_ends_with_1(accordant, monkeypatch, tmp_path):
    def broken():
        raise OSError("no room")

    monkeypatch.setattr(doctor, "_writable", broken)
    done = accordant("doctor", ACCORDANT_DATA=str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert f"! $ACCORDANT_DATA: {tmp_path / 'nowhere'} is no folder" in done.stdout
    assert "! data: OSError: no room" in done.stdout and "2 failed: $ACCORDANT_DATA, data" in done.stdout


def test_a_missing_extra_says_what_it_would_bring(monkeypatch):
    there = doctor.importlib.util.find_spec
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None if name == "pyarrow" else there(name))
    monkeypatch.setattr(doctor, "requires", lambda _: ["pyarrow>=16; extra == 'arrow'"])
    (arrow,) = [check for check in doctor.examination() if check.name == "arrow"]
    assert arrow.status == "note"
    assert arrow.found == "missing; pip install 'accordant[arrow]' brings Parquet, Arrow and Feather files"


def test_a_library_that_is_missing_has_failed(monkeypatch):
    monkeypatch.setattr(doctor, "LIBRARIES", ("nothing-of-this-name",))
    (check,) = [check for check in doctor.examination() if check.name == "nothing-of-this-name"]
    assert check.status == "failed" and "pip install accordant" in check.found


def test_all_built_in_cases_are_listed_with_their_commands(accordant):
    rows = {row["case"]: row for row in json.loads(accordant("cases", "--json").stdout)}
    alone = {name for key in case_parts for name in built_in_files(case_parts.create(key).cases)}
    assert set(rows) == set(built_in_cases()) | alone
    assert rows["lending"]["command"] == "accordant run lending" and rows["lending"]["data"].endswith("2015.csv")
    assert rows["tourism"]["command"] == "accordant slate tourism"
    assert rows["triage-random"]["command"] == "accordant deliberate triage-random"
    assert all(row["simulator"] for row in rows.values())


def test_the_schema_is_printed_alone(accordant):
    done = accordant("cases", "--schema")
    assert json.loads(done.stdout) == case_schema()


@pytest.mark.parametrize("columns", ["60", "80"])
def test_help_is_never_cut(accordant, columns):
    done = accordant("--help", COLUMNS=columns)
    text = " ".join(done.stdout.split())
    assert (
        "List the built-in cases: what each is about, its command, the data that it wants, and its simulator." in text
    )
    assert done.stdout.count("...") == 1 and "[ARGS]..." in done.stdout
    assert max(map(len, done.stdout.split("\n"))) <= int(columns)


@pytest.mark.few(1)
@pytest.mark.parametrize("command", ["cases", "metrics", "strategies", "data"])
def test_lists_fit_80_and_60_columns(accordant, command):
    for columns in (60, 80):
        lines = accordant(command, COLUMNS=str(columns)).stdout.split("\n")
        assert not any("…" in line for line in lines)
        assert all(len(line) <= columns or " " not in line.strip() for line in lines)
