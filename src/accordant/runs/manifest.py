"""The manifest of a run folder: which files it holds, by hash.

Nothing that it does not list is ever opened, but its signature and the sections that `accordant.runs.chain` reads.

A file is opened once for each use, without following links, and its bytes are hashed before they are used: what was
checked is what is read. Without a key a manifest proves that files are as they were listed, not who listed them; see
`accordant.runs.signature`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from accordant.errors import RunFolderError
from accordant.limits import Limit
from accordant.tables.output import KINDS, MANIFEST

STATE_FILE = "policy.json"  # below the folder of models; here, because reading a record takes no models
SIGNATURE = "manifest.sig"
DIGEST = "0123456789abcdef"
SECTIONS = "sections"
SECTION_FILE = re.compile(rf"{SECTIONS}/(?P<number>[0-9]{{4}})-(?P<name>[a-z][a-z0-9_]{{0,99}})\.json")


@dataclass(frozen=True)
class Manifest:
    """What a run folder lists.

    Attributes
    ----------
    folder
        The run folder.
    content
        The bytes of ``manifest.json``.
    hashes
        File, relative to the folder with ``/`` between, to SHA-256 in hexadecimal digits.
    """

    folder: Path
    content: bytes
    hashes: Mapping[str, str]

    @classmethod
    def of(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder.

        Raises
        ------
        RunFolderError
            If the folder is none, holds no manifest, or the manifest names what is no file inside the folder.
        """
        if not folder.is_dir():
            raise RunFolderError(f"{folder} is not a folder")
        if not os.path.lexists(folder / MANIFEST):
            raise RunFolderError(f"{folder} is not a finished run: {MANIFEST} is missing")
        content = regular_bytes(folder, MANIFEST)
        try:
            hashes = dict(json.loads(content)["sha256"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RunFolderError(f"{folder}: {MANIFEST} was changed and cannot be read") from None
        for name, digest in hashes.items():
            if not _is_inside(name):
                raise RunFolderError(f"{folder}: {MANIFEST} was changed: it lists {name!r}, which is no file inside it")
            if not isinstance(digest, str) or len(digest) != 64 or set(digest) - set(DIGEST):
                raise RunFolderError(f"{folder}: {MANIFEST} was changed: the hash of {name} is no SHA-256")
        return cls(folder, content, hashes)

    @property
    def sha256(self) -> str:
        """The hash of the manifest itself: whoever keeps it elsewhere can tell whether anything was exchanged."""
        return hashlib.sha256(self.content).hexdigest()

    def read(self, name: str) -> bytes:
        """Return the bytes of a listed file after comparing their hash.

        Raises
        ------
        RunFolderError
            If the file is not listed, missing, no regular file, or was changed.
        """
        if name not in self.hashes:
            raise RunFolderError(f"{self.folder}: {MANIFEST} was changed: it does not list {name}")
        content = regular_bytes(self.folder, name)
        if hashlib.sha256(content).hexdigest() != self.hashes[name]:
            raise RunFolderError(f"{self.folder}: {name} was changed after the run")
        return content

    def check(self) -> None:
        """Compare the folder with the manifest; what stands in sections is read by `accordant.runs.chain`.

        Raises
        ------
        RunFolderError
            If a file is missing, was changed or added, a folder was added, or anything else than these is there.
        """
        folders = {str(parent) for name in self.hashes for parent in PurePosixPath(name).parents}
        for name, mode in _entries(self.folder):
            if stat.S_ISREG(mode) and (name in self.hashes or name in {MANIFEST, SIGNATURE} or _is_section(name)):
                continue
            if stat.S_ISDIR(mode) and (name in folders or name == SECTIONS):
                continue
            kind = KINDS.get(stat.S_IFMT(mode))
            raise RunFolderError(f"{self.folder}: {name}{f', {kind},' if kind else ''} was added after the run")
        for name in self.hashes:
            self.read(name)

    def section_files(self) -> list[str]:
        """Return the files with sections that were added to the run, by name."""
        return [name for name, mode in _entries(self.folder) if stat.S_ISREG(mode) and _is_section(name)]


def regular_bytes(folder: Path, name: str, most: Limit | None = None) -> bytes:
    """Return the bytes of a regular file in a folder; links are not followed, and pipes not waited for.

    `most`: how many bytes are read before the file is refused; None for any number.

    Raises
    ------
    RunFolderError
        If it is missing, is anything but a regular file, or cannot be read.
    DataError
        If it is larger than allowed.
    """
    try:
        kind = KINDS.get(stat.S_IFMT(os.lstat(folder / name).st_mode))
        if kind is not None:
            raise RunFolderError(f"{folder}: {name} is {kind}; allowed: a regular file")
        with open(os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RunFolderError(f"{folder}: {name} is no regular file")
            if most is None:
                return file.read()
            content = file.read(most.most + 1)
            most.check(len(content), f"{folder}: {name}")
            return content
    except FileNotFoundError:
        raise RunFolderError(f"{folder} is incomplete: {name} is missing") from None
    except OSError as error:
        raise RunFolderError(f"{folder}: {name} cannot be read: {error.strerror}") from None


def _entries(folder: Path, above: str = "") -> Iterator[tuple[str, int]]:
    """Yield the name and mode of everything below a folder; links are not followed."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            name, mode = above + entry.name, entry.stat(follow_symlinks=False).st_mode
            yield name, mode
            if stat.S_ISDIR(mode):
                yield from _entries(Path(entry.path), f"{name}/")


def _is_section(name: str) -> bool:
    """Return whether a name is that of a section that was added."""
    return SECTION_FILE.fullmatch(name) is not None


def _is_inside(name: object) -> bool:
    """Return whether a name is the plain path of a file below the folder."""
    return (
        isinstance(name, str)
        and "\0" not in name
        and "\\" not in name
        and not name.startswith("/")
        and all(part not in {"", ".", ".."} for part in name.split("/"))
    )
