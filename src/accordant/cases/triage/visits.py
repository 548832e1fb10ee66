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

from accordant.cases.loaders import Tidy, simulators, tidiers
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
            visits = visits.assign(**{column: [names[urgency] for urgency in visits[level]]})
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
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        try:
            numbers[row] = np.nan if text is None else float(text.replace(",", "."))
        except ValueError:
            numbers[row] = np.inf
        if np.isinf(numbers[row]):
            raise DataError(f"column {name!r}, row {row}: found {text!r}; allowed: a number, or ?? for missing")
    return numbers


def _levels(name: str, texts: list[str | None]) -> list[int]:
    for row, text in enumerate(texts):
        if text not in {"1", "2", "3", "4", "5"}:
            words = "missing" if text is None else repr(text)
            raise DataError(f"column {name!r}, row {row}: found {words}; allowed: 1, 2, 3, 4, 5")
    return [int(str(text)) for text in texts]


def _band(age: float) -> str | None:
    return None if np.isnan(age) else next(label for below, label in AGE_BANDS if age < below)


SIMULATED_LEVELS = np.arange(1, 6)
SHARES = (0.02, 0.105, 0.392, 0.401, 0.082)  # of the experts' levels; much as in the public file
OVER, UNDER = 0.05, 0.08  # how often the nurse's level is one step more urgent, and one step less
NOT_MEASURED = 0.02

# by level, 1 to 5; rounded from the public file
AGE = (67.0, 59.0, 54.0, 48.0, 52.0)  # mean; standard deviation 19
INJURED = (0.07, 0.11, 0.09, 0.35, 0.18)
NOT_ALERT = (0.85, 0.28, 0.03, 0.03, 0.05)
IN_PAIN = (0.07, 0.29, 0.49, 0.71, 0.38)
HOW_MUCH_PAIN = (5.0, 5.0, 5.0, 4.0, 3.0)  # mean of 1 to 10; standard deviation 1.3
BY_AMBULANCE = (0.65, 0.45, 0.3, 0.2, 0.14)
BREATHS = (25.0, 20.0, 19.0, 18.5, 18.5)
DISTURBED = (2.0, 1.4, 1.1, 0.9, 0.9)  # factor on the spread of vital signs
SIGNS = {"SBP": (134, 25), "DBP": (80, 14), "HR": (85, 16), "RR": (0, 2), "BT": (36.6, 0.5)}
"""Mean and standard deviation; the mean of RR is that of the level."""

COMPLAINTS = ("abd pain", "dyspnea", "chest pain", "headache", "fever", "dizziness", "laceration", "vomiting")


def simulate_visits(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated visits in the form of `accordant.cases.triage.visits.tidy_visits`.

    Levels are drawn first; the nurse errs by one step now and then; age, mental state, pain, injury, arrival and vital
    signs depend on the level and not on each other. Source: ours.
    """
    expert = generator.choice(SIMULATED_LEVELS, size=rows, p=SHARES)
    step = generator.random(rows)
    nurse = np.clip(expert - (step < OVER) + (step > 1 - UNDER), 1, 5)
    at = expert - 1
    alert = generator.random(rows) >= np.array(NOT_ALERT)[at]
    mental = np.where(alert, 1, generator.integers(2, 4, rows))
    mental[(expert == 1) & (generator.random(rows) < 0.6)] = 4
    ambulance = generator.random(rows) < np.array(BY_AMBULANCE)[at]
    arrival = np.where(ambulance, 2, generator.choice([1, 3, 4, 6], size=rows, p=[0.11, 0.84, 0.03, 0.02]))
    pain = (generator.random(rows) < np.array(IN_PAIN)[at]).astype(int)
    how_much = np.clip(generator.normal(np.array(HOW_MUCH_PAIN)[at], 1.3), 1, 10).round()
    spread = np.array(DISTURBED)[at]
    means = {name: np.array(BREATHS)[at] if name == "RR" else np.full(rows, mean) for name, (mean, _) in SIGNS.items()}
    raw = {
        "Sex": generator.integers(1, 3, rows),
        "Age": np.clip(generator.normal(np.array(AGE)[at], 19), 16, 95).round(),
        "Patients_number_per_hour": np.clip(generator.normal(7.5, 3, rows), 1, 15).round(),
        "Arrival_mode": arrival,
        "Injury": 1 + (generator.random(rows) < np.array(INJURED)[at]),
        "Chief_complain": generator.choice(COMPLAINTS, size=rows),
        "Mental": mental,
        "Pain": pain,
        "NRS_pain": np.where(pain == 1, how_much, np.nan),
        **{name: _sign(generator, name, means[name], spread) for name in SIGNS},
        "KTAS_RN": nurse,
        "KTAS_expert": expert,
    }
    return tidy_visits(pd.DataFrame(raw))


@simulators.register("triage")
def simulate_log(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated visits as a log: urgency assigned, and urgency needed."""
    return as_log(simulate_visits(rows, generator))


def _sign(
    generator: np.random.Generator, name: str, means: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return one vital sign, NaN where it was not measured."""
    values = np.maximum(means * 0.3, means + generator.normal(0, SIGNS[name][1], len(means)) * spread)
    values = values.round(1) if name == "BT" else values.round()
    return np.where(generator.random(len(means)) < NOT_MEASURED, np.nan, values)
