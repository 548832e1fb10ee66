"""Conditional disparity: how far groups differ in access among patients of the same acuity.

Patients are stratified by acuity exactly; only strata that hold at least two groups say anything. The residual of a
patient is the share minus the mean share of the stratum, the effect of a group is the mean residual of its members, and
the disparity is the largest minus the smallest effect [ours]. Its p-value is that of the permutation test that
exchanges group labels within strata (Good 2005): the share of label assignments, the observed one counted, with a
disparity at least as large. It is valid if labels within a stratum are exchangeable under "no effect".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from accordant.allocations.allocation import Allocation
from accordant.allocations.measures.access import groups
from accordant.allocations.measures.outcomes import own_shares
from accordant.allocations.scenario import Scenario
from accordant.errors import InputError

SAME = 1e-12  # disparities of two label assignments closer than this are equal, but for rounding


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
    patients, strata
        How many said anything: those in strata with at least two groups.
    permutations
        How many label assignments were drawn.
    """

    disparity: float
    effects: Mapping[str, float]
    p_value: float
    patients: int
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
        If a fact is missing, the allocation is for other patients, or there are no permutations.
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
            each: float(effect) for each, effect in zip(np.array(labels)[present].tolist(), effects[0], strict=True)
        },
        p_value=float((spread >= spread[0] - SAME).mean()),
        patients=int(sizes.sum()),
        strata=len(strata),
        permutations=permutations,
    )
