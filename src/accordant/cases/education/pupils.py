"""Pupils in the form of the student performance files of Cortez and Silva (2008): one row per pupil of a subject.

The files have ``;`` between columns and quoted texts; the grades of the first two periods are quoted numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.cases.loaders import Tidy, tidiers
from accordant.tables.cells import cell_error, cell_text

NUMBERS = (
    *("age", "Medu", "Fedu", "traveltime", "studytime", "failures"),
    *("famrel", "freetime", "goout", "Dalc", "Walc", "health", "G3"),
)
NEVER_MISSING = ("Medu", "Fedu", "failures", "G3")  # groups and outcome are made of them
LEAKAGE = ("G1", "G2", "absences")
"""What is known only in the course of the year: never a feature. The loader takes it out.

``G1`` and ``G2`` are grades of the same year and subject. ``absences`` are counted over the year, and every pupil with
final grade 0 has none: whoever left was not absent.
"""

LITTLE_SCHOOLING = 2  # code of Medu and Fedu: 5th to 9th grade
HIGHEST_EDUCATION = 4
HIGHEST_GRADE = 20
ACTIONS = {"yes": "Tutoring", "no": "No_tutoring"}


@tidiers.register("uci_student")
def uci_student_loader() -> Tidy:
    """Return the loader: numbers become numbers, what leaks is taken out, groups and the action are added."""
    return tidy_pupils


def tidy_pupils(frame: pd.DataFrame) -> pd.DataFrame:
    """Return pupils without what is known only later, and with three more columns; a tidy table stays as it is.

    Added: ``Action`` (``Tutoring`` where ``schoolsup`` is yes), ``Home_education`` (``low`` if neither parent went
    beyond the ninth grade, else ``higher``) and ``Failed_before`` (``yes`` if ``failures`` is above 0). Columns may be
    missing: whoever needs one says so.

    Raises
    ------
    DataError
        If a number, a grade, an education or ``schoolsup`` cannot be used; the message names the column and the row.
    """
    names = {name: str(name).strip().strip('"') for name in frame.columns}
    columns: dict[str, Any] = {}
    for raw, name in names.items():
        if name in LEAKAGE:
            continue
        texts = [cell_text(value) for value in frame[raw].tolist()]
        columns[name] = _numbers(name, texts) if name in NUMBERS else texts
    if "schoolsup" in columns:
        columns["Action"] = [_action(row, text) for row, text in enumerate(columns["schoolsup"])]
    if {"Medu", "Fedu"} <= set(columns):
        highest = np.fmax(columns["Medu"], columns["Fedu"])
        columns["Home_education"] = ["low" if each <= LITTLE_SCHOOLING else "higher" for each in highest]
    if "failures" in columns:
        columns["Failed_before"] = ["yes" if each > 0 else "no" for each in columns["failures"]]
    return pd.DataFrame(columns, index=frame.index)


def _numbers(name: str, texts: list[str | None]) -> NDArray[np.float64]:
    """Return numbers, NaN where one is missing that may be."""
    highest = {"G3": HIGHEST_GRADE, "Medu": HIGHEST_EDUCATION, "Fedu": HIGHEST_EDUCATION}.get(name, np.inf)
    allowed = "a number from 0 on" if highest == np.inf else f"a number from 0 to {highest}"
    found = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if text is None and name not in NEVER_MISSING:
            continue
        try:
            found[row] = float(text or "")
        except ValueError:
            raise cell_error(name, row, text, allowed) from None
        if not (0 <= found[row] <= highest and np.isfinite(found[row])):
            raise cell_error(name, row, text, allowed)
    return found


def _action(row: int, text: str | None) -> str:
    if text not in ACTIONS:
        raise cell_error("schoolsup", row, text, ", ".join(ACTIONS))
    return ACTIONS[text]
