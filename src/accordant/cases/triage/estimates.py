"""From a visit to severity and chances of a good outcome: a declared mapping of ours, not in the data, not clinical.

The data hold a level of urgency and vital signs. They hold no chance of a good outcome. What this file makes up is
written down in ``docs/methods/triage.md``; change both together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from accordant.arrays import Values
from accordant.randomness import keyed_uniform

RISK = {1: 0.84, 2: 0.66, 3: 0.48, 4: 0.30, 5: 0.12}  # 1 - p_without of each level, without abnormal signs
PER_SIGN = 0.024  # what each abnormal sign adds; five of them stay below the step to the next level
NORMAL = {"SBP": (90, 200), "HR": (50, 120), "RR": (10, 24), "BT": (35.0, 38.5)}  # limits included
ALERT = "alert"
NOISE = 0.02  # severity is 1 - p_without and a draw from -NOISE to NOISE

GAIN = {1: 0.45, 2: 0.45, 3: 0.30, 4: 0.15, 5: 0.05}  # what care now adds to the chance at each level
FRAILTY = ((65, 1.0), (80, 0.85), (np.inf, 0.7))  # factor on the gain, for ages below the number
UNRESPONSIVE = 0.7  # factor on the gain of somebody unresponsive
HIGHEST_CHANCE = 0.98

DEPENDENCY = 0.1  # of everybody
DEPENDENCY_BY_AGE = ((65, 0.0), (80, 0.2), (np.inf, 0.4))
DEPENDENCY_NOT_ALERT = 0.3
DEPENDENCY_BY_AMBULANCE = 0.2


@dataclass(frozen=True, eq=False)
class Estimates:
    """What the mapping says of each visit, every field of shape (visit,) and within [0, 1].

    Attributes
    ----------
    severity
        1 - p_without with a little noise: what an observer would rate.
    p_with, p_without
        Chance of a good outcome with the resources, and without.
    dependency
        How much somebody depends on others.
    """

    severity: Values
    p_with: Values
    p_without: Values
    dependency: Values


def estimates(visits: pd.DataFrame, ids: Sequence[str], seed: int) -> Estimates:
    """Return the estimates of visits as `accordant.cases.triage.visits.tidy_visits` returns them. Source: ours.

    All else being equal, a more urgent level has a higher severity, a lower ``p_without`` and a lower ``p_with``.
    The noise of a visit depends on the seed and its id alone. What is missing counts as normal, and a missing age as
    the lowest.

    Parameters
    ----------
    visits
        With KTAS_expert, Age, Mental, Arrival_mode and the vital signs in `NORMAL`.
    ids
        One per visit.
    seed
        Of the noise.
    """
    levels, ages = visits["KTAS_expert"], visits["Age"].to_numpy(dtype=np.float64)
    not_alert = (visits["Mental"].notna() & (visits["Mental"] != ALERT)).to_numpy(dtype=np.float64)
    ambulance = visits["Arrival_mode"].isin(("public ambulance", "private ambulance")).to_numpy(dtype=np.float64)
    risk = levels.map(RISK).to_numpy(dtype=np.float64) + PER_SIGN * (abnormal_signs(visits) + not_alert)
    p_without = 1.0 - risk
    slowed = np.where(visits["Mental"] == "unresponsive", UNRESPONSIVE, 1.0)
    gain = levels.map(GAIN).to_numpy(dtype=np.float64) * _by_age(ages, FRAILTY) * slowed
    noise = NOISE * (2.0 * keyed_uniform(seed, (f"severity:{visit}" for visit in ids)) - 1.0)
    dependency = (
        DEPENDENCY
        + _by_age(ages, DEPENDENCY_BY_AGE)
        + DEPENDENCY_NOT_ALERT * not_alert
        + DEPENDENCY_BY_AMBULANCE * ambulance
    )
    return Estimates(
        severity=np.clip(risk + noise, 0.0, 1.0),
        p_with=np.minimum(HIGHEST_CHANCE, p_without + gain),
        p_without=p_without,
        dependency=np.minimum(1.0, dependency),
    )


def abnormal_signs(visits: pd.DataFrame) -> Values:
    """Return how many vital signs lie outside `NORMAL`, shape (visit,); what was not measured is not counted."""
    outside = np.zeros(len(visits))
    for name, (low, high) in NORMAL.items():
        values = visits[name].to_numpy(dtype=np.float64)
        outside += (values < low) | (values > high)  # False for NaN
    return outside


def _by_age(ages: Values, steps: tuple[tuple[float, float], ...]) -> Values:
    """Return the value of the first step whose age is above, shape (visit,)."""
    below = np.array([age for age, _ in steps])
    values = np.array([value for _, value in steps])
    return values[np.searchsorted(below[:-1], np.nan_to_num(ages, nan=0.0), side="right")]
