"""`Purses`: what voters have left in the Method of Equal Shares, and at which price they can buy a project.

With money b_i left, the voters of project p can pay its cost at price ρ if Σ_i w_i min(b_i, ρ u_i(p)) = cost(p). The
left side is concave and made of straight pieces, so Newton's method from ρ = cost / Σ w u finds the price after a few
steps: who cannot pay ρ u_i is poor and pays all, the others share the rest.

Prices are exact although purses are kept in floating point. A purse is empty, or it is the same first sum for everybody
minus ρ u_i for each project bought. So a sum of purses needs only whole numbers: how many of these voters pay for which
purchase. Floating point decides what is far from even, and fractions decide the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.slates.budgets.exact import Ballots, Whole

NEAR = 1e-9  # of the first sum: rounding moves a purse by less than 1e-13 of it for each purchase
SAME = 1e-6  # prices this close, relatively, are compared exactly; rounding moves them by less than 1e-8

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Demand:
    """Who would pay for a project.

    Attributes
    ----------
    cost
        In coins.
    voters
        Ballots that gain by the project, shape (supporter,).
    weights
        Their weights.
    utilities
        What they gain, above 0.
    rough_weights, rough_utilities
        The same in floating point.
    """

    cost: int
    voters: NDArray[np.intp]
    weights: Whole
    utilities: Whole
    rough_weights: NDArray[np.float64]
    rough_utilities: NDArray[np.float64]

    @property
    def least(self) -> float:
        """The lowest price there could be: that of voters who can all pay."""
        return self.cost / float(self.rough_weights @ self.rough_utilities)


def demands_of(ballots: Ballots, utilities: Whole, projects: Iterable[int]) -> dict[int, Demand]:
    """Return who would pay for each project, given utilities of shape (project, ballot)."""
    found = {}
    for project in projects:
        voters = np.flatnonzero((utilities[project] > 0) & (ballots.weights > 0))
        weights, gained = ballots.weights[voters], utilities[project][voters]
        rough = weights.astype(np.float64), gained.astype(np.float64)
        found[project] = Demand(ballots.costs[project], voters, weights, gained, *rough)
    return found


class Purses:
    """The money of voters while projects are bought.

    Parameters
    ----------
    n_ballots
        Number of distinct ballots.
    demands
        Who would pay for which project.
    first
        What each part of a voter is given, in coins.
    """

    def __init__(self, n_ballots: int, demands: dict[int, Demand], first: Fraction) -> None:
        self.demands, self.first = demands, first
        self.rough = np.full(n_ballots, float(first))
        self.empty = np.zeros(n_ballots, dtype=bool)
        self.prices: dict[int, Fraction] = {}
        self._paying: dict[int, Whole] = {}  # utility of each ballot from a project that was bought

    def rough_price(self, project: int) -> float:
        """Return the price in floating point; infinite if its voters cannot pay."""
        demand = self.demands[project]
        purses = self.rough[demand.voters]
        held = demand.rough_weights * purses
        money = float(held.sum())
        if money < demand.cost * (1 + NEAR) and (
            money < demand.cost * (1 - NEAR) or self._held(demand, None) < demand.cost
        ):
            return np.inf
        rich = np.ones(len(purses), dtype=bool)
        wanted = demand.rough_weights * demand.rough_utilities
        price = demand.cost / float(wanted.sum())
        while True:
            still = rich & (purses >= price * demand.rough_utilities)
            count = int(still.sum())
            if count in (0, int(rich.sum())):
                return price
            rich = still
            price = (demand.cost - float(held[~rich].sum())) / float(wanted[rich].sum())

    def price(self, project: int) -> Fraction:
        """Return the exact price of a project whose voters can pay."""
        demand = self.demands[project]
        rich = self._can_pay(demand, Fraction(self.rough_price(project)))
        if not rich.any():  # rounding put the price above what anybody can pay
            rich[:] = True
        while True:
            shared = int((demand.weights * demand.utilities)[rich].sum())
            price = (demand.cost - self._held(demand, ~rich)) / shared
            able = self._can_pay(demand, price)
            if (able == rich).all():
                return price
            rich = able

    def buy(self, project: int, price: Fraction) -> None:
        """Let the voters of a project pay for it at a price, each as far as she can."""
        demand = self.demands[project]
        rich = self._can_pay(demand, price)
        left = self.rough[demand.voters] - float(price) * demand.rough_utilities
        self.rough[demand.voters] = np.where(rich, np.maximum(left, 0.0), 0.0)
        self.empty[demand.voters[~rich]] = True
        paying = np.zeros(len(self.rough), dtype=demand.utilities.dtype)
        paying[demand.voters] = demand.utilities
        self._paying[project] = paying
        self.prices[project] = price

    def _held(self, demand: Demand, which: Flags | None) -> Fraction:
        """Return exactly what some voters of a project hold together; None for all of them."""
        full = ~self.empty[demand.voters]
        if which is not None:
            full &= which
        voters, weights = demand.voters[full], demand.weights[full]
        held = self.first * int(weights.sum())
        for project, price in self.prices.items():
            held -= price * int((weights * self._paying[project][voters]).sum())
        return held

    def _can_pay(self, demand: Demand, price: Fraction) -> Flags:
        """Return who holds at least price times utility, exactly, shape (supporter,)."""
        distance = self.rough[demand.voters] - float(price) * demand.rough_utilities
        able: Flags = distance > 0
        even = np.flatnonzero(np.abs(distance) <= NEAR * float(self.first))
        if len(even):
            able[even] = self._compare(demand.voters[even], demand.utilities[even], price)
        return able

    def _compare(self, voters: NDArray[np.intp], utilities: Whole, price: Fraction) -> Flags:
        """Compare purses with what is asked by fractions, once for voters who paid alike."""
        alike: list[NDArray[Any]] = [self.empty[voters], utilities, *(paid[voters] for paid in self._paying.values())]
        known: dict[tuple[Any, ...], bool] = {}
        found = np.empty(len(voters), dtype=bool)
        for at, (empty, utility, *paid) in enumerate(zip(*(each.tolist() for each in alike), strict=True)):
            key = (empty, utility, *paid)
            if key not in known:
                spent = sum((p * u for p, u in zip(self.prices.values(), paid, strict=True)), Fraction())
                known[key] = (Fraction() if empty else self.first - spent) >= price * utility
            found[at] = known[key]
        return found
