"""The exact best and worst allocation for values that add up over patients.

The utility Σ_i v_i x_i of shares x_i = Σ_r p_ir g_ir, with p_ir the share of i's demand that one portion of r meets
(`Scenario.parts`), is

    Σ_r Σ_i w_ir g_ir + constant,    w_ir = v_i p_ir,

the constant being the values of those who demand nothing. Every resource r gives out a fixed number m_r of portions
and limits no other resource, so the sum is largest where each Σ_i w_ir g_ir is. Serving patients by falling w_ir up to
their demand until m_r portions are gone does that: if an allocation gives a portion to j while a portion demanded by i
is unmet and w_ir > w_jr, moving it gains w_ir − w_jr > 0; so in a best allocation those served have the largest w_ir,
and all such allocations have the same sum. (The fractional knapsack with items of equal size, Dantzig 1957; whole
numbers come for free because demands and m_r are whole.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from accordant.allocations.enumeration import given_out
from accordant.allocations.scenario import Scenario
from accordant.arrays import Values, WholeNumbers
from accordant.errors import InputError


def best(scenario: Scenario, values: Any) -> WholeNumbers:
    """Return the portions that maximise Σ_i v_i x_i, shape (patient, resource); ties go to the lower id.

    Parameters
    ----------
    scenario
        Whose allocations are compared: all feasible ones.
    values
        Of meeting the whole demand of each patient, finite, shape (patient,).

    Raises
    ------
    InputError
        If there is not one finite value per patient.
    """
    return np.asarray(best_of_each(scenario, np.asarray(values, dtype=np.float64)[None])[0])


def worst(scenario: Scenario, values: Any) -> WholeNumbers:
    """Return the portions that minimise Σ_i v_i x_i, shape (patient, resource); ties go to the lower id."""
    return best(scenario, -np.asarray(values, dtype=np.float64))


def best_of_each(scenario: Scenario, values: Values) -> WholeNumbers:
    """Return `best` for many value vectors, shape (vector, patient, resource) from values (vector, patient)."""
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
    """Return what one portion adds, w_ir = v_i p_ir, shape (…, patient, resource); 0 where nothing is demanded."""
    return np.asarray(values[..., None] * scenario.parts)
