"""Random triage scenarios: twelve patients, five beds, two groups, and chances drawn from declared ranges.

The distribution is ours: it stands for no hospital. It is the one under which the directions in
``docs/methods/triage.md`` were measured, so its constants are part of those statements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.allocations import Patient, Resource, Scenario
from accordant.errors import InputError

PATIENTS = 12
BEDS = 5
GROUPS = ("favoured", "marginal")  # the marginal group is the one whose access is watched

WITHOUT = (0.05, 0.7)  # range of the chance of a good outcome without a bed
LIFT = (0.02, 0.6)  # range of what a bed adds to it
HIGHEST_CHANCE = 0.98  # no bed makes a good outcome certain
SEVERITY_NOISE = 0.05  # standard deviation of what severity adds to 1 - p_without
ACUITY_CUTS = (0.85, 0.7, 0.55, 0.4)  # lowest severity of the levels 1, 2, 3 and 4; below the last one is level 5


def random_scenario(
    seed: int | np.random.Generator, *, patients: int = PATIENTS, beds: int = BEDS, name: str | None = None
) -> Scenario:
    """Return a random triage scenario.

    p_without ~ U(0.05, 0.7); p_with = min(0.98, p_without + U(0.02, 0.6)); severity = 1 - p_without + N(0, 0.05),
    clipped to [0, 1]; acuity = its level by `ACUITY_CUTS`; dependency ~ U(0, 1); arrival ranks and the two groups
    (half and half; of an odd number the marginal group has one more) in random order. Source: ours.

    Parameters
    ----------
    seed
        A seed, or a generator to draw from.
    patients
        How many; at least 1. They are called p01, p02, ….
    beds
        Units of the resource ``bed``; at least 0.
    name
        What records call the scenario; by default it holds the seed.

    Raises
    ------
    InputError
        If there are no patients, or fewer than 0 beds.
    """
    if patients < 1:
        raise InputError(f"a scenario has {patients} patients; allowed: 1 or more")
    generator = seed if isinstance(seed, np.random.Generator) else randomness.generator(seed, "simulation")
    p_without = generator.uniform(*WITHOUT, patients)
    p_with = np.minimum(HIGHEST_CHANCE, p_without + generator.uniform(*LIFT, patients))
    severity = np.clip(1 - p_without + generator.normal(0, SEVERITY_NOISE, patients), 0, 1)
    arrival = generator.permutation(patients) + 1
    group = generator.permutation(np.arange(patients) >= patients // 2)
    dependency = generator.uniform(0, 1, patients)
    columns = {
        "arrival": arrival.tolist(),
        "acuity": acuity_of(severity).tolist(),
        "severity": severity.tolist(),
        "p_with": p_with.tolist(),
        "p_without": p_without.tolist(),
        "dependency": dependency.tolist(),
        "group": [GROUPS[int(marginal)] for marginal in group],
    }
    width = max(2, len(str(patients)))
    people = [
        Patient(f"p{row + 1:0{width}d}", {fact: values[row] for fact, values in columns.items()})
        for row in range(patients)
    ]
    default = "simulated triage" if isinstance(seed, np.random.Generator) else f"simulated triage, seed {seed}"
    return Scenario(people, [Resource("bed", float(beds))], protected=("group",), name=name or default)


def acuity_of(severity: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the acuity level of each severity by `ACUITY_CUTS`, 1 (worst) to 5, shape (patient,)."""
    return 5 - np.searchsorted(ACUITY_CUTS[::-1], severity, side="right")
