"""Where results are written: whole or not at all, and never over what must stay.

A file is written under a hidden name beside its place, synced, and renamed; a folder likewise. Whatever goes wrong
leaves what was there before. Its writer holds a lock on it meanwhile: what nobody holds was left behind by a process
that was killed, and whoever writes beside it next removes it.

    check_output, check_output_folder    refuse a place, before the work
    write_output, output_file            a file
    output_folder, write_part            a folder, and the files in it
    add_to_run, one_writer               a new file in a finished run, where that is what a command is for
    private_file                         what only its owner reads
    append_lines                         whole lines at the end of a file that stays
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from accordant.errors import InputError
from accordant.naming import plain_lines
from accordant.tables.addresses import refuse_address
from accordant.tables.unfinished import begin, close, lock, new_file, new_folder, new_private_file, remove_abandoned

Place = str | Path
Input = str | Path | IO[str] | None

STANDARD_OUTPUT = ("-", "/dev/stdout")
MANIFEST, RECORD = "manifest.json", "run.json"  # a folder that holds both is a finished run
LONGEST, LONGEST_PART, LONGEST_PATH = 200, 255, 4000  # bytes; the hidden name is longer than the name
KINDS = {
    stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip
ALLOWED = "a new file, an ordinary one to replace, or - for standard output"


def is_standard_output(target: Place | None) -> bool:
    """Whether an output is named ``-`` or ``/dev/stdout``."""
    return str(target) in STANDARD_OUTPUT


def is_run(name: Place) -> bool:
    """Whether a name is that of a run folder, complete or not."""
    path = Path(name)
    return path.is_dir() and ((path / MANIFEST).is_file() or (path / RECORD).is_file())


def check_output(target: Place, inputs: Iterable[Input] = ()) -> None:
    """Refuse a place for a file, before the work and not after it.

    Parameters
    ----------
    target
        The file, or what `is_standard_output`.
    inputs
        What the command reads; whatever is no path is passed over.

    Raises
    ------
    InputError
        If it is an address; if there is a link, a folder, a pipe, a socket, a device, a file that may not be written,
        or one of the inputs, by this name or another; if the place lies in a finished run; or if there is no folder
        that can be written.
    """
    if is_standard_output(target):
        return
    refuse_address(target)
    path = Path(target)
    with _reported(path):
        mode = path.lstat().st_mode if os.path.lexists(path) else None
    kind = None if mode is None else KINDS.get(stat.S_IFMT(mode))
    if kind is not None:
        raise InputError(f"{path} is {kind}; allowed: {ALLOWED}")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}")
    _check_place(path, path if mode is not None else path.parent)
    _check_inputs(path, inputs)


def check_output_folder(target: Place, inputs: Iterable[Input] = ()) -> None:
    """Refuse a place for a new folder, before the work and not after it.

    Parameters
    ----------
    target
        The folder.
    inputs
        What the command reads, or writes elsewhere.

    Raises
    ------
    InputError
        If it is an address; if anything is there, or will be; if the place lies in a finished run; or if nothing can be
        made there.
    """
    path = Path(target)
    if is_standard_output(target):
        raise InputError(f"a folder cannot be written to standard output; found {path}, allowed: a new folder")
    refuse_address(target)
    if os.path.lexists(path):
        raise InputError(f"{path} exists; name another folder: one is written once")
    above = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not above.is_dir():
        raise InputError(f"{path} cannot be written: {above} is not a folder")
    _check_place(path, above)
    _check_inputs(path, inputs)


def _check_place(path: Path, there: Path) -> None:
    """Refuse a name that is too long, a finished run, and a place that may not be written."""
    lengths = [len(os.fsencode(part)) for part in (path.name, str(path.absolute()), *path.parts)]
    if lengths[0] > LONGEST or lengths[1] > LONGEST_PATH or max(lengths[2:]) > LONGEST_PART or "\0" in str(path):
        raise InputError(f"{str(path)!r:.60} is too long or no path; allowed: a name of at most {LONGEST} bytes")
    place = Path(os.path.realpath(path))
    for folder in place.parents:
        if (folder / MANIFEST).is_file() and (folder / RECORD).is_file():
            raise InputError(f"{path} lies in the finished run {folder}, where nothing is written; name another place")
    if not (os.access(there, os.W_OK) and os.access(there if there.is_dir() else path.parent, os.W_OK | os.X_OK)):
        raise InputError(f"{path} cannot be written to: {os.strerror(errno.EACCES)}")


def _check_inputs(path: Path, inputs: Iterable[Input]) -> None:
    for given in inputs:
        if isinstance(given, str | Path) and _is_same(path, given):
            raise InputError(f"{path} is an input of this command; name another output")


def _is_same(path: Path, other: Place) -> bool:
    """Whether two paths lead to one place, or to one file with two names."""
    with suppress(OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(other) or path.samefile(other)
    return False


def write_output(target: Place, content: str | bytes, inputs: Iterable[Input] = ()) -> None:
    """Write a file whole or not at all; see `output_file`."""
    with output_file(target, inputs) as file:
        if isinstance(content, bytes):
            file.buffer.write(content)  # type: ignore[attr-defined]
        else:
            file.write(content)


@contextmanager
def output_file(target: Place, inputs: Iterable[Input] = ()) -> Iterator[IO[str]]:
    r"""Open a file for writing text in UTF-8; it gets its place when the block ends, and is gone if that fails.

    Half characters are written as escapes such as ``\udc80``. A file that is replaced hands its permissions on.

    Parameters
    ----------
    target, inputs
        See `check_output`.

    Raises
    ------
    InputError
        If the place is refused, or the file cannot be written: then what was there before is there still.
    """
    if is_standard_output(target):
        yield _standard_output()
        return
    check_output(target, inputs)
    path = Path(target)
    remove_abandoned(path.parent)
    with _reported(path):
        unfinished, descriptor = begin(path, new_file)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                if path.exists():
                    unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
                yield file
                file.flush()
                os.fsync(descriptor)
                unfinished.replace(path)
            _sync_folder(path.parent)
        finally:
            with suppress(OSError):
                unfinished.unlink()


@contextmanager
def output_folder(target: Place) -> Iterator[Path]:
    """Yield an empty hidden folder, which gets its name when the block ends, and is gone if that fails.

    Folders above it are made where they are missing.

    Parameters
    ----------
    target
        The folder; nothing is there.

    Raises
    ------
    InputError
        If the place is refused, or something in the folder cannot be written.
    """
    check_output_folder(target)
    path = Path(target)
    with _reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(path.parent)
        unfinished, descriptor = begin(path, new_folder)
        try:
            yield unfinished
            for folder, _, _ in os.walk(unfinished, topdown=False):
                _sync_folder(Path(folder))
            if os.path.lexists(path):  # an empty folder would be replaced without a word
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            unfinished.rename(path)
            _sync_folder(path.parent)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
            close(descriptor)


def write_part(path: Path, content: str | bytes) -> None:
    """Write a new file into a folder of `output_folder`, or into one in it, and sync it.

    Raises
    ------
    OSError
        If it cannot be written; `output_folder` reports it.
    """
    path.parent.mkdir(exist_ok=True)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def add_to_run(run: Path, name: str, content: bytes) -> Path:
    """Write a new file into a finished run whole or not at all, never over one that is there; return its path.

    The hidden file stands beside the run, which is not changed by what is left behind. `name` may have a folder in it.

    Raises
    ------
    InputError
        If the file is there, or cannot be written.
    """
    target = run / name
    with _reported(target):
        _link_new(target, content, run.absolute(), new_file)
    return target


def private_file(path: Path, content: bytes = b"") -> None:
    """Make a file that only its owner may read, whole or not at all; one that is there stays as it is.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    with _reported(path), suppress(FileExistsError):
        if not path.exists():
            _link_new(path, content, path.absolute(), new_private_file)


def _link_new(target: Path, content: bytes, beside: Path, make: Callable[[Path], int]) -> None:
    """Write a file under a hidden name beside a place, and link it to its own name, if nothing has that."""
    remove_abandoned(beside.parent)
    unfinished, descriptor = begin(beside, make)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
            target.hardlink_to(unfinished)
        _sync_folder(target.parent)
    finally:
        with suppress(OSError):
            unfinished.unlink()


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Hold a folder in a finished run, made where it is missing, while the block adds files to it: others wait.

    Raises
    ------
    InputError
        If the folder cannot be made or opened.
    """
    with _reported(folder):
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            _sync_folder(folder.parent)
        descriptor = None if sys.platform == "win32" else os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if descriptor is not None:
            lock(descriptor)
        yield
    finally:
        if descriptor is not None:
            close(descriptor)


def append_lines(target: Place, text: str | Iterable[str]) -> None:
    """Add lines to the end of an ordinary file: all of them or, if that fails, none.

    Parameters
    ----------
    target
        A file that is there.
    text
        Lines, each with its end; whole, or in pieces.

    Raises
    ------
    InputError
        If the file is gone, is none of those that `check_output` allows, or cannot be written.
    """
    check_output(target)
    with _reported(Path(target)):
        descriptor = os.open(target, os.O_WRONLY | os.O_APPEND)
        try:
            lock(descriptor)
            size = os.fstat(descriptor).st_size
            try:
                for piece in [text] if isinstance(text, str) else text:
                    rest = memoryview(piece.encode("utf-8", "backslashreplace"))
                    while rest:
                        rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(descriptor, size)
                raise
        finally:
            close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder last, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            close(descriptor)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn what the system says into an error about a path."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


class _PlainStream(io.TextIOBase):
    """Standard output that is a terminal: nothing that is written steers it."""

    def write(self, text: str) -> int:
        """Write a text line by line as `accordant.naming.plain_lines` does."""
        sys.stdout.write(plain_lines(text))
        return len(text)


def _standard_output() -> IO[str]:
    return cast("IO[str]", _PlainStream()) if sys.stdout.isatty() else sys.stdout
