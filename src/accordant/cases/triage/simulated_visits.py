"""Emergency visits that look like the KTAS file, for runs without data. No row is a real person."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant.cases.simulators import simulators
from accordant.cases.triage.ktas import as_log, tidy_visits

LEVELS = np.arange(1, 6)
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
    """Return simulated visits in the form of `accordant.cases.triage.ktas.tidy_visits`.

    Levels are drawn first; the nurse errs by one step now and then; age, mental state, pain, injury, arrival and vital
    signs depend on the level and not on each other. Source: ours.
    """
    expert = generator.choice(LEVELS, size=rows, p=SHARES)
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
