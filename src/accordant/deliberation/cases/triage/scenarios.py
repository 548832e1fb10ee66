"""Scenarios of emergency visits: who waits for a bed, drawn from the data or from declared ranges.

`random_scenario` draws twelve patients in two groups, five beds, and chances from declared ranges; `ktas_scenario`
draws visits from the data. The ranges are ours and stand for no hospital. They are those under which the directions in
``docs/methods/triage.md`` were measured, so their constants are part of those statements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant import randomness
from accordant.allocations import Claimant, Resource, Scenario
from accordant.cases.triage.estimates import NORMAL, estimates
from accordant.cases.triage.visits import simulate_visits, tidy_visits
from accordant.deliberation.case import DeliberationSpec
from accordant.deliberation.sources import Draw, patient_loaders, scenario_simulators
from accordant.errors import DataError, InputError, MissingColumnError

PATIENTS = 12
BEDS = 5
GROUPS = ("favoured", "marginal")  # the marginal group is the one whose access is watched

WITHOUT = (0.05, 0.7)  # range of the chance of a good outcome without a bed
LIFT = (0.02, 0.6)  # range of what a bed adds to it
HIGHEST_CHANCE = 0.98  # no bed makes a good outcome certain
SEVERITY_NOISE = 0.05  # standard deviation of what severity adds to 1 - p_without
ACUITY_CUTS = (0.85, 0.7, 0.55, 0.4)  # lowest severity of the levels 1, 2, 3 and 4; below the last one is level 5
PROTECTED = ("sex", "age_band", "arrival_mode")  # facts that no admissible reason may cite, unless declared
NEEDED = ("KTAS_expert", "KTAS_RN", "Sex", "Age", "Arrival_mode", "Mental", "Pain", "Chief_complain", *NORMAL)
SIMULATED_VISITS = 688  # as many as the public file has
LEVELS = 5  # of urgency


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

    Raises InputError if there are no patients, or fewer than 0 beds.
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
        Claimant(f"p{row + 1:0{width}d}", {fact: values[row] for fact, values in columns.items()})
        for row in range(patients)
    ]
    default = "simulated triage" if isinstance(seed, np.random.Generator) else f"simulated triage, seed {seed}"
    return Scenario(people, [Resource("bed", float(beds))], protected=("group",), name=name or default)


def acuity_of(severity: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the acuity level of each severity by `ACUITY_CUTS`, 1 (worst) to 5, shape (patient,)."""
    return 5 - np.searchsorted(ACUITY_CUTS[::-1], severity, side="right")


def ktas_scenario(
    visits: pd.DataFrame,
    seed: int,
    patients: int = PATIENTS,
    beds: int = BEDS,
    *,
    resources: Sequence[Resource] | None = None,
    protected: Sequence[str] = PROTECTED,
) -> Scenario:
    """Return a scenario of visits drawn without replacement; they arrive in the drawn order.

    Facts: arrival, acuity (the experts' level), nurse_acuity, severity, p_with, p_without and dependency (see
    `accordant.cases.triage.estimates`), sex, age_band, arrival_mode, mental, pain, and note: the chief complaint, a
    text of unknown origin. Ids hold the row of the visit.

    `visits`: as `accordant.cases.triage.visits.tidy_visits` returns them; `seed`: of the draw and of the noise in
    severity; `patients`, `beds`: how many of each; `resources`: what there is instead of beds; `protected`: facts that
    no admissible reason may cite.

    Raises DataError if a column is missing, or there are fewer visits than patients.
    """
    check_visits(visits, patients)
    drawn = randomness.generator(randomness.keyed_seed(seed, "draw"), "simulation").permutation(len(visits))[:patients]
    width = len(str(len(visits)))
    ids = [f"v{row + 1:0{width}d}" for row in drawn]
    chosen = visits.iloc[drawn]
    estimated = estimates(chosen, ids, seed)
    columns = {
        "arrival": list(range(1, patients + 1)),
        "acuity": chosen["KTAS_expert"].tolist(),
        "nurse_acuity": chosen["KTAS_RN"].tolist(),
        "severity": estimated.severity.tolist(),
        "p_with": estimated.p_with.tolist(),
        "p_without": estimated.p_without.tolist(),
        "dependency": estimated.dependency.tolist(),
        "sex": _texts(chosen["Sex"]),
        "age_band": _texts(chosen["Age_band"]),
        "arrival_mode": _texts(chosen["Arrival_mode"]),
        "mental": _texts(chosen["Mental"]),
        "pain": _texts(chosen["Pain"]),
        "note": _texts(chosen["Chief_complain"]),
    }
    people = [Claimant(ids[row], {fact: values[row] for fact, values in columns.items()}) for row in range(patients)]
    name = f"emergency visits, seed {seed}"
    return Scenario(people, resources or [Resource("bed", float(beds))], protected=protected, name=name)


def check_visits(visits: pd.DataFrame, patients: int) -> None:
    """Make sure that every needed column is there, and enough rows.

    Raises `DataError` if a column or rows are missing; `InputError` if no patients are asked for.
    """
    if patients < 1:
        raise InputError(f"a scenario has {patients} patients; allowed: 1 or more")
    for name in NEEDED:
        if name not in visits.columns:
            raise MissingColumnError(name, visits.columns)
    if len(visits) < patients:
        raise DataError(f"{len(visits)} rows; {patients} patients are declared")


def nurse_noise(visits: pd.DataFrame) -> NDArray[np.float64]:
    """Return how often nurses gave each level, shape (level of the experts, level of the nurse).

    Rows sum to 1; a row is NaN where no visit has that level. A baseline agent errs by it.
    """
    counts = np.zeros((LEVELS, LEVELS))
    np.add.at(counts, (visits["KTAS_expert"].to_numpy() - 1, visits["KTAS_RN"].to_numpy() - 1), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
    return shares


@patient_loaders.register("ktas")
def ktas_patients(frame: pd.DataFrame, declared: DeliberationSpec) -> Draw:
    """Return what draws scenarios of a file of visits."""
    visits = tidy_visits(frame)
    patients = len(visits) if declared.patients is None else declared.patients
    check_visits(visits, patients)
    resources = [spec.resource() for spec in declared.resources]
    return lambda seed: ktas_scenario(visits, seed, patients, resources=resources, protected=declared.protected)


@scenario_simulators.register("ktas")
def simulated_patients(seed: int, declared: DeliberationSpec) -> Scenario:
    """Return a scenario of simulated visits."""
    visits = simulate_visits(SIMULATED_VISITS, randomness.generator(seed, "simulation"))
    resources = [spec.resource() for spec in declared.resources]
    patients = declared.patients or PATIENTS
    return ktas_scenario(visits, seed, patients, resources=resources, protected=declared.protected)


@scenario_simulators.register("triage")
def random_patients(seed: int, declared: DeliberationSpec) -> Scenario:
    """Return a random scenario of two groups; see `accordant.deliberation.cases.triage.scenarios.random_scenario`."""
    scenario = random_scenario(seed, patients=declared.patients or PATIENTS)
    resources = [spec.resource() for spec in declared.resources]
    return Scenario(scenario.claimants, resources, protected=declared.protected, name=scenario.name)


def _texts(column: pd.Series) -> list[str | None]:
    return [None if pd.isna(value) else str(value) for value in column]
