"""Pupils that look like the student performance file, for runs without data. No row is a real person."""

from __future__ import annotations

import numpy as np
import pandas as pd

from accordant.cases.education.pupils import HIGHEST_GRADE, tidy_pupils
from accordant.cases.simulators import simulators

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
