"""`Patterns`: the finitely many ballots that rewards of some actions can induce, and which of them a box allows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Mask, Values, WholeNumbers

Verdicts = NDArray[np.uint8]  # shape (member, pattern, context)

IMPOSSIBLE, DOUBTFUL, SURE = 0, 1, 2  # no report in the box has the pattern; perhaps one has; one is known
ROOM = 2.0  # tolerances between rewards that are to count as different, so that rounding does not make them level


class Patterns(ABC):
    """All ballots over some actions, numbered; two reports with the same pattern are the same ballot to a rule.

    Class attributes
    ----------------
    most_actions
        Up to so many actions there are few enough to go through them all.

    Attributes
    ----------
    ranks
        How many actions are above each, shape (pattern, action).
    approvals
        Which actions are approved, same shape; None if ballots are rankings.
    """

    most_actions: ClassVar[int]

    ranks: Integers
    approvals: Mask | None

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return int(self.ranks.shape[1])

    @abstractmethod
    def of(self, values: Values, tolerance: float) -> WholeNumbers:
        """Return the pattern of rewards of shape (stakeholder, action, context), shape (stakeholder, context)."""

    @staticmethod
    @abstractmethod
    def movable(lowest: Values, highest: Values, tolerance: float) -> Mask:
        """Return where some member could hand in two ballots, or perhaps could, shape (context,)."""

    @abstractmethod
    def allowed(self, lowest: Values, highest: Values, tolerance: float) -> Verdicts:
        """Return which patterns reports between `lowest` and `highest` can have, shape (member, pattern, context).

        Parameters
        ----------
        lowest, highest
            Ends of the box, shape (member, action, context).
        tolerance
            Rewards this close are level.
        """

    @abstractmethod
    def leads(self, lowest: Values, highest: Values, verdicts: Verdicts, tolerance: float) -> Values:
        """Return the most by which one action can be worth more than another in reports of each pattern.

        Parameters
        ----------
        lowest, highest
            Ends of the box, shape (member, action, context).
        verdicts
            Which patterns they allow; nothing is said about others.
        tolerance
            Rewards this close are level.

        Returns
        -------
        Shape (member, pattern, action, other action, context); never too small, and too large by a few tolerances at
        most where the pattern is sure.
        """

    @abstractmethod
    def middle(self, lowest: Values, highest: Values, codes: WholeNumbers, tolerance: float) -> Values:
        """Return a report of the given patterns, far from all others, shape (member, action, context).

        Parameters
        ----------
        lowest, highest
            Ends of the box, shape (member, action, context).
        codes
            Patterns that the box allows, shape (member, context).
        tolerance
            Rewards this close are level.
        """

    @abstractmethod
    def favouring(self, lowest: Values, highest: Values, codes: WholeNumbers, action: int, tolerance: float) -> Values:
        """Return a report of the given patterns in which an action is worth much, and the others little.

        Same parameters as `middle`, same shape.
        """
