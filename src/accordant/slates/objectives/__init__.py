"""Stakeholder objectives made measurable.

stakeholder  values mapped to objectives with direction, weight, floor and the reason of the mapping
objective    a function of items, users and what has happened so far, in [0, 1]; one file each
claims       what share of attention an item or provider should have
positions    how far it is from users to items
attainment   what lists give to each objective, beside its floor
"""

from __future__ import annotations

from accordant.slates.objectives.attainment import Attainments, attainments
from accordant.slates.objectives.objective import Objective, objectives, register
from accordant.slates.objectives.stakeholder import SlateStakeholder, StatedObjective, StatedValue, expected_utilities

__all__ = [
    "Attainments",
    "Objective",
    "SlateStakeholder",
    "StatedObjective",
    "StatedValue",
    "attainments",
    "expected_utilities",
    "objectives",
    "register",
]
