"""What is written for the length of a process: a folder that only its owner may read, gone with it.

A process that is killed leaves its folder behind; nobody holds the lock on it, and the next one removes it.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from functools import partial
from pathlib import Path
from typing import IO

from accordant.tables.unfinished import begin, close, new_folder, remove_abandoned


class ScratchFolder:
    """An empty folder where temporary files go; left with the block, or with the object.

    Attributes
    ----------
    name
        Its path.
    """

    def __init__(self) -> None:
        place = Path(tempfile.gettempdir())
        remove_abandoned(place)
        path, descriptor = begin(place / "accordant", partial(new_folder, mode=0o700))
        self.name = str(path)
        self.cleanup = weakref.finalize(self, _remove, path, descriptor)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _remove(path: Path, descriptor: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    close(descriptor)


def scratch_file(path: Path) -> IO[bytes]:
    """Open a new file in a `ScratchFolder`, to be filled in any order; folders above it are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")
