"""Tables in many files, or in one large one, as parts that are worked on one by one.

A part is a range of row groups of a Parquet file, or any other file whole. What it holds is told by a hash of exactly
the bytes that are read, so that work that was done on them is recognised later, on any machine. Files may stand at
addresses, see `accordant.tables.addresses`: then a part is copied before it is worked on.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import unquote

from accordant.errors import DataError, InputError
from accordant.tables.addresses import Copy, copy_of, files_at, is_address, open_binary
from accordant.tables.arrow import arrow_format, footer_bytes, parquet_columns, parquet_groups
from accordant.tables.frames import MISSING
from accordant.tables.scratch import ScratchFolder, scratch_file
from accordant.tables.text import finite_number

if TYPE_CHECKING:
    import pandas as pd

PART_ROWS = 500_000
"""Rows of a part, unless one row group holds more: so many that starting a part costs nothing beside its work."""
READ = 1 << 20
TAIL = 1 << 16  # bytes of a Parquet file that are asked for at first: most footers are shorter
AT_ONCE = 16  # files at addresses that are asked for their row groups at a time
NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what folders say of a missing value
SUFFIXES = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".csv")


@dataclass(frozen=True)
class Part:
    """Some rows of a dataset.

    Attributes
    ----------
    number
        Its place among all, from 0.
    file
        Where it stands.
    groups
        First row group of a Parquet file, and the one behind the last; None for the whole file.
    start
        Number of its first row in the file, from 0.
    rows
        How many rows it has; None where only reading would tell.
    file_number
        Place of its file among all, from 0.
    folders
        Column to its text where folders of the dataset say it, as in ``region=south``.
    """

    number: int
    file: str
    groups: tuple[int, int] | None
    start: int
    rows: int | None
    file_number: int
    folders: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"groups": None if self.groups is None else list(self.groups)}

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """Return the part that `to_json` told."""
        groups = told["groups"]
        return cls(**told | {"groups": None if groups is None else (int(groups[0]), int(groups[1]))})

    @property
    def name(self) -> str:
        """The file as messages call it, with the folders that say columns."""
        path = Path(self.file)
        return path.name if not self.folders else "/".join(dropwhile(lambda part: "=" not in part, path.parts))

    @property
    def wanted(self) -> Sequence[int] | None:
        """Row groups to read; None for the whole file."""
        return None if self.groups is None else range(*self.groups)

    def fingerprint(self) -> str:
        """Return the hash of the bytes that hold the rows of this part, and of what folders say of them.

        Of Parquet, of names and types of columns too.

        Raises
        ------
        DataError
            If the file is gone, or has other row groups now.
        """
        path, digest = Path(self.file), hashlib.sha256()
        first, last = 0, path.stat().st_size if path.is_file() else 0
        if not last:
            raise DataError(f"{self.file}: there is no such file, or it is empty")
        if self.groups is not None:
            first, last = self._span(path, self.groups)
            digest.update(json.dumps(parquet_columns(self.file)).encode())
        if self.folders:
            digest.update(json.dumps(dict(self.folders)).encode())
        with path.open("rb") as file:
            file.seek(first)
            while first < last and (read := file.read(min(READ, last - first))):
                digest.update(read)
                first += len(read)
        return digest.hexdigest()

    @contextmanager
    def at_hand(self) -> Iterator[Self]:
        """Yield this part with its bytes on this machine: itself, or a copy, which is gone when the block ends.

        Of a Parquet file at an address its row groups and the footer are asked for; of any other, the whole.

        Raises
        ------
        InputError
            See `accordant.tables.addresses.files_at`.
        DataError
            If the file is gone, or has other row groups now.
        """
        if not is_address(self.file):
            yield self
            return
        with ScratchFolder() as folder:
            path = Path(folder, self.name)
            with scratch_file(path) as file, copy_of(self.file, file) as copy:
                if self.groups is None:
                    copy.take(0, copy.size)
                else:
                    _take_footer(copy)
                    copy.take(*self._span(path, self.groups))
            yield replace(self, file=str(path))

    def _span(self, path: Path, groups: tuple[int, int]) -> tuple[int, int]:
        """Return where the bytes of row groups begin and end in a file that has its footer."""
        spans = [span for _, span in parquet_groups(path)[slice(*groups)]]
        if len(spans) != groups[1] - groups[0]:
            raise DataError(f"{self.file} has fewer row groups than before: it was changed")
        return min(span[0] for span in spans), max(span[1] for span in spans)

    def constants(self, texts: Collection[str], missing: Iterable[str] = ()) -> dict[str, float | str]:
        """Return what folders say of every row: numbers where they are some, except in `texts`; NaN if missing."""
        marks = {*MISSING, *missing, NOTHING}
        return {
            column: math.nan if text in marks else text if column in texts else _number_or_text(text)
            for column, text in self.folders.items()
        }

    def completed(self, frame: pd.DataFrame, texts: Collection[str], missing: Iterable[str] = ()) -> pd.DataFrame:
        """Return rows of this part with the columns that folders say and the file lacks; see `constants`."""
        told = self.constants(texts, missing)
        return frame.assign(**{name: value for name, value in told.items() if name not in frame})


def is_dataset(source: str | Path) -> bool:
    """Return whether a name may stand for several files: an address, a folder or a pattern."""
    return is_address(source) or Path(source).is_dir() or (glob.has_magic(str(source)) and not Path(source).exists())


def _number_or_text(text: str) -> float | str:
    if not text.isascii() or "_" in text or text != text.strip():  # which Python takes for numbers, and files do not
        return text
    number = finite_number(text)
    return text if number is None else number


def folder_columns(file: str, source: str | Path) -> dict[str, str]:
    """Return the columns that the folders of a file say, as Hive, Spark and others write them.

    In ``data/year=2026/region=S%C3%BCd/part.parquet`` they are year and region; texts are quoted as in addresses. Those
    in the name of the folder or pattern count too; those above the place from which it is named do not. A file that is
    named itself has none.
    """
    if file == str(source) or not is_dataset(source):
        return {}
    place = Path(Path(source).anchor) if Path(source).is_absolute() else Path.cwd()
    above = Path(file).parent if is_address(source) else Path(file).parent.relative_to(place)
    named = (part.partition("=") for part in above.parts)
    return {unquote(name): unquote(text) for name, sign, text in named if name and sign}


def dataset_files(source: str | Path) -> list[str]:
    """Return the files of a dataset: of a folder and those below it, of a pattern such as ``year=*/*.parquet``, or one.

    Files and folders below that whose names begin with a dot or an underscore belong to whoever wrote the dataset, and
    are left out. The order is that of the names, which are absolute: workers may stand in other folders. Any may be an
    address, such as ``s3://bucket/people`` or ``s3://bucket/year=*/*.parquet``.

    Raises
    ------
    DataError
        If there is none.
    InputError
        If some are of a kind that cannot be read; and see `accordant.tables.addresses.files_at`.
    """
    within = files_at(source) if isinstance(source, str) and is_address(source) else _files_here(source)
    files = sorted(file for file, below in within.items() if not any(part.startswith((".", "_")) for part in below))
    if not files:
        raise DataError(f"{source}: there is no file there")
    for file in files:
        if within[file] and Path(file).suffix.lower() not in SUFFIXES:
            raise InputError(f"{file}: allowed in a dataset: files that end in {', '.join(SUFFIXES)}")
    return files


def _files_here(source: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the files of a dataset on this machine, as `accordant.tables.addresses.files_at` does."""
    path = Path(source)
    if path.is_file():
        return {str(path.absolute()): ()}
    top, within = path.absolute(), cast("Iterable[Path]", path.rglob("*"))
    if not path.is_dir():
        top = Path(*takewhile(lambda part: not glob.has_magic(part), path.parts)).absolute()
        within = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 - a pattern that may be absolute
    return {str(file): file.relative_to(top).parts for file in map(Path.absolute, within) if file.is_file()}


def _is_header_only(file: str) -> bool:
    """Whether a file is a CSV with one line that is not blank."""
    with open_binary(file) as lines:
        return len(list(islice(filter(bytes.strip, lines), 2))) == 1


def _take_footer(copy: Copy) -> None:
    """Copy what a Parquet file says of its row groups."""
    if copy.size is None:
        raise DataError(f"{copy.address} can only be read from its beginning; allowed: where parts of a file are given")
    tail = max(0, copy.size - TAIL)
    footer = max(0, copy.size - footer_bytes(copy.take(tail, copy.size)))
    if footer < tail:
        copy.take(footer, tail)


def _row_counts(file: str) -> list[int] | None:
    """Return the rows of each row group of a Parquet file; None for another, and none at all if it has no rows."""
    if arrow_format(file) == "Parquet":
        return [count for count, _ in parquet_groups(file)]
    return [] if arrow_format(file) is None and _is_header_only(file) else None


def _row_counts_at(address: str) -> list[int] | None:
    """Return the same of a file at an address."""
    if arrow_format(address) != "Parquet":
        return _row_counts(address)
    with ScratchFolder() as folder:
        path = Path(folder, Path(address).name)
        with scratch_file(path) as file, copy_of(address, file) as copy:
            _take_footer(copy)
            return _row_counts(str(path))


def _counted(files: Sequence[str]) -> Iterator[list[int] | None]:
    """Yield what `_row_counts` says of each file, several at a time where each answer is waited for."""
    if not is_address(files[0]):
        yield from map(_row_counts, files)
        return
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(_row_counts_at, files)


def dataset_parts(source: str | Path, rows: int = PART_ROWS) -> list[Part]:
    """Return the parts of a dataset, in the order of files and rows.

    Parameters
    ----------
    source
        See `dataset_files`.
    rows
        A part ends with the row group that reaches so many. Files without rows have none.
    """
    if rows < 1:
        raise InputError(f"rows of a part: found {rows}; allowed: 1 or more")
    parts = list[Part]()
    files = dataset_files(source)
    for place, (file, counts) in enumerate(zip(files, _counted(files), strict=True)):
        folders = folder_columns(file, source)
        if counts is None:
            parts.append(Part(len(parts), file, None, 0, None, place, folders))
            continue
        first = start = held = 0
        for group, count in enumerate(counts):
            held += count
            if held >= rows or (group + 1 == len(counts) and held):
                parts.append(Part(len(parts), file, (first, group + 1), start, held, place, folders))
                first, start, held = group + 1, start + held, 0
    if not parts:
        raise DataError(f"{source} has columns but no rows")
    return parts
