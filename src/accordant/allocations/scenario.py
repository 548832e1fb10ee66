"""`Scenario`: patients who need resources, and how much of each resource there is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError, UnknownNameError

Fact = str | float | int | bool | None

WHOLE = 1e-9  # how far rounding may carry a number of portions from a whole number


@dataclass(frozen=True)
class Resource:
    """Something scarce.

    Parameters
    ----------
    name
        Unique within a scenario.
    capacity
        How many units there are, at least 0.
    portion
        The smallest part of a unit that can be given: 1 for what cannot be divided, such as a bed.

    Raises
    ------
    InputError
        If the capacity is no whole number of portions.
    """

    name: str
    capacity: float
    portion: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.portion < np.inf:
            raise InputError(f"resource {self.name!r}: portion is {self.portion}; allowed: above 0")
        portions(self.capacity, self, "capacity")


@dataclass(frozen=True)
class Patient:
    """Somebody who needs resources.

    Parameters
    ----------
    id
        Unique within a scenario.
    facts
        What is known: name to value. Names with a meaning here: ``arrival`` (rank, 1 first), ``acuity`` (1 worst to
        5), ``severity`` in [0, 1], ``p_with`` and ``p_without`` (chance of a good outcome with the whole demand
        granted, and with nothing), ``dependency`` in [0, 1], ``note`` (free text of unknown origin); any other name
        is an attribute such as ``sex``.
    demand
        Resource to units needed; None for one unit of every resource.
    """

    id: str
    facts: Mapping[str, Fact]
    demand: Mapping[str, float] | None = None


@dataclass(frozen=True, eq=False)
class Scenario:
    """Patients and resources, in an order that does not depend on the order in which they were given.

    Parameters
    ----------
    patients
        Kept sorted by id, so that no decision and no tie depends on the order of a list.
    resources
        At least one.
    protected
        Facts that no admissible reason may cite, such as ``sex``.
    name
        What messages and records call it.

    Raises
    ------
    InputError
        If ids repeat, facts differ between patients, or a demand names an unknown resource or is negative.
    """

    patients: tuple[Patient, ...]
    resources: tuple[Resource, ...]
    protected: tuple[str, ...] = ()
    name: str = "scenario"
    ids: tuple[str, ...] = field(init=False, repr=False)

    def __init__(
        self,
        patients: Iterable[Patient],
        resources: Iterable[Resource],
        *,
        protected: Sequence[str] = (),
        name: str = "scenario",
    ) -> None:
        given = {
            "patients": tuple(sorted(patients, key=lambda patient: patient.id)),
            "resources": tuple(resources),
            "protected": tuple(protected),
            "name": name,
        }
        for key, value in given.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "ids", tuple(patient.id for patient in self.patients))
        self._check()

    def _check(self) -> None:
        if not self.patients or not self.resources:
            raise InputError("a scenario needs at least one patient and one resource")
        for kind, names in (("patient", self.ids), ("resource", tuple(each.name for each in self.resources))):
            if len(set(names)) < len(names):
                repeated = next(each for each in names if names.count(each) > 1)
                raise InputError(f"two {kind}s are called {repeated!r}")
        for patient in self.patients:
            if patient.facts.keys() != self.patients[0].facts.keys():
                raise InputError(
                    f"patient {patient.id!r} has the facts {', '.join(sorted(patient.facts))}; "
                    f"others have {', '.join(sorted(self.patients[0].facts))}"
                )
            for name in patient.demand or {}:
                if name not in {each.name for each in self.resources}:
                    raise UnknownNameError("resource", name, [each.name for each in self.resources])

    @property
    def facts(self) -> tuple[str, ...]:
        """Names of the facts that can be seen, sorted."""
        return tuple(sorted(self.patients[0].facts))

    @cached_property
    def demand(self) -> NDArray[np.int64]:
        """Portions demanded, shape (patient, resource)."""
        return np.array(
            [
                [
                    portions(1.0 if patient.demand is None else patient.demand.get(each.name, 0.0), each, "demand")
                    for each in self.resources
                ]
                for patient in self.patients
            ],
            dtype=np.int64,
        )

    @cached_property
    def capacity(self) -> NDArray[np.int64]:
        """Portions there are, shape (resource,)."""
        return np.array([portions(each.capacity, each, "capacity") for each in self.resources], dtype=np.int64)

    def index(self, patient: str) -> int:
        """Return the position of a patient.

        Raises
        ------
        UnknownNameError
            If there is no such patient.
        """
        try:
            return self._positions[patient]
        except KeyError:
            raise UnknownNameError("patient", patient, self.ids) from None

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return MappingProxyType({patient: position for position, patient in enumerate(self.ids)})

    def column(self, name: str) -> NDArray[Any]:
        """Return a fact of every patient, shape (patient,); a read-only array of objects.

        Raises
        ------
        UnknownNameError
            If the fact does not exist, or may not be seen by whoever holds this scenario.
        """
        if name not in self.patients[0].facts:
            raise UnknownNameError("fact", name, self.facts)
        values = np.array([patient.facts[name] for patient in self.patients], dtype=object)
        values.setflags(write=False)
        return values

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a fact of every patient as numbers, shape (patient,).

        Raises
        ------
        UnknownNameError
            If the fact does not exist, or may not be seen by whoever holds this scenario.
        InputError
            If a value is missing or not a finite number.
        """
        given = self.column(name)
        try:
            values = given.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"the fact {name!r} is not a number for every patient") from None
        if not np.isfinite(values).all():
            raise InputError(
                f"the fact {name!r} is missing for patient {self.ids[int(np.argmin(np.isfinite(values)))]!r}"
            )
        return values

    def seen(self, facts: Iterable[str]) -> Self:
        """Return the scenario with only some facts left; the others are gone, not marked."""
        kept = frozenset(facts)
        patients = (
            Patient(each.id, {name: value for name, value in each.facts.items() if name in kept}, each.demand)
            for each in self.patients
        )
        return type(self)(patients, self.resources, protected=self.protected, name=self.name)

    def with_facts(self, name: str, values: Sequence[Fact]) -> Self:
        """Return the scenario with one fact replaced; `values` in the order of `ids`."""
        patients = (
            Patient(each.id, {**each.facts, name: value}, each.demand)
            for each, value in zip(self.patients, values, strict=True)
        )
        return type(self)(patients, self.resources, protected=self.protected, name=self.name)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "name": self.name,
            "protected": list(self.protected),
            "resources": [{"name": r.name, "capacity": r.capacity, "portion": r.portion} for r in self.resources],
            "patients": [
                {"id": p.id, "facts": dict(p.facts), "demand": None if p.demand is None else dict(p.demand)}
                for p in self.patients
            ],
        }

    @cached_property
    def hash(self) -> str:
        """Content hash (sha256, hexadecimal)."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


def portions(units: float, resource: Resource, what: str) -> int:
    """Return how many portions of a resource some units are.

    Raises
    ------
    InputError
        If that is negative or no whole number.
    """
    count = units / resource.portion
    if not (np.isfinite(count) and count >= 0 and abs(count - round(count)) <= WHOLE * max(1.0, count)):
        raise InputError(
            f"resource {resource.name!r}: {what} is {units}; allowed: 0 or more, in portions of {resource.portion:g}"
        )
    return round(count)
