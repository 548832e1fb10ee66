"""What is written is there whole or not at all, and nothing that must stay is replaced."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import socket
import stat
from contextlib import contextmanager
from pathlib import Path

import pytest

from accordant.errors import InputError
from accordant.tables import output, unfinished
from accordant.tables.output import (
    MANIFEST,
    RECORD,
    add_to_run,
    append_lines,
    check_output,
    check_output_folder,
    is_standard_output,
    output_file,
    output_folder,
    private_file,
    write_output,
    write_part,
)

BEFORE, AFTER = "what was there before\n", "what is there now\n" * 9
SYSTEM_CALLS = ("open", "fdopen", "fsync", "close", "write", "walk")  # of the module `os`, as the writer calls them
PATH_CALLS = ("replace", "rename", "hardlink_to", "mkdir", "unlink", "chmod", "open")  # of paths


def tree(folder):
    """Return every file below a folder with its content, and every folder with None."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    (folder / "models").mkdir(parents=True)
    for name in (MANIFEST, RECORD):
        (folder / name).write_text("{}", encoding="utf-8")
    return folder


# --- what is refused ---------------------------------------------------------------------------------------------


def link(path):
    (path.parent / "elsewhere").write_text(BEFORE, encoding="utf-8")
    path.symlink_to(path.parent / "elsewhere")


def bound_socket(path):
    with socket.socket(socket.AF_UNIX) as opened:
        folder = os.open(path.parent, os.O_RDONLY)  # names of sockets are short
        opened.bind(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)


PLACES = {
    "a symbolic link": (link, "a symbolic link"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "a symbolic link"),
    "a link in a circle": (lambda path: path.symlink_to(path.name), "a symbolic link"),
    "a folder": (Path.mkdir, "a folder"),
    "a pipe": (os.mkfifo, "a pipe"),
    "a socket": (bound_socket, "a socket"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_links_folders_pipes_and_sockets_stay(tmp_path, kind):
    make, words = PLACES[kind]
    make(tmp_path / "out")
    before = (tmp_path / "out").lstat(), tree(tmp_path) if kind != "a pipe" else None
    for write in (check_output, lambda path: write_output(path, AFTER), lambda path: append_lines(path, AFTER)):
        with pytest.raises(InputError, match=f"out is {words}; allowed: a new file"):
            write(tmp_path / "out")
    with pytest.raises(InputError, match="out exists; name another folder"):
        check_output_folder(tmp_path / "out")
    assert (tmp_path / "out").lstat().st_ino == before[0].st_ino
    assert kind == "a pipe" or tree(tmp_path) == before[1]


@pytest.mark.parametrize("device", ["/dev/full", "/dev/null", "/dev/tty"])
def test_devices_stay(device):
    """As root, a rename would replace them with an ordinary file."""
    with pytest.raises(InputError, match=f"{device} is a device"):
        write_output(device, AFTER)
    assert stat.S_ISCHR(os.stat(device).st_mode)


@pytest.mark.parametrize("name", ["run.json", "manifest.json", "new.html", "models/new.json"])
def test_a_finished_run_stays(run, name):
    before = tree(run)
    with pytest.raises(InputError, match="lies in the finished run"):
        write_output(run / name, AFTER)
    with pytest.raises(InputError, match="lies in the finished run"):
        check_output_folder(run / "below" / "further")
    (run.parent / "way").symlink_to(run)
    with pytest.raises(InputError, match="lies in the finished run"):
        write_output(run.parent / "way" / name, AFTER)
    assert tree(run) == before


def test_inputs_stay_under_every_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(BEFORE, encoding="utf-8")
    Path("sub").mkdir()
    os.link("rows.csv", "second.csv")
    Path("linked.csv").symlink_to("rows.csv")
    for out, given in (
        ("rows.csv", "rows.csv"), ("./sub/../rows.csv", "rows.csv"), ("second.csv", "rows.csv"),
        ("rows.csv", Path("linked.csv")), (tmp_path / "rows.csv", "rows.csv"), ("later.csv", "sub/../later.csv"),
    ):  # fmt: skip
        with pytest.raises(InputError, match="is an input of this command"):
            write_output(out, AFTER, [None, given])
    assert Path("rows.csv").read_text(encoding="utf-8") == BEFORE
    write_output("other.csv", AFTER, ["rows.csv", None, "not there"])


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("no/such/folder.csv", "there is no folder"),
        ("file/below.csv", "there is no folder"),
        ("x" * 201, "too long"),
        ("x" * 300, "too long|File name too long"),
        ("a\0b", "no path"),
        ("", "is a folder"),
        ("..", "is a folder"),
    ],
)
def test_places_that_cannot_be_written_are_refused(tmp_path, monkeypatch, place, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text(BEFORE, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        write_output(place, AFTER)
    assert tree(tmp_path) == {"file": BEFORE}


@pytest.mark.parametrize("place", ["file/run", "x" * 300, f"{'y' * 256}/run", "a/" * 3000 + "b", "a\0b", "-", "file"])
def test_places_for_folders_are_refused_before_the_work(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text(BEFORE, encoding="utf-8")
    with pytest.raises(InputError):
        check_output_folder(place)
    assert tree(tmp_path) == {"file": BEFORE}


def test_what_may_not_be_written_stays(tmp_path, monkeypatch):
    (tmp_path / "kept").write_text(BEFORE, encoding="utf-8")
    monkeypatch.setattr(output.os, "access", lambda path, mode: Path(path).name != "kept")  # root may write anything
    with pytest.raises(InputError, match="kept cannot be written to: Permission denied"):
        write_output(tmp_path / "kept", AFTER)
    assert tree(tmp_path) == {"kept": BEFORE}


# --- what is written ---------------------------------------------------------------------------------------------


def test_a_new_file_and_one_that_is_replaced(tmp_path):
    path = tmp_path / "out.txt"
    write_output(path, BEFORE)
    path.chmod(0o640)
    write_output(path, "é\r\n\udc80")
    assert path.read_bytes() == "é\r\n\\udc80".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    write_output(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


def test_new_files_have_the_permissions_of_the_user(tmp_path):
    (tmp_path / "plain").touch()
    write_output(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert is_standard_output(name) and is_standard_output(Path(name)) and not is_standard_output(None)
    check_output(name)
    write_output(name, AFTER)
    with output_file(name) as file:
        file.write("more")
    assert capsys.readouterr().out == AFTER + "more" and tree(tmp_path) == {}
    with pytest.raises(InputError, match="a folder cannot be written to standard output"):
        check_output_folder(name)


def test_standard_output_that_is_a_terminal_is_not_steered(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    write_output("-", "a,b\r\n\x1b[2J,\u202e\n")
    assert capsys.readouterr().out == "a,b\n\\x1b[2J,\\u202e\n"


def test_folders_above_a_new_one_are_made_and_those_that_are_there_are_used(tmp_path):
    for name in ("one", "two"):
        with output_folder(tmp_path / "above" / "further" / name) as folder:
            (folder / "file").write_text(name)
    assert [(tmp_path / "above" / "further" / name / "file").read_text() for name in ("one", "two")] == ["one", "two"]


def test_a_folder_with_its_files(tmp_path):
    with output_folder(tmp_path / "new" / "run") as folder:
        assert folder.parent == tmp_path / "new" and not (tmp_path / "new" / "run").exists()
        write_part(folder / "a.txt", AFTER)
        write_part(folder / "models" / "b.bin", b"\x01")
        with pytest.raises(FileExistsError):
            write_part(folder / "a.txt", BEFORE)
    assert tree(tmp_path) == {"new": None, "new/run": None, "new/run/a.txt": AFTER, "new/run/models": None,
                              "new/run/models/b.bin": "\x01"}  # fmt: skip


@pytest.mark.parametrize("taken", ["folder", "full", "file", "link"])
def test_a_folder_never_replaces_what_came_meanwhile(tmp_path, taken):
    target = tmp_path / "run"
    with pytest.raises(InputError, match="run cannot be written: "), output_folder(target) as folder:
        write_part(folder / "a.txt", AFTER)
        {"folder": target.mkdir, "full": lambda: (target / "x").mkdir(parents=True),
         "file": target.touch, "link": lambda: target.symlink_to("nowhere")}[taken]()  # fmt: skip
        inode = target.lstat().st_ino
    assert target.lstat().st_ino == inode and [each.name for each in tmp_path.iterdir()] == ["run"]


def test_a_file_is_added_to_a_run_once(run):
    assert add_to_run(run, "manifest.sig", b"signed") == run / "manifest.sig"
    before = tree(run.parent)
    with pytest.raises(InputError, match="manifest.sig cannot be written: File exists"):
        add_to_run(run, "manifest.sig", b"again")
    assert tree(run.parent) == before and before["run/manifest.sig"] == "signed"


@pytest.mark.parametrize("kind", [InputError, KeyboardInterrupt, ZeroDivisionError])
def test_what_breaks_off_leaves_what_was_there(tmp_path, kind):
    (tmp_path / "out").write_text(BEFORE, encoding="utf-8")
    with pytest.raises(kind), output_file(tmp_path / "out") as file:
        file.write(AFTER)
        raise kind
    with pytest.raises(kind), output_folder(tmp_path / "folder") as folder:
        write_part(folder / "a.txt", AFTER)
        raise kind
    assert tree(tmp_path) == {"out": BEFORE}


# --- lines that are added ----------------------------------------------------------------------------------------


def test_lines_are_added_to_the_end(tmp_path):
    path = tmp_path / "lines"
    path.write_text("one\n", encoding="utf-8")
    append_lines(path, "two\nthree\n")
    append_lines(path, "four\n")
    assert path.read_text(encoding="utf-8") == "one\ntwo\nthree\nfour\n"
    with pytest.raises(InputError, match="No such file"):
        append_lines(tmp_path / "gone", "x\n")


def test_a_line_that_does_not_fit_is_taken_back(tmp_path, monkeypatch):
    path, real = tmp_path / "lines", os.write
    path.write_text("one\n", encoding="utf-8")

    def half(descriptor, data):
        if len(data) < 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data[: len(data) // 2])

    monkeypatch.setattr(output.os, "write", half)
    with pytest.raises(InputError, match="lines cannot be written: No space left on device"):
        append_lines(path, "a long line\n")
    assert path.read_text(encoding="utf-8") == "one\n"


# --- a system without room ---------------------------------------------------------------------------------------


@contextmanager
def at_most(size):
    """Let no file grow beyond so many bytes, those of the tests' own log neither: so no longer than for one call."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.mark.parametrize("size", [0, 1, 10, 1000, 99_999])
def test_a_file_that_does_not_fit_leaves_what_was_there(tmp_path, size):
    (tmp_path / "out").write_text(BEFORE, encoding="utf-8")
    (tmp_path / "lines").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="out cannot be written: File too large"), at_most(size):
        write_output(tmp_path / "out", "x" * 100_000)
    with pytest.raises(InputError, match="folder cannot be written: File too large"), at_most(size):
        with output_folder(tmp_path / "folder") as folder:
            write_part(folder / "a.txt", "x" * 100_000)
    with pytest.raises(InputError, match="lines cannot be written: File too large"), at_most(size):
        append_lines(tmp_path / "lines", "x" * 100_000 + "\n")
    assert tree(tmp_path) == {"out": BEFORE, "lines": ""}


def test_a_full_disk_leaves_what_was_there(small_disk):
    (small_disk / "out").write_text(BEFORE, encoding="utf-8")
    for content in ("x" * 10_000_000, b"x" * 10_000_000):
        with pytest.raises(InputError, match="out cannot be written: No space left on device"):
            write_output(small_disk / "out", content)
    with pytest.raises(InputError, match="folder cannot be written: No space left on device"):
        with output_folder(small_disk / "folder") as folder:
            write_part(folder / "a.txt", "x" * 10_000_000)
    with pytest.raises(InputError, match="out cannot be written: No space left on device"):
        append_lines(small_disk / "out", "x" * 10_000_000 + "\n")
    assert tree(small_disk) == {"out": BEFORE}
    write_output(small_disk / "out", AFTER)  # what did not fit takes no room any more
    assert tree(small_disk) == {"out": AFTER}


# --- a fault, or the end of the process, at every single call ----------------------------------------------------


class Calls:
    """Counts the calls to the system, and lets something happen at one of them."""

    def __init__(self, monkeypatch, happens, at):
        self.count, self._happens, self._at = 0, happens, at
        for owner, names in ((output.os, SYSTEM_CALLS), (Path, PATH_CALLS)):
            for name in names:
                monkeypatch.setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, call):
        def watched(*given, **options):
            self.count += 1
            if self.count == self._at:
                self._happens()
            return call(*given, **options)

        return watched


def full():
    raise OSError(errno.ENOSPC, "No space left on device")


def write_file(folder):
    write_output(folder / "out", AFTER)


def write_folder(folder):
    with output_folder(folder / "made" / "run") as made:
        write_part(made / "a.txt", AFTER)
        write_part(made / "models" / "b.txt", AFTER)


def write_lines(folder):
    append_lines(folder / "lines", AFTER)


def write_signature(folder):
    add_to_run(folder / "finished", "manifest.sig", AFTER.encode())


RUN = {"finished": None, "finished/manifest.json": "{}", "finished/run.json": "{}"}
START = {"out": BEFORE, "lines": BEFORE} | RUN
WHOLE = {
    write_file: START | {"out": AFTER},
    write_folder: START | {"made": None, "made/run": None, "made/run/a.txt": AFTER, "made/run/models": None,
                           "made/run/models/b.txt": AFTER},
    write_lines: START | {"lines": BEFORE + AFTER},
    write_signature: START | {"finished/manifest.sig": AFTER},
}  # fmt: skip
MOST_CALLS = 60


def begun(folder):
    for name, content in START.items():
        (folder / name).mkdir() if content is None else (folder / name).write_text(content, encoding="utf-8")


@pytest.mark.parametrize("write", WHOLE, ids=lambda each: each.__name__)
def test_a_fault_at_any_call_leaves_all_or_nothing(tmp_path, write):
    refused = 0
    for at in range(1, MOST_CALLS):
        folder = tmp_path / str(at)
        folder.mkdir()
        begun(folder)
        with pytest.MonkeyPatch.context() as patch:
            calls = Calls(patch, full, at)
            try:
                write(folder)
            except InputError as error:
                refused += 1
                assert "cannot be written: No space left on device" in str(error)
                allowed = (START, START | {"made": None})
            else:
                allowed = (WHOLE[write],)
        left = {name: content for name, content in tree(folder).items() if ".unfinished-" not in name}
        assert left in allowed, at  # only where removing itself fails is anything left, and the next one removes it
        write_file(folder)
        if (folder / "made").exists():
            unfinished.remove_abandoned(folder / "made")
        assert not [name for name in tree(folder) if ".unfinished-" in name], at
        if calls.count < at:
            break
    assert 3 <= refused < at < MOST_CALLS - 1


@pytest.mark.long
@pytest.mark.parametrize("write", WHOLE, ids=lambda each: each.__name__)
def test_the_end_of_the_process_at_any_call_leaves_all_or_nothing(tmp_path, write):
    left_behind = 0
    for at in range(1, MOST_CALLS):
        folder = tmp_path / str(at)
        folder.mkdir()
        begun(folder)
        child = os.fork()
        if child == 0:
            with pytest.MonkeyPatch.context() as patch:
                Calls(patch, lambda: os._exit(9), at)
                write(folder)
                os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        found = tree(folder)
        left = {name: content for name, content in found.items() if ".unfinished-" not in name}
        left_behind += left != found
        assert left in (START, START | {"made": None}, WHOLE[write]), at
        assert ended or left == WHOLE[write]
        if write is not write_lines and left != WHOLE[write]:
            write(folder)  # the next start finishes, and cleans up
            assert tree(folder) == WHOLE[write], at
        if ended == 0:
            break
    assert ended == 0 and at > 3 and (left_behind > 0 or write is write_lines)


# --- what was left behind ----------------------------------------------------------------------------------------


def test_only_what_nobody_writes_is_removed(tmp_path):
    for name in (".gone.csv.unfinished-0123abcd", ".held.csv.unfinished-0123abcd", "mine.unfinished-0123abcd",
                 ".mine.unfinished", ".mine.unfinished-xyz"):  # fmt: skip
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / ".gone.unfinished-4711" / "models").mkdir(parents=True)
    (tmp_path / ".held.unfinished-4711").mkdir()
    (tmp_path / ".link.unfinished-4711").symlink_to(".mine.unfinished")
    held = [
        os.open(tmp_path / name, os.O_RDONLY) for name in (".held.csv.unfinished-0123abcd", ".held.unfinished-4711")
    ]
    for each in held:
        fcntl.flock(each, fcntl.LOCK_EX)
    write_output(tmp_path / "new", "")
    assert set(each.name for each in tmp_path.iterdir()) == {
        ".held.csv.unfinished-0123abcd", ".held.unfinished-4711", ".link.unfinished-4711", "mine.unfinished-0123abcd",
        ".mine.unfinished", ".mine.unfinished-xyz", "new",
    }  # fmt: skip
    for each in held:
        os.close(each)
    with output_folder(tmp_path / "folder"):
        pass
    assert not [each.name for each in tmp_path.iterdir() if "held" in each.name]


def test_one_writer_leaves_what_another_one_writes(tmp_path):
    with (
        output_file(tmp_path / "one") as one,
        output_folder(tmp_path / "two") as two,
        output_file(tmp_path / "one") as again,
    ):
        write_output(tmp_path / "three", AFTER)
        one.write("one")
        again.write("again")
        write_part(two / "a.txt", AFTER)
    assert tree(tmp_path) == {"one": "one", "two": None, "two/a.txt": AFTER, "three": AFTER}


def test_what_another_writer_removed_before_it_was_held_is_begun_again(tmp_path, monkeypatch):
    real, removed = unfinished.lock, []

    def late(descriptor):
        if not removed:
            removed.extend(each for each in tmp_path.iterdir())
            removed[0].unlink()
        real(descriptor)

    monkeypatch.setattr(unfinished, "lock", late)
    write_output(tmp_path / "out", AFTER)
    assert tree(tmp_path) == {"out": AFTER} and len(removed) == 1


def test_json_of_odd_names_stays_json(tmp_path):
    write_output(tmp_path / "out.json", json.dumps({"file": "\udcff.csv"}, ensure_ascii=False))
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == {"file": "\udcff.csv"}


def test_a_private_file_is_made_once_and_only_its_owner_reads_it(tmp_path):
    place = tmp_path / "secret"
    private_file(place, b"first")
    private_file(place, b"second")
    assert place.read_bytes() == b"first" and stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]
    with pytest.raises(InputError, match="cannot be written: No such file"):
        private_file(tmp_path / "nowhere" / "secret")
