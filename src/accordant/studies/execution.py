"""Carrying out a study: every run once, into a folder that can be continued after whatever stopped it."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from accordant.compute.executor import Failure as FailedItem
from accordant.compute.executor import chosen
from accordant.compute.local import Here, Processes
from accordant.compute.tasks import Task, Told, tasks
from accordant.errors import InputError, RunFolderError
from accordant.naming import counted
from accordant.progress import steps
from accordant.runs.chain import add_section
from accordant.runs.execution import RunOptions, carry_out
from accordant.runs.folder import Run, read_run, write_run
from accordant.runs.manifest import Manifest
from accordant.runs.record import Record
from accordant.runs.record.parts import groupings
from accordant.studies.cells import Cell
from accordant.studies.declaration import StudySpec
from accordant.studies.effects import Effects, predicted_effects
from accordant.tables.output import check_output_folder, output_folder, write_output, write_part
from accordant.tables.text import read_text

CELLS, DECLARATION = "cells", "declaration.json"
CATEGORIES = {
    category.__name__: category for category in (UserWarning, RuntimeWarning, FutureWarning, DeprecationWarning)
}
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class StudyOptions:
    """What a user may say about a study beside its file.

    Attributes
    ----------
    data
        File or folder; None looks in the usual places.
    jobs
        Runs side by side, each in a process of its own with one thread.
    limit
        Carry out only the first so many runs; None for all.
    """

    data: str | None = None
    jobs: int = 1
    limit: int | None = None


@dataclass(frozen=True)
class Failure:
    """A run that could not be carried out.

    Attributes
    ----------
    cell
        Name of its folder.
    message
        Why.
    wrong_input
        Whether the input was wrong; otherwise it is a fault of the program.
    """

    cell: str
    message: str
    wrong_input: bool


@dataclass(frozen=True)
class Finished:
    """What a study came to: the record of each finished run, its treatment effects if it has any, and what failed."""

    records: dict[str, Record]
    effects: dict[str, Effects]
    failures: tuple[Failure, ...]


def open_folder(study: StudySpec, out: Path) -> None:
    """Make the folder of a study, or take up one that is there.

    Raises
    ------
    InputError
        If something else is there, a study of another name, or it lies in a finished run.
    """
    declaration = json.dumps({"study": study.model_dump(mode="json")}, indent=1, ensure_ascii=False) + "\n"
    if not os.path.lexists(out):
        with output_folder(out) as folder:
            write_part(folder / DECLARATION, declaration)
        return
    check_output_folder(out / CELLS / "new")
    if out.is_symlink() or not (out / DECLARATION).is_file():
        raise InputError(f"{out} exists and holds no study; name another folder")
    try:
        name = json.loads(read_text(out / DECLARATION))["study"]["name"]
    except (ValueError, LookupError, TypeError):
        raise InputError(f"{out / DECLARATION} was changed and cannot be read; name another folder") from None
    if name != study.name:
        raise InputError(f"{out} holds the study {name!r}, not {study.name!r}; name another folder")
    write_output(out / DECLARATION, declaration)


def carry_out_cells(cells: Sequence[Cell], out: Path, options: StudyOptions) -> Finished:
    """Carry out runs that are not in the folder yet, and read all.

    Parameters
    ----------
    cells
        All runs of the study, in order.
    out
        The folder of the study, from `open_folder`.
    options
        What a user says beside the file.

    Raises
    ------
    InputError
        If a folder with the name of a run holds something else.
    """
    cells = cells[: options.limit]
    runs = {cell.name: run for cell in cells if (run := _run(cell, out)) is not None}
    missing = [cell for cell in cells if cell.name not in runs]
    for cell in missing:
        check_output_folder(out / CELLS / cell.name)
    logger.info("%s, %d of them finished before; %d side by side", counted(len(cells), "run"), len(runs), options.jobs)
    failures: dict[str, Failure] = {}
    with steps("carrying out runs", len(missing)) as advance:
        for number, (cell, failure) in enumerate(_made(missing, out, options), start=1):
            advance()
            if failure is not None:
                failures[cell.name] = failure
                logger.warning("%s: %s", cell.name, failure.message)
            logger.info("%d of %d done: %s", number, len(missing), cell.name)
    for cell in missing:
        if cell.name not in failures:
            run = _run(cell, out)
            if run is None:
                raise RuntimeError(f"{cell.name} was carried out, and is not in {out / CELLS}")
            runs[cell.name] = run
    names = [cell.name for cell in cells if cell.name in runs]
    effects = {name: of_run for name in names if (of_run := _effects(runs[name])) is not None}
    failed = tuple(failures[cell.name] for cell in cells if cell.name in failures)
    return Finished({name: runs[name].record for name in names}, effects, failed)


def _made(cells: Sequence[Cell], out: Path, options: StudyOptions) -> Iterator[tuple[Cell, Failure | None]]:
    """Yield each run when it is carried out, with what went wrong."""
    data = str(Path(options.data).absolute()) if options.data and Path(options.data).exists() else options.data
    asked = {"out": str(out.absolute()), "data": data}
    executor = chosen() or (Processes(str(options.jobs)) if options.jobs > 1 and len(cells) > 1 else Here())
    for position, made in executor.run(Task("study_run", asked), [cell.to_json() for cell in cells]):
        if isinstance(made, FailedItem):
            wrong = isinstance(made.error, InputError)
            yield cells[position], Failure(cells[position].name, str(made.error), wrong_input=wrong)
            continue
        for words, category in made["told"]:
            warnings.warn(words, CATEGORIES.get(category, UserWarning), stacklevel=1)
        yield cells[position], None if made["failure"] is None else Failure(**made["failure"])


@tasks.register("study_run")
def study_run(options: Told, item: Told) -> Told:
    """Carry out one run of a study; return what went wrong, and the warnings of libraries."""
    cell = Cell.of(item)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        failure = _make(cell, Path(options["out"]), StudyOptions(options["data"]))
    told = [(str(warning.message), warning.category.__name__) for warning in caught]
    return {"failure": None if failure is None else asdict(failure), "told": told}


def _make(cell: Cell, out: Path, options: StudyOptions) -> Failure | None:
    """Carry out one run and write its folder, unless another process did meanwhile; return what went wrong."""
    folder = out / CELLS / cell.name
    if os.path.lexists(folder):
        return None
    try:
        with quiet():
            outcome = carry_out(cell.file, run_options(cell, options))
            write_run(outcome, folder)
            effects = predicted_effects(outcome.evidence, groupings(outcome.case))
            if effects is not None:
                add_section(Manifest.of(folder), effects)
    except InputError as error:
        return Failure(cell.name, str(error), wrong_input=True)
    except Exception as error:  # noqa: BLE001 - the other runs go on, and the command says that it failed
        return Failure(cell.name, f"{type(error).__name__}: {error}", wrong_input=False)
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out what a single run tells of its progress, such as that data are simulated: a study says it once."""
    room = logging.getLogger("accordant")
    before = room.level
    room.setLevel(logging.ERROR)
    try:
        yield
    finally:
        room.setLevel(before)


def run_options(cell: Cell, options: StudyOptions) -> RunOptions:
    """Return the options of one run."""
    return RunOptions(seed=cell.seed, data=options.data, rows=cell.condition.rows, n_jobs=1)


def _run(cell: Cell, out: Path) -> Run | None:
    """Return a finished run; None if it is still to be carried out."""
    folder = out / CELLS / cell.name
    if not os.path.lexists(folder):
        return None
    try:
        return read_run(folder)
    except RunFolderError as error:
        raise InputError(f"{error}; remove the folder {folder} to have the run carried out again") from None


def _effects(run: Run) -> Effects | None:
    """Return the treatment effects that were added to a run."""
    sections = (link.section() for link in run.links if link.envelope.section == Effects.name)
    return next((section for section in sections if isinstance(section, Effects)), None)
