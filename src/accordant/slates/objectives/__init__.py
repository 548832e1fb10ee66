"""Stakeholder objectives made measurable.

stakeholder  values mapped to objectives with direction, weight, floor and reason; what lists give to each
objective    a function of items, users and what has happened so far, in [0, 1]
exposure     what share of attention an item or provider should have
travel       how far it is from users to items
"""

from __future__ import annotations

from accordant.slates.objectives.objective import Objective, objectives, register
from accordant.slates.objectives.stakeholder import (
    Attainments,
    SlateStakeholder,
    StatedObjective,
    StatedValue,
    attainments,
    expected_utilities,
)

__all__ = [
    "Attainments", "Objective", "SlateStakeholder", "StatedObjective", "StatedValue", "attainments",
    "expected_utilities", "objectives", "register",
]  # fmt: skip
