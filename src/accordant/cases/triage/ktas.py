"""Emergency visits with Korean Triage and Acuity Scale levels, in the form of Moon et al. (PLoS ONE 2019).

The files have ``;`` between columns, latin-1 text, decimal commas in some columns, spreadsheet errors (``#BO…``) and
``??`` for what is missing, and blanks after some codes. Code labels are from secondary sources, as far as the values
themselves do not show them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.cases.loaders import Tidy, tidiers
from accordant.errors import DataError
from accordant.problem import value_label

CODES: dict[str, dict[str, str]] = {
    "Sex": {"1": "female", "2": "male"},
    "Arrival_mode": {
        "1": "walking",
        "2": "public ambulance",
        "3": "private vehicle",
        "4": "private ambulance",
        "5": "other",
        "6": "other",
        "7": "other",
    },
    "Injury": {"1": "no", "2": "yes"},
    "Mental": {"1": "alert", "2": "verbal", "3": "pain", "4": "unresponsive"},
    "Pain": {"0": "no", "1": "yes"},
}
NUMBERS = (
    *("Age", "Patients_number_per_hour", "NRS_pain", "SBP", "DBP", "HR", "RR", "BT"),
    *("Length_of_stay_min", "KTAS_duration_min"),
)
LEVELS = ("KTAS_RN", "KTAS_expert")  # the nurse's level and the reference, 1 (most urgent) to 5
AFTERWARDS = (
    *("Diagnosis_in_ED", "Disposition", "Length_of_stay_min", "KTAS_duration_min", "Error_group", "mistriage"),
)
LEAKAGE = (*AFTERWARDS, *LEVELS)
"""What is known only after triage, or is the decision itself: never a feature. The loader takes it out."""
EMPTY = ("Saturation",)  # empty in every row of the public file, so no model may count on it

AGE_BANDS = ((40, "under 40"), (65, "40 to 64"), (np.inf, "65 and older"))  # ages below the number [ours]
MISSING = re.compile(r"[?\s]*|#(BO|DIV|N/A|NULL|NUM|NAME|REF|VALUE).*", re.DOTALL)  # also the usual spreadsheet errors
ACTIONS = {1: "Immediate", 2: "Immediate", 3: "Urgent", 4: "Can_wait", 5: "Can_wait"}
OUTCOMES = {1: "Needed_immediate", 2: "Needed_immediate", 3: "Needed_urgent", 4: "Could_wait", 5: "Could_wait"}


@tidiers.register("ktas")
def ktas_loader() -> Tidy:
    """Return the loader: levels become an urgency assigned (Action) and needed (Outcome); what leaks is taken out."""
    return lambda frame: as_log(tidy_visits(frame))


def tidy_visits(frame: pd.DataFrame) -> pd.DataFrame:
    """Return visits with readable values and an ``Age_band``; a tidy table stays as it is.

    Blanks in column names become underscores, and ``Saturation`` is left out. Columns may be missing: whoever needs
    one says so.

    Raises
    ------
    DataError
        If a code, a number or a level cannot be used; the message names the column and the row.
    """
    frame = frame.rename(columns=lambda name: str(name).strip().replace(" ", "_"))
    visits: dict[str, Any] = {}
    for name in (name for name in frame.columns if name not in EMPTY):
        texts = [_text(value) for value in frame[name].tolist()]
        if name in CODES:
            visits[name] = _labels(name, texts)
        elif name in LEVELS:
            visits[name] = _levels(name, texts)
        else:
            visits[name] = _numbers(name, texts) if name in NUMBERS else texts
    if "Age" in visits:
        visits["Age_band"] = [_band(age) for age in visits["Age"]]
    return pd.DataFrame(visits, index=frame.index)


def as_log(visits: pd.DataFrame) -> pd.DataFrame:
    """Return tidy visits as a log: the nurse's urgency is the action, the experts' the outcome; nothing else leaks."""
    for column, level, names in (("Action", "KTAS_RN", ACTIONS), ("Outcome", "KTAS_expert", OUTCOMES)):
        if level in visits.columns:
            visits = visits.assign(**{column: [names[each] for each in visits[level]]})
    return visits.drop(columns=[name for name in LEAKAGE if name in visits.columns])


def _text(value: Any) -> str | None:
    """Return the text of a cell without outer blanks, or None if it is missing."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    text = value_label(value).strip()
    return None if MISSING.fullmatch(text) else text


def _labels(name: str, texts: list[str | None]) -> list[str | None]:
    codes = CODES[name]
    known = codes | {label: label for label in codes.values()}
    for row, text in enumerate(texts):
        if text is not None and text not in known:
            allowed = ", ".join(f"{code} ({label})" for code, label in codes.items())
            raise DataError(f"column {name!r}, row {row}: found {text!r}; allowed: {allowed}, or ?? for missing")
    return [None if text is None else known[text] for text in texts]


def _numbers(name: str, texts: list[str | None]) -> NDArray[np.float64]:
    """Return numbers, NaN where missing; a comma is a decimal comma."""
    found = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        try:
            found[row] = np.nan if text is None else float(text.replace(",", "."))
        except ValueError:
            found[row] = np.inf
        if np.isinf(found[row]):
            raise DataError(f"column {name!r}, row {row}: found {text!r}; allowed: a number, or ?? for missing")
    return found


def _levels(name: str, texts: list[str | None]) -> list[int]:
    for row, text in enumerate(texts):
        if text not in {"1", "2", "3", "4", "5"}:
            found = "missing" if text is None else repr(text)
            raise DataError(f"column {name!r}, row {row}: found {found}; allowed: 1, 2, 3, 4, 5")
    return [int(str(text)) for text in texts]


def _band(age: float) -> str | None:
    return None if np.isnan(age) else next(label for below, label in AGE_BANDS if age < below)
