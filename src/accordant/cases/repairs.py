"""Repairs: sentences about what a loader changed in a table, carried with the table to the record of a run.

The sentences stand in ``frame.attrs["repairs"]``. Some operations of pandas drop them (`pandas.merge`, `pandas.concat`
of tables whose sentences differ, a new table made of columns), so a loader adds them to the table that it returns.
"""

from __future__ import annotations

import pandas as pd

from accordant.errors import InputError

KEY = "repairs"


def repaired(frame: pd.DataFrame, *sentences: str) -> pd.DataFrame:
    """Return a table that carries sentences about its repairs, after those that it carries already.

    Parameters
    ----------
    frame
        A tidy table; it stays as it is.
    sentences
        What was changed, in how many rows; the same sentence is kept once.
    """
    found = frame.copy(deep=False)
    found.attrs = {**frame.attrs, KEY: tuple(dict.fromkeys((*repairs_of(frame), *sentences)))}
    return found


def repairs_of(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the sentences that a table carries; none if nothing was repaired.

    Raises
    ------
    InputError
        If ``frame.attrs["repairs"]`` is something else than sentences.
    """
    found = frame.attrs.get(KEY, ())
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise InputError(f"attrs[{KEY!r}] is {found!r}; allowed: a tuple of sentences")
    return tuple(found)
