"""Stakeholder objectives made measurable.

stakeholder  values mapped to objectives with direction, weight, floor and the reason of the mapping
objective    a function of items, users and what has happened so far, in [0, 1]; one file each
"""

from __future__ import annotations

from accordant.slates.objectives.objective import Objective, objectives, register
from accordant.slates.objectives.stakeholder import SlateStakeholder, StatedObjective, StatedValue, expected_utilities

__all__ = [
    "Objective",
    "SlateStakeholder",
    "StatedObjective",
    "StatedValue",
    "expected_utilities",
    "objectives",
    "register",
]
