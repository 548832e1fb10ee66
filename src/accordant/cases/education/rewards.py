"""Rewards of Student, Teacher, Institution and Equity_office where tutoring is given out. Source: ours.

With g the final grade, 0 to 20, and 10 the pass mark, everybody's reward is (1 − s) v(g) + s w: what the grade is
worth, and what the place is worth, with s the share of the second.

    stakeholder     v(g)                                w = 1
    Student         g / 20                              no tutoring: the hours stay free
    Teacher         0 below 5, 1 from 15, linear        no tutoring: nothing to arrange
    Institution     0 below 8, 1 from 12, linear        no tutoring: the place is not paid for
    Equity_office   g / 20                              a place goes where home education is low, and only there
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.cases.parts import reward_sets
from accordant.contexts import Contexts
from accordant.errors import DataError, InputError
from accordant.rewards import ClippedReward, Outcome, RewardSignal

TUTORING = "Tutoring"
VALUED_GRADES = {"Student": (0, 20), "Teacher": (5, 15), "Institution": (8, 12), "Equity_office": (0, 20)}
"""Grades at which v is 0 and 1. A teacher cares most about grades near the pass mark, an institution about passing."""

HOME = "Home_education"
HOMES = ("low", "higher")


@dataclass(frozen=True)
class TutoringReward(ClippedReward):
    """Reward of one stakeholder for a final grade with or without tutoring; see the table of the module.

    Parameters
    ----------
    noise
        Half-width of the noise in elicited rewards.
    stakeholder
        Student, Teacher, Institution or Equity_office.
    place_share
        s, in [0, 1]: how much the place counts beside the grade.
    """

    stakeholder: str = "Student"
    place_share: float = 0.0

    def desirability(self, contexts: Contexts, action: str, outcome: Outcome) -> NDArray[np.float64]:
        """Return (1 − s) v(g) + s w."""
        low, high = VALUED_GRADES[self.stakeholder]
        grade = np.broadcast_to(np.asarray(outcome, dtype=np.float64), (contexts.n_contexts,))
        value = np.clip((grade - low) / (high - low), 0.0, 1.0)
        tutored = np.full(contexts.n_contexts, action == TUTORING)
        wanted = _low(contexts) if self.stakeholder == "Equity_office" else np.zeros_like(tutored)
        return np.asarray((1 - self.place_share) * value + self.place_share * (tutored == wanted))


@reward_sets.register("tutoring")
def tutoring_rewards(
    hours: float = 0.05, arranging: float = 0.05, cost: float = 0.2, access: float = 0.2
) -> dict[str, RewardSignal]:
    """Return the reward signals of all four stakeholders.

    Parameters
    ----------
    hours, arranging, cost, access
        Share of the place in the reward of Student, Teacher, Institution and Equity_office, in [0, 1].
    """
    shares = {"hours": hours, "arranging": arranging, "cost": cost, "access": access}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InputError(f"{name} is {share}; allowed: [0, 1]")
    pairs = zip(VALUED_GRADES, shares.values(), strict=True)
    return {stakeholder: TutoringReward(0.0, stakeholder, share) for stakeholder, share in pairs}


def _low(contexts: Contexts) -> NDArray[np.bool_]:
    homes = contexts[HOME]
    unknown = np.flatnonzero(~np.isin(homes, HOMES))
    if unknown.size:
        raise DataError(
            f"column {HOME!r}, row {unknown[0]}: found {str(homes[unknown[0]])!r}; allowed: {', '.join(HOMES)}"
        )
    return np.asarray(homes == "low")
