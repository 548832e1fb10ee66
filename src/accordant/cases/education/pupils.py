"""Pupils in the form of the student performance files of Cortez and Silva (2008): one row per pupil of a subject.

The files have ``;`` between columns and quoted texts; the grades of the first two periods are quoted numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.cases.loaders import Tidy, simulators, tidiers
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
        columns["Home_education"] = ["low" if education <= LITTLE_SCHOOLING else "higher" for education in highest]
    if "failures" in columns:
        columns["Failed_before"] = ["yes" if failures > 0 else "no" for failures in columns["failures"]]
    return pd.DataFrame(columns, index=frame.index)


def _numbers(name: str, texts: list[str | None]) -> NDArray[np.float64]:
    """Return numbers, NaN where one is missing that may be."""
    highest = {"G3": HIGHEST_GRADE, "Medu": HIGHEST_EDUCATION, "Fedu": HIGHEST_EDUCATION}.get(name, np.inf)
    allowed = "a number from 0 on" if highest == np.inf else f"a number from 0 to {highest}"
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if text is None and name not in NEVER_MISSING:
            continue
        try:
            numbers[row] = float(text or "")
        except ValueError:
            raise cell_error(name, row, text, allowed) from None
        if not (0 <= numbers[row] <= highest and np.isfinite(numbers[row])):
            raise cell_error(name, row, text, allowed)
    return numbers


def _action(row: int, text: str | None) -> str:
    if text not in ACTIONS:
        raise cell_error("schoolsup", row, text, ", ".join(ACTIONS))
    return ACTIONS[text]


TUTORING_ADDS = 1.0  # points, for everybody; twice as many for whoever failed before [ours]
NOISE = 2.5  # standard deviation of grades around their mean
SHARES_OF_FAILURES = (0.79, 0.12, 0.05, 0.04)  # 0 to 3, much as in the public file
PARENTS_ALIKE = 0.6  # share of homes in which both parents have the same schooling
BASE_ODDS, PER_POINT, PER_YEAR = -2.9, -0.8, -0.4  # log-odds of tutoring: at MIDDLE points and 17 years, and slopes
MIDDLE = 10.5
TRUTH = {"Tutoring": "True_tutored", "No_tutoring": "True_not_tutored"}
"""Action to the column with its true mean grade, as ``data.true_levels`` of a case names them."""


@simulators.register("education_tutoring")
def simulate_pupils(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated pupils in the form of `accordant.cases.education.pupils.tidy_pupils`, without the truth."""
    return simulate_known_pupils(rows, generator).drop(columns=list(TRUTH.values()))


@simulators.register("education_tutoring_known")
def simulate_known_pupils(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated pupils with the true mean grade of both actions in the columns of `TRUTH`.

    Tutoring goes to pupils whose grade without it would be low, and rather to young ones. It helps everybody, yet the
    tutored have lower grades than the others, as in the public file. Whatever drives the choice is in the table; in
    real data that cannot be known. Source: ours.
    """
    mother, other = (generator.choice(5, size=rows, p=[0.01, 0.17, 0.27, 0.25, 0.30]) for _ in range(2))
    father = np.where(generator.random(rows) < PARENTS_ALIKE, mother, other)
    failures = generator.choice(4, size=rows, p=SHARES_OF_FAILURES)
    age = np.clip(generator.normal(16.7 + 0.4 * failures, 1.2, rows).round(), 15, 22)
    study = generator.choice([1, 2, 3, 4], size=rows, p=[0.27, 0.50, 0.16, 0.07])
    none = 10.6 + 0.7 * (np.fmax(mother, father) - 2.7) - 1.9 * failures + 0.5 * (study - 2)
    none = np.clip(none, 0, HIGHEST_GRADE - 2 * TUTORING_ADDS)
    tutored_level = none + TUTORING_ADDS * (1 + (failures > 0))
    odds = BASE_ODDS + PER_POINT * (none - MIDDLE) + PER_YEAR * (age - 17)
    tutored = generator.random(rows) < 1 / (1 + np.exp(-odds))
    grade = np.where(tutored, tutored_level, none) + generator.normal(0, NOISE, rows)
    raw = pd.DataFrame(
        {
            "school": generator.choice(["GP", "MS"], size=rows, p=[0.88, 0.12]),
            "sex": generator.choice(["F", "M"], size=rows),
            "age": age,
            "address": generator.choice(["U", "R"], size=rows, p=[0.78, 0.22]),
            "Medu": mother,
            "Fedu": father,
            "traveltime": generator.choice([1, 2, 3, 4], size=rows, p=[0.65, 0.27, 0.06, 0.02]),
            "studytime": study,
            "failures": failures,
            "schoolsup": np.where(tutored, "yes", "no"),
            "famsup": generator.choice(["yes", "no"], size=rows, p=[0.6, 0.4]),
            "G3": np.clip(grade.round(), 0, HIGHEST_GRADE),
        }
    )
    return tidy_pupils(raw).assign(True_tutored=tutored_level, True_not_tutored=none)
