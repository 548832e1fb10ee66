"""What a case declares about a deliberation: patients, resources, agents, settlement, and criteria with thresholds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from accordant.allocations import Resource
from accordant.cases.files import read_part
from accordant.cases.parts import CasePart, case_parts
from accordant.declaration import Declared, NamedOrName, NamedSpec, PathName
from accordant.errors import InputError
from accordant.scope import ScopeCard
from accordant.tables.column_types import Columns

DEFAULT_AGENTS = (NamedSpec(name="utilitarian"), NamedSpec(name="rawlsian"))
"""Two agents with legitimate, different frameworks: neither is made to do wrong."""


class ResourceSpec(Declared):
    """A resource: see `accordant.allocations.Resource`.

    Raises SpecError if the capacity is no whole number of portions.
    """

    name: str = Field(min_length=1)
    capacity: float = Field(ge=0, allow_inf_nan=False)
    portion: float = Field(default=1.0, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.resource()
        return self

    def resource(self) -> Resource:
        """Return the resource."""
        return Resource(self.name, self.capacity, self.portion)


class MarginalSpec(Declared):
    """The group whose access is watched: those patients for whom a fact has this value."""

    fact: str
    value: str | bool | int | float


class DeliberationSpec(Declared):
    """Who deliberates about which patients and resources.

    Attributes
    ----------
    loader
        Registered patient loader; ``table`` reads any CSV file with a column of ids and columns of facts.
    file
        Path of the file: beside the case file, or below a data folder.
    separator, encoding
        Of the file; see `accordant.cases.data_spec.DataSpec`.
    id
        Column with the ids of patients; ``table`` only.
    facts
        Columns with facts: a list, or column to its type, ``number`` or ``category``; ``table`` only, and by default
        all but the ids and ``demand_RESOURCE``. A type that is not declared is inferred, as for features of a case.
    simulator
        Registered simulator of scenarios that stands in for missing data.
    patients
        How many are drawn; None for all rows of a table.
    resources
        What there is to allocate; ``demand_NAME`` is the column with the units that a patient needs.
    protected
        Facts that no admissible reason may cite.
    marginal
        The group whose access is watched.
    agents
        Who deliberates.
    settle
        The rule that fixes the joint allocation.
    scope
        Scope card whose criteria name allocation measures.

    Raises SpecError if a key is wrong, names repeat, or there is neither a file nor a simulator.
    """

    loader: str = "table"
    file: str | None = None
    separator: str = Field(default=",", min_length=1, max_length=1)
    encoding: str = "utf-8"
    id: str = "id"
    facts: Columns = ()
    simulator: str | None = None
    patients: int | None = Field(default=None, ge=1)
    resources: tuple[ResourceSpec, ...] = Field(min_length=1)
    protected: tuple[str, ...] = ()
    marginal: MarginalSpec | None = None
    agents: tuple[NamedOrName, ...] = Field(default=DEFAULT_AGENTS, min_length=1)
    settle: NamedOrName = NamedSpec(name="bargain")
    scope: ScopeCard | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.file is None and self.simulator is None:
            raise InputError("patients come from a file or a simulator; neither is declared")
        for kind, names in (("resource", [resource.name for resource in self.resources]), ("fact", list(self.facts))):
            for name, count in Counter(names).items():
                if count > 1:
                    raise InputError(f"{kind} {name!r} is declared {count} times")
        if self.facts and self.id in self.facts:
            raise InputError(f"the column of ids, {self.id!r}, is no fact")
        return self


class DeliberationCase(Declared):
    """A deliberation with its name: what ``accordant deliberate`` runs."""

    name: PathName
    title: str
    description: str = ""
    deliberation: DeliberationSpec
    notes: tuple[str, ...] = ()


@case_parts.register("deliberation")
def deliberation_part() -> CasePart:
    """Return what the key ``deliberation`` of a case file may hold."""
    return CasePart(DeliberationSpec, DeliberationCase, "a deliberation", "deliberate", "accordant.deliberation.cases")


def read_deliberation(name_or_path: str | Path) -> tuple[DeliberationCase, Path | None]:
    """Read a built-in deliberation, or a YAML file: a case with a ``deliberation``, or a deliberation alone.

    Returns
    -------
    The deliberation, and the folder beside which its data file is looked for (None for built-in ones).

    Raises SpecError if there is no such file, it declares no deliberation, or it is wrong.
    """
    part = read_part(name_or_path, "deliberation", DeliberationCase)
    return part.declared, part.beside
