"""Where markets come from: a file or a simulator brings items and requests, objectives make E of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from accordant.cases.files import find_file, no_data
from accordant.errors import InputError, UnknownNameError, allowed_names
from accordant.registry import Registry
from accordant.slates.case import SlateSpec
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.market import ExpectedUptake, Market, Uptake
from accordant.slates.objectives import expected_utilities
from accordant.slates.slates import State
from accordant.tables.text import file_hash
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class Demand:
    """Items, and requests in the order of time: what a loader or simulator brings.

    Attributes
    ----------
    batches
        Requests in the order of time.
    notes
        What a reader must know, one sentence each: what was repaired, how time was split, who is cold.
    facts
        Numbers about the data for the report, by name.
    uptake
        What is visited of what is shown; None for shares of attention.
    """

    catalogue: Catalogue
    batches: tuple[Requests, ...]
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    uptake: Uptake | None = None


market_loaders: Registry[Demand] = Registry(
    "market loader", group="accordant.market_loaders", packages=("accordant.slates.cases",)
)
"""A market loader is a function (path, seed, …parameters of the case) that reads a file."""

market_simulators: Registry[Demand] = Registry(
    "market simulator", group="accordant.market_simulators", packages=("accordant.slates.cases",)
)
"""A market simulator is a function (seed, …parameters of the case) that makes items and requests up."""


@dataclass(frozen=True, eq=False)
class MarketSource:
    """A market with its provenance.

    Attributes
    ----------
    label
        File name and the start of its hash, or SIMULATED and the simulator's name: belongs beside every result.
    sha256
        Hash of the file's bytes; None if simulated.
    simulated
        Whether no file was read.
    described
        Stakeholder to its role and description, where a decision problem declares them.
    """

    market: Market
    label: str
    sha256: str | None
    simulated: bool
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    described: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StatedUtilities:
    """E from the objectives of stakeholders: see `accordant.slates.objectives.expected_utilities`."""

    declared: SlateSpec
    catalogue: Catalogue

    def __call__(self, requests: Requests, state: State) -> ExpectedRewards:
        """Return E of a batch."""
        return expected_utilities(self.declared.stakeholders, self.catalogue, requests, state)


def market_source(
    declared: SlateSpec, seed: int, data: str | Path | None = None, beside: Path | None = None
) -> MarketSource:
    """Return the market of a case: data where they are looked for, else the simulator.

    Parameters
    ----------
    declared
        The ``slates`` section of a case, with stakeholders that declare objectives.
    seed
        Of everything drawn.
    data
        What ``--data`` names: a file, or a folder that holds it.
    beside
        Folder of the case file; None for built-in cases.

    Raises
    ------
    DataNotFoundError
        If a place was named and the file is not there, or there is neither a file nor a simulator.
    InputError
        If the file or a parameter cannot be used.
    """
    if declared.file is None and data is not None:
        raise InputError(f"--data {data} is named, but the items of this case are always simulated")
    path = None if declared.file is None else find_file(declared.file, data, beside)
    _check_parameters(declared)
    if path is not None:
        demand = market_loaders.create(
            declared.loader or "", _known(declared, market_loaders, declared.loader) | {"path": path, "seed": seed}
        )
        sha256 = file_hash(path)
        return _source(declared, demand, f"{path.name} (sha256 {sha256[:12]})", sha256)
    if declared.simulator is None:
        raise no_data(declared.file or "")
    demand = market_simulators.create(
        declared.simulator, _known(declared, market_simulators, declared.simulator) | {"seed": seed}
    )
    return _source(declared, demand, f"SIMULATED by {declared.simulator!r}: no real users", None)


def _source(declared: SlateSpec, demand: Demand, label: str, sha256: str | None) -> MarketSource:
    catalogue = with_capacities(demand.catalogue, declared.capacity)
    market = Market(
        catalogue, tuple(stakeholder.name for stakeholder in declared.stakeholders),
        StatedUtilities(declared, catalogue), demand.batches,
        {stakeholder.name: stakeholder.weight for stakeholder in declared.stakeholders},
        {stakeholder.name: stakeholder.floor for stakeholder in declared.stakeholders if stakeholder.floor is not None},
        demand.uptake or ExpectedUptake(declared.visits), declared.user, close_when_full=declared.close_when_full,
        staleness=declared.staleness,
    )  # fmt: skip
    return MarketSource(market, label, sha256, sha256 is None, demand.notes, demand.facts)


def with_capacities(catalogue: Catalogue, capacity: Mapping[str, float]) -> Catalogue:
    """Return a catalogue with some capacities changed, or raise `UnknownNameError` if there is no such item."""
    changed = catalogue.capacity.copy()
    for name, visits in capacity.items():
        if name not in catalogue.items:
            raise UnknownNameError("item in capacity:", name, catalogue.items)
        changed[catalogue.items.index(name)] = visits
    return replace(catalogue, capacity=changed)


def _accepted(registry: Registry[Demand], name: str | None) -> set[str]:
    """Return the parameters of a registered loader or simulator that a case may set."""
    if name is None:
        return set()
    factory: Callable[..., Demand] = registry.factory(name)
    return set(inspect.signature(factory).parameters) - {"path", "seed"}


def _known(declared: SlateSpec, registry: Registry[Demand], name: str | None) -> dict[str, Any]:
    accepted = _accepted(registry, name)
    return {key: value for key, value in declared.parameters.items() if key in accepted}


def _check_parameters(declared: SlateSpec) -> None:
    """Refuse a parameter that neither the loader nor the simulator knows."""
    accepted = _accepted(market_loaders, declared.loader) | _accepted(market_simulators, declared.simulator)
    for key in declared.parameters:
        if key not in accepted:
            raise InputError(f"slates: unknown parameter {key!r}; {allowed_names(sorted(accepted), key)}")


def service_days(n_requests: int, per_day: int, batch: int, key: str = "per_day") -> Iterator[tuple[int, slice]]:
    """Yield a day and consecutive requests: batches of at most a size, none of which reaches into the next day.

    `per_day` and `batch` are whole numbers of at least 1, else `InputError`; `key` is what a case calls `per_day`.
    """
    for name, number in ((key, per_day), ("batch", batch)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InputError(f"{name} is {number!r}; allowed: a whole number of at least 1")
    for day, first in enumerate(range(0, n_requests, per_day)):
        last = min(first + per_day, n_requests)
        for start in range(first, last, batch):
            yield day, slice(start, min(start + batch, last))
