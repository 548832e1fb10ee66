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
