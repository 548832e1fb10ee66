"""`HistoryFairness`: a number in [0, 1] per stakeholder from the last slates, and the registry of such measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from accordant.arrays import Mask, Values
from accordant.registry import Registry
from accordant.slates.candidates import Candidates
from accordant.slates.rules.dynamic.history.past import History

history_fairness: Registry[HistoryFairness] = Registry(
    "history fairness", group="accordant.history_fairness", packages=("accordant.slates.rules.dynamic.history",)
)


@dataclass(frozen=True, eq=False)
class FairnessOfHistory:
    """What a measure says.

    Attributes
    ----------
    values
        m_i in [0, 1], shape (stakeholder,); NaN where it is not defined. 1 for all of an empty history.
    reasons
        Position of a stakeholder to why its value is not defined.
    """

    values: Values
    reasons: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HistoryFairness(ABC):
    """A measure with its parameters, a frozen dataclass.

    Class attributes
    ----------------
    name
        Registered name.
    reads_items
        Whether it needs to know which items each stakeholder wants shown.
    """

    name: ClassVar[str]
    reads_items: ClassVar[bool] = False

    def of(self, history: History, protected: Mask) -> FairnessOfHistory:
        """Return m_i; 1 for everybody if nothing was shown yet.

        Parameters
        ----------
        history
            The last slates.
        protected
            Items that each stakeholder wants shown, shape (stakeholder, item); without items if they are not read.
        """
        if history.empty:
            return FairnessOfHistory(np.ones(len(history.attained)))
        return self.measured(history, protected)

    @abstractmethod
    def measured(self, history: History, protected: Mask) -> FairnessOfHistory:
        """Return m_i of a history that is not empty."""

    def protected(self, candidates: Candidates) -> Mask:
        """Return which items each stakeholder wants shown, shape (stakeholder, item)."""
        return np.zeros((len(candidates.stakeholders), 0), dtype=bool)


register = history_fairness.named
