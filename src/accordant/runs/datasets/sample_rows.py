"""Rows for parts that are tried out before a job: the first of a dataset, or simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from accordant.cases.loaders import simulated_table
from accordant.errors import DataNotFoundError, InputError
from accordant.runs.datasets.parts import opened
from accordant.runs.execution import data_file
from accordant.runs.folder import Run
from accordant.tables.addresses import open_binary
from accordant.tables.arrow import arrow_format
from accordant.tables.datasets import SUFFIXES, dataset_files, folder_columns
from accordant.tables.output import write_output

SIMULATED = 50_000  # rows that are simulated at most; more of them are the same again
ROWS_IN_GROUP = 100_000  # of Parquet that is written for the sample where no dataset says


@dataclass(frozen=True)
class Cut:
    """Writes a file with as many rows as asked, the first of a dataset or of a simulator, again if there are fewer.

    Attributes
    ----------
    place
        Of the run, see `accordant.runs.datasets.parts.opened`.
    dataset
        Whose rows; None for the simulator.
    folder
        Where to.
    """

    place: Mapping[str, str]
    dataset: str | None
    folder: Path

    @property
    def folders(self) -> dict[str, str]:
        """What folders say of the first file, for all rows: as many columns as there will be."""
        return {} if self.dataset is None else folder_columns(dataset_files(self.dataset)[0], self.dataset)

    def __call__(self, size: int) -> str:
        """Return the path of a file with so many rows.

        Raises
        ------
        InputError
            If the dataset has none.
        """
        files = [] if self.dataset is None else dataset_files(self.dataset)
        if files and arrow_format(files[0]) is None:
            return self._lines(files[0], size)
        import pyarrow as pa
        import pyarrow.parquet as pq

        if files:
            table, group = _head(files, size)
        else:
            run = opened(self.place)
            simulated = simulated_table(run.case, run.policy.random_state, min(size, SIMULATED))
            table, group = pa.Table.from_pandas(simulated, preserve_index=False), ROWS_IN_GROUP
        if not table.num_rows:
            raise InputError(f"{self.dataset} has columns but no rows")
        table = pa.concat_tables([table] * -(-size // table.num_rows)).slice(0, size)
        path = self.folder / f"rows-{size}.parquet"
        pq.write_table(table, path, row_group_size=max(1, group))
        return str(path)

    def _lines(self, file: str, size: int) -> str:
        path = self.folder / f"rows-{size}.csv"
        with (
            open_binary(file) as stored,
            TextIOWrapper(stored, encoding="utf-8", errors="surrogateescape", newline="") as source,
        ):
            header, rows = source.readline(), list[str]()
            for line in source:
                if rows and rows[-1].count('"') % 2:  # a cell that holds a line break
                    rows[-1] += line
                elif len(rows) < size:
                    rows.append(line if line.endswith("\n") else line + "\n")
                else:
                    break
        if not rows:
            raise InputError(f"{file} has columns but no rows")
        rows = (rows * -(-size // len(rows)))[:size]
        write_output(path, (header + "".join(rows)).encode("utf-8", "surrogateescape"))
        return str(path)


def _head(files: Sequence[str], size: int) -> tuple[Any, int]:
    """Return the first rows of files that hold columns, and how many rows a group of Parquet has there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held, rows, group = list[Any](), 0, ROWS_IN_GROUP
    for file in files:
        with open_binary(file) as source:
            if arrow_format(file) == "Parquet":
                stored = pq.ParquetFile(source)
                group = stored.metadata.row_group(0).num_rows if stored.num_row_groups and not held else group
                batches = stored.iter_batches()
            else:
                stored = pa.ipc.open_file(source)
                batches = map(stored.get_batch, range(stored.num_record_batches))
            for batch in batches:
                held.append(batch)
                rows += batch.num_rows
                if rows >= size:
                    return pa.Table.from_batches(held).slice(0, size), group
    return pa.Table.from_batches(held), group


def source_of(run: Run) -> str | None:
    """Return the file of a case that has no simulator; None if it has one.

    Raises
    ------
    InputError
        If there is neither.
    """
    if run.case.simulator is not None:
        return None
    file = None
    with suppress(DataNotFoundError):
        file = data_file(run.case, None, None)
    if file is None or file.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"the case {run.case.name!r} has no simulator, and no table of its rows is here: name a DATASET"
        )
    return str(file)
