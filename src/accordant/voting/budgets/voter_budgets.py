"""`VoterBudgets`: what voters have left in the Method of Equal Shares, and at which price they can buy a project.

With money b_i left, the voters of project p can pay its cost at price ρ if Σ_i w_i min(b_i, ρ u_i(p)) = cost(p). The
left side is concave and made of straight pieces, so Newton's method from ρ = cost / Σ w u finds the price after a few
steps: who cannot pay ρ u_i is poor and pays all, the others share the rest.

Prices are exact although budgets are kept in floating point. A budget is empty, or it is the same first sum for
everybody minus ρ u_i for each project bought. So a sum of budgets needs only whole numbers: how many of these voters
pay for which purchase. Floating point decides what is far from even, and fractions decide the rest.

Budgets and prices are affine in the first sum (`Affine`). The method compares budgets with prices, prices with prices,
and costs with what voters hold; as long as every comparison comes out as before, all of these stay straight lines. So
the smallest sum at which one could come out otherwise is a quotient: what is between two lines, over the rate at which
they approach [ours]. `AllowableIncrease` keeps how far the sum can rise and nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import AnyArray, Codes, Mask, Values
from accordant.voting.budgets.rule import Ballots

SAFE = 0.9  # of a distance in floating point that is not close: rounding moves it by less than a tenth
RATE = 1e-9  # of the terms of a rate: rounding moves a sum of 100,000 of them by less

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True)
class Affine(Generic[Number]):
    """What a number is now, and by how much it rises with each coin of the first sum."""

    value: Number
    rate: Number


class AllowableIncrease:
    """The largest rise of the first sum below which every comparison so far comes out as it did.

    Attributes
    ----------
    coins
        Exact or too low, never too high; infinite if nothing was compared that could change.
    """

    def __init__(self) -> None:
        self.coins: Fraction | float = math.inf

    def keep(self, distance: Fraction, approach: Fraction) -> None:
        """Stay below the point where two lines meet, exactly."""
        if approach > 0:
            self.coins = min(self.coins, distance / approach)

    def keep_roughly(self, distance: float, approach: float) -> None:
        """Stay well below the point where two lines meet; `approach` must not be too low."""
        if not approach <= 0:
            coins = SAFE * distance / approach
            self.coins = min(self.coins, coins) if coins >= 0 else 0.0


NEAR = 1e-9  # of the first sum: rounding moves a budget by less than 1e-13 of it for each purchase
SAME = 1e-6  # prices this close, relatively, are compared exactly; rounding moves them by less than 1e-8


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
    voters: Codes
    weights: AnyArray
    utilities: AnyArray
    rough_weights: Values
    rough_utilities: Values

    @property
    def least(self) -> float:
        """The lowest price there could be: that of voters who can all pay."""
        return self.cost / float(self.rough_weights @ self.rough_utilities)

    @property
    def weight(self) -> float:
        """Weight of its voters together."""
        return float(self.rough_weights.sum())


def demands_of(ballots: Ballots, utilities: AnyArray, projects: Iterable[int]) -> dict[int, Demand]:
    """Return who would pay for each project, given utilities of shape (project, ballot)."""
    demands = {}
    for project in projects:
        voters = np.flatnonzero((utilities[project] > 0) & (ballots.weights > 0))
        weights, gained = ballots.weights[voters], utilities[project][voters]
        rough = weights.astype(np.float64), gained.astype(np.float64)
        demands[project] = Demand(ballots.costs[project], voters, weights, gained, *rough)
    return demands


class VoterBudgets:
    """The money of voters while projects are bought, and at which price they can buy the next.

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
        self.rates = np.ones(n_ballots)  # of the rough budgets
        self.empty = np.zeros(n_ballots, dtype=bool)
        self.prices: dict[int, Affine[Fraction]] = {}
        self.increase = AllowableIncrease()
        self._near = NEAR * float(first)
        self._terms = 1.0  # sum of the largest terms of a rate
        self._paying: dict[int, AnyArray] = {}  # utility of each ballot from a project that was bought

    def rough_price(self, project: int) -> Affine[float] | None:
        """Return the price in floating point; None if its voters cannot pay.

        With more money and the same purchases so far the price is at least what the line says, whoever is poor then:
        its rate is never too high.
        """
        demand = self.demands[project]
        budgets, rates = self.rough[demand.voters], self.rates[demand.voters]
        held, gained = demand.rough_weights * budgets, demand.rough_weights * rates
        if not self._can_buy(demand, float(held.sum()), float(gained.sum())):
            return None
        rich = np.ones(len(budgets), dtype=bool)
        wanted = demand.rough_weights * demand.rough_utilities
        shared = float(wanted.sum())
        price = demand.cost / shared
        while True:
            still = rich & (budgets >= price * demand.rough_utilities)
            if int(still.sum()) in (0, int(rich.sum())):
                error = RATE * self._terms * demand.weight
                return Affine(price, -(float(gained[~rich].sum()) + error) / shared)
            rich = still
            shared = float(wanted[rich].sum())
            price = (demand.cost - float(held[~rich].sum())) / shared

    def price(self, project: int, rough: Affine[float]) -> Affine[Fraction]:
        """Return the exact price of a project whose voters can pay, given the rough one."""
        demand = self.demands[project]
        rich = self._can_pay(demand, Affine(Fraction(rough.value), Fraction()))
        if not rich.any():  # rounding put the price above what anybody can pay
            rich[:] = True
        while True:
            shared = int((demand.weights * demand.utilities)[rich].sum())
            held = self._held(demand, ~rich)
            price = Affine((demand.cost - held.value) / shared, -held.rate / shared)
            able = self._can_pay(demand, price)
            if (able == rich).all():
                return price
            rich = able

    def buy(self, project: int, price: Affine[Fraction]) -> None:
        """Let the voters of a project pay for it at a price, each as far as she can."""
        demand = self.demands[project]
        rich = self._can_pay(demand, price)
        self._keep_apart(demand, price, rich)
        left = self.rough[demand.voters] - float(price.value) * demand.rough_utilities
        rates = self.rates[demand.voters] - float(price.rate) * demand.rough_utilities
        self.rough[demand.voters] = np.where(rich, np.maximum(left, 0.0), 0.0)
        self.rates[demand.voters] = np.where(rich, rates, 0.0)
        self.empty[demand.voters[~rich]] = True
        self._terms += abs(float(price.rate)) * float(demand.rough_utilities.max())
        paying = np.zeros(len(self.rough), dtype=demand.utilities.dtype)
        paying[demand.voters] = demand.utilities
        self._paying[project] = paying
        self.prices[project] = price

    def _can_buy(self, demand: Demand, money: float, rate: float) -> bool:
        """Return whether the voters of a project hold its cost together, given roughly what they hold."""
        margin = NEAR * max(demand.cost, demand.weight * float(self.first))
        if money >= demand.cost + margin:
            return True
        if money < demand.cost - margin:
            self.increase.keep_roughly(demand.cost - money, rate + RATE * self._terms * demand.weight)
            return False
        held = self._held(demand, None)
        if held.value < demand.cost:
            self.increase.keep(demand.cost - held.value, held.rate)
            return False
        return True

    def _held(self, demand: Demand, which: Mask | None) -> Affine[Fraction]:
        """Return exactly what some voters of a project hold together; None for all of them."""
        full = ~self.empty[demand.voters]
        if which is not None:
            full &= which
        voters, weights = demand.voters[full], demand.weights[full]
        rate = Fraction(int(weights.sum()))
        held = self.first * rate
        for project, price in self.prices.items():
            paid = int((weights * self._paying[project][voters]).sum())
            held -= price.value * paid
            rate -= price.rate * paid
        return Affine(held, rate)

    def _can_pay(self, demand: Demand, price: Affine[Fraction]) -> Mask:
        """Return who holds at least price times utility, exactly, shape (supporter,)."""
        distance = self.rough[demand.voters] - float(price.value) * demand.rough_utilities
        able: Mask = distance > 0
        even = np.flatnonzero(np.abs(distance) <= self._near)
        if len(even):
            able[even] = [left.value >= 0 for left in self._left(demand, even, price)]
        return able

    def _keep_apart(self, demand: Demand, price: Affine[Fraction], rich: Mask) -> None:
        """Bound the increase for the rich to stay rich, and for the poor to stay poor."""
        distance = np.abs(self.rough[demand.voters] - float(price.value) * demand.rough_utilities)
        approach = float(price.rate) * demand.rough_utilities - self.rates[demand.voters]
        error = RATE * (self._terms + abs(float(price.rate)) * demand.rough_utilities)
        approach = np.where(rich, approach, -approach) + error
        far = (distance > self._near) & (approach > 0)
        if far.any():
            self.increase.keep_roughly(float((distance[far] / approach[far]).min()), 1.0)
        even = np.flatnonzero(distance <= self._near)
        for left, pays in set(zip(self._left(demand, even, price), rich[even].tolist(), strict=True)):
            sign = 1 if pays else -1
            self.increase.keep(left.value * sign, -left.rate * sign)

    def _left(self, demand: Demand, some: Codes, price: Affine[Fraction]) -> list[Affine[Fraction]]:
        """Return budgets minus price times utility by fractions, calculated once for voters who paid alike."""
        voters, utilities = demand.voters[some], demand.utilities[some]
        alike: list[NDArray[Any]] = [self.empty[voters], utilities, *(paid[voters] for paid in self._paying.values())]
        known: dict[tuple[Any, ...], Affine[Fraction]] = {}
        left = []
        for empty, utility, *paid in zip(*(column.tolist() for column in alike), strict=True):
            key = (empty, utility, *paid)
            if key not in known:
                money, rate = (Fraction(), Fraction()) if empty else (self.first, Fraction(1))
                if not empty:
                    money -= sum((p.value * u for p, u in zip(self.prices.values(), paid, strict=True)), Fraction())
                    rate -= sum((p.rate * u for p, u in zip(self.prices.values(), paid, strict=True)), Fraction())
                known[key] = Affine(money - price.value * utility, rate - price.rate * utility)
            left.append(known[key])
        return left
