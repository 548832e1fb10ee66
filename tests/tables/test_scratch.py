"""Scratch folders: private, gone with their process, and those of killed processes gone with the next one."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from accordant.tables.scratch import ScratchFolder, scratch_file
from accordant.tables.unfinished import begin, new_file, new_folder, new_private_file

HOLDING = """
import sys, time
from accordant.tables.scratch import ScratchFolder
kept = ScratchFolder()
print(kept.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where temporary files go."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def started():
    holder = subprocess.Popen([sys.executable, "-c", HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return holder, Path(holder.stdout.readline().strip())


def ended(holder):
    holder.communicate()
    return holder.returncode


def test_a_scratch_folder_goes(place):
    with ScratchFolder() as name:
        folder = Path(name)
        assert folder.parent == place and stat.S_IMODE(folder.stat().st_mode) == 0o700
        with scratch_file(folder / "in" / "it") as file:
            file.write(b"row")
    assert not list(place.iterdir())
    kept = ScratchFolder()
    assert Path(kept.name).is_dir()
    del kept
    assert not list(place.iterdir())


def test_a_folder_goes_with_its_process(place):
    holder, folder = started()
    assert folder.is_dir()
    assert ended(holder) == 0 and not list(place.iterdir())


def test_what_a_killed_process_left_goes_with_the_next_one(place):
    killed, left = started()
    (left / "rows.csv").write_text("personal")
    killed.send_signal(signal.SIGKILL)
    assert ended(killed) == -signal.SIGKILL and left.is_dir()
    other, held = started()
    assert not left.exists() and held.is_dir()
    with ScratchFolder():
        assert held.is_dir()  # its process runs
    assert ended(other) == 0


def test_a_forked_child_that_is_ended_takes_nothing_with_it():
    with ScratchFolder() as name:
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        assert Path(name).is_dir()
        with ScratchFolder():
            assert Path(name).is_dir()


CROWD = """
from accordant.tables.scratch import ScratchFolder, scratch_file
from pathlib import Path
for _ in range(300):
    with ScratchFolder() as name, scratch_file(Path(name) / "x") as file:
        file.write(b"x")
"""


def test_many_at_once_take_nothing_from_each_other(place):
    crowd = [subprocess.Popen([sys.executable, "-c", CROWD], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [each.communicate()[1] for each in crowd] == [""] * 4
    assert not list(place.iterdir())


@pytest.mark.parametrize("make", [new_folder, new_file, new_private_file])
def test_a_place_that_is_not_there_is_told(place, make):
    with pytest.raises(FileNotFoundError):
        begin(place / "nowhere" / "x", make)


def test_what_others_keep_there_stays(place):
    (place / "accordant").mkdir()
    (place / ".accordant.unfinished").mkdir()
    with ScratchFolder():
        pass
    assert {each.name for each in place.iterdir()} == {"accordant", ".accordant.unfinished"}
