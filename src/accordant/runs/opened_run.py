"""Opening what a command is given: a finished run or, if it is a case, the run that is made of it first.

A run that was made of the same case, data, options and code before is taken instead: it would come out the same.
"""

from __future__ import annotations

import glob
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from accordant.cases.files import built_in_cases, read_case_file
from accordant.cases.spec import CaseSpec
from accordant.errors import RunFolderError, UnknownNameError
from accordant.runs.execution import RunOptions, carry_out, inputs_of
from accordant.runs.folder import RUNS, Run, free_folder, read_run, write_run
from accordant.tables.output import MANIFEST
from accordant.threads import free_cores

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenedRun:
    """A finished run, and where its data are.

    Attributes
    ----------
    run
        The run.
    data
        Data file or folder as it was given, or the folder of the case file if they stand there; None for the usual
        places.
    made
        Whether the run is that of a case, made just now or before.
    """

    run: Run
    data: str | None
    made: bool

    def data_for(self, file: str | None) -> str | None:
        """Return where the data of untouched rows are; None for rows of a file if the run alone needed them."""
        return None if self.made and file is not None else self.data


def open_run(name_or_path: str | Path, *, seed: int | None = None, data: str | None = None) -> OpenedRun:
    """Return a finished run; a case is carried out and written as ``accordant run`` would, and that is said.

    A folder comes before a case of the same name. Of a case, the latest run of the same inputs below
    ``accordant-runs`` is taken, if there is one.

    Parameters
    ----------
    name_or_path
        A run folder, a built-in case, or a path to a YAML file.
    seed
        Of the run that is made of a case; None for that of ``accordant run``.
    data
        Data file or folder; None looks in the usual places.

    Raises
    ------
    InputError
        If it is none of these, or the case cannot be carried out.
    RunFolderError
        If the folder is no finished run, or was changed.
    """
    path, cases = Path(name_or_path), built_in_cases()
    if _there(path.is_dir):
        return OpenedRun(_run_before_case(path, cases), data, made=False)
    if not is_case(name_or_path):
        raise UnknownNameError("run folder or case", str(name_or_path), (*cases, "a path to a .yaml file or a run"))
    file = read_case_file(name_or_path)
    case, beside = file.case, file.beside
    options = (
        RunOptions(data=data, n_jobs=free_cores()) if seed is None else RunOptions(seed, data, n_jobs=free_cores())
    )
    earlier = _run_of(inputs_of(file, options), case)
    if earlier is not None:
        logger.info(
            "%s is a case: its run with seed %d, of the same data and code, stands in %s", name_or_path, options.seed,
            earlier.path,
        )  # fmt: skip
        return OpenedRun(earlier, _folder_of_data(case, data, beside), made=True)
    folder = free_folder(case.name, None)
    logger.info("%s is a case: its run is made first, with seed %d, in %s", name_or_path, options.seed, folder)
    run = read_run(write_run(carry_out(name_or_path, options), folder))
    logger.info("sha256 of %s: %s", folder / MANIFEST, run.manifest.sha256)
    return OpenedRun(run, _folder_of_data(case, data, beside), made=True)


def is_case(name_or_path: str | Path) -> bool:
    """Return whether a name is that of a built-in case, or of a file."""
    path = Path(name_or_path)
    return path.suffix in {".yaml", ".yml"} or _there(path.is_file) or str(name_or_path) in built_in_cases()


def _there(question: Callable[[], bool]) -> bool:
    """Return the answer about a path; a name that no file can have, such as one of thousands of letters, is nowhere."""
    try:
        return question()
    except OSError:
        return False


def _run_of(inputs: str, case: CaseSpec) -> Run | None:
    """Return the latest whole run of these inputs, None if there is none or they are not known."""
    for folder in sorted(RUNS.glob(f"{glob.escape(case.name)}-*"), key=_number, reverse=True) if inputs else ():
        try:
            run = read_run(folder)
        except RunFolderError:
            continue
        if run.record.inputs == inputs:
            return run
    return None


def _number(folder: Path) -> int:
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _run_before_case(path: Path, cases: tuple[str, ...]) -> Run:
    """Read a folder; say so if a case has its name too."""
    if str(path) not in cases:
        return read_run(path)
    logger.info("%s is a folder here: its run is taken, not the case of this name", path)
    try:
        return read_run(path)
    except RunFolderError as error:
        raise RunFolderError(f"{error}; a folder comes before the case of the same name") from None


def _folder_of_data(case: CaseSpec, data: str | None, beside: Path | None) -> str | None:
    """Return where the data of a case that was run are found again, from anywhere."""
    if data is not None or beside is None or case.data.file is None:
        return data
    return str(beside) if (beside / case.data.file).is_file() else None
