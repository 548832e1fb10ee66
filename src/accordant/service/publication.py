"""Publishing runs: a folder that was verified is kept in the database, by the hash of its head, and read back as a run.

A run is opened from the database into a folder of its own, where `read_run` checks every hash and every model again.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, insert, select

from accordant.errors import InputError, UnknownNameError
from accordant.runs import Run, read_run
from accordant.service.record.log import Act, append, now
from accordant.service.schema import run as published_run
from accordant.service.schema import run_content
from accordant.tables.scratch import ScratchFolder

EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file in an archive: the same run gives the same bytes
LARGEST = 2**28  # bytes of a run, so that a row of the database stays one


def archive_of(run: Run) -> bytes:
    """Return the folder of a run as one archive, the same bytes for the same run."""
    buffer = io.BytesIO()
    files = sorted(path for path in run.path.rglob("*") if path.is_file())
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.writestr(zipfile.ZipInfo(path.relative_to(run.path).as_posix(), EPOCH), path.read_bytes())
    content = buffer.getvalue()
    if len(content) > LARGEST:
        raise InputError(f"{run.path} takes {len(content):,} bytes; allowed: at most {LARGEST:,}")
    return content


def publish(connection: Connection, run: Run, workspace: str) -> str:
    """Keep a run that was read and verified, and return its hash; a run that is there stays as it is.

    Parameters
    ----------
    connection
        From `Database.writing`.
    run
        From `read_run`.
    workspace
        Where it is to be seen.
    """
    if connection.execute(select(run_content.c.hash).where(run_content.c.hash == run.head)).one_or_none() is None:
        connection.execute(insert(run_content).values(hash=run.head, archive=archive_of(run)))
    here = (published_run.c.hash == run.head) & (published_run.c.workspace == workspace)
    if connection.execute(select(published_run.c.hash).where(here)).one_or_none() is None:
        case = run.record.case
        connection.execute(
            insert(published_run).values(
                hash=run.head, workspace=workspace, title=case.title, case_name=case.name, published_at=now()
            )
        )
        append(connection, [Act("publication", {"run": run.head, "case": case.name, "workspace": workspace})])
    return run.head


@dataclass(frozen=True, eq=False)
class OpenRuns:
    """Published runs that were opened, each once a process, in a folder that goes with it."""

    _runs: dict[str, Run] = field(default_factory=dict)
    _opening: Lock = field(default_factory=Lock)

    @cached_property
    def _folder(self) -> ScratchFolder:
        return ScratchFolder()

    def run(self, connection: Connection, digest: str) -> Run:
        """Return a published run.

        Raises
        ------
        UnknownNameError
            If no run with this hash was published.
        RunFolderError
            If what is kept is not the run that was published.
        """
        with self._opening:
            if digest not in self._runs:
                self._runs[digest] = self._open(connection, digest)
            return self._runs[digest]

    def _open(self, connection: Connection, digest: str) -> Run:
        content = connection.execute(select(run_content.c.archive).where(run_content.c.hash == digest)).scalar()
        if content is None:
            raise UnknownNameError("run", digest, connection.execute(select(run_content.c.hash)).scalars())
        folder = Path(self._folder.name, digest)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(folder)
        run = read_run(folder)
        if run.head != digest:
            raise InputError(f"run {digest} is kept as {run.head}: the database was changed")
        return run

    def close(self) -> None:
        """Forget the runs and remove their folder."""
        self._runs.clear()
        folder = self.__dict__.pop("_folder", None)
        if folder is not None:  # what is opened after that needs another one
            folder.cleanup()
