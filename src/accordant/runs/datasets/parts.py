"""A run on a dataset: which parts there are, who carries them out, and what was written of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from accordant.compute.executor import Executor, chosen, compute
from accordant.compute.ledger import Ledger, PartOutput, part_output
from accordant.compute.tasks import Task, Told
from accordant.errors import InputError
from accordant.runs.folder import Run, read_run
from accordant.runs.sections.adoption import Adoption
from accordant.tables.datasets import PART_ROWS, Part, dataset_files, dataset_parts

LOCAL = "processes"  # where parts are carried out if nobody says


@dataclass(frozen=True)
class Job:
    """What is asked of a dataset.

    Attributes
    ----------
    run
        The run.
    dataset
        A file, a folder or a pattern, here or at an address; see `accordant.tables.datasets.dataset_files`.
    out
        The folder of the results: a new one, or that of the same job, which is carried on.
    on
        Address of an executor; None for that of `accordant.compute`, else one process per core.
    part_rows
        A part ends with the row group that reaches so many rows.
    """

    run: Run
    dataset: str
    out: Path
    on: str | None = None
    part_rows: int = PART_ROWS

    def carry_out(
        self, task: str, doing: str, options: Mapping[str, Any], places: Mapping[str, str] | None = None
    ) -> list[Told]:
        """Return what was written of each part, in order.

        Parameters
        ----------
        task, options
            Its registered name, and what all parts have in common.
        doing
            What is done, for whoever watches.
        places
            Options that say where something is; see `accordant.compute.ledger.Ledger.carry_out`.

        Raises
        ------
        InputError
            If dataset, folder or executor cannot be used, or parts are wrong.
        AccordantError
            If parts could not be carried out; those that were stay so.
        """
        place, version = str(self.run.path.absolute()), version_of(self.run)
        here = Path(self.dataset.removeprefix("file://"))
        if here.is_dir() and self.out.resolve().is_relative_to(here.resolve()):
            raise InputError(f"{self.out} lies in the dataset {self.dataset}, and would be a part of it; name another")
        parts = dataset_parts(self.dataset, self.part_rows)
        asked = Task(task, {"version": version, **options})
        _opened.cache_clear()
        opened({"run": place, "version": version})  # forked workers find it read
        with self.executor() as executor:
            ledger = Ledger.of(self.out, asked, [part.to_json() for part in parts])
            return ledger.carry_out(executor, doing=doing, places={"run": place, **(places or {})})

    def executor(self) -> AbstractContextManager[Executor]:
        """Return who carries out the parts, chosen for all inside the block; see `accordant.compute.compute`."""
        given: Executor | None = chosen() if self.on is None else None
        return nullcontext(given) if given is not None else compute(self.on or LOCAL)


def job_of(run: Path, dataset: str | None, out: Path | None, on: str | None, part_rows: int | None) -> Job:
    """Return what is asked of a dataset.

    Raises
    ------
    InputError
        If there is no dataset, or no folder for the parts.
    """
    if dataset in (None, "-"):
        raise InputError("parts are those of a file, a folder or a pattern; found none of them")
    dataset_files(str(dataset))
    if out is None or str(out) == "-":
        raise InputError("what comes of a dataset is a folder with a file for each part: name it with --out")
    return Job(read_run(run), str(dataset), out, on, part_rows or PART_ROWS)


@contextmanager
def part_work(options: Told, item: Told, suffix: str) -> Iterator[tuple[Part, Run, PartOutput]]:
    """Yield the part that a task is asked for, with its bytes on this machine, the run, and the place of its output.

    Parameters
    ----------
    options, item
        What the task was given.
    suffix
        Of the file that it writes.

    Raises
    ------
    InputError
        See `opened` and `accordant.tables.datasets.Part.at_hand`.
    """
    run, asked = opened(options), Part.of({name: value for name, value in item.items() if name != "before"})
    name = f"part-{asked.number:05d}{suffix}"
    with asked.at_hand() as part, part_output(options, item, name, part.fingerprint()) as output:
        yield part, run, output


def described(part: Part, rows: int) -> Told:
    """Return what is written of every part: where its rows stand."""
    groups = None if part.groups is None else list(part.groups)
    return {"file": Path(part.file).name, "groups": groups, "start": part.start, "rows": rows}


def version_of(run: Run) -> str:
    """Return the hash of what decides: of the last decision that people adopted for a run, else of the run itself."""
    adopted = (link.sha256 for link in reversed(run.links) if link.envelope.section == Adoption.name)
    return next(adopted, run.manifest.sha256)


def opened(options: Mapping[str, Any]) -> Run:
    """Return the run of a task, with its policy; read once by each worker.

    Raises
    ------
    InputError
        If the folder holds another run than the one that was asked.
    """
    return _opened(options["run"], options["version"])


@lru_cache(maxsize=2)
def _opened(path: str, version: str) -> Run:
    run = read_run(Path(path))
    if version_of(run) != version:
        raise InputError(f"{path} holds another run than when this work began")
    run.policy  # noqa: B018 - read once, here
    return run
