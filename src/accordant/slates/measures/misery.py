"""Misery: how often the worst-off stakeholder of a list is below a declared line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.slates.gains import ALIKE
from accordant.slates.measures.collective import least
from accordant.slates.measures.measure import SHARE, Goal, MeanMeasure, Range, register
from accordant.slates.measures.stakeholder import heard
from accordant.slates.serving import Served


@register("misery")
@dataclass(frozen=True)
class Misery(MeanMeasure):
    """Share of requests with min_i attained_i below a line, over stakeholders with a weight above 0.

    Unlike a floor, the line is the same for everybody (after "least misery" of group recommendation, O'Connor et al.
    2001).

    Parameters
    ----------
    line
        Normalised utility, in [0, 1]; there is no default, because where misery begins is a judgement.
    """

    goal: ClassVar[Goal] = "min"
    about: ClassVar[str] = "share of requests whose worst-off stakeholder gets less than the declared line, in [0, 1]"
    range: ClassVar[Range | None] = SHARE

    line: float

    def __post_init__(self) -> None:
        if not 0 <= self.line <= 1:
            raise InputError(f"the line of misery is {self.line}; allowed: in [0, 1]")

    def of_requests(self, served: Served) -> NDArray[np.float64]:
        """Return 1 for a request below the line, else 0."""
        lowest = least(heard(served))
        return np.where(np.isnan(lowest), np.nan, lowest < self.line - ALIKE)
