"""Facts as numbers, within their range."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant.allocations import Scenario
from accordant.errors import InputError

RANGES = {"acuity": (1.0, 5.0), "severity": (0.0, 1.0), "p_with": (0.0, 1.0), "p_without": (0.0, 1.0)}
"""Facts that mean nothing outside a range; see `accordant.allocations.Patient`."""


def read_numbers(scenario: Scenario, name: str) -> NDArray[np.float64]:
    """Return a fact of every patient, shape (patient,), within its range in `RANGES`.

    Raises
    ------
    UnknownNameError
        If the fact does not exist, or may not be seen by whoever holds the scenario.
    InputError
        If a value is missing, no number, true or false, or out of range; the message names the patient.
    """
    for patient, value in zip(scenario.ids, scenario.column(name).tolist(), strict=True):
        if isinstance(value, bool | np.bool_):
            raise InputError(f"the fact {name!r} of patient {patient!r} is {value}; allowed: a number")
    values = scenario.numbers(name)
    low, high = RANGES.get(name, (-np.inf, np.inf))
    wrong = np.flatnonzero((values < low) | (values > high))
    if len(wrong):
        patient = scenario.ids[int(wrong[0])]
        raise InputError(
            f"the fact {name!r} of patient {patient!r} is {values[wrong[0]]:g}; allowed: {low:g} to {high:g}"
        )
    return values
