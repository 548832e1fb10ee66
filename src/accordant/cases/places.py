"""Where data files are looked for: the ``--data`` path, ``$ACCORDANT_DATA``, the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from accordant.errors import DataNotFoundError

VARIABLE = "ACCORDANT_DATA"


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
        A file, or a folder that holds it with or without its subfolder. A given place that does not hold it
        is an error.
    beside
        Folder of the case file, for cases of one's own.

    Raises
    ------
    DataNotFoundError
        If a place was named, here or in ``$ACCORDANT_DATA``, and the file is not there.
    """
    if given is not None:
        place = Path(given)
        found = place if place.is_file() else _inside(place, file)
        if found is None:
            raise DataNotFoundError(_missing(file, f"not found at {given}"))
        return found
    if beside is not None and (beside / file).is_file():
        return beside / file
    variable = os.environ.get(VARIABLE)
    if variable:
        found = _inside(Path(variable), file)
        if found is None:
            raise DataNotFoundError(_missing(file, f"not found below ${VARIABLE}"))
        return found
    return _inside(cache_folder(), file)


def find_reward_file(file: str, given: str | Path | None, beside: Path | None = None) -> Path:
    """Return the file that a stakeholder's reward names: beside the case file first, then where data are.

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
    folder = None if given is None else Path(given).parent if Path(given).is_file() else Path(given)
    places = {
        "beside the case file": beside,
        "at --data PATH": folder,
        f"below ${VARIABLE}": Path(variable) if variable else None,
        "in the cache": cache_folder(),
    }
    exact = Path(file) if beside is None else beside / file
    if exact.is_file() and (beside is not None or exact.is_absolute()):
        return exact
    for place in (folder, Path(variable) if variable else None, cache_folder()):
        if place is not None and (found := _inside(place, file)) is not None:
            return found
    looked = ", ".join(f"{words} ({place or 'none named'})" for words, place in places.items())
    raise DataNotFoundError(f"reward file {file} not found; looked {looked}")


def no_data(file: str) -> DataNotFoundError:
    """Return the error for a case that has neither data nor a simulator."""
    return DataNotFoundError(_missing(file, "not found"))


def _inside(folder: Path, file: str) -> Path | None:
    candidates = (folder / file, folder / Path(file).name)
    return next((path for path in candidates if path.is_file()), None)


def _missing(file: str, what: str) -> str:
    return (
        f"data file {file} {what}; it is looked for at --data PATH, below ${VARIABLE}, and in {cache_folder()}. "
        "With none of them set, a built-in case runs on its simulator"
    )
