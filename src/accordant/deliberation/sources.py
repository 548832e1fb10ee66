"""Patients of a deliberation: from a file or a simulator to one scenario per seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from accordant.allocations import Scenario
from accordant.cases.places import find_file, no_data
from accordant.deliberation.case import DeliberationSpec, MarginalSpec
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.registry import Registry
from accordant.tables.text import file_hash

MOST_VALUES = 12  # of a fact that a message lists

Draw = Callable[[int], Scenario]

patient_loaders: Registry[Draw] = Registry(
    "patient loader",
    group="accordant.patient_loaders",
    packages=("accordant.deliberation.cases", "accordant.deliberation.claimant_tables"),
)
"""A patient loader is a function (frame, declared) that checks a raw table and returns what draws scenarios of it."""

scenario_simulators: Registry[Scenario] = Registry(
    "scenario simulator",
    group="accordant.scenario_simulators",
    packages=("accordant.deliberation.cases",),
)
"""A scenario simulator is a function (seed, declared) that makes up a scenario."""


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

    Raises
    ------
    DataNotFoundError
        If a place was named and the file is not there, or there is neither a file nor a simulator.
    InputError
        If the file cannot be used: a missing column, fewer rows than patients, a fact that is no number, nobody of the
        marginal group; or a declared protected fact or fact of the marginal group does not exist.
    """
    if declared.file is None and data is not None:
        raise InputError(f"--data {data} is named, but the patients of this case are always simulated")
    path = None if declared.file is None else find_file(declared.file, data, beside)
    source = _simulated(declared) if path is None else _loaded(path, declared)
    _check_facts(source(0), declared)
    return source


def _loaded(path: Path, declared: DeliberationSpec) -> PatientSource:
    from accordant.tables.frames import read_frame

    frame = read_frame(path, declared.separator, declared.encoding)
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

    Attributes
    ----------
    simulator
        Registered name.
    declared
        The ``deliberation`` section of a case.
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
    values = [each.facts.get(group.fact) for each in everybody.patients]
    if group.value not in values:
        known = sorted({repr(value) for value in values if value is not None})
        shown = known[:MOST_VALUES] + (["…"] if len(known) > MOST_VALUES else [])
        raise DataError(
            f"nobody is in the marginal group {group.fact} = {group.value!r}; values in the file: {', '.join(shown)}"
        )
