"""Case files: which come with the package, how their YAML is read, and where their data are looked for."""

from __future__ import annotations

import importlib.resources
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import platformdirs

from accordant import limits
from accordant.cases.parts import case_parts
from accordant.cases.spec import CaseSpec
from accordant.declaration import Declared
from accordant.errors import DataError, DataNotFoundError, InputError, SpecError, UnknownNameError
from accordant.naming import path_name
from accordant.tables.text import read_text
from accordant.tables.workbooks import parted
from accordant.tables.yaml import line_of, read_yaml

Alone = TypeVar("Alone", bound=Declared)


def text_of(name_or_path: str | Path, built_in: Mapping[str, Any]) -> tuple[str, str, Path | None]:
    """Return the text of a case file, what messages call it, and its folder (None for built-in ones)."""
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"} or _is_file(path):
        if not path.exists():
            raise SpecError(f"case file {name_or_path} does not exist")
        try:
            return read_text(path, limits.CASE_BYTES), f"case file {path.name}", path.parent
        except DataError as error:
            raise SpecError(str(error), "case file") from None
    if str(name_or_path) not in built_in:
        raise UnknownNameError("case", str(name_or_path), (*sorted(built_in), "or a path to a .yaml file"))
    return _text(built_in[str(name_or_path)]), f"case {name_or_path}", None


def _text(file: Any) -> str:
    """Return the text of a file of the package."""
    return str(file.read_text(encoding="utf-8"))


def built_in_files(package: str = "accordant.cases") -> dict[str, Any]:
    """Return name to file of the case files in the folders of a package."""
    folders = [folder for folder in importlib.resources.files(package).iterdir() if folder.is_dir()]
    files = [file for folder in folders for file in folder.iterdir() if file.name.endswith(".yaml")]
    return {file.name.removesuffix(".yaml"): file for file in files}


VARIABLE = "ACCORDANT_DATA"
SHIPPED = Path(__file__).parent  # beside their case files: what built-in cases bring, such as story/answers.csv


def cache_folder() -> Path:
    """Return the folder of downloaded data of this user."""
    return Path(platformdirs.user_cache_dir("accordant")) / "data"


def find_file(file: str, given: str | Path | None, beside: Path | None = None) -> Path | None:
    """Return the data file, or None if nobody named a place and it is nowhere.

    Parameters
    ----------
    file
        Path below a data folder, such as ``lending/lending_club_2015.csv``.
    given
        A file, of a workbook also with its sheet as ``file.xlsx#Sheet``, or a folder that holds it with or without its
        subfolder. A given place that does not hold it is an error.
    beside
        Folder of the case file, for cases of one's own.

    Raises
    ------
    DataNotFoundError
        If a place was named, here or in ``$ACCORDANT_DATA``, and the file is not there.
    """
    if given is not None:
        place = Path(parted(str(given))[0])
        path = place if _is_file(place) else _inside(place, file)
        if path is None:
            raise DataNotFoundError(_missing(file, f"not found at {given}"))
        return path
    if beside is not None and _is_file(beside / file):
        return beside / file
    variable = os.environ.get(VARIABLE)
    if variable:
        path = _inside(Path(variable), file)
        if path is None:
            raise DataNotFoundError(_missing(file, f"not found below ${VARIABLE}"))
        return path
    return _inside(cache_folder(), file)


def file_beside(path: Path, name: Any, parameter: str) -> Path:
    """Return the file of this name in the folder of another one.

    Raises
    ------
    InputError
        If the parameter that names it is no name of a file, such as a path or nothing.
    """
    if not isinstance(name, str):
        raise InputError(f"{parameter}: {name!r:.60} cannot be part of a path; allowed: the name of a file")
    try:
        return path.with_name(path_name(name))
    except InputError as error:
        raise InputError(f"{parameter}: {error}") from None


def find_reward_file(file: str, given: str | Path | None, beside: Path | None = None) -> Path:
    """Return the file that a stakeholder's reward names: beside the case file first, then where data are.

    What a built-in case brings is named by its folder and name, such as ``story/answers.csv``.

    Parameters
    ----------
    file
        As the case names it, or an absolute path.
    given
        What ``--data`` names: a folder, or a file whose folder is meant.
    beside
        Folder of the case file; None for built-in cases.

    Raises
    ------
    DataNotFoundError
        If it is in none of these places; the message names them all.
    """
    variable = os.environ.get(VARIABLE)
    named = None if given is None else Path(parted(str(given))[0])
    folder = named.parent if named is not None and _is_file(named) else named
    places = {
        "beside the case file": beside,
        "at --data PATH": folder,
        f"below ${VARIABLE}": Path(variable) if variable else None,
        "in the cache": cache_folder(),
    }
    exact = (SHIPPED if beside is None else beside) / file
    if _is_file(exact):
        return exact
    for place in (folder, Path(variable) if variable else None, cache_folder()):
        if place is not None and (path := _inside(place, file)) is not None:
            return path
    looked = ", ".join(f"{words} ({place or 'none named'})" for words, place in places.items())
    raise DataNotFoundError(f"reward file {file} not found; looked {looked}")


def no_data(file: str) -> DataNotFoundError:
    """Return the error for a case that has neither data nor a simulator."""
    return DataNotFoundError(_missing(file, "not found"))


def _inside(folder: Path, file: str) -> Path | None:
    candidates = (folder / file, folder / Path(file).name)
    return next((path for path in candidates if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    """Return whether there is a file; a name that no file can have, such as one of thousands of letters, has none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _missing(file: str, what: str) -> str:
    return (
        f"data file {file} {what}; it is looked for at --data PATH, below ${VARIABLE}, and in {cache_folder()}. "
        "With none of them set, a built-in case runs on its simulator"
    )


def built_in_cases() -> tuple[str, ...]:
    """Return the names of the cases that come with the package, sorted."""
    return tuple(sorted(built_in_files()))


@dataclass(frozen=True)
class CaseFile:
    """A case with the file that it was read from.

    Attributes
    ----------
    case
        The case.
    text
        Of the file.
    where
        What messages call the file.
    beside
        The folder beside which its data file is looked for; None for built-in cases.
    """

    case: CaseSpec
    text: str
    where: str
    beside: Path | None

    @contextmanager
    def at(self, *path: str) -> Iterator[None]:
        """Name file and line in every error inside: of the keys that the error leads to, or else of these, if any."""
        try:
            yield
        except InputError as error:
            keys = error.path if isinstance(error, SpecError) and error.path else path
            if not keys:
                raise
            raise SpecError(str(error), place_of(self.text, self.where, keys), keys) from None


def read_case_file(name_or_path: str | Path) -> CaseFile:
    """Read a built-in case or a YAML file.

    Raises
    ------
    SpecError
        If there is no such case or the file is wrong; the message names the nearest valid name or key, and the line.
    """
    text, where, beside = text_of(name_or_path, built_in_files())
    return CaseFile(_case(read_yaml(text, where), text, where), text, where, beside)


def read_case(name_or_path: str | Path) -> tuple[CaseSpec, Path | None]:
    """Return the case that `read_case_file` reads, and the folder beside which its data file is looked for."""
    file = read_case_file(name_or_path)
    return file.case, file.beside


def place_of(text: str, where: str, path: Sequence[str]) -> str:
    """Return what messages call a file, with the line of a key.

    Parameters
    ----------
    text, where
        Of the file, as `text_of` returns them.
    path
        Keys, and positions in lists, that lead to the key, outermost first.
    """
    line = line_of(text, path)
    return where if line is None else f"{where}, line {line}"


@dataclass(frozen=True)
class ReadPart(Generic[Alone]):
    """A part of a case that was read from a file.

    Attributes
    ----------
    declared
        The part with its name.
    case
        The whole case if the file declares a decision problem too.
    where
        What messages call the file.
    beside
        The folder beside which its data file is looked for; None for built-in files.
    """

    declared: Alone
    case: CaseSpec | None
    where: str
    beside: Path | None


def read_part(name_or_path: str | Path, key: str, alone: type[Alone]) -> ReadPart[Alone]:
    """Read the part of a wing from a built-in file or a YAML file: from a case that declares it, or the part alone.

    Raises
    ------
    SpecError
        If there is no such file, it does not declare the part, or it is wrong.
    """
    text, where, beside = text_of(name_or_path, _files_with(key))
    keys = read_yaml(text, where)
    if keys.get(key) is None:
        raise SpecError(f"declares no {key}: the key {key!r} is missing or empty", where)
    case = _case(keys, text, where) if "problem" in keys else None
    if case is not None:
        keys = {name: case.parts[key] if name == key else getattr(case, name) for name in alone.model_fields}
    try:
        return ReadPart(alone(**keys), case, where, beside)
    except SpecError as error:
        raise SpecError(error.detail, place_of(text, where, error.path), error.path) from None


def declares_part(name_or_path: str | Path, key: str) -> bool:
    """Return whether a built-in case or a YAML file declares the part of a wing.

    Raises
    ------
    SpecError, UnknownNameError
        If there is no such case or file, or it is no YAML.
    """
    text, where, _ = text_of(name_or_path, _files_with(key) | built_in_files())
    return read_yaml(text, where).get(key) is not None


def _files_with(key: str) -> dict[str, Any]:
    """Return name to file of the built-in files that declare a part."""
    beside = {name: file for name, file in built_in_files().items() if f"\n{key}:" in _text(file)}
    return beside | built_in_files(case_parts.create(key).cases)


def _case(keys: dict[str, Any], text: str, where: str) -> CaseSpec:
    for key in (key for key in keys if "problem" not in keys and keys[key] is not None and key in case_parts):
        part = case_parts.create(key)
        raise SpecError(f"declares {part.described} and no decision problem: `accordant {part.command}` runs it", where)
    try:
        return CaseSpec(**keys)
    except SpecError as error:
        raise SpecError(error.detail, place_of(text, where, error.path), error.path) from None
