"""Deciding again in one context with other shares of the weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from accordant.arrays import Values
from accordant.certificates import Known
from accordant.certificates.certificate import decisions_on
from accordant.explanation.influence.absence import with_weights
from accordant.explanation.weights.changes import Direction, NewWeights
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Side = Literal["more", "less"]

END: dict[Side, float] = {"more": 1.0, "less": 0.0}  # where the share of one stakeholder may go
STEP = 1e-6  # how far beyond a threshold the weights are decided on again


@dataclass(frozen=True, eq=False)
class Trial:
    """A rule in one context, to be asked with other weights.

    Attributes
    ----------
    rule
        A rule with weights.
    here, known
        E in one context, and what the rule reads beside it.
    weights
        The weights as they are, shape (stakeholder,).
    """

    rule: Strategy
    here: ExpectedRewards
    known: Known
    weights: Values

    @cached_property
    def shares(self) -> Values:
        """The shares of all weight as they are, shape (stakeholder,)."""
        return np.asarray(self.weights / self.weights.sum(), dtype=np.float64)

    @cached_property
    def chosen(self) -> int:
        """The decision with the weights as they are."""
        return self.decided(self.shares)

    def decided(self, shares: Values) -> int:
        """Return the decision with other shares of the same total weight."""
        weights = shares * self.weights.sum()
        return int(decisions_on(with_weights(self.rule, weights), self.here, self.known)[0])

    def changed(self, direction: Direction, who: int | None, shares: Values) -> NewWeights | None:
        """Decide at new shares; return None if nothing changes."""
        shares = np.maximum(shares, 0.0)
        action = self.decided(shares)
        if action == self.chosen:
            return None
        name = None if who is None else self.here.stakeholders[who]
        return NewWeights(direction, name, self.moved(shares), tuple(map(float, shares)), self.here.actions[action])

    def moved(self, shares: Values) -> float:
        """Return the share of all weight that passes from some to others."""
        return float(np.abs(shares - self.shares).sum() / 2)

    def with_share(self, who: int, share: float) -> Values:
        """Return shares in which one stakeholder has a new share and the others keep their proportions."""
        new = np.asarray(self.shares * ((1.0 - share) / (1.0 - self.shares[who])), dtype=np.float64)
        new[who] = share
        return new


def onwards(share: float, end: float) -> float:
    """Return a share a little further towards an end."""
    return share + (end - share) * STEP
