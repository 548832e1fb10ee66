"""Every command refuses, before its work, to write over what must stay; and - is standard output everywhere."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pandas as pd
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
DELIBERATION = """
name: ward
title: Who gets a bed
deliberation:
  simulator: {name: random_triage, parameters: {patients: 5}}
  resources: [{name: bed, capacity: 2}]
"""
ELICIT = ("elicit", "beds.yaml", "--stakeholder", "Ward", "--answers", "typed.txt")
DELIBERATE = ("deliberate", "triage-random", "--patients", "5", "--capacity", "bed=2")
PREFERENCES = ("preferences", "choices.csv", "--method", "mixture", "--resamples", "100")
COMMANDS = {
    "recommend": ("recommend", "first", "beds.csv"),
    "certify": ("certify", "first", "beds.csv", "--no-add"),
    "explain": ("explain", "first", "beds.csv", "--no-add"),
    "report": ("report", "first"),
    "simulate": ("simulate", "lending", "--rows", "60"),
    "vote": ("vote", "lunch.soi", "--rules", "borda"),
    "preferences": PREFERENCES,
    "elicit": ELICIT,
    "deliberate": DELIBERATE,
}
FOLDERS = {"run": ("run", "beds.yaml"), "slate": ("slate", "library.yaml"), "preferences": PREFERENCES,
           "deliberate": DELIBERATE}  # fmt: skip
MODEL = ("--llm", "http://127.0.0.1:9/v1", "--model", "m")
PAGES = ("preferences", "deliberate")  # write a page or a folder, and look at the ending first


@pytest.fixture(scope="module")
def folder(case_folder, finished_run):
    """The folder of the case with an input of every kind of command."""
    for file in (*EXAMPLES.glob("own_slates/*"), EXAMPLES / "election/lunch.soi", EXAMPLES / "preferences/choices.csv"):
        shutil.copy(file, case_folder)
    (case_folder / "typed.txt").write_text("1\n1\n2\nq\n", encoding="utf-8")
    (case_folder / "page.html").write_text("a page\n", encoding="utf-8")
    (case_folder / "link.html").symlink_to("page.html")
    os.mkfifo(case_folder / "pipe.html")
    return case_folder


def files(folder):
    """Return the content of every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def ending(command, name):
    """Return the option with a place whose name ends as the command wants it."""
    return ("--out", f"{name}.html" if command in PAGES else name)


@pytest.mark.few(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_devices_links_pipes_and_finished_runs_stay(accordant, folder, command):
    before = files(folder)
    places = {
        ("--out", "link.html"): "is a symbolic link",
        ("--out", "pipe.html"): "is a pipe",
        ("--out", "first/report.html"): "lies in the finished run",
        ("--out", "first/new.html"): "lies in the finished run",
        ending(command, "first/run.json"): "lies in the finished run",
        ("--out", "nowhere/new.html"): "there is no folder",
    }
    if command not in PAGES:
        places |= {("--out", "/dev/full"): "is a device", ("--out", "/dev/null"): "is a device"}
        places |= {("--out", "first"): "is a folder"}
    for option, words in places.items():
        done = accordant(*COMMANDS[command], *option)
        assert (done.returncode, done.stdout) == (2, ""), option
        assert words in done.stderr and "training rows" not in done.stderr, option
    assert files(folder) == before and (folder / "link.html").is_symlink()
    assert all(stat.S_ISCHR(os.stat(device).st_mode) for device in ("/dev/full", "/dev/null"))


@pytest.mark.few(2)
@pytest.mark.parametrize("command", FOLDERS)
@pytest.mark.parametrize("place", ["first", "first/below", "link.html/below", "pipe.html/below", "-", "y" * 300])
def test_new_folders_are_made_nowhere_else(accordant, folder, command, place):
    if place == "-" and command in PAGES:
        place = "/dev/full"
    before = files(folder)
    done = accordant(*FOLDERS[command], "--out", place)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert files(folder) == before


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "arguments",
    [
        ("recommend", "first", "beds.csv", "--out", "beds.csv"),
        ("recommend", "first", "beds.csv", "--out", "./first/../beds.csv"),
        ("recommend", "first", "beds.csv", "--out", "second.csv"),
        ("certify", "first", "beds.csv", "--out", "beds.csv"),
        ("certify", "first", "--data", "beds.csv", "--out", "beds.csv"),
        ("certify", "first", "--data", ".", "--out", "beds.csv"),
        ("explain", "first", "beds.csv", "--out", "beds.csv"),
        ("explain", "first", "--data", "beds.csv", "--out", "second.csv"),
        ("simulate", "beds.yaml", "--out", "beds.yaml"),
        ("vote", "lunch.soi", "--out", "lunch.soi"),
        ("vote", "page.html", "--out", "page.html"),
        ("preferences", "page.html", "--method", "mixture", "--out", "page.html"),
        (*ELICIT, "--out", "typed.txt"),
        (*ELICIT, "--out", "beds.yaml"),
        (*DELIBERATE, "--data", "page.html", "--out", "page.html"),
        (*DELIBERATE, "--replay", "page.html", "--model", "m", "--speaks-for", "rawlsian", "--out", "page.html"),
        (*DELIBERATE, *MODEL, "--record", "new.html", "--out", "new.html"),
        (*DELIBERATE, *MODEL, "--record", "new", "--out", "new"),
        (*FOLDERS["slate"], *MODEL, "--record", "new", "--out", "./new"),
    ],
    ids=" ".join,
)
def test_inputs_stay(accordant, folder, arguments):
    second = folder / "second.csv"
    if not second.exists():
        os.link(folder / "beds.csv", second)
    before = files(folder)
    done = accordant(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is an input of this command; name another output" in done.stderr
    assert files(folder) == before


def test_data_that_are_found_without_being_named_stay(accordant, folder):
    """`certify RUN` looks for the data of the run; without ``--data``, below ``$ACCORDANT_DATA``."""
    before = files(folder)
    done = accordant("certify", "first", "--out", "beds.csv", ACCORDANT_DATA=str(folder))
    assert done.returncode == 2 and "is an input of this command" in done.stderr
    assert files(folder) == before


@pytest.mark.few(2)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_a_result_on_standard_output_is_all_there_is(accordant, folder, command, name):
    before = files(folder)
    done = accordant(*COMMANDS[command], "--out", name)
    assert done.returncode == 0, done.stderr
    assert files(folder) == before and not (folder / "-").exists()
    starts = {
        "recommend": "row,action",
        "certify": "row,action",
        "simulate": "income",
        "vote": "{",
        "elicit": "user_id,",
    }
    assert done.stdout.lower().startswith(starts.get(command, "<!doctype html>"))
    if command == "vote":
        json.loads(done.stdout)
    both = accordant(*COMMANDS[command], "--out", name, "--json")
    assert (both.returncode, both.stdout) == (2, "") and "both write to standard output" in both.stderr


@pytest.mark.few(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_result_in_a_file_replaces_the_earlier_one(accordant, folder, command):
    out = folder / "kept.html"
    out.write_text("" if command == "elicit" else "an earlier result", encoding="utf-8")
    done = accordant(*COMMANDS[command], "--out", "kept.html")
    assert done.returncode == 0, done.stderr
    assert "kept.html" in done.stdout or command == "vote"
    text = out.read_text(encoding="utf-8")
    assert len(text) > 50 and "an earlier result" not in text
    assert not list(folder.glob(".*unfinished*"))
    out.unlink()


@pytest.mark.long
def test_a_full_disk_behind_standard_output_is_told(program, case_folder):
    with Path("/dev/full").open("w") as full:
        done = program("simulate", "lending", "--rows", "400", stdout=full)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "accordant: standard output cannot be written: No space left on device"


# --- names that become paths, and texts that steer a terminal ------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", ["../../x", "/tmp/x", "..", ".hidden", "", "a/b", "a\\b", "x" * 101, "é" * 51, "a\x1b[31mb", "\u202ename",
             "a\nb", "nul", "COM1.txt", "a:b", "ends.", " x", "a\u200bb"]
)  # fmt: skip
def test_names_of_cases_are_checked_before_the_work(accordant, case_folder, name):
    text = (
        (case_folder / "beds.yaml")
        .read_text(encoding="utf-8")
        .replace("name: beds\n", f"name: {json.dumps(name)}\n", 1)
    )
    (case_folder / "named.yaml").write_text(text, encoding="utf-8")
    outside = files(case_folder.parent)
    done = accordant("run", "named.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "case file named.yaml, line 2: name: " in done.stderr and "cannot be part of a path" in done.stderr
    assert "training rows" not in done.stderr and "\x1b" not in done.stderr and "\u202e" not in done.stderr
    assert files(case_folder.parent) == outside


@pytest.mark.parametrize(("command", "file"), [("slate", "library.yaml"), ("deliberate", "ward.yaml")])
def test_names_of_slates_and_deliberations_are_checked_too(accordant, folder, command, file):
    (folder / "ward.yaml").write_text(DELIBERATION, encoding="utf-8")
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("name:"))
    (folder / "named.yaml").write_text(
        "\n".join([*lines[:place], 'name: "../up"', *lines[place + 1 :]]), encoding="utf-8"
    )
    done = accordant(command, "named.yaml")
    assert (done.returncode, done.stdout) == (2, "") and "name: '../up' cannot be part of a path" in done.stderr


EVIL = "\x1b[2J\x9b31m\u202eevil"


@pytest.fixture(scope="module")
def evil(accordant, case_folder):
    """A folder with a case whose file, title, stakeholder and columns would steer a terminal."""
    folder = case_folder / "evil"
    folder.mkdir()
    table = pd.read_csv(case_folder / "beds.csv")
    table.rename(columns={"age": f"age{EVIL}"}).to_csv(folder / f"{EVIL}.csv", index=False)
    text = (case_folder / "beds.yaml").read_text(encoding="utf-8")
    for plain, steering in (
        ("Who gets a bed", EVIL), ("beds.csv", f"{EVIL}.csv"), ("Ward", f"Ward{EVIL}"), ("age", f"age{EVIL}"),
        ("Worst_Off", f"Worst{EVIL}"),
    ):  # fmt: skip
        text = text.replace(plain, json.dumps(steering))
    (folder / "beds.yaml").write_text(text, encoding="utf-8")
    done = accordant("run", "beds.yaml", "--out", "run", folder=folder)
    assert done.returncode == 0, done.stderr
    (folder / "typed.txt").write_text("1\nq\n", encoding="utf-8")
    return folder, done


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("report", "run", "--out", f"{EVIL}.html"),
        ("certify", "run", "--data", "."),
        ("certify", "run", "--data", ".", "--json"),
        ("certify", "run", f"{EVIL}.csv", "--out", f"{EVIL}.out"),
        ("explain", "run", f"{EVIL}.csv"),
        ("explain", "run", f"{EVIL}.csv", "--json"),
        ("recommend", "run", f"{EVIL}.csv", "--json"),
        ("elicit", "beds.yaml", "--stakeholder", f"Ward{EVIL}", "--answers", "typed.txt", "--json"),
        ("elicit", "beds.yaml", "--stakeholder", f"Warden{EVIL}"),
        ("recommend", "run", f"{EVIL}.nowhere"),
        ("recommend", f"{EVIL}.nowhere", "x.csv"),
        ("vote", f"{EVIL}.soi"),
        ("deliberate", f"{EVIL}.yaml"),
        ("preferences", f"{EVIL}.csv", "--method", "mixture"),
        ("strategies", "--agreement", "--run", "run", "--data", ".", "--rules", "maximin,borda"),
    ],
    ids=lambda arguments: " ".join(arguments).encode("unicode_escape").decode() or "run",
)
def test_nothing_steers_the_terminal(accordant, evil, arguments):
    folder, done = evil
    if arguments:
        done = accordant(*arguments, folder=folder)
    assert done.returncode in (0, 2), done.stderr
    assert not {"\x1b", "\x9b", "\u202e"} & {*done.stdout, *done.stderr}
    shown = done.stdout + done.stderr
    assert "\\x1b[2J" in shown or "\\u001b[2J" in shown or arguments[:1] == ("strategies",)


def test_a_file_name_that_is_no_text_is_no_fault_of_ours(accordant, case_folder):
    odd = case_folder / os.fsdecode(b"\xff.soi")
    shutil.copy(EXAMPLES / "election/lunch.soi", odd)
    assert json.loads(accordant("vote", str(odd), "--rules", "borda", "--json").stdout)["file"].endswith("\udcff.soi")
    done = accordant("vote", str(odd), "--rules", "borda", "--out", "odd.json")
    assert done.returncode == 0 and "\\udcff.soi" in done.stdout
    assert json.loads((case_folder / "odd.json").read_text(encoding="utf-8"))["file"].endswith("\udcff.soi")
