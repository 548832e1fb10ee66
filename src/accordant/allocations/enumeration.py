"""All feasible allocations: how many there are, a list of few, and the exact best and worst where values add up.

Each resource gives out exactly the smaller of its capacity and the portions demanded, and what one resource gives does
not limit another. So the feasible allocations are the product, over resources, of the whole-number vectors between
nothing and the demand whose sum is what the resource gives out.

Canonical order: allocations are read as one row of portions, first resource first, within it claimants by id, and these
rows fall lexicographically. The first allocation serves the lowest ids; the order in which claimants were given plays
no part.

Best and worst. The utility Σ_i v_i x_i of shares x_i = Σ_r p_ir g_ir, with p_ir the share of i's demand that one
portion of r meets (`Scenario.parts`), is

    Σ_r Σ_i w_ir g_ir + constant,    w_ir = v_i p_ir,

the constant being the values of those who demand nothing. Every resource r gives out a fixed number m_r of portions
and limits no other resource, so the sum is largest where each Σ_i w_ir g_ir is. Serving claimants by falling w_ir up to
their demand until m_r portions are gone does that: if an allocation gives a portion to j while a portion demanded by i
is unmet and w_ir > w_jr, moving it gains w_ir − w_jr > 0; so in a best allocation those served have the largest w_ir,
and all such allocations have the same sum. (The fractional knapsack with items of equal size, Dantzig 1957; whole
numbers come for free because demands and m_r are whole.)
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import Options
from accordant.allocations.scenario import Scenario, sealed
from accordant.arrays import Values, WholeNumbers
from accordant.errors import InputError

MOST_OPTIONS = 50_000  # beyond this, comparing all allocations is left to a search
MOST_CELLS = 20_000_000  # (option, claimant, resource) entries of one list: 40 MB
KEPT = 16  # structures whose list or count is kept: scenarios of one study share one


def given_out(scenario: Scenario) -> WholeNumbers:
    """Return the portions that each resource gives out in every feasible allocation, shape (resource,)."""
    return np.asarray(np.minimum(scenario.demand.sum(axis=0), scenario.capacity))


def count_options(scenario: Scenario) -> int:
    """Return how many feasible allocations there are, exactly."""
    columns = zip(scenario.demand.T.tolist(), given_out(scenario).tolist(), strict=True)
    return math.prod(_count(tuple(sorted(filter(None, demand))), given) for demand, given in columns)


def enumerate_options(scenario: Scenario, limit: int = MOST_OPTIONS) -> Options | None:
    """Return all feasible allocations in canonical order, or None if they are too many.

    Parameters
    ----------
    scenario
        Any number of claimants and resources.
    limit
        How many allocations are too many is one more than this; at least 1. A list of more than 20 million entries
        (allocations × claimants × resources) is too much as well.

    Raises
    ------
    InputError
        If the limit is no whole number of at least 1.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InputError(f"limit is {limit!r}; allowed: a whole number, at least 1")
    demand = scenario.demand
    listed = _listed(demand.tobytes(), demand.shape[1], tuple(given_out(scenario).tolist()), limit)
    return None if listed is None else Options(scenario, listed, complete=True)


@lru_cache(maxsize=KEPT)
def _listed(demanded: bytes, n_resources: int, given: tuple[int, ...], limit: int) -> NDArray[Any] | None:
    """Return all allocations of one structure, shape (option, claimant, resource), read-only; None if too many."""
    demand = np.frombuffer(demanded, dtype=np.int64).reshape(-1, n_resources)
    counts = [_count_up_to(column, amount, limit) for column, amount in zip(demand.T, given, strict=True)]
    total = math.prod(counts)
    if total > limit or total * demand.size > MOST_CELLS:
        return None
    kind = smallest_kind(demand)
    listed = np.empty((total, *demand.shape), dtype=kind)
    before, after = 1, total
    for resource, amount in enumerate(given):
        after //= counts[resource]
        vectors = vectors_of(demand[:, resource], amount).astype(kind)
        listed[:, :, resource] = np.tile(np.repeat(vectors, after, axis=0), (before, 1))
        before *= counts[resource]
    return sealed(listed)


def smallest_kind(demand: WholeNumbers) -> np.dtype[Any]:
    """Return the integer type in which portions of this demand fit: 16 bits unless there are more than 32,767."""
    return np.dtype(np.int16 if demand.max() <= np.iinfo(np.int16).max else np.int64)


def vectors_of(demand: WholeNumbers, given: int) -> WholeNumbers:
    """Return all whole-number vectors between 0 and the demand with a sum, falling lexicographically.

    `demand`: shape (claimant,); `given`: the sum, between 0 and the sum of the demand.

    Returns
    -------
    Shape (vector, claimant). Claimants are fixed one after another, each to every number of portions that later
    claimants can complete, so no dead end is visited.
    """
    later = demand[::-1].cumsum()[::-1] - demand
    vectors = np.zeros((1, 0), dtype=np.int64)
    left = np.array([given], dtype=np.int64)
    for most, rest in zip(demand, later, strict=True):
        highest, lowest = np.minimum(left, most), np.maximum(left - rest, 0)
        ways = highest - lowest + 1
        parent = np.repeat(np.arange(len(left)), ways)
        step = np.arange(len(parent)) - np.repeat(ways.cumsum() - ways, ways)
        granted = highest[parent] - step
        vectors = np.column_stack([vectors[parent], granted])
        left = left[parent] - granted
    return vectors


@lru_cache(maxsize=KEPT)
def _count(demand: tuple[int, ...], given: int) -> int:
    """Return how many vectors there are: the coefficient of z^given in Π_i (1 + z + … + z^d_i)."""
    total = sum(demand)
    if given in {0, total}:
        return 1
    if demand[-1] == 1:
        return math.comb(len(demand), given)
    needed = min(given, total - given)  # leaving portions out is as good as giving them
    ways = np.zeros(needed + 1, dtype=object)
    ways[0] = 1
    for most in demand:
        sums = ways.cumsum()
        ways = sums.copy()
        ways[most + 1 :] -= sums[: max(0, needed - most)]
    return int(ways[needed])


def _count_up_to(demand: WholeNumbers, given: int, limit: int) -> int:
    """Return how many vectors there are, or limit + 1 if they are more; never in large numbers.

    Numbers of ways only add up, so cutting each at limit + 1 on the way does not change whether the last exceeds it.
    """
    needed = min(given, int(demand.sum()) - given)
    ways = np.zeros(needed + 1, dtype=np.int64)
    ways[0] = 1
    for most in demand.tolist():
        sums = ways.cumsum()
        ways = sums.copy()
        ways[most + 1 :] -= sums[: max(0, needed - most)]
        np.minimum(ways, limit + 1, out=ways)
    return int(ways[needed])


def best(scenario: Scenario, values: Any) -> WholeNumbers:
    """Return the portions that maximise Σ_i v_i x_i, shape (claimant, resource); ties go to the lower id.

    Parameters
    ----------
    scenario
        Whose allocations are compared: all feasible ones.
    values
        Of meeting the whole demand of each claimant, finite, shape (claimant,).

    Raises
    ------
    InputError
        If there is not one finite value per claimant.
    """
    return np.asarray(best_of_each(scenario, np.asarray(values, dtype=np.float64)[None])[0])


def worst(scenario: Scenario, values: Any) -> WholeNumbers:
    """Return the portions that minimise Σ_i v_i x_i, shape (claimant, resource); ties go to the lower id."""
    return best(scenario, -np.asarray(values, dtype=np.float64))


def best_of_each(scenario: Scenario, values: Values) -> WholeNumbers:
    """Return `best` for many value vectors, shape (vector, claimant, resource) from values (vector, claimant)."""
    if values.ndim != 2 or values.shape[1] != len(scenario.ids) or not np.isfinite(values).all():
        raise InputError(
            f"values of patients have shape {values.shape[1:]}; allowed: one finite number for each of "
            f"{len(scenario.ids)} patients"
        )
    worth = worth_of_portions(scenario, values)
    granted = np.empty((len(values), *scenario.demand.shape), dtype=np.int64)
    for resource, amount in enumerate(given_out(scenario)):
        order = np.argsort(-worth[:, :, resource], axis=1, kind="stable")
        wanted = scenario.demand[:, resource][order]
        before = wanted.cumsum(axis=1) - wanted
        served = np.clip(amount - before, 0, wanted)
        np.put_along_axis(granted[:, :, resource], order, served, axis=1)
    return granted


def worth_of_portions(scenario: Scenario, values: Values) -> Values:
    """Return what one portion adds, w_ir = v_i p_ir, shape (…, claimant, resource); 0 where nothing is demanded."""
    return np.asarray(values[..., None] * scenario.parts)
