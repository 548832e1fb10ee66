"""Enrolments that look like OULAD, for runs without data. No row is a real person."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.cases.education.enrolments import BANDS, EDUCATION, MODULES, RESULTS, tidy_enrolments
from accordant.cases.simulators import simulators

# rounded from the public file: shares of the modules, and of the results in each module
SHARES = (0.023, 0.243, 0.136, 0.192, 0.090, 0.238, 0.078)
RESULTS_IN = {  # Distinction, Pass, Fail, Withdrawn
    "AAA": (0.06, 0.65, 0.12, 0.17),
    "BBB": (0.09, 0.39, 0.22, 0.30),
    "CCC": (0.11, 0.27, 0.18, 0.44),
    "DDD": (0.06, 0.35, 0.23, 0.36),
    "EEE": (0.12, 0.44, 0.19, 0.25),
    "FFF": (0.09, 0.38, 0.22, 0.31),
    "GGG": (0.16, 0.44, 0.29, 0.11),
}
WOMEN_IN = (0.42, 0.88, 0.25, 0.40, 0.11, 0.18, 0.81)
EDUCATION_SHARES = (0.01, 0.40, 0.43, 0.145, 0.015)
DISABLED, BAND_MISSING = 0.1, 0.034
AGAIN = 0.12  # of enrolments belong to somebody who has another one

# what moves the log-odds of Distinction, Pass and Fail against Withdrawn [ours]
PER_LEVEL = (0.5, 0.25, -0.1)  # one level of education, from level 2
PER_RANK = (1.0, 0.6, -0.2)  # from the most to the least deprived area, from the middle
IF_DISABLED = (-0.5, -0.35, -0.1)
STEEPER = {"CCC": 1.5, "EEE": 0.5}  # factor on education; in all other modules 1
CHOICE_PER_LEVEL = (0.5, -0.1, 0.1, 0.0, 0.1, 0.0, -0.3)  # how education moves the choice of a module


@simulators.register("education")
def simulate_enrolments(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return simulated enrolments in the form of `accordant.cases.education.enrolments.tidy_enrolments`.

    Students choose their module by education and gender; the result depends on module, education, area and disability
    as in `true_chances`, and on nothing else, so that nothing confounds which is not in the table. Some students
    have two enrolments, with the same facts about them. Source: ours.
    """
    n_again = round(AGAIN * rows)
    again = generator.spawn(1)[0].choice(rows - n_again, size=n_again, replace=False)
    person = np.concatenate([np.arange(rows - n_again), again])
    women = (generator.random(rows) < 0.45)[person]
    level = generator.choice(len(EDUCATION), size=rows, p=EDUCATION_SHARES)[person]
    drawn_band = generator.integers(0, len(BANDS), rows)
    band = np.where(generator.random(rows) < BAND_MISSING, "", np.array(BANDS)[drawn_band])[person]
    gendered = np.where(women[:, None], WOMEN_IN, 1 - np.array(WOMEN_IN))
    chosen = _drawn(np.log(SHARES) + np.log(gendered) + np.outer(level - 2, CHOICE_PER_LEVEL), generator)
    raw = pd.DataFrame(
        {
            "code_module": np.array(MODULES)[chosen],
            "code_presentation": generator.choice(["2013B", "2013J", "2014B", "2014J"], size=rows),
            "id_student": person + 1,
            "gender": np.where(women, "F", "M"),
            "region": generator.choice(["Scotland", "Wales", "London Region", "North Region"], size=rows)[person],
            "highest_education": np.array(EDUCATION)[level],
            "imd_band": band,
            "age_band": generator.choice(["0-35", "35-55", "55<="], size=rows, p=[0.70, 0.29, 0.01])[person],
            "num_of_prev_attempts": generator.choice(3, size=rows, p=[0.88, 0.10, 0.02]),
            "studied_credits": generator.choice([30, 60, 90, 120], size=rows, p=[0.1, 0.5, 0.15, 0.25]),
            "disability": np.where(generator.random(rows) < DISABLED, "Y", "N")[person],
        }
    )
    enrolments = tidy_enrolments(raw)
    chances = true_chances(enrolments)[chosen, :, np.arange(rows)]
    results = np.array(RESULTS)[_drawn(np.log(chances), generator)]
    return enrolments.assign(final_result=results)


def true_chances(enrolments: pd.DataFrame) -> Values:
    """Return the simulator's f(o | x, a), shape (module, result, student), in the order of `MODULES` and `RESULTS`.

    A multinomial logistic model: the shares of results in a module, moved by education, area and disability. A missing
    area counts as the middle.
    """
    level = enrolments["Education_level"].to_numpy(dtype=np.float64) - 2
    rank = enrolments["Area_rank"].fillna(0.45).to_numpy(dtype=np.float64) - 0.45
    disabled = (enrolments["disability"] == "Y").to_numpy(dtype=np.float64)
    chances = []
    for module in MODULES:
        effect = STEEPER.get(module, 1.0) * np.outer((*PER_LEVEL, 0.0), level)
        effect += np.outer((*PER_RANK, 0.0), rank) + np.outer((*IF_DISABLED, 0.0), disabled)
        weights = np.exp(np.log(RESULTS_IN[module])[:, None] + effect)
        chances.append(weights / weights.sum(axis=0))
    return np.stack(chances)


def _drawn(log_weights: Values, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return one draw per row with probabilities proportional to exp(log_weights), shape (row,)."""
    return np.asarray((log_weights + generator.gumbel(size=log_weights.shape)).argmax(axis=1))
