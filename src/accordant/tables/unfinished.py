"""Hidden files and folders that are being written: each locked by its writer, and removed where nobody holds it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, and nothing removed that might have a writer
    fcntl = None  # type: ignore[assignment]

UNFINISHED = re.compile(r"\..+\.unfinished-[0-9a-f]+", re.DOTALL)


def begin(path: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Make what will become `path` under a hidden name; return it, and the descriptor that holds its lock.

    Parameters
    ----------
    path
        Need not be free.
    make
        One of `new_file`, `new_private_file`, `new_folder`.
    """
    while True:
        unfinished = path.with_name(f".{path.name}.unfinished-{os.urandom(4).hex()}")
        try:
            descriptor = make(unfinished)
        except FileNotFoundError:
            if not path.parent.is_dir():
                raise
            continue  # another writer removed the folder before it was opened
        lock(descriptor)
        if unfinished.exists():
            return unfinished, descriptor
        close(descriptor)  # another writer removed it before it was locked


def new_file(path: Path) -> int:
    """Make a file, and return a descriptor to write to it."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def new_private_file(path: Path) -> int:
    """Make a file that only its owner may read, and return a descriptor to write to it."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def new_folder(path: Path, mode: int = 0o777) -> int:
    """Make a folder, and return a descriptor that can hold its lock."""
    path.mkdir(mode)
    return os.open(path, os.O_RDONLY)


def lock(descriptor: int) -> None:
    """Wait for the lock on a file or folder; where a file system knows none, nobody removes anything either."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def close(descriptor: int) -> None:
    """Close what was synced, or is given up: nothing that goes wrong here says that something was not written."""
    with suppress(OSError):
        os.close(descriptor)


def remove_abandoned(folder: Path) -> None:
    """Remove unfinished files and folders whose writer is gone: nobody holds the lock on them."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            ours = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
            if ours and UNFINISHED.fullmatch(entry.name):
                _remove_unheld(Path(entry))


def _remove_unheld(path: Path) -> None:
    """Remove a file or folder unless its lock is held, or cannot be asked for."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        finally:
            close(descriptor)
