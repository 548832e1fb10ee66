"""Who gets what of scarce resources: feasible allocations, their utilities, and measures of them.

Vocabulary
----------
scenario
    Claimants who need resources, and how much of each resource there is.
allocation
    What every claimant is granted of every resource. Feasible: nobody gets more than demanded, no resource gives
    more than it has, and none is left idle while somebody still demands it.
share
    Granted over demanded portions of a claimant, the mean over the resources demanded, in [0, 1].
options
    Feasible allocations that a decision is taken among: all, or, where there are too many, those a search found.
utility
    A number per allocation that says how much somebody likes it.
measure, criterion
    One number about an allocation, and a measure with the threshold that a scope card chose.
"""

from __future__ import annotations

from accordant.allocations.allocation import AdditiveUtility, Allocation, Options, Utility
from accordant.allocations.enumeration import count_options, enumerate_options
from accordant.allocations.measures.measure import Criterion, criteria_of, met, values_of
from accordant.allocations.scenario import Claimant, Resource, Scenario
from accordant.allocations.search import pool

__all__ = [
    "AdditiveUtility", "Allocation", "Claimant", "Criterion", "Options", "Resource", "Scenario", "Utility",
    "count_options", "criteria_of", "enumerate_options", "met", "pool", "values_of",
]  # fmt: skip
