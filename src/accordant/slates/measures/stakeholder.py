"""What lists give to one stakeholder: utility, what its own best list would give more, and the share attained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.arrays import Values
from accordant.errors import UnknownNameError
from accordant.slates.measures.measure import SHARE, Goal, MeanMeasure, Range, register
from accordant.slates.serving import Served


@dataclass(frozen=True)
class StakeholderMeasure(MeanMeasure):
    """A mean over requests for one stakeholder; empty lists do not count.

    Parameters
    ----------
    stakeholder
        Its name.
    """

    stakeholder: str


@register("utility")
class Utility(StakeholderMeasure):
    """u_i(S), the mean of E over the list."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "what a list gives to one stakeholder: the mean expected reward of its items, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the utility of each list."""
        return np.asarray(served.gains.utilities[position(self.stakeholder, served)])


@register("regret")
class Regret(StakeholderMeasure):
    """ideal_i − u_i(S), the ideal being i's own best list of the same length."""

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "what its own best list of that length would give one stakeholder more, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the regret of each list."""
        return np.asarray(served.gains.regret[position(self.stakeholder, served)])


@register("attained")
class Attained(StakeholderMeasure):
    """(u_i − worst_i) / (ideal_i − worst_i); requests where all lists are alike for i do not count."""

    goal: ClassVar[Goal] = "max"
    about: ClassVar[str] = "where a list lies for one stakeholder between its worst, 0, and its best, 1"
    range: ClassVar[Range | None] = SHARE

    def of_requests(self, served: Served) -> Values:
        """Return the normalised utility of each list."""
        return np.asarray(served.gains.attained[position(self.stakeholder, served)])


def position(stakeholder: str, served: Served) -> int:
    """Return the number of a stakeholder.

    Raises
    ------
    UnknownNameError
        If nobody has this name.
    """
    if stakeholder not in served.market.stakeholders:
        raise UnknownNameError("stakeholder", stakeholder, served.market.stakeholders)
    return served.market.stakeholders.index(stakeholder)


def heard(served: Served) -> Values:
    """Return normalised utilities of the stakeholders with a weight above 0, shape (stakeholder, request).

    Each of them counts once in measures of all together: weights are for rules [ours].
    """
    return np.asarray(served.gains.attained[served.candidates.weights > 0])
