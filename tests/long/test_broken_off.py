"""Commands that are killed, or find no room on the disk: nothing half-written, nothing lost, the next start cleans up.

``kill -9`` comes at random instants, half of them drawn over the whole command, half over its writing alone:

    ACCORDANT_KILLS=500 python -m pytest -m long tests/long/test_broken_off.py
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from accordant.runs import read_run

KILLS = int(os.environ.get("ACCORDANT_KILLS", "2"))  # of each command
PAGE = 4096  # bytes that a file in memory grows by
EXAMPLES = Path(__file__).parents[2] / "examples"
CASE = (Path(__file__).parents[1] / "cli" / "conftest.py").read_text(encoding="utf-8").split('"""')[3]
RUN = ("run", "beds.yaml", "--jobs", "1", "--seed", "3", "--resamples", "100", "--out")
COMMANDS = {
    "run": (*RUN, "out"),
    "recommend": ("recommend", "finished", "new.csv", "--out", "out"),
    "certify": ("certify", "finished", "new.csv", "--no-add", "--out", "out"),
    "explain": ("explain", "finished", "new.csv", "--no-add", "--out", "out"),
    "report": ("report", "finished", "--out", "out"),
    "simulate": ("simulate", "lending", "--rows", "4000", "--out", "out"),
    "vote": ("vote", "lunch.soi", "--rules", "borda,schulze", "--out", "out"),
    "preferences": ("preferences", "choices.csv", "--method", "bradley_terry", "--resamples", "40", "--out", "out"),
    "elicit": ("elicit", "beds.yaml", "--stakeholder", "Ward", "--answers", "typed.txt", "--out", "out"),
    "deliberate": ("deliberate", "triage-random", "--patients", "5", "--capacity", "bed=2", "--out", "out"),
    "slate": (
        "slate",
        "library.yaml",
        "--strategies",
        "maximin",
        "--requests",
        "20",
        "--resamples",
        "100",
        "--out",
        "out",
    ),
}
ADDING = ("elicit",)  # adds to what was there before
REPLACING = ("recommend", "certify", "explain", "report", "simulate", "vote")  # what they write was there before
PASSING = re.compile(rb"(seconds|cost|mb)\W+[^\n]*")  # differ between two runs of one command
CHILD = """
import os, sys
os.chdir(folder)
nowhere = os.open(os.devnull, os.O_RDWR)
for stream in range(3):
    os.dup2(nowhere, stream)
sys.argv = ["accordant", *arguments]
from accordant.tables import unfinished
lock = unfinished.lock
def told(descriptor):
    writing.send_bytes(b"now")
    lock(descriptor)
unfinished.lock = told
from accordant.cli.app import main
main()
"""
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([
    "accordant.cli.app", "accordant.cli.run_tables", "accordant.cli.votes", "accordant.runs.sections.certification", "accordant.runs.sections.explanation",
    "accordant.preferences.section", "accordant.preferences.terminal", "accordant.preferences.page", "accordant.deliberation.terminal",
    "accordant.slates.terminal", "accordant.learning.classification", "sklearn.linear_model",
])  # fmt: skip


class Started:
    """A command in a process of its own; `writing` is readable as soon as it begins to write."""

    def __init__(self, folder, arguments):
        self.writing, told = PROCESSES.Pipe(duplex=False)
        given = {"folder": str(folder), "arguments": arguments, "writing": told}
        self.process = PROCESSES.Process(target=exec, args=(CHILD, given))
        self.process.start()
        told.close()

    def ended(self):
        self.process.join(120)
        code = self.process.exitcode
        if code is None:
            self.process.kill()
        return code


def files(folder):
    """Return the content of every file that does not lie under a hidden name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def results(folder):
    """Return the content of every file that the command made, without what differs between two runs."""
    made = {name: content for name, content in files(folder).items() if name.split("/")[0] == "out"}
    if "out/manifest.json" in made:  # which holds hashes of all others, with the times in them
        read_run(folder / "out")
        return {name: content if name.endswith(".csv") else b"" for name, content in made.items()}
    return {name: PASSING.sub(b"", content) for name, content in made.items()}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with the inputs of every command, a finished run among them."""
    folder = tmp_path_factory.mktemp("prepared")
    generator = np.random.default_rng(3)
    lines = ["age,pulse,sex,Action,Outcome"]
    for _ in range(160):
        age, pulse = generator.normal(50, 15), generator.normal(80, 12)
        unwell = generator.random() < 1 / (1 + np.exp(-(pulse - 80) / 10))
        words = generator.choice(["f", "m"]), generator.choice(["Admit", "Wait"]), "Unwell" if unwell else "Well"
        lines.append(f"{age:.0f},{pulse:.0f},{','.join(words)}")
    (folder / "beds.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "new.csv").write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    (folder / "beds.yaml").write_text(CASE, encoding="utf-8")
    (folder / "typed.txt").write_text("1\n2\n=\n1\n1\n2\nq\n", encoding="utf-8")
    for file in (*EXAMPLES.glob("own_slates/*"), EXAMPLES / "election/lunch.soi", EXAMPLES / "preferences/choices.csv"):
        shutil.copy(file, folder)
    assert Started(folder, (*RUN, "finished")).ended() == 0
    return folder


def copied(prepared, folder, command):
    shutil.copytree(prepared, folder)
    if command in REPLACING:
        (folder / "out").write_text("an earlier result\n", encoding="utf-8")
    return folder


class Whole(NamedTuple):
    """What a command leaves that nothing breaks off: its results, the bytes that all takes on a disk, and seconds."""

    results: dict[str, bytes]
    size: int
    until_writing: float
    seconds: float


@pytest.fixture(scope="module")
def whole(prepared, tmp_path_factory):
    """Return a function from a command to what it leaves; each is carried out once."""
    inputs = files(prepared)

    @cache
    def carried_out(command):
        folder = copied(prepared, tmp_path_factory.mktemp("whole") / "folder", command)
        started, begun = Started(folder, COMMANDS[command]), time.perf_counter()
        assert started.writing.poll(120)
        until_writing = time.perf_counter() - begun
        assert started.ended() == 0
        seconds, made = time.perf_counter() - begun, files(folder)
        size = sum(-(-len(content) // PAGE) * PAGE for name, content in made.items() if name not in inputs)
        return Whole(results(folder), size, until_writing, seconds)

    return carried_out


def check_answers(before, left, whole):
    """Answers are added line by line: those that were given are there, and no part of one."""
    assert not before
    if left:
        assert whole["out"].startswith(left["out"]) and left["out"].endswith(b"\n")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.timeout(1800)
def test_a_command_that_is_killed_leaves_all_or_nothing(prepared, whole, tmp_path, command):
    arguments = COMMANDS[command]
    inputs, before = files(prepared), results(copied(prepared, tmp_path / "before", command))
    whole, _, until_writing, seconds = whole(command)
    assert whole and whole != before

    generator, counts = np.random.default_rng(17), {"before": 0, "after": 0, "abandoned": 0}
    for kill in range(KILLS):
        folder = copied(prepared, tmp_path / "killed", command)
        started = Started(folder, arguments)
        if kill % 2:
            started.writing.poll(120)
            time.sleep(generator.uniform(0, 1.5 * (seconds - until_writing)))
        else:
            time.sleep(generator.uniform(0, 1.2 * seconds))
        started.process.kill()
        started.process.join()
        left, now = results(folder), files(folder)
        assert {name: now[name] for name in inputs} == inputs, "nothing is lost"
        if command in ADDING:
            check_answers(before, left, whole)
        else:
            assert left in (before, whole), "nothing is half-written"
        counts["after" if left == whole else "before"] += 1
        abandoned = any(".unfinished-" in path.name for path in folder.iterdir())
        counts["abandoned"] += abandoned
        if abandoned or (left != whole and kill < 4):
            if command in ADDING:
                (folder / "out").unlink(missing_ok=True)
            assert Started(folder, arguments).ended() == 0
            assert results(folder) == whole
            assert not [path for path in folder.iterdir() if ".unfinished-" in path.name], "the next start cleans up"
        shutil.rmtree(folder)
    print(f"{command}: {seconds:.2f} s, {seconds - until_writing:.3f} s of them writing; {counts}")


def fill(disk, room):
    """Write a file that leaves so many bytes of a file system."""
    (disk / "filler").write_bytes(b"")
    with (disk / "filler").open("wb") as file:
        file.write(bytes(os.statvfs(disk).f_bavail * PAGE - room))
    assert os.statvfs(disk).f_bavail * PAGE == room


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_leaves_what_was_there(prepared, whole, small_disk, tmp_path, command):
    arguments = COMMANDS[command]
    inputs, before = files(prepared), results(copied(prepared, tmp_path / "before", command))
    whole, size, _, _ = whole(command)
    rooms = sorted({0, size // PAGE // 2 * PAGE, size - PAGE})  # nothing, half of what is needed, all but a page
    for room in rooms:
        folder = copied(prepared, small_disk / "full", command)
        fill(small_disk, room)
        assert Started(folder, arguments).ended() == 2
        assert results(folder) == before and {name: files(folder)[name] for name in inputs} == inputs
        assert not [path for path in folder.iterdir() if ".unfinished-" in path.name]
        (small_disk / "filler").unlink()
        if room == rooms[-1]:
            assert Started(folder, arguments).ended() == 0 and results(folder) == whole
        shutil.rmtree(folder)
