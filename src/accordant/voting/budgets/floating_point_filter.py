"""`Rehearsal`: the purchases of the Method of Equal Shares in floating point, as long as nothing is close.

Raising the voters' money by one unit after another repeats the method hundreds of times. A rehearsal tells in
milliseconds what would be bought, and with how much more money the same. It says so where two prices, a cost and what
its voters hold, or a purse and a part to pay are too close to be told apart in floating point. Only then, and for the
final outcome, the purchases are calculated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accordant.arrays import Codes, Values
from accordant.compiled import compiled
from accordant.voting.budgets.affine_price import RATE, SAFE
from accordant.voting.budgets.voter_budgets import NEAR, SAME, Demand

CLOSE = -1  # instead of a number of purchases


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal bought.

    Attributes
    ----------
    order
        Projects as they were bought.
    room
        How many coins more each part of a voter could be given, and they would buy the same in the same order. Never
        too high.
    """

    order: tuple[int, ...]
    room: Fraction | float


class Rehearsal:
    """The demands of an election, end to end, as the kernel reads them.

    Parameters
    ----------
    n_ballots
        Number of distinct ballots.
    demands
        Who would pay for which project.
    """

    def __init__(self, n_ballots: int, demands: dict[int, Demand]) -> None:
        self.projects = tuple(demands)
        self.n_ballots = n_ballots
        given = list(demands.values())
        self.starts = np.cumsum([0, *(len(each.voters) for each in given)])
        self.voters = np.concatenate([np.empty(0, dtype=np.intp), *(each.voters for each in given)])
        self.weights = np.concatenate([np.empty(0), *(each.rough_weights for each in given)])
        self.utilities = np.concatenate([np.empty(0), *(each.rough_utilities for each in given)])
        self.costs = np.array([float(each.cost) for each in given])
        self.least = np.array([each.least for each in given])

    def __call__(self, first: Fraction) -> Rehearsed | None:
        """Return what is bought if each part of a voter is given `first` coins; None if it is close."""
        bought = np.empty(len(self.projects), dtype=np.intp)
        purses = np.full(self.n_ballots, float(first))
        count, room = _rehearse(
            purses, self.least.copy(), self.starts, self.voters, self.weights, self.utilities, self.costs,
            float(first), NEAR, SAME, RATE, bought,
        )  # fmt: skip
        if count == CLOSE:
            return None
        return Rehearsed(tuple(self.projects[each] for each in bought[:count]), SAFE * room)


@compiled
def _rehearse(
    purses: Values, lowest: Values, starts: Codes, voters: Codes, weights: Values, utilities: Values, costs: Values,
    first: float, near: float, same: float, error: float, bought: Codes,
) -> tuple[int, float]:  # fmt: skip
    """Write purchases; return their number, or `CLOSE`, and the room; writes over purses and `lowest`.

    `lowest` bounds prices from below. With more money and the same purchases the bounds change by `lowest_rates`, known
    to within `errors`. Rooms are as in `accordant.voting.budgets.affine_price`.
    """
    n_projects = len(costs)
    gone = np.zeros(n_projects, dtype=np.bool_)
    asked = np.full(n_projects, -1)  # the last purchase before which a price was asked for
    rates, lowest_rates, errors = np.ones(len(purses)), np.zeros(n_projects), np.zeros(n_projects)
    terms, room = 1.0, np.inf
    for count in range(n_projects):
        best, second, chosen = np.inf, np.inf, -1
        while True:
            p = -1
            for q in range(n_projects):
                if not gone[q] and asked[q] < count and (p < 0 or lowest[q] < lowest[p]):
                    p = q
            if p < 0 or lowest[p] > best * (1 + same):
                break
            asked[p] = count
            held, gained, weight = 0.0, 0.0, 0.0
            for at in range(starts[p], starts[p + 1]):
                held += weights[at] * purses[voters[at]]
                gained += weights[at] * rates[voters[at]]
                weight += weights[at]
            margin = near * max(costs[p], weight * first)
            if held < costs[p] - margin:
                gone[p] = True
                approach = gained + error * terms * weight
                if approach > 0.0:
                    room = min(room, (costs[p] - held) / approach)
                continue
            if held < costs[p] + margin:
                return -1, 0.0
            n_poor, price = 0, 0.0
            while True:  # Newton's method, from below
                shared, from_poor, gained, poorer = 0.0, 0.0, 0.0, 0
                for at in range(starts[p], starts[p + 1]):
                    if purses[voters[at]] < price * utilities[at]:
                        from_poor += weights[at] * purses[voters[at]]
                        gained += weights[at] * rates[voters[at]]
                        poorer += 1
                    else:
                        shared += weights[at] * utilities[at]
                if price > 0.0 and (poorer == n_poor or shared == 0.0):
                    break
                n_poor = poorer
                price = (costs[p] - from_poor) / shared
                lowest_rates[p], errors[p] = -gained / shared, error * terms * weight / shared
            lowest[p] = price
            if price < best:
                best, second, chosen = price, best, p
            elif price < second:
                second = price
        if chosen < 0:
            return count, room
        if second <= best * (1 + same):
            return -1, 0.0
        rate = lowest_rates[chosen]
        for q in range(n_projects):
            approach = rate + errors[chosen] - lowest_rates[q] + errors[q]
            if not gone[q] and q != chosen and approach > 0.0:
                room = min(room, (lowest[q] - best) / approach)
        largest = 0.0
        for at in range(starts[chosen], starts[chosen + 1]):
            i = voters[at]
            left = purses[i] - best * utilities[at]
            if abs(left) <= near * first:
                return -1, 0.0
            approach = (rate * utilities[at] - rates[i]) * (1.0 if left > 0.0 else -1.0)
            approach += error * terms + errors[chosen] * utilities[at]
            if approach > 0.0:
                room = min(room, abs(left) / approach)
            purses[i] = max(0.0, left)
            rates[i] = rates[i] - rate * utilities[at] if left > 0.0 else 0.0
            largest = max(largest, utilities[at])
        terms += (abs(rate) + errors[chosen]) * largest
        gone[chosen] = True
        bought[count] = chosen
    return n_projects, room
