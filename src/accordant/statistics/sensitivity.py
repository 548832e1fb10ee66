"""Bounds of mean outcomes under unmeasured confounding: the marginal sensitivity model, with sharp bounds.

An unrecorded reason U may have moved both the action A and what followed. The model allows it to change the odds of an
action a by a factor between 1/Λ and Λ:

    1/Λ  ≤  odds(A = a | x, u) / odds(A = a | x)  ≤  Λ                                        (Tan 2006)

Then the unseen outcomes of a, where another action was taken, follow the seen ones reweighted by some λ in [1/Λ, Λ]
with mean 1 given x. The worst reweighting puts Λ above a quantile Q of the seen outcomes and 1/Λ below it. With
T = 1[A = a], e = P(A = a | x), Y the outcome, τ = Λ/(1 + Λ), and Q the τ-quantile of Y given x and T = 1,

    h(y)     = Q + Λ^sgn(y − Q) (y − Q)                    ρ(x) = E[h(Y) | x, T = 1]
    E[Y(a)] ≤ E[ T Y + (1 − T) ρ(x) + T (1 − e)/e { h(Y) − ρ(x) } ]

and from below with τ = 1/(1 + Λ) and 1/Λ in place of Λ in h. No smaller interval holds (sharp) if Q is the true
quantile; the interval still holds with any other Q, and with a wrong ρ if e is right (Dorn and Guo 2023; Dorn, Guo and
Kallus 2025). With Λ = 1 both bounds are the doubly robust estimate. Intervals that are not sharp: Zhao, Small and
Bhattacharya 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError

LARGEST = 100.0  # odds ratio up to which a turning point is looked for
GRID = np.geomspace(1.0, LARGEST, 48)  # steps of a tenth, between which limits are interpolated
ROUNDING = 1e-9  # by how much a cumulative probability may miss a level
HALVINGS = 30  # of an interval of odds ratios: to nine digits


@dataclass(frozen=True, eq=False)
class OutcomeDistribution:
    """Distributions of Y given x and the action, each as weighted nodes in ascending order.

    Attributes
    ----------
    values
        Shape (action, node, context), ascending over nodes.
    mass, moment
        Cumulative sums of the probabilities and of probability × value, same shape.
    """

    values: Values
    mass: Values
    moment: Values

    @classmethod
    def of(cls, values: Values, weights: Values, means: Values | None = None) -> OutcomeDistribution:
        """Return the distributions of weighted nodes in any order.

        Parameters
        ----------
        values, weights
            Shape (action, node, context); weights are at least 0 and sum to 1 over nodes.
        means
            What the means shall be, shape (action, context): each distribution is moved there; None moves nothing.
        """
        if means is not None:
            values = values + (means - (weights * values).sum(axis=1))[:, None]
        order = np.argsort(values, axis=1, kind="stable")
        values, weights = (np.take_along_axis(array, order, axis=1) for array in (values, weights))
        return cls(values, weights.cumsum(axis=1), (weights * values).cumsum(axis=1))

    def take(self, contexts: slice) -> OutcomeDistribution:
        """Return the distributions in some contexts."""
        return OutcomeDistribution(*(array[:, :, contexts] for array in (self.values, self.mass, self.moment)))

    def quantile(self, level: float) -> tuple[Values, NDArray[np.intp]]:
        """Return the smallest value with at least this probability at or below it, and its node, (action, context)."""
        node = np.minimum((self.mass < level - ROUNDING).sum(axis=1), self.values.shape[1] - 1)
        return np.take_along_axis(self.values, node[:, None], axis=1)[:, 0], node


@dataclass(frozen=True, eq=False)
class SeenOutcomes:
    """What the bounds rest on.

    Attributes
    ----------
    actions
        Codes of the actions taken, shape (context,).
    outcomes
        Y, what followed, shape (context,).
    propensities
        P(A = a | x), above 0, shape (action, context).
    distribution
        Of Y given x and the action.
    """

    actions: NDArray[np.intp]
    outcomes: Values
    propensities: Values
    distribution: OutcomeDistribution

    def take(self, contexts: slice) -> SeenOutcomes:
        """Return some of the contexts."""
        return SeenOutcomes(
            self.actions[contexts],
            self.outcomes[contexts],
            self.propensities[:, contexts],
            self.distribution.take(contexts),
        )

    def terms(self, odds_ratio: float, *, upper: bool) -> Values:
        """Return the terms whose mean over contexts bounds E[Y(a)], shape (action, context).

        For a rule that takes a with probability p(a | x), the mean of Σ_a p(a | x) × term bounds its value.

        Parameters
        ----------
        odds_ratio
            Λ, at least 1.
        upper
            Whether the bound is from above.
        """
        if not odds_ratio >= 1:
            raise InputError(f"the odds ratio is {odds_ratio}; allowed: at least 1")
        steep = odds_ratio if upper else 1 / odds_ratio
        quantile, node = self.distribution.quantile(steep / (1 + steep))
        mass, moment = (
            np.take_along_axis(array, node[:, None], axis=1)[:, 0]
            for array in (self.distribution.mass, self.distribution.moment)
        )
        total, mean = self.distribution.mass[:, -1], self.distribution.moment[:, -1]
        above, below = mean - moment - quantile * (total - mass), quantile * mass - moment
        terms = quantile + steep * above - below / steep
        taken = (self.actions, np.arange(len(self.actions)))
        seen, e = tilted(self.outcomes, quantile[taken], steep), self.propensities[taken]
        terms[taken] = self.outcomes + (1 - e) / e * (seen - terms[taken])
        return np.asarray(terms)


def tilted(values: Values, quantile: Values, steep: float) -> Values:
    """Return h(y) = Q + s^sgn(y − Q) (y − Q), with s = Λ from above and 1/Λ from below."""
    gap = values - quantile
    return np.asarray(quantile + np.where(gap > 0, steep, 1 / steep) * gap)


def turning_point(bound: Callable[[float], float]) -> float | None:
    """Return the smallest odds ratio at which a bound that falls with it reaches 0, to nine digits.

    Returns
    -------
    1 if the bound is not above 0 even without confounding; None if it is still above 0 at the largest odds ratio.
    """
    if not bound(1.0) > 0:
        return 1.0
    place = next((k for k in range(1, len(GRID)) if not bound(float(GRID[k])) > 0), None)
    if place is None:
        return None
    low, high = float(GRID[place - 1]), float(GRID[place])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if bound(middle) > 0 else (low, middle)
    return high


def interpolated_turning_point(limits: Values) -> float | None:
    """Return the same from the values of a limit on `GRID`, linear in log Λ between them."""
    places = np.flatnonzero(~(limits > 0))
    if not len(places):
        return None
    place = int(places[0])
    if place == 0:
        return 1.0
    before, after = limits[place - 1], limits[place]
    part = before / (before - after) if np.isfinite(after) else 1.0
    return float(np.exp(np.log(GRID[place - 1]) + part * (np.log(GRID[place]) - np.log(GRID[place - 1]))))
