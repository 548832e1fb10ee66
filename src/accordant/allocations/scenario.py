"""`Scenario`: claimants who need resources, and how much of each resource there is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError, UnknownNameError

Number = TypeVar("Number", bound=np.generic)


def sealed(values: NDArray[Number]) -> NDArray[Number]:
    """Return the same numbers in memory that cannot be written, not even by ``setflags(write=True)``.

    An array that owns its memory can be made writeable again by whoever holds it; one over bytes cannot. Pickling
    gives ordinary arrays, so what holds sealed ones seals them again.

    `values`: numbers of any shape; returned as they are if they are sealed already.
    """
    if is_sealed(values):
        return values
    return np.ndarray(values.shape, values.dtype, buffer=values.tobytes())


def is_sealed(values: NDArray[Any]) -> bool:
    """Return whether the memory of an array can never be written."""
    owner: Any = values
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return isinstance(owner, bytes)


Fact = str | float | int | bool | None

WHOLE = 1e-9  # how far rounding may carry a number of portions from a whole number
NUMBERS = (int, float, np.integer, np.floating)
NO_NUMBERS = (str, bool, np.bool_)  # numpy would read them as numbers
MOST_PORTIONS = 10**12  # of one resource, had or demanded by one claimant: sums over millions of claimants stay exact


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
        if not _is_number(self.portion) or not 0 < self.portion < np.inf:
            raise InputError(f"resource {self.name!r}: portion is {self.portion!r}; allowed: above 0")
        portions(self.capacity, self, "capacity")


@dataclass(frozen=True)
class Claimant:
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

    Facts and demand are kept as read-only copies: agents with the same facts are shown the same claimants.
    """

    id: str
    facts: Mapping[str, Fact]
    demand: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))
        if self.demand is not None:
            object.__setattr__(self, "demand", MappingProxyType(dict(self.demand)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from plain dicts: read-only ones can neither be copied nor travel between worker processes."""
        return type(self), (self.id, dict(self.facts), None if self.demand is None else dict(self.demand))


@dataclass(frozen=True, eq=False)
class Scenario:
    """Claimants and resources, in an order that does not depend on the order in which they were given.

    Parameters
    ----------
    claimants
        Kept sorted by id, so that no decision and no tie depends on the order of a list.
    resources
        At least one; kept sorted by name.
    protected
        Facts that no admissible reason may cite, such as ``sex``.
    name
        What messages and records call it.
    noun
        What messages and prompts call a claimant; no part of the record.

    Raises
    ------
    InputError
        If ids repeat, facts differ between claimants, or a demand names an unknown resource, is negative, or is no
        whole number of portions.
    """

    claimants: tuple[Claimant, ...]
    resources: tuple[Resource, ...]
    protected: tuple[str, ...] = ()
    name: str = "scenario"
    noun: str = "patient"
    ids: tuple[str, ...] = field(init=False, repr=False)

    def __init__(
        self,
        claimants: Iterable[Claimant],
        resources: Iterable[Resource],
        *,
        protected: Sequence[str] = (),
        name: str = "scenario",
        noun: str = "patient",
    ) -> None:
        object.__setattr__(self, "claimants", tuple(sorted(claimants, key=lambda claimant: claimant.id)))
        object.__setattr__(self, "resources", tuple(sorted(resources, key=lambda resource: resource.name)))
        object.__setattr__(self, "protected", tuple(protected))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "noun", noun)
        object.__setattr__(self, "ids", tuple(claimant.id for claimant in self.claimants))
        self._check()

    def _check(self) -> None:
        if not self.claimants or not self.resources:
            raise InputError(f"a scenario needs at least one {self.noun} and one resource")
        for kind, names in ((self.noun, self.ids), ("resource", tuple(resource.name for resource in self.resources))):
            if len(set(names)) < len(names):
                repeated = next(double for double in names if names.count(double) > 1)
                raise InputError(f"two {kind}s are called {repeated!r}")
        for claimant in self.claimants:
            if claimant.facts.keys() != self.claimants[0].facts.keys():
                raise InputError(
                    f"{self.noun} {claimant.id!r} has the facts {', '.join(sorted(claimant.facts))}; "
                    f"others have {', '.join(sorted(self.claimants[0].facts))}"
                )
            for name in claimant.demand or {}:
                if name not in {resource.name for resource in self.resources}:
                    raise UnknownNameError("resource", name, [resource.name for resource in self.resources])
        _ = self.demand  # refuses what is negative or no whole number of portions

    @property
    def facts(self) -> tuple[str, ...]:
        """Names of the facts that can be seen, sorted."""
        return tuple(sorted(self.claimants[0].facts))

    @cached_property
    def demand(self) -> NDArray[np.int64]:
        """Portions demanded, shape (claimant, resource); read-only."""
        needs = [claimant.demand for claimant in self.claimants]
        unit = [portions(1.0, resource, "demand") for resource in self.resources] if None in needs else []
        rows = (
            unit
            if need is None
            else [portions(need.get(resource.name, 0.0), resource, "demand") for resource in self.resources]
            for need in needs
        )
        return sealed(np.array(list(rows), dtype=np.int64))

    @cached_property
    def parts(self) -> NDArray[np.float64]:
        """Share of a claimant's demand that one portion meets, shape (claimant, resource).

        Every resource that a claimant demands counts alike, however finely it is divided: 1 / (R_i d_ir) for R_i
        resources demanded. 0 where nothing is demanded.
        """
        demanded = self.demand > 0
        kinds = np.maximum(demanded.sum(axis=1, keepdims=True), 1)
        return sealed(np.where(demanded, 1.0 / (kinds * np.maximum(self.demand, 1)), 0.0))

    @cached_property
    def capacity(self) -> NDArray[np.int64]:
        """Portions there are, shape (resource,); read-only."""
        return sealed(
            np.array([portions(resource.capacity, resource, "capacity") for resource in self.resources], dtype=np.int64)
        )

    def index(self, claimant: str) -> int:
        """Return the position of a claimant.

        Raises
        ------
        UnknownNameError
            If there is no such claimant.
        """
        try:
            return self._positions[claimant]
        except KeyError:
            raise UnknownNameError(self.noun, claimant, self.ids) from None

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return MappingProxyType({claimant: position for position, claimant in enumerate(self.ids)})

    def column(self, name: str) -> NDArray[Any]:
        """Return a fact of every claimant, shape (claimant,); a read-only array of objects.

        Raises
        ------
        UnknownNameError
            If the fact does not exist, or may not be seen by whoever holds this scenario.
        """
        if name not in self.claimants[0].facts:
            raise UnknownNameError("fact", name, self.facts)
        values = np.array([claimant.facts[name] for claimant in self.claimants], dtype=object)
        values.setflags(write=False)
        return values

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a fact of every claimant as numbers, shape (claimant,).

        Raises
        ------
        UnknownNameError
            If the fact does not exist, or may not be seen by whoever holds this scenario.
        InputError
            If a value is missing or not a finite number; a text or a truth value is none.
        """
        given = self.column(name)
        if any(issubclass(kind, NO_NUMBERS) for kind in set(map(type, given))):
            position = next(row for row, value in enumerate(given) if isinstance(value, NO_NUMBERS))
            raise InputError(
                f"the fact {name!r} is not a number for every {self.noun}: "
                f"that of {self.ids[position]!r} is {given[position]!r}"
            )
        try:
            values = given.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"the fact {name!r} is not a number for every {self.noun}") from None
        if not np.isfinite(values).all():
            raise InputError(
                f"the fact {name!r} is missing for {self.noun} {self.ids[int(np.argmin(np.isfinite(values)))]!r}"
            )
        return values

    def seen(self, facts: Iterable[str]) -> Self:
        """Return the scenario with only some facts left; the others are gone, not marked."""
        kept = frozenset(facts)
        claimants = (
            Claimant(
                claimant.id, {name: value for name, value in claimant.facts.items() if name in kept}, claimant.demand
            )
            for claimant in self.claimants
        )
        return type(self)(claimants, self.resources, protected=self.protected, name=self.name, noun=self.noun)

    def with_facts(self, name: str, values: Sequence[Fact]) -> Self:
        """Return the scenario with one fact replaced; `values` in the order of `ids`."""
        claimants = (
            Claimant(claimant.id, {**claimant.facts, name: value}, claimant.demand)
            for claimant, value in zip(self.claimants, values, strict=True)
        )
        return type(self)(claimants, self.resources, protected=self.protected, name=self.name, noun=self.noun)

    def __getstate__(self) -> dict[str, Any]:
        """Return what was declared; arrays are computed, and sealed, anew by whoever gets it."""
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "name": self.name,
            "protected": list(self.protected),
            "resources": [{"name": r.name, "capacity": r.capacity, "portion": r.portion} for r in self.resources],
            "patients": [
                {"id": p.id, "facts": dict(p.facts), "demand": None if p.demand is None else dict(p.demand)}
                for p in self.claimants
            ],
        }

    @cached_property
    def hash(self) -> str:
        """Content hash (sha256, hexadecimal)."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


def portions(units: float, resource: Resource, what: str) -> int:
    """Return how many portions of a resource some units are.

    Raises InputError if that is negative, no whole number, or more than a million million.
    """
    count = units / resource.portion if _is_number(units) else np.nan
    if not (0 <= count < np.inf and abs(count - round(count)) <= WHOLE * max(1.0, count)):
        raise InputError(
            f"resource {resource.name!r}: {what} is {units}; allowed: 0 or more, in portions of {resource.portion:g}"
        )
    if count > MOST_PORTIONS:
        raise InputError(
            f"resource {resource.name!r}: {what} is {units}; allowed: at most {MOST_PORTIONS:g} portions of "
            f"{resource.portion:g}"
        )
    return round(count)


def _is_number(value: object) -> bool:
    """Return whether a value is a number, and no truth value."""
    return isinstance(value, NUMBERS) and not isinstance(value, bool)
