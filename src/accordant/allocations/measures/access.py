"""Access: how much of their demand groups get, and the urgent among them.

A group is everybody with the same value of a fact; the value is any JSON value, and null is a value like others.
Values are the same group if their JSON is the same: 1 and 1.0 are, 1, "1" and true are not.

Who is urgent is told in one of two ways:

    acuity      acuity of 1 or 2 (1 is the worst of five levels)
    severity    the K most severe claimants, K the largest number whose joint demand fits the capacities

`conditional_disparity` says how far groups differ in access at the same acuity. Claimants are stratified by acuity
exactly; only strata that hold at least two groups say anything. The residual of a claimant is the share minus the mean
share of the stratum, the effect of a group is the mean residual of its members, and the disparity is the largest minus
the smallest effect [ours]. Its p-value is that of the permutation test that exchanges group labels within strata (Good
2005): the share of label assignments, the observed one counted, with a disparity at least as large. It is valid if
labels within a stratum are exchangeable under "no effect".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import Allocation
from accordant.allocations.measures.measure import register
from accordant.allocations.measures.outcomes import own_shares
from accordant.allocations.scenario import Scenario
from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError

Urgent = Literal["acuity", "severity"]

URGENT_ACUITY = 2  # levels 1 (resuscitation) and 2 (emergent) of five-level triage scales
SAME = 1e-12  # disparities of two label assignments closer than this are equal, but for rounding
_AS_JSON = json.JSONEncoder(sort_keys=True, allow_nan=False, ensure_ascii=False).encode


@dataclass(frozen=True)
class Cell:
    """How many claimants of one group there are.

    Attributes
    ----------
    value
        Of the fact that makes the group.
    claimants
        All of the group.
    urgent
        Those who are urgent; None if that was not asked.
    """

    value: Any
    claimants: int
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
    pressing = None if urgent is None else urgent_claimants(scenario, urgent)
    cells = []
    for number in range(len(labels)):
        members = keys == number
        counted = None if pressing is None else int((members & pressing).sum())
        cells.append(Cell(values[int(np.argmax(members))], int(members.sum()), counted))
    return tuple(cells)


def groups(scenario: Scenario, group: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the number of each claimant's group, shape (claimant,), and the JSON of the groups' values, sorted.

    Raises InputError if the fact is missing, or a value is no JSON value.
    """
    labels = [label(value, group) for value in scenario.column(group)]
    known = {name: number for number, name in enumerate(sorted(set(labels)))}
    return np.array([known[name] for name in labels], dtype=np.intp), tuple(known)


def label(value: Any, group: str) -> str:
    """Return the JSON of a group's value.

    Raises InputError if it is no JSON value.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return _AS_JSON(value)
    except (TypeError, ValueError):
        raise InputError(f"the fact {group!r} has the value {value!r}; allowed: a JSON value") from None


def access(shares: Values, keys: NDArray[np.intp], n_groups: int, among: Mask | None = None) -> Values:
    """Return the mean share of each group, shape (option, group); NaN where nobody is in the group.

    Parameters
    ----------
    shares
        Shape (option, claimant).
    keys
        Number of each claimant's group, shape (claimant,).
    n_groups
        How many groups there are.
    among
        Claimants who count, shape (claimant,); None for all.
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


def urgent_claimants(scenario: Scenario, urgent: Urgent) -> Mask:
    """Return who is urgent, shape (claimant,)."""
    if urgent == "acuity":
        return np.asarray(scenario.numbers("acuity") <= URGENT_ACUITY)
    return most_severe(scenario)


def most_severe(scenario: Scenario) -> Mask:
    """Return who belongs to the K most severe, shape (claimant,); ties at the last place go to the lower id.

    K is the largest number for which the joint demand of the K most severe fits every capacity. Those who demand
    nothing are never among them: their share is 1 whatever is decided.
    """
    order = np.argsort(-scenario.numbers("severity"), kind="stable")
    order = order[scenario.demand[order].sum(axis=1) > 0]
    fits = (scenario.demand[order].cumsum(axis=0) <= scenario.capacity).all(axis=1)
    chosen = np.zeros(len(scenario.ids), dtype=np.bool_)
    chosen[order[: int(fits.sum())]] = True
    return chosen


def _check(measure: str, group: Any, value: Any = None, urgent: Any = "acuity") -> None:
    """Raise InputError unless the parameters of a measure of groups can be read."""
    if not isinstance(group, str) or not group:
        raise InputError(f"{measure}: group is {group!r}; allowed: the name of a fact")
    if urgent not in get_args(Urgent):
        raise UnknownNameError(f"way to tell who is urgent, of {measure},", urgent, get_args(Urgent))
    label(value, group)


@register("min", _check)
def access_gap(scenario: Scenario, shares: Values, group: str) -> Values:
    """Return max_g access_g − min_g access_g with access_g the mean share in g: the parity gap of allocations.

    In [0, 1]; NaN if there is one group only. (Dwork et al. 2012 for demographic parity.) `group` is a fact.
    """
    keys, labels = groups(scenario, group)
    return largest_gap(access(shares, keys, len(labels)))


@register("max", _check)
def access_ratio(scenario: Scenario, shares: Values, group: str) -> Values:
    """Return min_g access_g / max_g access_g with access_g the mean share in g.

    In [0, 1]; NaN if there is one group only, or nobody gets anything. A threshold of four fifths is a heuristic of
    employment guidelines (EEOC 1978) for where to look closer; it is no test, and no law of triage.
    """
    keys, labels = groups(scenario, group)
    rates = access(shares, keys, len(labels))
    most = rates.max(axis=1)
    undefined = (most <= 0) | (len(labels) < 2)
    return np.asarray(np.where(undefined, np.nan, rates.min(axis=1) / np.where(undefined, 1.0, most)))


@register("min", _check)
def equal_opportunity_gap(scenario: Scenario, shares: Values, group: str, urgent: Urgent = "acuity") -> Values:
    """Return max_g − min_g of the mean share of the urgent in g.

    In [0, 1]; NaN if a group has nobody urgent, or there is one group only. `cell_counts` says how many each group
    has. (Hardt, Price and Srebro 2016, with urgency in the place of the qualified outcome.)
    """
    keys, labels = groups(scenario, group)
    return largest_gap(access(shares, keys, len(labels), urgent_claimants(scenario, urgent)))


@register("max", _check)
def group_access(scenario: Scenario, shares: Values, group: str, value: Any) -> Values:
    """Return the mean share of those with one value of a fact, any JSON value, in [0, 1]; NaN if nobody has it."""
    keys, labels = groups(scenario, group)
    wanted = label(value, group)
    if wanted not in labels:
        return np.full(len(shares), np.nan)
    return access(shares, np.where(keys == labels.index(wanted), 0, 1), 1)[:, 0]


@register("max")
def need_capture(scenario: Scenario, shares: Values) -> Values:
    """Return the mean share of the K most severe; for whole grants |granted ∩ top K| / K.

    K is the largest number of most severe claimants whose joint demand fits the capacities, so 1 can be reached. Ties
    at the K-th place go to the lower id. In [0, 1]; NaN if not even the demand of the most severe fits.
    """
    top = most_severe(scenario)
    return np.asarray(shares[:, top].mean(axis=1)) if top.any() else np.full(len(shares), np.nan)


@dataclass(frozen=True)
class ConditionalDisparity:
    """Difference in access between groups at equal acuity.

    Attributes
    ----------
    disparity
        Largest minus smallest effect, in [0, 2).
    effects
        JSON of the group's value to the mean share of its members above the mean of their strata.
    p_value
        In [1 / (permutations + 1), 1].
    claimants, strata
        How many said anything: those in strata with at least two groups.
    permutations
        How many label assignments were drawn.
    """

    disparity: float
    effects: Mapping[str, float]
    p_value: float
    claimants: int
    strata: int
    permutations: int


def conditional_disparity(
    scenario: Scenario, allocation: Allocation, group: str, generator: np.random.Generator, permutations: int = 999
) -> ConditionalDisparity | None:
    """Return the disparity between groups at equal acuity with a permutation p-value, or None if nothing can be said.

    Parameters
    ----------
    scenario, allocation
        Whose allocation is judged; the scenario has the facts ``acuity`` and `group`.
    group
        Fact that makes the groups.
    generator
        Of the label assignments.
    permutations
        How many are drawn, at least 1.

    Returns
    -------
    None if no stratum holds two groups.

    Raises
    ------
    InputError
        If a fact is missing, the allocation is for other claimants, or there are no permutations.
    """
    if isinstance(permutations, bool) or not isinstance(permutations, int) or permutations < 1:
        raise InputError(f"permutations is {permutations!r}; allowed: at least 1, a whole number")
    keys, labels = groups(scenario, group)
    acuity = scenario.numbers("acuity")
    shares = own_shares(scenario, allocation)
    strata = [np.flatnonzero(acuity == level) for level in np.unique(acuity)]
    strata = [members for members in strata if len(np.unique(keys[members])) > 1]
    if not strata:
        return None
    sums = np.zeros((permutations + 1, len(labels)))
    sizes = np.zeros(len(labels))
    for members in strata:
        residuals = np.tile(shares[members] - shares[members].mean(), (permutations + 1, 1))
        residuals[1:] = generator.permuted(residuals[1:], axis=1)
        member = np.equal.outer(keys[members], np.arange(len(labels)))
        sums += residuals @ member
        sizes += member.sum(axis=0)
    present = sizes > 0
    effects = sums[:, present] / sizes[present]
    spread = effects.max(axis=1) - effects.min(axis=1)
    return ConditionalDisparity(
        disparity=float(spread[0]),
        effects={
            name: float(effect) for name, effect in zip(np.array(labels)[present].tolist(), effects[0], strict=True)
        },
        p_value=float((spread >= spread[0] - SAME).mean()),
        claimants=int(sizes.sum()),
        strata=len(strata),
        permutations=permutations,
    )
