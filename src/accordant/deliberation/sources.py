"""Patients of a deliberation: from a file, a table of one's own, or a simulator to one scenario per seed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from accordant.allocations import Claimant, Scenario
from accordant.allocations.scenario import Fact, portions
from accordant.cases.files import find_file, no_data
from accordant.contexts import Contexts
from accordant.deliberation.case import DeliberationSpec, MarginalSpec
from accordant.errors import DataError, InputError, MissingColumnError, UnknownNameError
from accordant.problem import value_label
from accordant.randomness import keyed_uniform
from accordant.registry import Registry
from accordant.tables.column_types import ColumnType, typed_column
from accordant.tables.text import file_hash

MOST_VALUES = 12  # of a fact that a message lists

Draw = Callable[[int], Scenario]

patient_loaders: Registry[Draw] = Registry(
    "patient loader", group="accordant.patient_loaders", packages=("accordant.deliberation.cases",)
)
"""A patient loader is a function (frame, declared) that checks a raw table and returns what draws scenarios of it."""

scenario_simulators: Registry[Scenario] = Registry(
    "scenario simulator", group="accordant.scenario_simulators", packages=("accordant.deliberation.cases",)
)
"""A scenario simulator is a function (seed, declared) that makes up a scenario."""
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


@dataclass(frozen=True, eq=False)
class PatientSource:
    """Where patients come from; called with a seed it returns a scenario.

    Attributes
    ----------
    draw
        Seed to scenario; the same seed always gives the same one.
    label
        File name and the start of its hash, or SIMULATED and the simulator's name: belongs beside every result.
    sha256
        Hash of the file's bytes; None if simulated.
    simulated
        Whether no file was read.
    """

    draw: Draw
    label: str
    sha256: str | None
    simulated: bool

    def __call__(self, seed: int) -> Scenario:
        """Return the scenario of a seed."""
        return self.draw(seed)


def deliberation_source(
    declared: DeliberationSpec, data: str | Path | None = None, beside: Path | None = None
) -> PatientSource:
    """Return where the patients of a deliberation come from: data where they are looked for, else the simulator.

    Parameters
    ----------
    declared
        The ``deliberation`` section of a case.
    data
        What ``--data`` names: a file, or a folder that holds it.
    beside
        Folder of the case file; None for built-in cases.

    Raises DataNotFoundError if a place was named and the file is not there, or there is neither a file nor a simulator;
    InputError if the file cannot be used: a missing column, fewer rows than patients, a fact that is no number, nobody
    of the marginal group; or a declared protected fact or fact of the marginal group does not exist.
    """
    if declared.file is None and data is not None:
        raise InputError(f"--data {data} is named, but the patients of this case are always simulated")
    path = None if declared.file is None else find_file(declared.file, data, beside)
    source = _simulated(declared) if path is None else _loaded(path, declared)
    _check_facts(source(0), declared)
    return source


def _loaded(path: Path, declared: DeliberationSpec) -> PatientSource:
    from accordant.tables.whole_tables import read_frame

    types = declared.facts if isinstance(declared.facts, dict) else {}
    texts = [name for name, fact in types.items() if fact == "category"]
    frame = read_frame(path, declared.separator, declared.encoding, texts=texts)
    try:
        draw = patient_loaders.create(declared.loader, {"frame": frame, "declared": declared})
        if declared.marginal is not None:
            all_rows = {"frame": frame, "declared": declared.replace(patients=None)}
            _check_marginal(patient_loaders.create(declared.loader, all_rows)(0), declared.marginal)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    sha256 = file_hash(path)
    return PatientSource(draw, f"{path.name} (sha256 {sha256[:12]})", sha256, simulated=False)


def _simulated(declared: DeliberationSpec) -> PatientSource:
    name = declared.simulator
    if name is None:
        raise no_data(declared.file or "")
    scenario_simulators.factory(name)
    label = f"SIMULATED by {name!r}: no real patients"
    return PatientSource(SimulatedDraw(name, declared), label, None, simulated=True)


@dataclass(frozen=True)
class SimulatedDraw:
    """Draws scenarios from a simulator by its name, so that it can travel to other processes.

    `simulator`: registered name; `declared`: the ``deliberation`` section of a case.
    """

    simulator: str
    declared: DeliberationSpec

    def __call__(self, seed: int) -> Scenario:
        """Return the scenario of a seed."""
        return scenario_simulators.create(self.simulator, {"seed": seed, "declared": self.declared})


def _check_facts(scenario: Scenario, declared: DeliberationSpec) -> None:
    """Make sure that the facts which the declaration names exist."""
    named = {"protected fact": list(declared.protected)}
    if declared.marginal is not None:
        named["fact of the marginal group:"] = [declared.marginal.fact]
    for kind, facts in named.items():
        for fact in facts:
            if fact not in scenario.facts:
                raise UnknownNameError(kind, fact, scenario.facts)


def _check_marginal(everybody: Scenario, group: MarginalSpec) -> None:
    """Make sure that the file holds somebody of the watched group; a draw may still hold nobody."""
    if group.fact not in everybody.facts:
        return  # an unknown fact has a message of its own
    values = [claimant.facts.get(group.fact) for claimant in everybody.claimants]
    if group.value not in values:
        known = sorted({repr(value) for value in values if value is not None})
        shown = known[:MOST_VALUES] + (["…"] if len(known) > MOST_VALUES else [])
        raise DataError(
            f"nobody is in the marginal group {group.fact} = {group.value!r}; values in the file: {', '.join(shown)}"
        )


@patient_loaders.register("table")
def patient_table(frame: pd.DataFrame, declared: DeliberationSpec) -> Draw:
    """Return what draws scenarios of a table with one row per patient.

    Raises DataError if a column is missing, an id is missing, twice, too long or holds control characters, a fact with
    a meaning is no number in its range, a protected fact is missing, a need is no whole number of portions, or there
    are fewer rows than patients.
    """
    wanted = len(frame) if declared.patients is None else declared.patients
    if wanted > len(frame):
        raise DataError(f"{len(frame)} rows; {wanted} patients are declared")
    facts = _facts_of(frame, declared)
    ids = _ids(frame, declared.id)
    needs = {spec.name: spec.resource() for spec in declared.resources if DEMAND + spec.name in frame.columns}
    types = declared.facts if isinstance(declared.facts, dict) else {}
    columns = {
        name: _values(
            _typed(frame[name], name, "number" if name in RANGES else types.get(name)),
            name,
            name in declared.protected,
        )
        for name in facts
    }
    demands = {name: _demands(frame[DEMAND + name], name, declared) for name in needs}
    patients = [
        Claimant(
            ids[row],
            {name: values[row] for name, values in columns.items()},
            {spec.name: demands[spec.name][row] if spec.name in demands else 1.0 for spec in declared.resources},
        )
        for row in range(len(frame))
    ]
    resources = [spec.resource() for spec in declared.resources]

    def draw(seed: int) -> Scenario:
        """Return the scenario of a seed: who is in it depends on the seed and the ids, not on the order of rows."""
        order = np.argsort(keyed_uniform(seed, ids), kind="stable")[:wanted]
        chosen = [patients[row] for row in order]
        return Scenario(chosen, resources, protected=declared.protected, name=f"patients, seed {seed}")

    return draw


def _facts_of(frame: pd.DataFrame, declared: DeliberationSpec) -> list[str]:
    """Return the columns that are facts: the declared ones, or all but ids and needs."""
    columns = [str(name) for name in frame.columns]
    for name in (declared.id, *declared.facts):
        if name not in columns:
            raise MissingColumnError(name, columns)
    for name in columns:
        resource = name.removeprefix(DEMAND)
        if name.startswith(DEMAND) and resource not in {spec.name for spec in declared.resources}:
            known = [DEMAND + spec.name for spec in declared.resources]
            raise DataError(str(UnknownNameError("column of needs", name, known)))
    return list(declared.facts) or [name for name in columns if name != declared.id and not name.startswith(DEMAND)]


def _ids(frame: pd.DataFrame, column: str) -> list[str]:
    ids = ["" if pd.isna(value) else value_label(value).strip() for value in frame[column]]
    seen: set[str] = set()
    for row, identifier in enumerate(ids):
        if not identifier:
            raise DataError(f"column {column!r}, row {row}: the id is missing")
        if len(identifier) > LONGEST_ID:
            raise DataError(
                f"column {column!r}, row {row}: the id has {len(identifier)} characters; allowed: at most {LONGEST_ID}"
            )
        if any(unicodedata.category(letter).startswith(UNSEEN) for letter in identifier):
            raise DataError(
                f"column {column!r}, row {row}: the id {identifier!r} holds control characters; allowed: none"
            )
        if identifier in seen:
            raise DataError(f"column {column!r}, row {row}: the id {identifier!r} is there twice")
        seen.add(identifier)
    return ids


def _typed(column: pd.Series, name: str, declared: ColumnType | None) -> pd.Series:
    """Return a fact with its type; texts among numbers are refused unless they are declared as categories."""
    texts = any(isinstance(value, str) for value in column.tolist())
    if not texts and declared != "category":
        return column
    raw = Contexts({name: column.to_numpy()})[name]
    typed = typed_column(name, raw, declared, quoted=False)
    return pd.Series(typed, dtype=object).where(column.notna().to_numpy(), None) if typed is not raw else column


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
            shown = "missing" if value is None else repr(value)
            raise DataError(f"column {name!r}, row {row}: found {shown}; allowed: a number in [{low:g}, {high:g}]")
    return values


def _demands(column: pd.Series, name: str, declared: DeliberationSpec) -> list[float]:
    resource = next(spec.resource() for spec in declared.resources if spec.name == name)
    demands = []
    for row, value in enumerate(column.tolist()):
        try:
            units = float(value)
            portions(units, resource, f"the need in row {row} of column {DEMAND + name!r}")
        except InputError as error:
            raise DataError(str(error)) from None
        except (TypeError, ValueError):
            raise DataError(f"column {DEMAND + name!r}, row {row}: found {value!r}; allowed: a number") from None
        demands.append(units)
    return demands
