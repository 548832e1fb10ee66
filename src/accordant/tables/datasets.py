"""Tables in many files, or in one large one, as parts that are worked on one by one.

A part is a range of row groups of a Parquet file, or any other file whole. What it holds is told by a hash of exactly
the bytes that are read, so that work that was done on them is recognised later, on any machine.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import unquote

from accordant.errors import DataError, InputError
from accordant.tables.arrow import arrow_format, parquet_columns, parquet_groups
from accordant.tables.frames import MISSING

if TYPE_CHECKING:
    import pandas as pd

PART_ROWS = 500_000
"""Rows of a part, unless one row group holds more: so many that starting a part costs nothing beside its work."""
READ = 1 << 20
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
    def of(cls, found: dict[str, Any]) -> Self:
        """Return the part that `to_json` told."""
        groups = found["groups"]
        return cls(**found | {"groups": None if groups is None else (int(groups[0]), int(groups[1]))})

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
            spans = [span for _, span in parquet_groups(self.file)[slice(*self.groups)]]
            if len(spans) != self.groups[1] - self.groups[0]:
                raise DataError(f"{self.file} has fewer row groups than before: it was changed")
            first, last = min(span[0] for span in spans), max(span[1] for span in spans)
            digest.update(json.dumps(parquet_columns(self.file)).encode())
        if self.folders:
            digest.update(json.dumps(dict(self.folders)).encode())
        with path.open("rb") as file:
            file.seek(first)
            while first < last and (read := file.read(min(READ, last - first))):
                digest.update(read)
                first += len(read)
        return digest.hexdigest()

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
    """Return whether a name stands for several files: a folder or a pattern."""
    return Path(source).is_dir() or (glob.has_magic(str(source)) and not Path(source).exists())


def _number_or_text(text: str) -> float | str:
    if not text.isascii() or "_" in text or text != text.strip():  # which Python takes for numbers, and files do not
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def folder_columns(file: str, source: str | Path) -> dict[str, str]:
    """Return the columns that the folders of a file say, as Hive, Spark and others write them.

    In ``data/year=2026/region=S%C3%BCd/part.parquet`` they are year and region; texts are quoted as in addresses. Those
    in the name of the folder or pattern count too; those above the place from which it is named do not. A file that is
    named itself has none.
    """
    if not is_dataset(source):
        return {}
    place = Path(Path(source).anchor) if Path(source).is_absolute() else Path.cwd()
    named = (part.partition("=") for part in Path(file).parent.relative_to(place).parts)
    return {unquote(name): unquote(text) for name, sign, text in named if name and sign}


def dataset_files(source: str | Path) -> list[str]:
    """Return the files of a dataset: of a folder and those below it, of a pattern such as ``year=*/*.parquet``, or one.

    Files and folders below that whose names begin with a dot or an underscore belong to whoever wrote the dataset, and
    are left out. The order is that of the names, which are absolute: workers may stand in other folders.

    Raises
    ------
    DataError
        If there is none.
    InputError
        If some are of a kind that cannot be read.
    """
    path = Path(source)
    if path.is_file():
        return [str(path.absolute())]
    top, within = path.absolute(), cast("Iterable[Path]", path.rglob("*"))
    if not path.is_dir():
        top = Path(*takewhile(lambda part: not glob.has_magic(part), path.parts)).absolute()
        within = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 - a pattern that may be absolute
    found = sorted(
        str(each) for each in map(Path.absolute, within)
        if each.is_file() and not any(part.startswith((".", "_")) for part in each.relative_to(top).parts)
    )  # fmt: skip
    if not found:
        raise DataError(f"{source}: there is no file there")
    for each in found:
        if Path(each).suffix.lower() not in SUFFIXES:
            raise InputError(f"{each}: allowed in a dataset: files that end in {', '.join(SUFFIXES)}")
    return found


def _is_header_only(file: str) -> bool:
    """Whether a file is a CSV with one line that is not blank."""
    if arrow_format(file) is not None:
        return False
    with Path(file).open("rb") as lines:
        return len(list(islice(filter(bytes.strip, lines), 2))) == 1


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
    for place, file in enumerate(dataset_files(source)):
        folders = folder_columns(file, source)
        if arrow_format(file) != "Parquet":
            if not _is_header_only(file):
                parts.append(Part(len(parts), file, None, 0, None, place, folders))
            continue
        first = start = held = 0
        counts = [count for count, _ in parquet_groups(file)]
        for group, count in enumerate(counts):
            held += count
            if held >= rows or (group + 1 == len(counts) and held):
                parts.append(Part(len(parts), file, (first, group + 1), start, held, place, folders))
                first, start, held = group + 1, start + held, 0
    if not parts:
        raise DataError(f"{source} has columns but no rows")
    return parts
