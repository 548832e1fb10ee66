"""`Allocation`: what every claimant is granted; `Options` to choose among; `Utility`: how much somebody likes one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.scenario import Scenario, portions, sealed
from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError


@dataclass(frozen=True, eq=False)
class Allocation:
    """Portions granted, shape (claimant, resource); cannot be made if infeasible.

    Raises
    ------
    InputError
        If portions are no whole numbers, somebody gets less than nothing or more than demanded, a resource gives more
        than it has, or portions are left idle while somebody still demands them.
    """

    scenario: Scenario
    granted: NDArray[np.int64]

    def __init__(self, scenario: Scenario, granted: Any) -> None:
        given = np.asarray(granted)
        with np.errstate(invalid="ignore"):
            array = sealed(given.astype(np.int64))
        if not np.array_equal(array, given):
            raise InputError(f"granted portions are {given.tolist()!r:.80}; allowed: whole numbers")
        object.__setattr__(self, "scenario", scenario)
        object.__setattr__(self, "granted", array)
        fault = infeasible(scenario, array)
        if fault is not None:
            raise InputError(fault)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild, so that grants are read-only after they were copied or sent to a worker process."""
        return type(self), (self.scenario, self.granted)

    @classmethod
    def of(cls, scenario: Scenario, granted: Mapping[str, Mapping[str, float]]) -> Self:
        """Return the allocation that grants units by name: claimant to resource to units."""
        array = np.zeros(scenario.demand.shape, dtype=np.int64)
        names = [kind.name for kind in scenario.resources]
        for claimant, units in granted.items():
            for resource, amount in units.items():
                if resource not in names:
                    raise UnknownNameError("resource", resource, names)
                position = names.index(resource)
                array[scenario.index(claimant), position] = portions(amount, scenario.resources[position], "grant")
        return cls(scenario, array)

    @classmethod
    def whole(cls, scenario: Scenario, claimants: Iterable[str]) -> Self:
        """Return the allocation that grants these claimants all they demand, and the others nothing."""
        array = np.zeros(scenario.demand.shape, dtype=np.int64)
        for claimant in claimants:
            position = scenario.index(claimant)
            array[position] = scenario.demand[position]
        return cls(scenario, array)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of each claimant's demand that is met, shape (claimant,)."""
        return shares_of(self.scenario, self.granted)

    @property
    def claimants(self) -> tuple[str, ...]:
        """Ids of the claimants who are granted anything."""
        return tuple(self.scenario.ids[position] for position in np.flatnonzero(self.granted.sum(axis=1)))

    def to_json(self) -> dict[str, dict[str, float]]:
        """Return units by name: claimant to resource to units; those who get nothing are left out."""
        return {
            claimant: {
                resource.name: float(amount * resource.portion)
                for resource, amount in zip(self.scenario.resources, row, strict=True)
                if amount
            }
            for claimant, row in zip(self.scenario.ids, self.granted.tolist(), strict=True)
            if any(row)
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Allocation) and np.array_equal(self.granted, other.granted)

    def __hash__(self) -> int:
        return hash(self.granted.tobytes())


def shares_of(scenario: Scenario, granted: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return the share of each demand that is met, shape (…, claimant), from portions of shape (…, claimant, resource).

    The mean over the resources that a claimant demands of granted over demanded portions. Who demands nothing has a
    share of 1: all of the demand is met.
    """
    met = np.einsum("...ir,ir->...i", granted, scenario.parts)
    return np.where(scenario.demand.any(axis=1), met, 1.0)


def unlike(given: Scenario, expected: Scenario) -> str | None:
    """Return why portions granted in one scenario would mean something else in another, or None if they would not.

    The same portions mean the same where claimants, resources with their portions, and demands are the same. Capacities
    may differ: whether an allocation is feasible is judged wherever it is made.
    """
    if given is expected:
        return None
    if given.ids != expected.ids:
        return f"is for the patients {', '.join(given.ids)}; allowed: those of the scenario, {', '.join(expected.ids)}"
    kinds, wanted = (
        ", ".join(f"{r.name} by {r.portion:g}" for r in scenario.resources) for scenario in (given, expected)
    )
    if kinds != wanted:
        return f"is for the resources {kinds}; allowed: those of the scenario, {wanted}"
    differs = (given.demand != expected.demand).any(axis=1)
    if differs.any():
        return f"is for another demand of patient {given.ids[int(np.argmax(differs))]!r}; allowed: that of the scenario"
    return None


def infeasible(scenario: Scenario, granted: NDArray[np.int64]) -> str | None:
    """Return what makes an allocation infeasible, or None if nothing does."""
    if granted.shape != scenario.demand.shape:
        return f"granted portions have shape {granted.shape}; allowed: (patient, resource), {scenario.demand.shape}"
    wrong = np.argwhere((granted < 0) | (granted > scenario.demand))
    if len(wrong):
        claimant, resource = wrong[0]
        return (
            f"patient {scenario.ids[claimant]!r} is granted {granted[claimant, resource]} portions of "
            f"{scenario.resources[resource].name!r}; allowed: 0 to {scenario.demand[claimant, resource]}"
        )
    given, wanted = granted.sum(axis=0), scenario.demand.sum(axis=0)
    most = np.minimum(wanted, scenario.capacity)
    for resource in np.flatnonzero(given != most):
        name = scenario.resources[resource].name
        if given[resource] > most[resource]:
            return f"{given[resource]} portions of {name!r} are granted; there are {scenario.capacity[resource]}"
        return f"{most[resource] - given[resource]} portions of {name!r} are idle while somebody still needs them"
    return None


@dataclass(frozen=True, eq=False)
class Options:
    """Feasible allocations of one scenario, in a fixed order.

    Attributes
    ----------
    scenario
        Whose claimants they are for.
    granted
        Portions, shape (option, claimant, resource); kept read-only.
    complete
        Whether these are all feasible allocations, or those that a search found.
    """

    scenario: Scenario
    granted: NDArray[np.integer[Any]]
    complete: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "granted", sealed(self.granted))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild, so that arrays are sealed after they were copied or sent to a worker process."""
        return type(self), (self.scenario, self.granted, self.complete)

    def __len__(self) -> int:
        return len(self.granted)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Share of each claimant's demand that is met, shape (option, claimant); read-only."""
        return sealed(shares_of(self.scenario, self.granted))

    def allocation(self, option: int) -> Allocation:
        """Return one of them."""
        return Allocation(self.scenario, self.granted[option])

    def position(self, allocation: Allocation) -> int:
        """Return where an allocation stands.

        Raises
        ------
        InputError
            If it is not among them.
        """
        same = (self.granted == allocation.granted).all(axis=(1, 2))
        if not same.any():
            raise InputError(f"an allocation of {self.scenario.name!r} is not among the {len(self)} options")
        return int(np.argmax(same))


@runtime_checkable
class Utility(Protocol):
    """A number per allocation; only differences and order within one scenario mean anything."""

    def of(self, shares: Values) -> Values:
        """Return the utility of allocations, shape (option,), from shares of shape (option, claimant)."""
        ...

    def to_json(self) -> Any:
        """Return what a transcript says of it."""
        ...


@dataclass(frozen=True, eq=False)
class AdditiveUtility:
    """A value for meeting the whole demand of each claimant; parts of the demand count in proportion.

    Parameters
    ----------
    values
        Finite numbers, shape (claimant,), in the order of the scenario's ids.
    """

    values: Values

    def __post_init__(self) -> None:
        array = np.array(self.values, dtype=np.float64)
        if array.ndim != 1 or not np.isfinite(array).all():
            raise InputError(f"values of patients have shape {array.shape}; allowed: one finite number per patient")
        array.setflags(write=False)
        object.__setattr__(self, "values", array)

    def of(self, shares: Values) -> Values:
        """Return Σ_i v_i x_i."""
        return np.asarray(shares @ self.values)

    def to_json(self) -> list[float]:
        """Return the values."""
        return [float(value) for value in self.values]


def band(exponent: float, time: float) -> float:
    """Return 1 − t^e, in [0, 1]; 1 at every time, the last included, for an infinite exponent.

    Linear form of the time-dependent tactics of Faratin, Sierra and Jennings (1998), with their 1/β written as e.

    `exponent`: e above 0; `time`: in [0, 1].
    """
    return 1.0 if math.isinf(exponent) else 1.0 - float(time**exponent)
