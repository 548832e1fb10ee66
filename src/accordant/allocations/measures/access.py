"""Access: how much of their demand groups get, and the urgent among them.

Groups, and who is urgent: the cells that measures of access compare.

A group is everybody with the same value of a fact; the value is any JSON value, and null is a value like others.
Values are the same group if their JSON is the same: 1 and 1.0 are, 1, "1" and true are not.

Who is urgent is told in one of two ways:

    acuity      acuity of 1 or 2 (1 is the worst of five levels)
    severity    the K most severe patients, K the largest number whose joint demand fits the capacities
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.measure import Goal, Measure, register
from accordant.allocations.scenario import Scenario
from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError

Urgent = Literal["acuity", "severity"]

URGENT_ACUITY = 2  # levels 1 (resuscitation) and 2 (emergent) of five-level triage scales


_AS_JSON = json.JSONEncoder(sort_keys=True, allow_nan=False, ensure_ascii=False).encode


@dataclass(frozen=True)
class Cell:
    """How many patients of one group there are.

    Attributes
    ----------
    value
        Of the fact that makes the group.
    patients
        All of the group.
    urgent
        Those who are urgent; None if that was not asked.
    """

    value: Any
    patients: int
    urgent: int | None


def cell_counts(scenario: Scenario, group: str, urgent: Urgent | None = None) -> tuple[Cell, ...]:
    """Return the cells of a fact, sorted by the JSON of its values.

    Raises
    ------
    InputError
        If the fact, or the one that tells who is urgent, is missing.
    """
    keys, labels = groups(scenario, group)
    values = scenario.column(group)
    pressing = None if urgent is None else urgent_patients(scenario, urgent)
    cells = []
    for number in range(len(labels)):
        members = keys == number
        counted = None if pressing is None else int((members & pressing).sum())
        cells.append(Cell(values[int(np.argmax(members))], int(members.sum()), counted))
    return tuple(cells)


def groups(scenario: Scenario, group: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the number of each patient's group, shape (patient,), and the JSON of the groups' values, sorted.

    Raises
    ------
    InputError
        If the fact is missing, or a value is no JSON value.
    """
    labels = [label(value, group) for value in scenario.column(group)]
    known = {each: number for number, each in enumerate(sorted(set(labels)))}
    return np.array([known[each] for each in labels], dtype=np.intp), tuple(known)


def label(value: Any, group: str) -> str:
    """Return the JSON of a group's value.

    Raises
    ------
    InputError
        If it is no JSON value.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return _AS_JSON(value)
    except (TypeError, ValueError):
        raise InputError(f"the fact {group!r} has the value {value!r}; allowed: a JSON value") from None


def checked_fact(measure: str, parameter: str, value: Any) -> None:
    """Raise InputError unless a parameter can be the name of a fact."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{measure}: {parameter} is {value!r}; allowed: the name of a fact")


def checked_urgent(measure: str, value: Any) -> None:
    """Raise InputError unless a parameter names a way to tell who is urgent."""
    if value not in get_args(Urgent):
        raise UnknownNameError(f"way to tell who is urgent, of {measure},", value, get_args(Urgent))


def access(shares: Values, keys: NDArray[np.intp], n_groups: int, among: Mask | None = None) -> Values:
    """Return the mean share of each group, shape (option, group); NaN where nobody is in the group.

    Parameters
    ----------
    shares
        Shape (option, patient).
    keys
        Number of each patient's group, shape (patient,).
    n_groups
        How many groups there are.
    among
        Patients who count, shape (patient,); None for all.
    """
    member = np.equal.outer(keys, np.arange(n_groups))
    if among is not None:
        member &= among[:, None]
    sizes = member.sum(axis=0)
    weights = np.where(sizes == 0, np.nan, 1.0) * member / np.maximum(sizes, 1)
    return np.asarray(shares @ weights)


def largest_gap(rates: Values) -> Values:
    """Return largest minus smallest rate, shape (option,) from (option, group); NaN for one group or an empty one."""
    if rates.shape[1] < 2:
        return np.full(len(rates), np.nan)
    return np.asarray(rates.max(axis=1) - rates.min(axis=1))


def urgent_patients(scenario: Scenario, urgent: Urgent) -> Mask:
    """Return who is urgent, shape (patient,)."""
    if urgent == "acuity":
        return np.asarray(scenario.numbers("acuity") <= URGENT_ACUITY)
    return most_severe(scenario)


def most_severe(scenario: Scenario) -> Mask:
    """Return who belongs to the K most severe, shape (patient,); ties at the last place go to the lower id.

    K is the largest number for which the joint demand of the K most severe fits every capacity. Those who demand
    nothing are never among them: their share is 1 whatever is decided.
    """
    order = np.argsort(-scenario.numbers("severity"), kind="stable")
    order = order[scenario.demand[order].sum(axis=1) > 0]
    fits = (scenario.demand[order].cumsum(axis=0) <= scenario.capacity).all(axis=1)
    chosen = np.zeros(len(scenario.ids), dtype=np.bool_)
    chosen[order[: int(fits.sum())]] = True
    return chosen


@register("access_gap")
@dataclass(frozen=True)
class AccessGap(Measure):
    """max_g access_g − min_g access_g with access_g the mean share in g: the demographic parity gap of allocations.

    In [0, 1]; NaN if there is one group only. (Dwork et al. 2012 for parity.)

    Parameters
    ----------
    group
        Fact that makes the groups.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    group: str

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gap of each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        return largest_gap(access(shares, keys, len(labels)))


@register("access_ratio")
@dataclass(frozen=True)
class AccessRatio(Measure):
    """min_g access_g / max_g access_g with access_g the mean share in g.

    In [0, 1]; NaN if there is one group only, or nobody gets anything. A threshold of four fifths is a heuristic of
    employment guidelines (EEOC 1978) for where to look closer; it is no test, and no law of triage.

    Parameters
    ----------
    group
        Fact that makes the groups.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    group: str

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        rates = access(shares, keys, len(labels))
        most = rates.max(axis=1)
        undefined = (most <= 0) | (len(labels) < 2)
        return np.asarray(np.where(undefined, np.nan, rates.min(axis=1) / np.where(undefined, 1.0, most)))


@register("equal_opportunity_gap")
@dataclass(frozen=True)
class EqualOpportunityGap(Measure):
    """max_g − min_g of the mean share of the urgent patients in g.

    In [0, 1]; NaN if a group has no urgent patient, or there is one group only. `cell_counts` says how many each group
    has. (Hardt, Price and Srebro 2016, with urgency in the place of the qualified outcome.)

    Parameters
    ----------
    group
        Fact that makes the groups.
    urgent
        How to tell who is urgent: ``acuity`` (1 or 2), or ``severity`` (as many of the most severe as fit).
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "min"

    group: str
    urgent: Urgent = "acuity"

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)
        checked_urgent(self.name, self.urgent)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gap of each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        return largest_gap(access(shares, keys, len(labels), urgent_patients(scenario, self.urgent)))


@register("group_access")
@dataclass(frozen=True)
class GroupAccess(Measure):
    """Mean share of the patients with one value of a fact.

    In [0, 1]; NaN if there is no such patient.

    Parameters
    ----------
    group
        Fact that makes the groups.
    value
        Any JSON value; null stands for those whose fact is null.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    group: str
    value: Any

    def __post_init__(self) -> None:
        checked_fact(self.name, "group", self.group)
        label(self.value, self.group)

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the access of the group in each allocation, shape (option,)."""
        keys, labels = groups(scenario, self.group)
        wanted = label(self.value, self.group)
        if wanted not in labels:
            return np.full(len(shares), np.nan)
        return np.asarray(access(shares, np.where(keys == labels.index(wanted), 0, 1), 1)[:, 0])


@register("need_capture")
@dataclass(frozen=True)
class NeedCapture(Measure):
    """Mean share of the K most severe patients; for whole grants |granted ∩ top K| / K.

    K is the largest number of most severe patients whose joint demand fits the capacities, so 1 can be reached. Ties at
    the K-th place go to the lower id. In [0, 1]; NaN if not even the most severe patient's demand fits.
    """

    name: ClassVar[str]
    goal: ClassVar[Goal] = "max"

    def of(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the capture of each allocation, shape (option,)."""
        top = most_severe(scenario)
        return np.asarray(shares[:, top].mean(axis=1)) if top.any() else np.full(len(shares), np.nan)
