"""Files at addresses such as ``s3://bucket/people/a.parquet``, through fsspec, which whoever uses them brings.

A file is listed and looked into where it stands. What is worked on is copied before, exactly those bytes and each once:
then whatever reads files of this machine reads it, and hashes what it read.
"""

from __future__ import annotations

import glob
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, cast

from accordant.errors import DataError, InputError

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # one letter alone is a drive of Windows
FOLDED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # a `Path` keeps one of the two
DRIVERS: Mapping[str, str] = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "http": "aiohttp", "https": "aiohttp",
    "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs", "sftp": "paramiko", "ssh": "paramiko", "hdfs": "pyarrow",
}  # fmt: skip
"""What an address begins with, to the package that fsspec reads it with."""
LONGEST = 300  # letters of what a library says of an error
LOOK, BLOCK = 1 << 20, 1 << 24  # bytes of one request: of who looks into a file, and of who copies it


def is_address(source: object) -> bool:
    """Return whether something is a text such as ``s3://bucket/folder``, and not a path."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def refuse_address(target: str | Path) -> None:
    """Raise an error for an output at an address.

    Raises
    ------
    InputError
        If it is one, or a path that was made of one.
    """
    if FOLDED.match(str(target)):
        raise InputError(f"{target} is an address; allowed for results: a place on this machine")


def files_at(address: str) -> dict[str, tuple[str, ...]]:
    """Return the files at an address: itself, those of a folder and below it, or those that a pattern matches.

    Returns
    -------
    dict
        Address of each to its names below the folder that is named; none for a file that is named itself.

    Raises
    ------
    InputError
        If fsspec or its driver is missing, nothing reads such addresses, or it may hold a password.
    DataError
        If whoever keeps the files refuses.
    """
    system, path = _system(address)
    with _reported(address):
        system.invalidate_cache()
        if not address.endswith("/") and system.isfile(path):
            return {address: ()}
        if glob.has_magic(path):
            top = "/".join(takewhile(lambda part: not glob.has_magic(part), path.split("/")))
            files = [file for file, told in system.glob(path, detail=True).items() if told["type"] == "file"]
        else:
            top, files = path.rstrip("/"), system.find(path)
        return {system.unstrip_protocol(file): tuple(file.removeprefix(top).strip("/").split("/")) for file in files}


def size_of(file: str) -> int:
    """Return the bytes of a file on this machine or at an address.

    Raises
    ------
    DataError
        If it is at an address where nothing is, or that does not say.
    """
    if not is_address(file):
        return Path(file).stat().st_size
    with _raw(file) as source:
        size = _size(source)
    if size is None:
        raise DataError(f"{file} does not say how large it is")
    return size


@contextmanager
def open_binary(file: str) -> Iterator[IO[bytes]]:
    """Open a file on this machine or at an address, to look into it; see `files_at` for errors."""
    if not is_address(file):
        with Path(file).open("rb") as local:
            yield local
        return
    with _raw(file) as source, io.BufferedReader(source, LOOK) as buffered:
        yield buffered


@dataclass(frozen=True)
class Copy:
    """A file on this machine that takes bytes of one at an address, each to its own place, with holes between them.

    Attributes
    ----------
    file
        The copy.
    size
        Bytes of the file at the address; None where only reading would tell.
    """

    address: str
    file: IO[bytes]
    size: int | None
    source: Any

    def take(self, first: int, last: int | None) -> bytes:
        """Copy the bytes from `first` to before `last`, None for the end; return the last 8 of them.

        Raises
        ------
        DataError
            If they are not there, or the place cannot be chosen.
        """
        end = b""
        self.source.seek(first)
        self.file.seek(first)
        while last is None or first < last:
            block = self.source.read(BLOCK if last is None else min(BLOCK, last - first))
            if not block:
                break
            self.file.write(block)
            first, end = first + len(block), (end + block)[-8:]
        self.file.flush()
        if last is not None and first < last:
            raise DataError(f"{self.address} ends before it should: it was changed")
        return end


@contextmanager
def copy_of(address: str, file: IO[bytes]) -> Iterator[Copy]:
    """Begin a copy of what stands at an address in an empty file.

    Raises
    ------
    DataError
        If nothing is there, or it is empty; and see `files_at`.
    """
    with _raw(address) as source:
        size = _size(source)
        if size == 0:
            raise DataError(f"{address}: there is no such file, or it is empty")
        yield Copy(address, file, size, source)


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    scheme, _, rest = address.partition("://")
    web = scheme in ("http", "https")
    if "::" in rest or ".." in rest.split("/") or (web and "?" in rest):
        shown = address.partition("?")[0]  # what is behind it may be a key
        raise InputError(f"{shown}: allowed in an address: no '::', no '..', and no '?' on the web")
    if ":" in rest.partition("/")[0].rpartition("@")[0]:  # results would say it
        raise InputError(f"{scheme}://…: an address holds no password; allowed: one in the configuration of fsspec")
    try:
        from fsspec import get_filesystem_class
        from fsspec.core import url_to_fs

        get_filesystem_class(scheme)
    except ImportError as error:
        driver = DRIVERS.get(scheme, "")
        needed = f"pip install fsspec {driver}".rstrip() if driver or error.name == "fsspec" else str(error)
        raise InputError(f"{address}: to read {scheme}:// something is not installed: {needed}") from None
    except ValueError:
        raise InputError(
            f"{address}: nothing reads {scheme}:// as files; allowed: s3://, gs://, https://, file:// and what else "
            "fsspec knows"
        ) from None
    with _reported(address):
        place: tuple[Any, str] = url_to_fs(address)
        return place


@contextmanager
def _raw(address: str) -> Iterator[Any]:
    """Open a file at an address; what is read is asked for as it is, and nothing beside it."""
    system, path = _system(address)
    with _reported(address), system.open(path, "rb", cache_type="none") as source:
        yield source


def _size(source: Any) -> int | None:
    """Return how many bytes a file has; None for a stream, in which no place can be chosen."""
    try:
        source.seek(0, io.SEEK_END)
        size = cast("int", source.tell())
        source.seek(0)
    except (ValueError, OSError):
        return None
    return size


@contextmanager
def _reported(address: str) -> Iterator[None]:
    """Say what is wrong with a file at an address."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise DataError(f"{address}: there is no such file") from None
    except Exception as error:  # noqa: BLE001 - of any kind, by the library that reads it
        words = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{address} cannot be read: {words:.{LONGEST}}") from None
