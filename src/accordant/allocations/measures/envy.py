"""Justified envy: who got less than somebody with less need and no more to gain.

i envies j justifiably if x_i < x_j, severity_i > severity_j and benefit_i ≥ benefit_j, where x is the share of demand
that is met and benefit = p_with − p_without. For whole grants this is: i is not granted, j is. The term is that of
matching with priorities (Abdulkadiroğlu and Sönmez 2003), where the priority here asks for both facts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.allocation import Allocation
from accordant.allocations.measures.outcomes import benefits, own_shares
from accordant.allocations.scenario import Scenario


@dataclass(frozen=True)
class EnvyPair:
    """A patient who got less than another with less need and no more to gain.

    Attributes
    ----------
    patient, other
        Ids of the one who has reason, and of the one who got more.
    shares, severities, benefits
        Of the two, in that order.
    """

    patient: str
    other: str
    shares: tuple[float, float]
    severities: tuple[float, float]
    benefits: tuple[float, float]


def stronger_claims(scenario: Scenario) -> NDArray[np.bool_]:
    """Return whether i has more need than j and no less to gain, shape (patient, patient), rows i."""
    severity, benefit = scenario.numbers("severity"), benefits(scenario)
    return np.asarray((severity[:, None] > severity) & (benefit[:, None] >= benefit))


def envy_pairs(scenario: Scenario, allocation: Allocation) -> tuple[EnvyPair, ...]:
    """Return all pairs with justified envy, by id of the one who has reason, then of the other.

    Raises
    ------
    InputError
        If a fact is missing, or the allocation is for other patients.
    """
    shares = own_shares(scenario, allocation)
    severity, benefit = scenario.numbers("severity"), benefits(scenario)
    found = np.argwhere(stronger_claims(scenario) & (shares[:, None] < shares))
    return tuple(
        EnvyPair(
            scenario.ids[i],
            scenario.ids[j],
            (float(shares[i]), float(shares[j])),
            (float(severity[i]), float(severity[j])),
            (float(benefit[i]), float(benefit[j])),
        )
        for i, j in found.tolist()
    )
