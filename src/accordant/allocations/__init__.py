"""Who gets what of scarce resources: feasible allocations, their utilities, and measures of them.

Vocabulary
----------
scenario
    Patients who need resources, and how much of each resource there is.
allocation
    What every patient is granted of every resource. Feasible: nobody gets more than demanded, no resource gives
    more than it has, and none is left idle while somebody still demands it.
share
    Granted portions over demanded portions of a patient, in [0, 1].
options
    Feasible allocations that a decision is taken among: all, or, where there are too many, those a search found.
utility
    A number per allocation that says how much somebody likes it.
"""

from __future__ import annotations

from accordant.allocations.allocation import Allocation
from accordant.allocations.scenario import Patient, Resource, Scenario
from accordant.allocations.utility import AdditiveUtility, Utility

__all__ = ["AdditiveUtility", "Allocation", "Patient", "Resource", "Scenario", "Utility"]
