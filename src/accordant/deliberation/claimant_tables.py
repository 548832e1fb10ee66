"""Patients from a table of one's own: a column of ids, columns of facts, and what each patient needs."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd

from accordant.allocations import Patient, Scenario
from accordant.allocations.scenario import Fact, portions
from accordant.deliberation.case import DeliberationSpec
from accordant.deliberation.sources import Draw, patient_loaders
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.problem import value_label
from accordant.randomness import keyed_uniform

DEMAND = "demand_"  # what the column with the need for a resource starts with
LONGEST_ID = 200  # characters: ids stand in every table, message and page
UNSEEN = ("C", "Zl", "Zp")  # Unicode categories of what cannot be seen in an id: controls, ends of lines

RANGES: dict[str, tuple[float, float]] = {
    "arrival": (1, np.inf),
    "acuity": (1, 5),
    "severity": (0, 1),
    "p_with": (0, 1),
    "p_without": (0, 1),
    "dependency": (0, 1),
}
"""Facts that frameworks read as numbers, and what values they may have."""


@patient_loaders.register("table")
def patient_table(frame: pd.DataFrame, declared: DeliberationSpec) -> Draw:
    """Return what draws scenarios of a table with one row per patient.

    Raises
    ------
    DataError
        If a column is missing, an id is missing, twice, too long or holds control characters, a fact with a meaning is
        no number in its range, a protected fact is missing, a need is no whole number of portions, or there are fewer
        rows than patients.
    """
    wanted = len(frame) if declared.patients is None else declared.patients
    if wanted > len(frame):
        raise DataError(f"{len(frame)} rows; {wanted} patients are declared")
    facts = _facts_of(frame, declared)
    ids = _ids(frame, declared.id)
    needs = {each.name: each.resource() for each in declared.resources if DEMAND + each.name in frame.columns}
    columns = {name: _values(frame[name], name, name in declared.protected) for name in facts}
    demands = {name: _demands(frame[DEMAND + name], name, declared) for name in needs}
    patients = [
        Patient(
            ids[row],
            {name: values[row] for name, values in columns.items()},
            {each.name: demands[each.name][row] if each.name in demands else 1.0 for each in declared.resources},
        )
        for row in range(len(frame))
    ]
    resources = [each.resource() for each in declared.resources]

    def draw(seed: int) -> Scenario:
        """Return the scenario of a seed: who is in it depends on the seed and the ids, not on the order of rows."""
        order = np.argsort(keyed_uniform(seed, ids), kind="stable")[:wanted]
        chosen = [patients[row] for row in order]
        return Scenario(chosen, resources, protected=declared.protected, name=f"patients, seed {seed}")

    return draw


def _facts_of(frame: pd.DataFrame, declared: DeliberationSpec) -> list[str]:
    """Return the columns that are facts: the declared ones, or all but ids and needs."""
    found = [str(name) for name in frame.columns]
    for name in (declared.id, *declared.facts):
        if name not in found:
            raise DataError(str(UnknownNameError("column", name, found)))
    for name in found:
        resource = name.removeprefix(DEMAND)
        if name.startswith(DEMAND) and resource not in {each.name for each in declared.resources}:
            known = [DEMAND + each.name for each in declared.resources]
            raise DataError(str(UnknownNameError("column of needs", name, known)))
    return list(declared.facts) or [name for name in found if name != declared.id and not name.startswith(DEMAND)]


def _ids(frame: pd.DataFrame, column: str) -> list[str]:
    ids = ["" if pd.isna(value) else value_label(value).strip() for value in frame[column]]
    seen: set[str] = set()
    for row, each in enumerate(ids):
        if not each:
            raise DataError(f"column {column!r}, row {row}: the id is missing")
        if len(each) > LONGEST_ID:
            raise DataError(
                f"column {column!r}, row {row}: the id has {len(each)} characters; allowed: at most {LONGEST_ID}"
            )
        if any(unicodedata.category(letter).startswith(UNSEEN) for letter in each):
            raise DataError(f"column {column!r}, row {row}: the id {each!r} holds control characters; allowed: none")
        if each in seen:
            raise DataError(f"column {column!r}, row {row}: the id {each!r} is there twice")
        seen.add(each)
    return ids


def _values(column: pd.Series, name: str, protected: bool) -> list[Fact]:
    """Return a fact of every patient; facts with a meaning are checked, and that no protected one is missing."""
    values: list[Fact] = [None if pd.isna(value) else value for value in column.astype(object).tolist()]
    if protected and None in values:
        raise DataError(
            f"column {name!r}, row {values.index(None)}: a protected fact is missing; "
            "allowed: a value, such as 'unknown' for a group of its own"
        )
    if name not in RANGES:
        return values
    low, high = RANGES[name]
    for row, value in enumerate(values):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and low <= float(str(value)) <= high):
            found = "missing" if value is None else repr(value)
            raise DataError(f"column {name!r}, row {row}: found {found}; allowed: a number in [{low:g}, {high:g}]")
    return values


def _demands(column: pd.Series, name: str, declared: DeliberationSpec) -> list[float]:
    resource = next(each.resource() for each in declared.resources if each.name == name)
    found = []
    for row, value in enumerate(column.tolist()):
        try:
            units = float(value)
            portions(units, resource, f"the need in row {row} of column {DEMAND + name!r}")
        except InputError as error:
            raise DataError(str(error)) from None
        except (TypeError, ValueError):
            raise DataError(f"column {DEMAND + name!r}, row {row}: found {value!r}; allowed: a number") from None
        found.append(units)
    return found
